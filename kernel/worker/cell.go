package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"memwall/gpu"
	"memwall/kernel/cell/rt"
	"memwall/kernel/pipe"
	"memwall/kernel/worker/session"
)

// run runs one cell and ends it with Done, whatever happens in it.
func (w *worker) run(c *cell) {
	done := &pipe.Done{Cell: c.id}
	w.turn.Lock()
	func() {
		defer func() {
			if e := recover(); e != nil {
				done.Error = fault(e, debug.Stack())
			}
		}()
		w.execute(c, done)
	}()
	var s *stop
	if errors.As(context.Cause(c.ctx), &s) && s.name != "" {
		if s.name == stackOverflow {
			done.Kill = !w.shrinks()
		}
		if !done.Kill {
			debug.FreeOSMemory() // it was stopped for what it took: give that back before the next cell is looked at
		}
	}
	w.stdin.endCell(c.ctx.Err() != nil)
	w.tellNames()
	w.running.CompareAndSwap(c, nil)
	c.end(nil)
	w.turn.Unlock()
	if done.Error != nil {
		clip(done.Error)
	}
	if err := w.port.SendInOrder(func(mark uint64) pipe.Message { done.Mark = mark; return done }); err != nil {
		less := &pipe.Done{Cell: c.id, Kill: done.Kill, Error: plainError("ReplyTooLarge", "what the cell answers cannot be sent: "+err.Error())}
		w.port.SendInOrder(func(mark uint64) pipe.Message { less.Mark = mark; return less })
	}
	w.pace()
}

// pace sets the collector between cells.
func (w *worker) pace() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pacer.adjust()
}

// mostError is how many characters of an error's text are sent, and of each part of its traceback.
const mostError = 20000

// clip cuts an error's texts: a panic may carry megabytes.
func clip(e *pipe.Error) {
	e.Name, e.Value = cutTo(mostError, e.Name), cutTo(mostError, e.Value)
	e.Traceback = slices.Clone(e.Traceback)
	for i, t := range e.Traceback {
		e.Traceback[i] = cutTo(mostError, t)
	}
}

// fault is an error that is memwall's own; its stack is for those who mend it, so it goes to a file.
func fault(e any, stack []byte) *pipe.Error {
	text := fmt.Sprint("the worker met a fault of its own: ", e)
	file, err := os.CreateTemp("", "memwall-fault-*.txt")
	if err == nil {
		_, err = fmt.Fprintf(file, "%s\n%s", text, stack)
		err = errors.Join(err, file.Close())
	}
	traceback := []string{"WorkerFault: " + text}
	if err == nil {
		traceback = append(traceback, "the stack is in "+file.Name())
	}
	return &pipe.Error{Name: "WorkerFault", Value: text, Traceback: traceback}
}

func (w *worker) execute(c *cell, done *pipe.Done) {
	order := parse(c.Code)
	if order.failure != nil {
		done.Error = order.failure
		return
	}
	timer := startTimer(order.timed)
	for _, m := range order.magics {
		if done.Error = w.magic(c, m); done.Error != nil {
			return
		}
	}
	if order.page != "" {
		done.Payload, done.Error = w.page(c.ctx, order.page, order.detail)
		return
	}
	switch {
	case order.foreign != "":
		done.Error = w.compile(c, order)
	case strings.TrimSpace(order.code) != "":
		done.Error = w.evaluate(c, order)
	}
	timer.print(w, c)
	if done.Error == nil && len(c.Expressions) > 0 {
		done.Expressions = w.expressions(c)
	}
}

// sanitized is set by `memwall sanitize`: the launches of every cell are checked.
var sanitized = os.Getenv(gpu.EnvironmentSanitize) != ""

// usesDevice finds the packages and the variable through which a cell may reach the device.
var usesDevice = regexp.MustCompile(`\b(dev|gpu|kernels|exercise|llm)\b`)

// writesItself finds cells that may write to the descriptors themselves, past the prints that are gathered; printsTo is
// what they may do with them and still be prints.
var (
	writesItself = regexp.MustCompile(`\b(Stdout|Stderr|NewFile|flag)\b|/dev/|/proc/`)
	printsTo     = regexp.MustCompile(`\bFprint(ln|f)?\(\s*\w+\.Std(out|err)\b`)
)

// evaluate runs the Go code of a cell and shows its value and its launches.
func (w *worker) evaluate(c *cell, o order) *pipe.Error {
	code := o.code
	if w.dev == nil && usesDevice.MatchString(code) {
		if err := w.device(); err != nil {
			return plainError("gpu.Error", err.Error())
		}
	}
	if rest := printsTo.ReplaceAllString(code, ""); writesItself.MatchString(rest) {
		w.port.Unbuffered(strings.Contains(rest, "Stderr"))
	}
	w.restore()
	w.stdin.beginCell(c)
	watched := w.watch(c)
	gpu.BeginCell(c.ctx, c.Count)
	if o.checked || sanitized {
		gpu.SanitizeCell()
	}
	out := w.session.Run(c.ctx, c.Count, code)
	watched()
	if c.ctx.Err() != nil {
		rt.Interrupt(c.Count)
	}
	var values []map[string]any
	failure := cellError(c.ctx, out.Err)
	if failure != nil && (failure.Name == "SyntaxError" || failure.Name == "CompileError") && strings.HasPrefix(strings.TrimSpace(code), "!") {
		failure.Traceback = append(slices.Clone(failure.Traceback), "a cell is Go, not a shell: exec.Command(\"ls\", \"-l\").CombinedOutput() runs a command")
	}
	if out.HasValue && failure == nil && !c.Silent {
		values, failure = w.valuesOf(c, out)
	}
	// Rendering a report marks its launches as shown, so the cards come after it and are sent before it.
	var shown []error
	if out.Err != nil {
		if e := deviceError(out.Err.Cause); e != nil {
			shown = append(shown, e)
		}
	}
	for _, card := range gpu.EndCell(shown...) {
		if b := card.MIMEBundle(); b != nil && !c.Silent {
			w.show(c, pipe.ShowDisplay, b, "")
		}
	}
	for _, b := range values {
		w.show(c, pipe.ShowValue, b, "")
	}
	return failure
}

// valuesOf renders the cell's value, by methods of the cell's types where they have such; an interrupt ends them.
func (w *worker) valuesOf(c *cell, out session.Outcome) (bundles []map[string]any, failure *pipe.Error) {
	type rendered struct {
		bundles []map[string]any
		failure *pipe.Error
	}
	done := make(chan rendered, 1)
	ended := w.session.During(c.ctx, c.Count, func() {
		b, f := w.render(c, out)
		done <- rendered{b, f}
	})
	if !ended || c.ctx.Err() != nil {
		return nil, cellError(c.ctx, &session.Error{Name: "Interrupted", Value: "the cell was interrupted", Traceback: []string{"Interrupted: the cell was interrupted while its value was shown"}})
	}
	r := <-done
	return r.bundles, r.failure
}

// render makes what the cell's value shows; a method of a cell's type may panic in it.
func (w *worker) render(c *cell, out session.Outcome) (bundles []map[string]any, failure *pipe.Error) {
	defer func() {
		if e := recover(); e != nil {
			bundles, failure = nil, plainError("Panic", "while the cell's value was shown: "+rt.Explain(e).Text)
		}
	}()
	if b := w.bundle(c.Count, out.Values, out.Types); b != nil {
		bundles = append(bundles, b)
	}
	return bundles, nil
}

// cellError is the error that the notebook shows: why the cell was stopped from outside, or what it failed with.
func cellError(ctx context.Context, e *session.Error) *pipe.Error {
	if e == nil {
		return nil
	}
	var s *stop
	if errors.As(context.Cause(ctx), &s) && s.name != "" {
		if s.traceback != nil {
			return &pipe.Error{Name: s.name, Value: s.reason, Traceback: s.traceback}
		}
		stopped := plainError(s.name, s.reason)
		if e.Name == "Interrupted" && len(e.Traceback) > 1 {
			stopped.Traceback = append(stopped.Traceback, e.Traceback[1:]...) // where it was
		}
		return stopped
	}
	name, traceback := e.Name, e.Traceback
	if deviceError(e.Cause) != nil && (name == "Error" || name == "Panic") {
		if name == "Panic" && len(traceback) > 0 { // to the user it is an error like those that are returned
			traceback = slices.Clone(traceback)
			traceback[0] = strings.Replace(strings.Replace(traceback[0], "panic in a goroutine: ", "in a goroutine: ", 1), "panic: ", "", 1)
		}
		name = "gpu.Error"
	}
	return &pipe.Error{Name: name, Value: e.Value, Traceback: traceback}
}

// deviceError is the error of package gpu that a cell's error is or wraps, nil when there is none. Unwrap may be the cell's
// own: it may panic, or lead round in a circle.
func deviceError(err error) (found *gpu.Error) {
	defer func() { recover() }()
	rest := []error{err}
	for range 100 {
		if len(rest) == 0 {
			return nil
		}
		err, rest = rest[0], rest[1:]
		switch e := err.(type) {
		case *gpu.Error:
			return e
		case interface{ Unwrap() []error }:
			rest = append(rest, e.Unwrap()...)
		case interface{ Unwrap() error }:
			rest = append(rest, e.Unwrap())
		}
	}
	return nil
}

func plainError(name, value string) *pipe.Error {
	return &pipe.Error{Name: name, Value: value, Traceback: strings.Split(name+": "+value, "\n")}
}

// expressions evaluates a client's user_expressions, each with its own error.
func (w *worker) expressions(c *cell) map[string]any {
	answers := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(c.Expressions)) {
		out := w.session.Eval(c.ctx, c.Expressions[key])
		failure := cellError(c.ctx, out.Err)
		var b map[string]any
		if failure == nil {
			var bundles []map[string]any
			if bundles, failure = w.valuesOf(c, out); len(bundles) > 0 {
				b = bundles[0]
			}
		}
		if failure != nil {
			answers[key] = map[string]any{"status": "error", "ename": failure.Name, "evalue": failure.Value, "traceback": failure.Traceback}
			continue
		}
		if b == nil {
			b = map[string]any{}
		}
		answers[key] = map[string]any{"status": "ok", "data": b, "metadata": map[string]any{}}
	}
	return answers
}

// tellNames tells the kernel what the session holds, when that has changed.
func (w *worker) tellNames() {
	var names []pipe.Name
	for _, n := range w.session.Names() {
		if n.Cell == 0 {
			continue // dev, which a fresh worker has too
		}
		names = append(names, pipe.Name{Name: n.Name, Kind: n.Kind, Cell: n.Cell})
	}
	if slices.Equal(names, w.names) {
		return
	}
	w.names = names
	w.port.Send(&pipe.Names{Names: names})
}

// goroutinePanic reports a panic that ends a goroutine of a cell. The cell, if it still runs, ends with it: as a program it
// would have ended, and it may wait for that goroutine.
func (w *worker) goroutinePanic(count int, value any, f rt.Failure) {
	if _, ok := value.(rt.Interrupted); ok {
		return
	}
	e := cellError(context.Background(), w.session.GoroutinePanic(value, f))
	if c := w.running.Load(); c != nil && c.Count == count {
		c.stop(&stop{e.Name, e.Value, e.Traceback})
		return
	}
	w.write(count, true, []byte(strings.Join(e.Traceback, "\n")+"\n"))
}
