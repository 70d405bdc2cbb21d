// Package worker is the process that runs cells: it holds the session (interpreter and variables) and the GPU device, and
// talks to the Jupyter kernel over the pipes of package pipe. It may die without the kernel dying.
//
// worker.go reads messages, cell.go runs one cell, output.go carries prints and displays, value.go makes what a value
// shows, stdin.go asks the user, watch.go looks after stack and memory, magic.go has the magics.
package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"memwall/gpu"
	code "memwall/kernel/cell"
	"memwall/kernel/cell/rt"
	"memwall/kernel/display"
	"memwall/kernel/pipe"
	"memwall/kernel/worker/session"
)

// maxStack ends a compiled function that calls itself without end; interpreted ones are stopped earlier (watch.go).
const maxStack = 512 << 20

// A language runs cells and knows their names: session.Session; tests have another.
type language interface {
	Run(ctx context.Context, cell int, code string) session.Outcome
	Eval(ctx context.Context, code string) session.Outcome
	Predeclare(name string, pointer any) error
	Complete(code string, cursor int) (matches, types, signatures []string, start, end int)
	Inspect(code string, cursor, detail int) (d description, found bool)
	IsComplete(code string) (status, indent string)
	Names() []session.Name
	Reset() error
	Ended() bool
	During(ctx context.Context, cell int, f func()) (ended bool)
	GoroutinePanic(value any, f rt.Failure) *session.Error
}

type description = code.Description

// A worker is this process.
type worker struct {
	conn    *pipe.Conn
	shared  *pipe.Prints // for prints; nil: none
	port    *pipe.Port
	session language
	dev     *gpu.Device // what cells see as dev; nil until a cell needs it
	stdin   *stdin

	stdout, stderr *os.File    // ways of our own to what descriptors 1 and 2 are, whatever cells do to these
	standard       [2]*os.File // what os.Stdout and os.Stderr are unless a cell sets them to something else

	running atomic.Pointer[cell]
	mu      sync.Mutex
	cells   map[int]uint64 // by execution count: serial number
	names   []pipe.Name    // as the kernel knows them

	pacer pacer
	turn  sync.Mutex // held by the cell that runs, and by what reads a variable between cells

	watchMemory bool
	memoryLimit uint64
}

// Main is the command "memwall worker": it serves the kernel that has started it and returns an exit status.
func Main() int {
	return serve(func() (language, error) { return session.New() })
}

func serve(newSession func() (language, error)) int {
	conn, shared, err := pipe.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "memwall worker:", err)
		return 2
	}
	debug.SetMaxStack(maxStack)
	w := &worker{conn: conn, shared: shared, standard: [2]*os.File{os.Stdout, os.Stderr}, cells: map[int]uint64{}}
	var err1, err2 error
	w.stdout, err1 = duplicate(os.Stdout)
	w.stderr, err2 = duplicate(os.Stderr)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Fprintln(os.Stderr, "memwall worker: standard output:", err)
		return 2
	}
	first, err := conn.Receive()
	start, ok := first.(*pipe.Start)
	if !ok {
		fmt.Fprintf(os.Stderr, "memwall worker: the first message is %T (%v), not a start\n", first, err)
		return 2
	}
	w.begin(start)
	if err := w.open(newSession); err != nil {
		fmt.Fprintln(os.Stderr, "memwall worker:", err)
		return 2
	}
	w.port.Send(&pipe.Ready{PID: os.Getpid()})
	w.listen()
	gpu.CloseAll()
	return 0
}

// begin sets up what the first message asks for.
func (w *worker) begin(m *pipe.Start) {
	w.port = pipe.NewPort(w.conn, m.Nonce, w.stdout, w.stderr, w.shared)
	w.watchMemory, w.memoryLimit = m.WatchMemory, m.MemoryLimit
	if m.MemoryLimit > 0 {
		// Collect garbage harder before a cell is stopped for its memory.
		debug.SetMemoryLimit(int64(m.MemoryLimit - m.MemoryLimit/16))
	}
}

// open makes the session.
func (w *worker) open(newSession func() (language, error)) (err error) {
	w.hook()
	if w.stdin, err = newStdin(w); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if w.session, err = newSession(); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return w.session.Predeclare("dev", &w.dev)
}

// hook directs what cells print and show to this worker.
func (w *worker) hook() {
	rt.Write = w.write
	rt.Panic = w.goroutinePanic
	display.SetPublisher(publisher{w})
	hookLog(w)
}

// listen handles messages until the kernel is gone or says so.
func (w *worker) listen() {
	for {
		m, err := w.conn.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pipe.Execute:
			c := newCell(m)
			w.running.Store(c)
			w.mu.Lock()
			w.cells[m.Count] = m.Cell
			w.mu.Unlock()
			go w.run(c)
		case *pipe.Interrupt:
			if c := w.running.Load(); c != nil && c.id == m.Cell {
				if m.Name == "" {
					c.end(nil) // the user's interrupt needs no reason
				} else {
					c.stop(&stop{name: m.Name, reason: m.Reason})
				}
			}
		case *pipe.InputReply:
			w.stdin.reply(m)
		case *pipe.Complete:
			go w.answer(m.ID, func() pipe.Message { return w.complete(m) }, &pipe.Completion{ID: m.ID, Start: m.Cursor, End: m.Cursor})
		case *pipe.Inspect:
			go w.answer(m.ID, func() pipe.Message {
				b, found := w.inspect(m.Code, m.Cursor, m.Detail)
				return &pipe.Inspection{ID: m.ID, Found: found, Bundle: b}
			}, &pipe.Inspection{ID: m.ID})
		case *pipe.IsComplete:
			go w.answer(m.ID, func() pipe.Message { return w.isComplete(m) }, &pipe.Completeness{ID: m.ID, Status: "unknown"})
		case *pipe.CommIn:
			w.port.Send(&pipe.CommHandled{ID: m.ID}) // no comm target is ours
		case *pipe.Shutdown:
			return
		}
	}
}

// answer sends what f returns, or the fallback when f panics: a fault in completion must not take the session with it.
func (w *worker) answer(id uint64, f func() pipe.Message, fallback pipe.Message) {
	m := fallback
	func() {
		defer func() {
			if e := recover(); e != nil {
				m = fallback
			}
		}()
		m = f()
	}()
	w.port.Send(m)
}

// device opens the default device when the first cell needs it, so that a session without one starts sooner.
func (w *worker) device() error {
	if w.dev != nil {
		return nil
	}
	d, err := gpu.OpenDefault()
	if err != nil {
		return err
	}
	w.dev = d
	return nil
}

// A cell is one running cell.
type cell struct {
	*pipe.Execute
	id  uint64
	ctx context.Context
	end context.CancelCauseFunc
}

func newCell(m *pipe.Execute) *cell {
	ctx, end := context.WithCancelCause(context.Background())
	return &cell{Execute: m, id: m.Cell, ctx: ctx, end: end}
}

// A stop is why a cell is stopped from outside: by the user, or because it takes too much.
type stop struct {
	name, reason string
	traceback    []string // nil: name and reason
}

func (s *stop) Error() string { return s.reason }

func (c *cell) stop(s *stop) { c.end(s) }
