package bench

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"memwall/gpu/perf"
)

// Report is what Run measured. Times, rates and ratios are MEASURED, thread-instructions EXECUTED.
type Report struct {
	CPU   string    `json:"cpu"`
	Cores int       `json:"cores"`
	Best  string    `json:"best_path"`
	Tag   perf.Tag  `json:"tag"` // of times, rates and ratios
	Rows  []Row     `json:"jobs"`
	Peers []PeerRow `json:"peers"`
	Notes []string  `json:"notes,omitempty"` // what could not be measured, and how to get it
	// MachineRatio is how much more CPU time a peer takes for its jobs on this machine than on the one that the lines are for
	// (geometric mean); 0 where no peer with figures from there was measured.
	MachineRatio float64 `json:"machine_ratio,omitempty"`
}

// Row is one job.
type Row struct {
	Name               string   `json:"name"`
	Kernel             string   `json:"kernel"`
	ThreadInstructions uint64   `json:"thread_instructions"`
	Figures            []Figure `json:"paths"`
	Counting           float64  `json:"counting_ratio"` // CPU time with counters ÷ without
	CountingReached    bool     `json:"counting_reached"`
	TwoCores           float64  `json:"two_cores_speedup,omitempty"` // by the clock; 0 where the machine has one core
	TwoCoresReached    bool     `json:"two_cores_reached,omitempty"`
	TwinRatio          float64  `json:"ratio_to_twin,omitempty"` // CPU time ÷ that of the same work without divergence
	TwinLine           float64  `json:"ratio_to_twin_line,omitempty"`

	peer string
}

// Figure is one job on one lane path.
type Figure struct {
	Path         string  `json:"path"`
	Milliseconds float64 `json:"cpu_ms,omitempty"`
	Rate         float64 `json:"thread_instructions_per_second,omitempty"`
	WorstError   float64 `json:"worst_error"` // distance from the float64 reference ÷ what rounding allows
	Line         float64 `json:"line_ms,omitempty"`
	Reached      bool    `json:"line_reached,omitempty"`
	Missing      string  `json:"missing,omitempty"` // why it was not measured
}

// PeerRow is one job done by another program on the same machine.
type PeerRow struct {
	Peer         string  `json:"peer"`
	Job          string  `json:"job"`
	Size         string  `json:"size,omitempty"` // where it is not the job's
	Milliseconds float64 `json:"cpu_ms"`
	Reference    float64 `json:"reference_cpu_ms,omitempty"` // what it took on the machine that the lines are for
	Ours         float64 `json:"our_cpu_ms"`
	Times        float64 `json:"times_faster"`
	Line         float64 `json:"times_line"`
	Reached      bool    `json:"line_reached"`
}

func (f *Figure) fill(least time.Duration, instructions uint64) {
	f.Milliseconds = 1e3 * least.Seconds()
	f.Rate = float64(instructions) / least.Seconds()
	f.Reached = f.Line > 0 && f.Milliseconds <= f.Line
}

// bestFigure is the fastest path that was measured.
func (r *Row) bestFigure() *Figure {
	var b *Figure
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Missing == "" && (b == nil || f.Milliseconds < b.Milliseconds) {
			b = f
		}
	}
	return b
}

// compareTwins sets the ratio of divergent jobs to their converged twins, on the best path.
func (r *Report) compareTwins() {
	for _, j := range jobs {
		if j.twin == "" {
			continue
		}
		row, twin := r.row(j.name), r.row(j.twin)
		if row != nil && twin != nil {
			row.TwinRatio, row.TwinLine = row.bestFigure().Milliseconds/twin.bestFigure().Milliseconds, j.ratio
		}
	}
}

func (r *Report) row(name string) *Row {
	for i := range r.Rows {
		if r.Rows[i].Name == name {
			return &r.Rows[i]
		}
	}
	return nil
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// String is the tables.
func (r *Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "job\tportable ms\tthreaded ms\tjit ms\tM instr/s\t"+fmt.Sprintf("counting ≤ × %.2f\t2 cores ≥ × %.1f", countingLimit, coresLimit)+"\tline\t")
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintf(w, "%s\t", row.Name)
		for _, f := range row.Figures {
			if f.Missing != "" {
				fmt.Fprint(w, "–\t")
			} else {
				fmt.Fprintf(w, "%.3g\t", f.Milliseconds)
			}
		}
		fmt.Fprintf(w, "%.0f\t× %.2f %s\t", row.bestFigure().Rate/1e6, row.Counting, verdict(row.CountingReached))
		if row.TwoCores > 0 {
			fmt.Fprintf(w, "× %.2f %s\t", row.TwoCores, verdict(row.TwoCoresReached))
		} else {
			fmt.Fprint(w, "–\t")
		}
		fmt.Fprintf(w, "%s\t\n", row.lines())
	}
	w.Flush()
	fmt.Fprintf(&b, "\n%s, %s lanes at best. CPU time on one core, the least of several runs, all counters on: MEASURED; instr: of threads,\n"+
		"EXECUTED, at the best path. Every result was within the rounding of its float64 reference. Counting: CPU time with counters ÷\n"+
		"without. 2 cores: time by the clock with one ÷ with two.\n", r.CPU, r.Best)
	if len(r.Peers) > 0 {
		b.WriteString("\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "peer\tjob\tits CPU ms\tours\tfaster\tline\t")
		for _, p := range r.Peers {
			name := p.Job
			if p.Size != "" {
				name += ", " + p.Size
			}
			fmt.Fprintf(w, "%s\t%s\t%.3g\t%.3g\t× %.3g\t× %.3g: %s\t\n", p.Peer, name, p.Milliseconds, p.Ours, p.Times, p.Line, verdict(p.Reached))
		}
		w.Flush()
		b.WriteString("\nMEASURED on this machine in this run, ours with all counters on, the peers without any.\n")
		b.WriteString(r.scaled())
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// compareMachines sets the ratio of this machine to the one that the lines are for.
func (r *Report) compareMachines() {
	product, n := 1.0, 0
	for i := range r.Peers {
		if p := &r.Peers[i]; p.Reference > 0 && p.Milliseconds > 0 {
			product *= p.Milliseconds / p.Reference
			n++
		}
	}
	if n > 0 {
		r.MachineRatio = math.Pow(product, 1/float64(n))
	}
}

// scaled tells what the figures that have a line would be on the machine that the lines are for.
func (r *Report) scaled() string {
	if r.MachineRatio == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThis machine against the one that the lines are for, by the peers' CPU time: ")
	for _, p := range r.Peers {
		if p.Reference > 0 {
			fmt.Fprintf(&b, "%s, %s × %.2f (%.3g ms, %.3g there); ", p.Peer, p.Job, p.Milliseconds/p.Reference, p.Milliseconds, p.Reference)
		}
	}
	fmt.Fprintf(&b, "mean × %.2f.\nDivided by it:", r.MachineRatio)
	for i := range r.Rows {
		for _, f := range r.Rows[i].Figures {
			if f.Line > 0 && f.Missing == "" {
				ms := f.Milliseconds / r.MachineRatio
				fmt.Fprintf(&b, "\n  %s, %s: %.3g ms, ≤ %.3g: %s", r.Rows[i].Name, f.Path, ms, f.Line, verdict(ms <= f.Line))
			}
		}
	}
	return b.String() + "\n"
}

// lines are the limits of a row with their verdicts.
func (r *Row) lines() string {
	var parts []string
	for _, f := range r.Figures {
		if f.Line == 0 {
			continue
		}
		v := verdict(f.Reached)
		if f.Missing != "" {
			v = f.Missing
		}
		parts = append(parts, fmt.Sprintf("%s ≤ %.3g: %s", f.Path, f.Line, v))
	}
	if r.TwinLine > 0 {
		parts = append(parts, fmt.Sprintf("%.2f × its twin, ≤ %.3g: %s", r.TwinRatio, r.TwinLine, verdict(r.TwinRatio <= r.TwinLine)))
	}
	return strings.Join(parts, "; ")
}
