package notebook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"memwall/kernel"
)

// Options of Run.
type Options struct {
	Progress    func(Progress) // called at the start and the end of each cell; may be nil
	AllowErrors bool           // go on after a cell that fails
	StripCounts bool           // leave no execution counts
	OutputDir   string         // where what cells print beyond 16 MiB is kept; empty: the system's temporary directory
}

// Progress is where a run is.
type Progress struct {
	Cell, Cells int // 1-based, of the cells that run
	Line        string
	Done        bool
	Elapsed     time.Duration // of the cell, when done
	Failed      string        // the error of a cell that failed
}

// String is one line: "cell 3/14: w := dev.Randn(gpu.F16, 4096, 4096)", then "cell 3/14: 1.2 s".
func (p Progress) String() string {
	where := fmt.Sprintf("cell %d/%d: ", p.Cell, p.Cells)
	if !p.Done {
		return where + p.Line
	}
	took := fmt.Sprintf("%.1f s", p.Elapsed.Seconds())
	if p.Failed != "" {
		return where + took + ", failed: " + p.Failed
	}
	return where + took
}

// CellError is a cell that failed; its text is one line, Traceback what the notebook shows.
type CellError struct {
	Cell, Cells int
	Name, Value string
	Traceback   []string
}

func (e *CellError) Error() string {
	s := fmt.Sprintf("cell %d of %d: %s", e.Cell, e.Cells, e.Name)
	if e.Value != "" {
		s += ": " + e.Value
	}
	return s
}

// FailedCells is the error of a run with AllowErrors in which cells failed.
type FailedCells struct {
	Failed []*CellError
	Cells  int
}

func (e *FailedCells) Error() string {
	numbers := make([]string, len(e.Failed))
	for i, f := range e.Failed {
		numbers[i] = fmt.Sprint(f.Cell)
	}
	word := "cells"
	if len(e.Failed) == 1 {
		word = "cell"
	}
	return fmt.Sprintf("%d of %d cells failed: %s %s", len(e.Failed), e.Cells, word, strings.Join(numbers, ", "))
}

// Run executes the code cells in order and puts what they show in their outputs. It stops at the first cell that fails, with
// a *CellError, unless the cell has the tag raises-exception or errors are allowed; then a *FailedCells at the end says how
// many failed. When ctx ends, the running cell is stopped and the error wraps ctx's. Outputs of cells that did not run are
// removed, so that no saved notebook shows what this run did not produce.
func Run(ctx context.Context, nb *Notebook, evaluator kernel.Evaluator, o Options) error {
	r := &runner{nb: nb, evaluator: evaluator, o: o, displays: newDisplays(), cells: nb.CodeCells()}
	for _, c := range nb.Cells {
		if c.Type == Code && !c.HasTag("skip-execution") {
			c.Outputs, c.ExecutionCount = nil, 0
		}
	}
	err := r.all(ctx)
	for _, c := range r.collectors {
		c.finish() // what goroutines have printed since the cell's end
	}
	r.displays.close()
	for _, c := range nb.Cells {
		settle(c)
	}
	if o.StripCounts {
		nb.StripCounts()
	}
	return err
}

type runner struct {
	nb        *Notebook
	evaluator kernel.Evaluator
	o         Options
	displays  *displays
	cells     int
	failed    []*CellError

	collectors []*collector
}

func (r *runner) all(ctx context.Context) error {
	n := 0
	for _, c := range r.nb.Cells {
		if !c.runs() {
			continue
		}
		n++
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped before cell %d of %d: %w", n, r.cells, err)
		}
		if err := r.cell(ctx, c, n); err != nil {
			return err
		}
	}
	if len(r.failed) > 0 {
		return &FailedCells{Failed: r.failed, Cells: r.cells}
	}
	return nil
}

func (r *runner) cell(ctx context.Context, c *Cell, n int) error {
	p := Progress{Cell: n, Cells: r.cells, Line: firstLine(c.Source)}
	r.report(p)
	start := time.Now()
	c.ExecutionCount = n
	out := &collector{cell: c, count: n, dir: r.o.OutputDir, displays: r.displays}
	r.collectors = append(r.collectors, out)
	result := r.evaluator.Execute(ctx, kernel.Request{Code: c.Source, Count: n, StoreHistory: true}, out)
	p.Done, p.Elapsed = true, time.Since(start)
	out.pages(result.Payload)
	failure := result.Error
	if failure != nil {
		out.error(failure)
		p.Failed = failure.Name
		if failure.Value != "" {
			p.Failed += ": " + firstLine(failure.Value)
		}
	}
	out.finish()
	r.report(p)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stopped in cell %d of %d: %w", n, r.cells, err)
	}
	if failure == nil || c.HasTag("raises-exception") {
		return nil
	}
	e := &CellError{Cell: n, Cells: r.cells, Name: failure.Name, Value: failure.Value, Traceback: failure.Traceback}
	if !r.o.AllowErrors {
		return e
	}
	r.failed = append(r.failed, e)
	return nil
}

func (r *runner) report(p Progress) {
	if r.o.Progress != nil {
		r.o.Progress(p)
	}
}

// firstLine is the first line that says something, cut to 60 characters.
func firstLine(s string) string {
	for _, line := range strings.Split(s, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > 60 {
			line = string([]rune(line)[:59]) + "…"
		}
		return line
	}
	return ""
}

// errNoUser answers a cell that asks for input.
var errNoUser = errors.New("the cell asks for input, but a notebook that runs without Jupyter has nobody to ask\nput the value into a variable, or run the notebook with `memwall lab`")
