package rt

import (
	"errors"
	"fmt"
	"log"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// raised is the last panic of a cell that the run time raised, and where in the cell it was.
type raised struct {
	mu    sync.Mutex
	value any
	pos   int
}

// raise panics with v at a place of the running cell.
func raise(v any, pos int) {
	r := &current().raised
	r.mu.Lock()
	r.value, r.pos = v, pos
	r.mu.Unlock()
	panic(v)
}

// A Failure is a panic as a cell reports it.
type Failure struct {
	Text    string   // what Go prints after "panic: "
	Pos     int      // the token.Pos in the cell, of the statement's call when compiled code panicked; 0 where it is not known
	Refused *Refused // set when the cell was refused while it ran
}

// Explain describes the value of a panic that ended the statements of the calling goroutine's cell.
func Explain(v any) Failure {
	t := current()
	v = translate(v)
	pos := t.at(v)
	if p := t.place.Load(); pos == 0 && p != nil {
		pos = *p
	}
	return explain(v, pos)
}

// explain describes a panic; its place is found before, because a method that gives its text may panic too.
func explain(v any, pos int) Failure {
	f := Failure{Pos: pos}
	if r, ok := v.(Refused); ok {
		f.Text, f.Refused = r.Error(), &r
	} else {
		f.Text = PanicText(v)
	}
	return f
}

// at is where the run time raised the panic with value v, 0 when it did not.
func (t *task) at(v any) int {
	t.raised.mu.Lock()
	defer t.raised.mu.Unlock()
	if t.raised.pos != 0 && same(t.raised.value, v) {
		return t.raised.pos
	}
	return 0
}

func same(a, b any) (eq bool) {
	defer func() {
		if recover() != nil {
			eq = reflect.TypeOf(a) == reflect.TypeOf(b)
		}
	}()
	return a == b
}

// PanicText is what Go prints of a panic's value. A method of the value that panics itself is named with its own panic.
func PanicText(r any) (text string) { return panicText(r, 0) }

// panicText is PanicText for a value that level other panics led to.
func panicText(r any, level int) (text string) {
	r = In(r)
	defer func() {
		inner := recover()
		if inner == nil {
			return
		}
		if inner = translate(inner); final(inner) {
			panic(inner)
		}
		text = "(" + dynamicName(r) + ") whose method that gives its text panics"
		if level < 3 {
			text += ": " + panicText(inner, level+1)
		}
	}()
	if b, ok := r.(Box); ok {
		if b.has("Error", "() string") {
			return asError(b).Error()
		}
		if b.has("String", "() string") {
			return b.invoke("String")[0].(string)
		}
		return boxPanicText(b)
	}
	switch e := r.(type) {
	case error:
		return e.Error()
	case fmt.Stringer:
		return e.String()
	case string:
		return e
	case nil:
		return "nil"
	}
	v := reflect.ValueOf(r)
	switch {
	case v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat(), v.CanComplex(), v.Kind() == reflect.String:
		return fmt.Sprintf("%T(%v)", r, r)
	}
	return fmt.Sprintf("(%T) %s", r, Sprint(r))
}

func boxPanicText(b Box) string {
	v := reflect.ValueOf(b.V)
	switch {
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%s(%q)", Name(b.T.Type()), v.String())
	case v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat(), v.CanComplex():
		return fmt.Sprintf("%s(%v)", Name(b.T.Type()), b.V)
	}
	return fmt.Sprintf("(%s) %s", Name(b.T.Type()), Sprint(b))
}

// translate turns the panics of reflection, which is how the interpreter executes, into those of Go.
func translate(r any) any {
	switch e := r.(type) {
	case *reflect.ValueError:
		return nilDereference()
	case runtime.Error:
		return translateError(e)
	case string:
		if strings.HasPrefix(e, "reflect") {
			return translateReflect(e)
		}
	}
	return r
}

const wayRecover = "test for the condition before, instead of recovering from it"

func translateError(e runtime.Error) any {
	text := e.Error()
	if t, ok := strings.CutPrefix(text, "runtime error: hash of unhashable type "); ok {
		if strings.Contains(t, "F0") || strings.Contains(t, "rt.Box") {
			return Refused{"a map key that cannot be hashed", "the panic's text would name another type", wayRecover}
		}
	}
	if strings.Contains(text, "uncomparable type") && strings.Contains(text, "F0 ") {
		return Refused{"a comparison of values that cannot be compared", "the panic's text would name another type", wayRecover}
	}
	return e
}

func translateReflect(e string) any {
	for _, s := range []string{"nil pointer", "zero Value", "nil map", "nil function", "nil interface value"} {
		if strings.Contains(e, s) {
			if s == "nil map" {
				return plainError("assignment to entry in nil map")
			}
			return nilDereference()
		}
	}
	if strings.Contains(e, "MakeChan") {
		return plainError("makechan: size out of range")
	}
	if strings.Contains(e, "unhashable") {
		return Refused{"a map key that cannot be hashed", "the panic's text would name another type", wayRecover}
	}
	return Refused{"this panic of the interpreter (" + e + ")", "Go has no panic with this text", wayRecover}
}

// plainError is a runtime.Error whose text has no prefix, as that of a nil map.
type plainError string

func (e plainError) Error() string { return string(e) }
func (e plainError) RuntimeError() {}

// runtimeErr is a run-time error that compiled Go cannot be made to raise about a cell's type.
type runtimeErr string

func (e runtimeErr) Error() string { return string(e) }
func (e runtimeErr) RuntimeError() {}

func runtimeError(s string) error   { return runtimeErr("runtime error: " + s) }
func assertionError(s string) error { return runtimeErr(s) }

// caught is the value that f panics with: Go's own run-time errors are made by doing what raises them.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return errors.New("no panic")
}

func nilDereference() any {
	return caught(func() {
		var p *int
		*p = 0
	})
}

// PanicNil is the dereference of a nil pointer, or the call of a nil function.
func PanicNil(pos int) { raise(nilDereference(), pos) }

// PanicDivide is an integer division by zero.
func PanicDivide(pos int) {
	raise(caught(func() {
		zero := 0
		_ = 1 / zero
	}), pos)
}

// PanicNilMap is an assignment to an entry of a nil map.
func PanicNilMap(pos int) {
	raise(caught(func() {
		var m map[int]int
		m[0] = 0
	}), pos)
}

// PanicShift is a shift by a negative count.
func PanicShift(pos int) {
	raise(caught(func() {
		n := -1
		_ = 1 << n
	}), pos)
}

// PanicIndex is the index i of n elements.
func PanicIndex(i, n, pos int) {
	raise(caught(func() { _ = make([]struct{}, n)[i] }), pos)
}

// CheckIndex panics unless 0 ≤ i < n.
func CheckIndex(i, n, pos int) {
	if uint(i) >= uint(n) {
		PanicIndex(i, n, pos)
	}
}

// PanicIndex64 is an unsigned index that does not fit in an int.
func PanicIndex64(i uint64, n, pos int) {
	raise(caught(func() { _ = make([]struct{}, n)[i] }), pos)
}

// CheckMake panics as make([]T, n, c) would; size is that of an element.
func CheckMake(n, c, pos int) {
	const most = 1 << 47
	if n < 0 || n > most {
		raise(runtimeError("makeslice: len out of range"), pos)
	}
	if c < n || c > most {
		raise(runtimeError("makeslice: cap out of range"), pos)
	}
}

// CheckSlice panics as s[lo:hi] would, when n is the capacity of s.
func CheckSlice(lo, hi, n, pos int) {
	if uint(hi) > uint(n) || uint(lo) > uint(hi) {
		raise(caught(func() { _ = make([]struct{}, n)[lo:hi] }), pos)
	}
}

// CheckSlice3 panics as s[lo:hi:mx] would, when n is the capacity of s.
func CheckSlice3(lo, hi, mx, n, pos int) {
	if uint(mx) > uint(n) || uint(hi) > uint(mx) || uint(lo) > uint(hi) {
		raise(caught(func() { _ = make([]struct{}, n)[lo:hi:mx] }), pos)
	}
}

// CheckBound refuses unsigned bounds of a slice that do not fit in an int.
func CheckBound(n uint64) {
	if n > math.MaxInt64 {
		refuse("the slice bound "+strconv.FormatUint(n, 10), "it does not fit in an int", wayRecover)
	}
}

// CheckString panics as s[lo:hi] would, when s is a string or an array of n elements.
func CheckString(lo, hi, n, pos int) {
	if uint(hi) > uint(n) || uint(lo) > uint(hi) {
		var b byte
		s := unsafe.String(&b, n) // only its length is looked at
		raise(caught(func() { _ = s[lo:hi] }), pos)
	}
}

// PanicWith is the builtin panic.
func PanicWith(x any, pos int) {
	if x == nil {
		raise(new(runtime.PanicNilError), pos)
	}
	raise(In(x), pos)
}

// Close is the builtin close.
func Close(ch any, pos int) {
	c := reflect.ValueOf(ch)
	var p any
	func() {
		defer func() { p = recover() }()
		if !c.IsValid() || c.IsNil() {
			close((chan int)(nil))
		}
		c.Close()
	}()
	if p != nil {
		raise(p, pos)
	}
}

// PanicRange is the misuse of a range statement over a function, which is in the given state.
func PanicRange(state, pos int) {
	switch state {
	case -3:
		raise(runtimeError("range function recovered a loop body panic and did not resume panicking"), pos)
	case -2:
		raise(runtimeError("range function continued iteration after whole loop exit"), pos)
	case -1:
		raise(runtimeError("range function continued iteration after loop body panic"), pos)
	}
	refuse("a call of yield after the loop's body was left", "the panic's text depends on whether the loop is over", "return when yield returns false")
}

// PanicWrap is the call of a method with a value receiver through a nil pointer.
func PanicWrap(recv, method string, pos int) {
	raise(plainError(fmt.Sprintf("value method %s.%s called using nil *%s pointer", recv, method, recv[strings.LastIndex(recv, ".")+1:])), pos)
}

// Exited is the panic of os.Exit: it ends the cell, runs no deferred functions, and cannot be recovered.
type Exited struct{ Code int }

// Error implements error.
func (e Exited) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// Exit is os.Exit.
func Exit(code int) { panic(Exited{code}) }

// LogFatal is the Fatal functions of package log, whose text is made already.
func LogFatal(l *log.Logger, text string) {
	l.Print(text)
	Exit(1)
}

// final reports panics that end a cell whatever it defers.
func final(v any) bool {
	switch v.(type) {
	case Exited, Interrupted, Refused:
		return true
	}
	return false
}
