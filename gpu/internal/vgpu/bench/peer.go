package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"memwall/gpu/internal/vgpu"
)

// peerLine is a line of JSON that a peer's program prints: a job's CPU time, or why there is none.
type peerLine struct {
	Job   string  `json:"job"`
	MS    float64 `json:"cpu_ms"`
	Size  int     `json:"size,omitempty"` // of the square matrices, where it is not the job's
	Error string  `json:"error,omitempty"`
}

// addPeer runs a peer's program and compares its jobs with ours; whatever is not measured is noted in one line.
func (r *Report) addPeer(ctx context.Context, o Options, p Peer) {
	note := func(format string, args ...any) {
		r.Notes = append(r.Notes, p.Name+" is not measured: "+fmt.Sprintf(format, args...))
	}
	ours := map[string]*Row{}
	for i := range r.Rows {
		if row := &r.Rows[i]; row.peer != "" {
			ours[row.peer] = row
		}
	}
	if len(ours) == 0 {
		return // the filter left out what it can do
	}
	argv, err := p.Start(ctx)
	if err != nil {
		note("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	argv = append(argv, slices.Sorted(maps.Keys(ours))...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		note("%v: %s", err, lines[len(lines)-1])
	}
	for line := range strings.Lines(string(out)) {
		var l peerLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			note("it printed %q", strings.TrimSpace(line))
			continue
		}
		row := ours[l.Job]
		switch {
		case row == nil:
			note("it did %q, which nobody asked for", l.Job)
		case l.Error != "":
			r.Notes = append(r.Notes, fmt.Sprintf("%s does not run %s: %s", p.Name, row.Name, l.Error))
		default:
			if err := r.compare(ctx, o, p, row, &l); err != nil {
				note("%v", err)
			}
		}
	}
}

// compare adds a row of a peer; where it did the job at another size, so do we.
func (r *Report) compare(ctx context.Context, o Options, p Peer, row *Row, l *peerLine) error {
	c := PeerRow{Peer: p.Name, Job: row.Name, Milliseconds: l.MS, Ours: row.bestFigure().Milliseconds, Line: p.Times}
	if l.Size > 0 {
		ours, err := leastAt(ctx, o, row, l.Size)
		if err != nil {
			return err
		}
		c.Size, c.Ours = fmt.Sprintf("at %d³", l.Size), ours
	}
	if c.Size == "" {
		c.Reference = p.Reference[row.peer]
	}
	c.Times = c.Milliseconds / c.Ours
	c.Reached = c.Times >= c.Line
	r.Peers = append(r.Peers, c)
	return nil
}

// leastAt is the CPU time in ms of a job at another size, on the best path.
func leastAt(ctx context.Context, o Options, row *Row, size int) (float64, error) {
	for i := range jobs {
		j := &jobs[i]
		if j.name != row.Name || j.sized == nil {
			continue
		}
		m, err := newMachine(ctx, o.Profile)
		if err != nil {
			return 0, err
		}
		defer m.dev.Close()
		m.dev.SetLanes(vgpu.BestLanes())
		launch, check := j.sized(m, ptxOf(j.kernel), size)
		_, least := m.least(&launch, true, o.Spend)
		if worst := check(); m.err == nil && !(worst <= 1) {
			m.err = fmt.Errorf("%s at %d: a result is %.3g times as far from the float64 reference as rounding allows", j.name, size, worst)
		}
		return 1e3 * least.Seconds(), m.err
	}
	return 0, fmt.Errorf("%s cannot be done at size %d", row.Name, size)
}
