package rt

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe" // also for go:linkname
)

// Write receives what a cell prints through fmt.Print…, print, println, and fmt.Fprint… to os.Stdout or os.Stderr.
// cell is the number of the cell whose statements, directly or not, started the calling goroutine. Nil: the file itself.
var Write func(cell int, stderr bool, p []byte) (int, error)

// Panic is told of a panic that ends a goroutine which a cell started. Nil: the panic goes on and ends the process, as it
// would a compiled program.
var Panic func(cell int, value any, f Failure)

// A task is one cell's run as its goroutines see it. Goroutines carry it by their profiler labels, which the Go runtime
// copies to each goroutine that they start, also inside compiled packages.
type task struct {
	cell       int
	done       chan struct{} // closed when the cell is interrupted
	once       sync.Once
	goroutines atomic.Int64
	raised     raised
	postponed  postponed
	labels     context.Context
	place      atomic.Pointer[int] // where the cell's own statements are
}

var (
	tasks   sync.Map // address of a label set → *task
	running atomic.Pointer[task]
	idle    = &task{done: make(chan struct{})}
)

//go:linkname profilerLabels runtime/pprof.runtime_getProfLabel
func profilerLabels() unsafe.Pointer

// BeginCell makes the calling goroutine, and those that it starts from now on, belong to cell n until EndCell.
func BeginCell(n int) {
	t := &task{cell: n, done: make(chan struct{})}
	t.labels = pprof.WithLabels(context.Background(), pprof.Labels("cell", strconv.Itoa(n)))
	pprof.SetGoroutineLabels(t.labels)
	tasks.Store(profilerLabels(), t)
	running.Store(t)
}

// ContinueCell makes the calling goroutine belong to cell n, which began last and has ended: what shows its value does.
func ContinueCell(n int) {
	if t := running.Load(); t != nil && t.cell == n {
		pprof.SetGoroutineLabels(t.labels)
		return
	}
	BeginCell(n)
}

// EndCell ends the calling goroutine's part in its cell; goroutines that it started still belong to the cell.
func EndCell() {
	pprof.SetGoroutineLabels(context.Background())
}

// Interrupt wakes what cell n blocks on inside the run time: channel operations of select statements, and sleeps.
func Interrupt(n int) {
	tasks.Range(func(_, v any) bool {
		if t := v.(*task); t.cell == n {
			t.once.Do(func() { close(t.done) })
		}
		return true
	})
}

// Goroutines is the number of goroutines that cell n started with go statements and that have not ended.
func Goroutines(n int) int {
	k := 0
	tasks.Range(func(_, v any) bool {
		if t := v.(*task); t.cell == n {
			k += int(t.goroutines.Load())
		}
		return true
	})
	return k
}

// current is the task that the calling goroutine belongs to; outside of all cells it is the one that began last.
func current() *task {
	if l := profilerLabels(); l != nil {
		if t, ok := tasks.Load(l); ok {
			return t.(*task)
		}
	}
	if t := running.Load(); t != nil {
		return t
	}
	return idle
}

// Place says where a cell's statements note the positions of their calls.
func Place(p *int) { current().place.Store(p) }

// Cell is the number of the cell that the calling goroutine belongs to, 0 before the first.
func Cell() int { return current().cell }

// A stream is a cell's standard output or standard error.
type stream bool

func (stderr stream) Write(p []byte) (int, error) {
	if w := Write; w != nil {
		return w(Cell(), bool(stderr), p)
	}
	if stderr {
		return os.Stderr.Write(p)
	}
	return os.Stdout.Write(p)
}
