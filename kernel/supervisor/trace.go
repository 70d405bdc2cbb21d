package supervisor

import (
	"bytes"
	"sync"
	"time"
)

// When Go code dies, the runtime writes the reason and its goroutines to descriptor 2. Most of it is the interpreter's
// business, so the filter holds back what looks like such a trace: if the process dies it becomes part of the report, if
// not it is an ordinary print and goes on its way.

// traceStarts begin a line with which a Go program announces its end.
var traceStarts = [][]byte{
	[]byte("fatal error: "),
	[]byte("panic: "),
	[]byte("runtime: goroutine stack exceeds"),
	[]byte("runtime: out of memory"),
	[]byte("unexpected fault address"),
	[]byte("SIGSEGV: "), []byte("SIGBUS: "), []byte("SIGABRT: "), []byte("SIGILL: "), []byte("SIGFPE: "), []byte("SIGTRAP: "),
	[]byte("runtime: program exceeds"),
}

const (
	traceKeep = 16 << 20               // bytes; what prints more is no trace
	traceHold = 400 * time.Millisecond // a dying process needs less from the first line to its end
)

type traceFilter struct {
	out func([]byte)

	mu      sync.Mutex
	lineEnd bool // the last byte that went out ended a line
	held    []byte
	timer   *time.Timer
}

func newTraceFilter(out func([]byte)) *traceFilter { return &traceFilter{out: out, lineEnd: true} }

func (f *traceFilter) write(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		i := f.find(b)
		f.emit(b[:i])
		if i == len(b) {
			return
		}
		b = b[i:]
		f.held = []byte{}
		f.timer = time.AfterFunc(traceHold, f.release)
	}
	f.held = append(f.held, b...)
	if len(f.held) > traceKeep {
		f.let()
	}
}

// find is where a trace begins in b, its length where none does.
func (f *traceFilter) find(b []byte) int {
	best := len(b)
	for _, s := range traceStarts {
		for from := 0; from < best; {
			i := bytes.Index(b[from:best], s)
			if i < 0 {
				break
			}
			i += from
			if i == 0 && f.lineEnd || i > 0 && b[i-1] == '\n' {
				best = i
				break
			}
			from = i + 1
		}
	}
	return best
}

func (f *traceFilter) emit(b []byte) {
	if len(b) > 0 {
		f.out(b)
		f.lineEnd = b[len(b)-1] == '\n'
	}
}

// release lets what is held go on: the process lives.
func (f *traceFilter) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.let()
}

func (f *traceFilter) let() {
	if f.held != nil {
		f.timer.Stop()
		b := f.held
		f.held = nil
		f.emit(b)
	}
}

// take is the trace of a process that is gone.
func (f *traceFilter) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		return ""
	}
	f.timer.Stop()
	trace := string(f.held)
	f.held = nil
	return trace
}
