package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Workload is what Bench runs, in the kernel's language.
type Workload struct {
	Trivial  string // a cell that computes next to nothing
	Lines    string // a cell that prints PrintedLines lines, each begun by its number in eight digits
	Complete string // code whose end is completed
	Loop     string // a cell that never ends
}

// PrintedLines is the number of lines that a Workload's Lines prints.
const PrintedLines = 100_000

// Workloads in the languages that are compared.
var (
	GoWorkload = Workload{
		Trivial:  "1 + 1",
		Lines:    `for i := 0; i < 100000; i++ { fmt.Printf("%08d xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", i) }`,
		Complete: "fmt.Pri",
		Loop:     "for { }",
	}
	PythonWorkload = Workload{
		Trivial:  "1 + 1",
		Lines:    `for i in range(100000): print("%08d xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" % i)`,
		Complete: "pri",
		Loop:     "while True: pass",
	}
)

// BenchOptions says how much is measured; zero fields take the defaults.
type BenchOptions struct {
	Starts     int       // kernels started, default 5
	Cells      int       // trivial cells, default 1000, after 50 that are not counted
	Interrupts int       // default 5
	Stderr     io.Writer // where the kernel's own messages go
	Env        []string
}

// Times summarises durations by the client's clock.
type Times struct {
	N                int
	Median, P99, Max time.Duration
}

// Figures is what Bench measured. All are MEASURED, by the client's clock.
type Figures struct {
	KernelInfo  Times // process start → kernel_info_reply
	FirstResult Times // process start → reply and idle of the first cell, sent without waiting for anything
	Reply       Times // trivial cell → execute_reply
	Idle        Times // trivial cell → both execute_reply and idle
	Lines       time.Duration
	LineChunks  int // stream messages that the printed lines came in
	Completion  Times
	Interrupt   Times // interrupt_request → reply and idle of an endless loop
	Shutdown    time.Duration
	PSS         int64 // bytes of the kernel and its descendants after start and first cell; 0 where the system does not say
}

// Bench measures a kernel that is started by argv (a kernelspec's, with {connection_file}). The time limit is ctx's. After a
// step that fails it goes on with the next; the error tells of all that failed, and their figures stay zero.
func Bench(ctx context.Context, argv []string, w Workload, o BenchOptions) (Figures, error) {
	o.Starts, o.Cells, o.Interrupts = orDefault(o.Starts, 5), orDefault(o.Cells, 1000), orDefault(o.Interrupts, 5)
	var f Figures
	if err := benchStarts(ctx, argv, w, o, &f); err != nil {
		return f, fmt.Errorf("start: %w", err)
	}
	p, err := Start(ctx, argv, StartOptions{Env: o.Env, Stderr: o.Stderr})
	if err != nil {
		return f, fmt.Errorf("start: %w", err)
	}
	defer p.Kill()
	var failed []error
	for _, step := range []struct {
		name string
		run  func(context.Context, *Process, Workload, BenchOptions, *Figures) error
	}{{"trivial cell", benchCells}, {"printed lines", benchLines}, {"completion", benchComplete}, {"interrupt", benchInterrupt}} {
		if err := step.run(ctx, p, w, o, &f); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", step.name, err))
		}
	}
	if f.Shutdown, err = p.Shutdown(ctx); err != nil {
		failed = append(failed, fmt.Errorf("shutdown: %w", err))
	}
	return f, errors.Join(failed...)
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// benchStarts starts kernels, half of them to ask for kernel_info, half to run a cell at once.
func benchStarts(ctx context.Context, argv []string, w Workload, o BenchOptions, f *Figures) error {
	var info, first []time.Duration
	for range o.Starts {
		for _, ask := range []func(*Process) (time.Duration, error){
			func(p *Process) (time.Duration, error) {
				m, err := p.Request(ctx, Shell, "kernel_info_request", map[string]any{})
				if err != nil {
					return 0, err
				}
				info = append(info, m.At.Sub(p.Started))
				return info[len(info)-1], nil
			},
			func(p *Process) (time.Duration, error) {
				run, err := p.Execute(ctx, w.Trivial, nil)
				if err != nil {
					return 0, err
				}
				first = append(first, run.Sent.Add(run.Idle()).Sub(p.Started))
				f.PSS = max(f.PSS, treePSS(p.PID()))
				return first[len(first)-1], wantOK(run)
			},
		} {
			p, err := Start(ctx, argv, StartOptions{Env: o.Env, Stderr: o.Stderr})
			if err != nil {
				return err
			}
			_, err = ask(p)
			p.Kill()
			if err != nil {
				return err
			}
		}
	}
	f.KernelInfo, f.FirstResult = summarise(info), summarise(first)
	return nil
}

func benchCells(ctx context.Context, p *Process, w Workload, o BenchOptions, f *Figures) error {
	var reply, idle []time.Duration
	const warmUp = 50
	for i := range warmUp + o.Cells {
		run, err := p.Execute(ctx, w.Trivial, nil)
		if err == nil {
			err = wantOK(run)
		}
		if err != nil {
			return err
		}
		if i >= warmUp {
			reply = append(reply, run.Reply.At.Sub(run.Sent))
			idle = append(idle, run.Idle())
		}
	}
	f.Reply, f.Idle = summarise(reply), summarise(idle)
	return nil
}

func wantOK(run *Run) error {
	if status := run.Reply.Fields()["status"]; status != "ok" {
		return fmt.Errorf("reply is %s", run.Reply.Content)
	}
	return nil
}

// benchLines prints many lines and checks that each came, once, in order, before idle.
func benchLines(ctx context.Context, p *Process, w Workload, _ BenchOptions, f *Figures) error {
	run, err := p.Execute(ctx, w.Lines, nil)
	if err == nil {
		err = wantOK(run)
	}
	if err != nil {
		return err
	}
	f.Lines = run.Idle()
	for _, m := range run.Messages {
		if m.Type() == "stream" {
			f.LineChunks++
		}
	}
	return CheckLines(run.Text("stdout"), PrintedLines)
}

// CheckLines checks that text is so many lines, each begun by its number in eight digits.
func CheckLines(text string, lines int) error {
	n := 0
	for line := range strings.Lines(text) {
		if len(line) < 8 || !strings.HasSuffix(line, "\n") {
			return fmt.Errorf("line %d is cut: %q", n, line)
		}
		if got, err := strconv.Atoi(line[:8]); err != nil || got != n {
			return fmt.Errorf("line %d of the output begins with %q", n, line[:8])
		}
		n++
	}
	if n != lines {
		return fmt.Errorf("%d lines came, want %d", n, lines)
	}
	return nil
}

func benchComplete(ctx context.Context, p *Process, w Workload, _ BenchOptions, f *Figures) error {
	var took []time.Duration
	for i := range 110 {
		start := time.Now()
		m, err := p.Request(ctx, Shell, "complete_request", map[string]any{"code": w.Complete, "cursor_pos": len([]rune(w.Complete))})
		if err != nil {
			return err
		}
		var c struct{ Matches []string }
		if err := json.Unmarshal(m.Content, &c); err != nil || len(c.Matches) == 0 {
			return fmt.Errorf("%q has no completion: %s", w.Complete, m.Content)
		}
		if i >= 10 {
			took = append(took, m.At.Sub(start))
		}
	}
	f.Completion = summarise(took)
	return nil
}

func benchInterrupt(ctx context.Context, p *Process, w Workload, o BenchOptions, f *Figures) error {
	var took []time.Duration
	for range o.Interrupts {
		id, err := p.Send(Shell, "execute_request", map[string]any{"code": w.Loop, "stop_on_error": false})
		if err != nil {
			return err
		}
		time.Sleep(150 * time.Millisecond)
		start := time.Now()
		if _, err := p.Request(ctx, Control, "interrupt_request", map[string]any{}); err != nil {
			return err
		}
		run, err := p.Collect(ctx, id, start)
		if err != nil {
			return err
		}
		if status := run.Reply.Fields()["status"]; status != "error" {
			return fmt.Errorf("the interrupted cell's status is %v", status)
		}
		took = append(took, run.Idle())
	}
	f.Interrupt = summarise(took)
	return nil
}

func summarise(d []time.Duration) Times {
	if len(d) == 0 {
		return Times{}
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return Times{N: len(d), Median: d[len(d)/2], P99: d[min(len(d)-1, len(d)*99/100)], Max: d[len(d)-1]}
}

// String is a table of the figures, a line each, tagged.
func (f Figures) String() string {
	var b strings.Builder
	row := func(name string, t Times) {
		fmt.Fprintf(&b, "%-34s median %8.2f ms   p99 %8.2f ms   max %8.2f ms   n=%-5d MEASURED\n", name, ms(t.Median), ms(t.P99), ms(t.Max), t.N)
	}
	row("start → kernel_info_reply", f.KernelInfo)
	row("start → first result", f.FirstResult)
	row("trivial cell → reply", f.Reply)
	row("trivial cell → reply and idle", f.Idle)
	row("completion", f.Completion)
	row("interrupt → reply and idle", f.Interrupt)
	fmt.Fprintf(&b, "%-34s %8.2f ms in %d messages, all in order, before idle   MEASURED\n", strconv.Itoa(PrintedLines)+" printed lines", ms(f.Lines), f.LineChunks)
	fmt.Fprintf(&b, "%-34s %8.2f ms   MEASURED\n", "shutdown → process gone", ms(f.Shutdown))
	if f.PSS > 0 {
		fmt.Fprintf(&b, "%-34s %8.1f MB   MEASURED\n", "PSS of all processes", float64(f.PSS)/1e6)
	}
	return b.String()
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
