package supervisor

import (
	"bytes"
	"sync"
	"time"
)

// When Go code dies, the runtime writes the reason and its goroutines to descriptor 2. Most of it is the interpreter's
// business, so the filter holds back what looks like such a trace: if the process dies it becomes part of the report, if
// not it is an ordinary print and goes on its way.

// traceStarts begin a line with which a Go program announces its end, and how long such a process may take from that line
// to its end: an overflown stack is walked to the bottom first, while a "panic: " may well be a print of the cell.
var traceStarts = []struct {
	text []byte
	hold time.Duration
}{
	{[]byte("panic: "), 400 * time.Millisecond},
	{[]byte("fatal error: "), 3 * time.Second},
	{[]byte("runtime: goroutine stack exceeds"), 20 * time.Second},
	{[]byte("runtime: out of memory"), 3 * time.Second},
	{[]byte("runtime: program exceeds"), 3 * time.Second},
	{[]byte("unexpected fault address"), 3 * time.Second},
	{[]byte("SIGSEGV: "), 3 * time.Second}, {[]byte("SIGBUS: "), 3 * time.Second}, {[]byte("SIGABRT: "), 3 * time.Second},
	{[]byte("SIGILL: "), 3 * time.Second}, {[]byte("SIGFPE: "), 3 * time.Second}, {[]byte("SIGTRAP: "), 3 * time.Second},
}

const traceKeep = 16 << 20 // bytes; what prints more is no trace

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
		i, hold := f.find(b)
		f.emit(b[:i])
		if i == len(b) {
			return
		}
		b = b[i:]
		f.held = []byte{}
		f.timer = time.AfterFunc(hold, f.release)
	}
	f.held = append(f.held, b...)
	if len(f.held) > traceKeep {
		f.let()
	}
}

// find is where a trace begins in b, its length where none does, and how long it is worth waiting for the end.
func (f *traceFilter) find(b []byte) (at int, hold time.Duration) {
	best := len(b)
	for _, s := range traceStarts {
		for from := 0; from < best; {
			i := bytes.Index(b[from:best], s.text)
			if i < 0 {
				break
			}
			i += from
			if i == 0 && f.lineEnd || i > 0 && b[i-1] == '\n' {
				best, hold = i, s.hold
				break
			}
			from = i + 1
		}
	}
	return best, hold
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
