package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

// Options of Run.
type Options struct {
	Filter  string            // jobs whose name or kernel contains it; "" is all
	Profile *perf.Profile     // that the virtual GPU stands for
	Shipped map[string]string // PTX of package kernels, by the kernel's name
	Peers   []Peer            // programs that do the same jobs
	Spend   time.Duration     // CPU time for one figure; 0.4 s where it is zero
}

// Peer is a program that does some of the jobs; Start gets it ready, or says in one line why it is not measured.
type Peer struct {
	Name      string
	Start     func(ctx context.Context) (argv []string, err error)
	Times     float64            // how many times faster than it the virtual GPU has to be
	Reference map[string]float64 // CPU ms of its jobs on the machine that the lines are for
}

const (
	leastRuns = 2
	mostRuns  = 25
	// countingLimit is how much of the CPU time without counting a launch may take with it.
	countingLimit = 1.25
	// coresLimit is how much faster two cores have to be than one.
	coresLimit = 1.8
)

// Run measures the jobs that the filter names on one core of the host, then what counting costs and what a second core
// brings, on the best lane path, then the peers. ctx ends it between two launches.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Spend == 0 {
		o.Spend = 400 * time.Millisecond
	}
	report := &Report{CPU: cpuName(), Cores: runtime.NumCPU(), Best: vgpu.BestLanes().String(), Tag: perf.Measured}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i := range jobs {
		j := &jobs[i]
		if !strings.Contains(j.name, o.Filter) && !strings.Contains(j.kernel, o.Filter) {
			continue
		}
		row, err := measure(ctx, o, j)
		if err != nil {
			return report, fmt.Errorf("bench vgpu: %s: %w", j.name, err)
		}
		report.Rows = append(report.Rows, *row)
	}
	if len(report.Rows) == 0 {
		return nil, fmt.Errorf("bench vgpu: no job contains %q\nthey are %s", o.Filter, strings.Join(names(), "; "))
	}
	report.compareTwins()
	for _, p := range o.Peers {
		report.addPeer(ctx, o, p)
	}
	report.compareMachines()
	return report, ctx.Err()
}

// names lists the jobs, for messages.
func names() (list []string) {
	for _, j := range jobs {
		list = append(list, j.name)
	}
	return list
}

// measure runs one job on every path.
func measure(ctx context.Context, o Options, j *job) (*Row, error) {
	m, err := newMachine(ctx, o.Profile)
	if err != nil {
		return nil, err
	}
	defer m.dev.Close()
	ptx := o.Shipped[j.kernel]
	if ptx == "" {
		ptx = ptxOf(j.kernel)
	}
	l, check := j.make(m, ptx)
	row := &Row{Name: j.name, Kernel: j.kernel, peer: j.peer}
	var first *driver.Result
	for path := vgpu.PortableLanes; path <= vgpu.JITLanes; path++ {
		f := Figure{Path: path.String(), Line: j.lines[path.String()]}
		if path == vgpu.BestLanes() && f.Line == 0 {
			f.Line = j.lines[best]
		}
		if m.dev.SetLanes(path) != path {
			f.Missing = "not on this machine"
			row.Figures = append(row.Figures, f)
			continue
		}
		r, time := m.least(&l, true, o.Spend)
		if m.err != nil {
			return nil, m.err
		}
		if first == nil {
			first = r
		}
		if r.Counts.ThreadInstructions != first.Counts.ThreadInstructions {
			return nil, fmt.Errorf("%s lanes executed %d thread-instructions, portable ones %d", path, r.Counts.ThreadInstructions, first.Counts.ThreadInstructions)
		}
		if worst := check(); !(worst <= 1) || m.err != nil {
			return nil, errors.Join(m.err, fmt.Errorf("%s lanes: a result is %.3g times as far from the float64 reference as rounding allows", path, worst))
		} else {
			f.WorstError = worst
		}
		f.fill(time, r.Counts.ThreadInstructions)
		row.Figures = append(row.Figures, f)
	}
	row.ThreadInstructions = first.Counts.ThreadInstructions
	m.dev.SetLanes(vgpu.BestLanes())
	m.counting(&l, row, o.Spend)
	m.twoCores(&l, row, o.Spend)
	return row, m.err
}

// least is the least CPU time of several launches.
func (m *machine) least(l *launcher, counted bool, spend time.Duration) (r *driver.Result, least time.Duration) {
	least = math.MaxInt64
	spent := time.Duration(0)
	for n := 0; n < leastRuns || n < mostRuns && spent < spend; n++ {
		result, used := m.once(l, counted)
		if m.err != nil {
			return nil, 0
		}
		r, least, spent = result, min(least, used), spent+used
	}
	return r, least
}

// once is the CPU time of one launch.
func (m *machine) once(l *launcher, counted bool) (*driver.Result, time.Duration) {
	if m.err == nil {
		m.err = m.ctx.Err()
	}
	runtime.GC() // garbage of what came before is not this launch's
	if l.reset != nil && m.err == nil {
		l.reset()
	}
	start := cpuTime()
	result := m.run(l, counted)
	return result, cpuTime() - start
}

// counting is the CPU time with counters against that without, taken by turns: what else the machine does slows both.
func (m *machine) counting(l *launcher, row *Row, spend time.Duration) {
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	spent := time.Duration(0)
	for n := 0; n < leastRuns || n < mostRuns && spent < 2*spend; n++ {
		for k := range least {
			_, used := m.once(l, k == 1)
			if m.err != nil {
				return
			}
			least[k], spent = min(least[k], used), spent+used
		}
	}
	row.Counting = least[1].Seconds() / max(least[0].Seconds(), 1e-9)
	row.CountingReached = row.Counting <= countingLimit
}

// twoCores is the time on the clock with one core against that with two, taken by turns: what else the machine does slows
// both, and only raises the least.
func (m *machine) twoCores(l *launcher, row *Row, spend time.Duration) {
	if runtime.NumCPU() < 2 {
		return
	}
	defer runtime.GOMAXPROCS(1)
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	spent := time.Duration(0)
	for n := 0; n < leastRuns || n < mostRuns && spent < 2*spend; n++ {
		for k := range least {
			runtime.GOMAXPROCS(k + 1)
			start := time.Now()
			m.run(l, true)
			used := time.Since(start)
			least[k], spent = min(least[k], used), spent+used
			if m.err != nil {
				return
			}
		}
	}
	row.TwoCores = least[0].Seconds() / least[1].Seconds()
	row.TwoCoresReached = row.TwoCores >= coresLimit
}
