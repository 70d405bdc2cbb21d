package rt

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// Defers is the stack of one call's deferred functions.
type Defers struct {
	stack     []deferred
	panicking bool
	value     any
}

type deferred struct {
	f      func()
	frames int // see Push
}

// NewDefers returns an empty stack.
func NewDefers() *Defers { return &Defers{} }

// Push defers f. frames is the number of interpreted frames from f to the deferred function itself, which alone may recover; 0
// when it does not.
func (d *Defers) Push(f func(), frames int) { d.stack = append(d.stack, deferred{f, frames}) }

// Run calls a function's body and then what it deferred.
func Run(d *Defers, body func()) {
	returned := false
	defer func() {
		r := recover()
		if !returned && r == nil { // runtime.Goexit
			d.runAll()
			return
		}
		if r != nil {
			d.panicking, d.value = true, translate(r)
			if _, exited := r.(Exited); exited {
				panic(r)
			}
		}
		d.RunAll()
	}()
	body()
	returned = true
}

// RunAll runs the deferred functions when the body returns.
func (d *Defers) RunAll() {
	d.runAll()
	if d.panicking {
		d.panicking = false
		panic(d.value)
	}
}

func (d *Defers) runAll() {
	for len(d.stack) > 0 {
		if current().postpone(d) {
			return
		}
		f := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		d.call(f)
	}
}

func (d *Defers) call(f deferred) {
	defer func() {
		if r := recover(); r != nil {
			if d.panicking && final(d.value) {
				return
			}
			d.panicking, d.value = true, translate(r)
		}
	}()
	if f.frames > 0 {
		id := goroutineID()
		outer, nested := pending.Swap(id, &waiting{d, f.frames})
		defer func() {
			if nested {
				pending.Store(id, outer)
			} else {
				pending.Delete(id)
			}
		}()
	}
	f.f()
}

// An interrupted cell's interpreted functions return at once, and so would the functions that they deferred, leaving locks
// held and files open. So these are kept, in the order in which Go would call them, and called when the interpreter goes on.
type postponed struct {
	mu       sync.Mutex
	calls    []func()
	cleaning bool // they are being called: what they defer themselves is called as usual
}

// postpone keeps the deferred functions of a call that an interrupt of the cell has ended.
func (t *task) postpone(d *Defers) bool {
	select {
	case <-t.done:
	default:
		return false
	}
	t.postponed.mu.Lock()
	defer t.postponed.mu.Unlock()
	if t.postponed.cleaning {
		return false
	}
	later := &Defers{} // they find no panic to recover from
	for i := len(d.stack) - 1; i >= 0; i-- {
		f := d.stack[i]
		t.postponed.calls = append(t.postponed.calls, func() { later.call(f) })
	}
	d.stack = nil
	return true
}

// CallPostponed calls the deferred functions that the interrupt of cell n has kept back, until stop is closed.
func CallPostponed(n int, stop <-chan struct{}) {
	tasks.Range(func(_, v any) bool {
		if t := v.(*task); t.cell == n {
			t.callPostponed(stop)
		}
		return true
	})
}

func (t *task) callPostponed(stop <-chan struct{}) {
	p := &t.postponed
	p.mu.Lock()
	calls := p.calls
	p.calls, p.cleaning = nil, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.cleaning = false
		p.mu.Unlock()
	}()
	for _, f := range calls {
		select {
		case <-stop:
			return
		default:
		}
		f()
	}
}

// HasPostponed says whether the interrupt of cell n has kept deferred functions back.
func HasPostponed(n int) (has bool) {
	tasks.Range(func(_, v any) bool {
		if t := v.(*task); t.cell == n {
			t.postponed.mu.Lock()
			has = has || len(t.postponed.calls) > 0
			t.postponed.mu.Unlock()
		}
		return !has
	})
	return has
}

// waiting is a call whose deferred function is being entered, and the number of interpreted frames to that function.
type waiting struct {
	d      *Defers
	frames int
}

// pending holds the waiting call of a goroutine by its number.
var pending sync.Map

// goroutineID is the calling goroutine's number: the Go runtime tells it only in the first line of a stack trace.
func goroutineID() int64 {
	var b [40]byte
	s := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	id, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

const (
	interpretedFrame = "github.com/traefik/yaegi/interp.runCfg"
	deferringFrame   = "memwall/kernel/cell/rt.(*Defers).call"
)

// framesSinceDefer counts the interpreter's calls on the calling goroutine's stack since the last deferred call.
func framesSinceDefer() int {
	n := 0
	var pcs [48]uintptr
	for skip := 3; ; skip += len(pcs) {
		k := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:k])
		for more := k > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			switch f.Function {
			case interpretedFrame:
				n++
			case deferringFrame:
				return n
			}
		}
		if k < len(pcs) {
			return -1
		}
	}
}

// Enter is called first by a function that recovers: it learns whether it was called by defer itself.
func Enter() *Defers {
	id := goroutineID()
	w, ok := pending.Load(id)
	if !ok {
		return nil
	}
	if w := w.(*waiting); w.frames == framesSinceDefer() {
		return w.d
	}
	return nil
}

// PassDefer is called first by a wrapper of a method that recovers: the method is n frames further away.
func PassDefer(n int) {
	if w, ok := pending.Load(goroutineID()); ok {
		if w := w.(*waiting); w.frames == framesSinceDefer() {
			w.frames += n
		}
	}
}

// Recover is the builtin.
func (d *Defers) Recover() any {
	if d == nil || !d.panicking {
		return nil
	}
	if final(d.value) {
		panic(d.value)
	}
	v := d.value
	d.panicking, d.value = false, nil
	return v
}
