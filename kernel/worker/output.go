package worker

import (
	"errors"
	"log"
	"os"

	"memwall/kernel/cell/rt"
	"memwall/kernel/display"
	"memwall/kernel/pipe"
)

// write takes what a goroutine of a cell prints. While the cell runs it goes to the descriptor, unbuffered, so that it is
// there if the process dies; afterwards it goes as a message that names the cell.
func (w *worker) write(count int, stderr bool, p []byte) (int, error) {
	file, own := os.Stdout, w.standard[0]
	if stderr {
		file, own = os.Stderr, w.standard[1]
	}
	if file != own { // the cell has set os.Stdout to a file or pipe of its own
		return file.Write(p)
	}
	if w.isRunning(count) {
		return w.port.Print(stderr, p)
	}
	w.mu.Lock()
	id := w.cells[count]
	w.mu.Unlock()
	name := "stdout"
	if stderr {
		name = "stderr"
	}
	for rest := p; len(rest) > 0; { // a message has a limit, a print has none
		n := min(len(rest), 1<<20)
		if err := w.port.Send(&pipe.Late{Cell: id, Stream: name, Text: string(rest[:n])}); err != nil {
			return len(p) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// restore makes os.Stdout, os.Stderr and package log's output good again where the last cell has closed them or set them to
// nil or to a file that is closed. What a cell has set to a file that is open, a pipe say, stays as it is.
func (w *worker) restore() {
	closed := func(f *os.File) bool {
		_, err := f.Stat() // of nil: os.ErrInvalid
		return errors.Is(err, os.ErrClosed) || errors.Is(err, os.ErrInvalid)
	}
	for i, f := range []**os.File{&os.Stdout, &os.Stderr} {
		if !closed(*f) {
			continue
		}
		if closed(w.standard[i]) {
			again, err := reopen([]*os.File{w.stdout, w.stderr}[i], i+1)
			if err != nil {
				continue
			}
			w.standard[i] = again
		}
		*f = w.standard[i]
	}
	switch out := log.Writer().(type) {
	case nil:
		hookLog(w)
	case *os.File:
		if closed(out) {
			hookLog(w)
		}
	}
}

// isRunning says whether the cell with this execution count is the running one; 0 stands for whatever runs.
func (w *worker) isRunning(count int) bool {
	c := w.running.Load()
	return c != nil && (count == 0 || c.Count == count)
}

// hookLog sends what package log prints the same way.
func hookLog(w *worker) { log.SetOutput(logWriter{w}) }

type logWriter struct{ w *worker }

func (l logWriter) Write(p []byte) (int, error) { return l.w.write(rt.Cell(), true, p) }

// show sends a bundle in order with what is printed.
func (w *worker) show(c *cell, what pipe.ShowKind, bundle map[string]any, id string) {
	err := w.port.SendInOrder(func(mark uint64) pipe.Message {
		return &pipe.Show{Cell: c.id, Mark: mark, What: what, Bundle: bundle, ID: id}
	})
	if err != nil {
		w.port.Print(true, []byte("display: "+err.Error()+"\n"))
	}
}

// publisher is where package display sends what cells show.
type publisher struct{ w *worker }

var _ display.Publisher = publisher{}

func (p publisher) Cell() int { return rt.Cell() }

func (p publisher) Display(b map[string]any, id string) { p.send(pipe.ShowDisplay, b, id, false) }
func (p publisher) Update(b map[string]any, id string)  { p.send(pipe.ShowUpdate, b, id, false) }
func (p publisher) Clear(wait bool)                     { p.send(pipe.ShowClear, nil, "", wait) }

func (p publisher) Render(v any) map[string]any {
	return p.w.bundle(-1, []any{v}, []string{""})
}

// send shows something for the cell that the calling goroutine belongs to, also when that has ended.
func (p publisher) send(what pipe.ShowKind, b map[string]any, id string, wait bool) {
	count := rt.Cell()
	m := &pipe.Show{What: what, Bundle: b, ID: id, Wait: wait}
	if c := p.w.running.Load(); c != nil && (count == 0 || c.Count == count) {
		m.Cell = c.id
		err := p.w.port.SendInOrder(func(mark uint64) pipe.Message { m.Mark = mark; return m })
		if err != nil {
			p.w.port.Print(true, []byte("display: "+err.Error()+"\n"))
		}
		return
	}
	p.w.mu.Lock()
	m.Cell = p.w.cells[count]
	p.w.mu.Unlock()
	p.w.port.Send(m)
}
