package session

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"memwall/kernel/cell"
	"memwall/kernel/cell/rt"
)

// Outcome is how a cell ended.
type Outcome struct {
	HasValue bool
	Values   []any    // the last expression's values as an interface of a cell holds them: plain, or boxes of rt
	Types    []string // their static types
	Err      *Error   // nil: ok
}

// Error is a cell's error as a notebook shows it.
type Error struct {
	Name      string   // "SyntaxError", "CompileError", "Refused", "Panic", "Error" (a returned error), "Interrupted", "Exit"
	Value     string   // one line
	Traceback []string // the message with its place, the source line and a caret
	Cause     error    // the error value that the cell returned or panicked with, nil for others
}

// result is how the functions of a cell ended.
type result struct {
	panicked bool // with value; nil: the goroutine ended by runtime.Goexit, as no panic has the value nil
	value    any
}

// settlePatience is how long a cell waits for an interrupted one before it that is still in compiled code, reading from the
// network say.
const settlePatience = 200 * time.Millisecond

// Run runs a cell. When ctx is cancelled it returns within about ten milliseconds with an error named "Interrupted" and keeps
// the session's variables.
func (s *Session) Run(ctx context.Context, number int, code string) (out Outcome) {
	s.settle(settlePatience)
	cells := s.cells.Load()
	p, err := cells.Compile(number, code)
	if err != nil {
		return Outcome{Err: compileError(err)}
	}
	if err := s.load(p); err != nil {
		return Outcome{Err: internal(err)}
	}
	p.Commit()
	for _, b := range p.Predeclared {
		if err := s.bind(b); err != nil {
			return Outcome{Err: internal(err)}
		}
	}
	rt.BeginCell(number)
	r, ended := s.execute(ctx, p)
	failure := s.failure(ctx, p, r, ended)
	rt.EndCell()
	whole := p.Ended(s.step(p), failure != nil)
	if failure != nil || !whole {
		return Outcome{Err: failure}
	}
	for _, v := range p.Results {
		ptr, err := s.pointer(v.Global)
		if err != nil {
			return Outcome{Err: internal(err)}
		}
		out.Values, out.Types = append(out.Values, ptr.Elem().Interface()), append(out.Types, v.Type)
		ptr.Elem().SetZero()
	}
	out.HasValue = len(out.Values) > 0
	return out
}

// Eval evaluates an expression for a client (user_expressions); it declares nothing.
func (s *Session) Eval(ctx context.Context, code string) Outcome {
	if err := cell.IsExpression(code); err != nil {
		return Outcome{Err: compileError(err)}
	}
	return s.Run(ctx, 0, code)
}

// load gives a compiled cell to the interpreter.
func (s *Session) load(p *cell.Program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter panicked: %v", r)
		}
	}()
	if err := s.use(p.Unit.Imports); err != nil {
		return err
	}
	if _, err := s.evaluate(p.Unit.Text); err != nil {
		return fmt.Errorf("the interpreter rejects the lowered cell: %w", err)
	}
	return nil
}

// internal is a fault of memwall's own: the cell was not run, or not to its end.
func internal(err error) *Error {
	text := "memwall cannot run this cell: " + err.Error()
	return &Error{Name: cell.Refused, Value: firstLine(text), Traceback: []string{text}}
}

// bind makes the variable that cells see the worker's own.
func (s *Session) bind(b cell.Binding) error {
	own := s.predeclared[b.Name]
	if own == nil {
		return fmt.Errorf("variable %s is not there", b.Name)
	}
	v, err := s.evaluate(b.Global)
	if err != nil {
		return err
	}
	if !v.CanSet() || v.Type() != reflect.TypeOf(own) {
		return fmt.Errorf("variable %s cannot be bound: %s for %T", b.Name, v.Type(), own)
	}
	v.Set(reflect.ValueOf(own))
	return nil
}

// enter is called by the interpreter with the cell's two functions.
func (s *Session) enter(setup, entry func()) {
	r := result{panicked: true}
	defer func() {
		if r.panicked {
			r.value = recover()
		}
		s.finished <- r
	}()
	setup()
	entry()
	r.panicked = false
}

// interruptPatience is how long an interrupted cell has to end before Run returns without it.
const interruptPatience = 8 * time.Millisecond

// execute calls the cell's functions on a goroutine of the interpreter; ended is false when the cell was interrupted and
// still blocks in compiled code.
func (s *Session) execute(ctx context.Context, p *cell.Program) (r result, ended bool) {
	s.finished = make(chan result, 1)
	returned := make(chan error, 1)
	go func() {
		var err error
		defer func() { returned <- err }() // also after runtime.Goexit
		_, err = s.evaluate(fmt.Sprintf("runner.Run(%s, %s)", p.Unit.Setup, p.Entry))
	}()
	select {
	case r = <-s.finished:
		<-returned
		return r, true
	case err := <-returned:
		select {
		case r = <-s.finished:
			return r, true
		default:
		}
		return result{panicked: true, value: fmt.Errorf("the interpreter does not run the cell: %w", err)}, true
	case <-ctx.Done():
	}
	// Frames of the interpreter end when the run's number changes; what blocks in the run time wakes up.
	old := s.stop(p.Cell)
	timer := time.NewTimer(interruptPatience)
	defer timer.Stop()
	select {
	case r = <-s.finished:
		<-returned
		s.resume(p.Cell, old)
		return r, true
	case <-timer.C:
	}
	s.unfinished = make(chan result, 1)
	go func(from chan result, to chan result, number int) {
		r := <-from
		s.resume(number, old)
		to <- r
	}(s.finished, s.unfinished, p.Cell)
	return result{}, false
}

// During calls f, which may call functions of cells, in the name of a cell. When ctx is cancelled these end as those of a
// running cell do; ended is false when f goes on in compiled code all the same.
func (s *Session) During(ctx context.Context, number int, f func()) (ended bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		rt.ContinueCell(number)
		f()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	old := s.stop(number)
	select {
	case <-done:
		s.resume(number, old)
		return true
	case <-time.After(interruptPatience):
	}
	s.unfinished = make(chan result, 1)
	go func(to chan result) {
		<-done
		s.resume(number, old)
		to <- result{}
	}(s.unfinished)
	return false
}

// settle waits for an interrupted cell that was still in compiled code when Run returned. One that never ends keeps its
// goroutine; the interpreter goes on without it.
func (s *Session) settle(patience time.Duration) {
	if s.unfinished == nil {
		return
	}
	select {
	case <-s.unfinished:
	case <-time.After(patience):
		atomic.StoreUint64(s.runNumber(), s.stopped)
	}
	s.unfinished = nil
}

// Ended says whether nothing of the interrupted cell runs on that Run left behind.
func (s *Session) Ended() bool {
	select {
	case <-s.unfinished:
		s.unfinished = nil
	default:
	}
	return s.unfinished == nil
}

// runNumber is the counter that the interpreter's frames compare while they run: it is private there.
func (s *Session) runNumber() *uint64 {
	return private[uint64](reflect.ValueOf(s.interp).Elem(), "id")
}

// stop ends the frames of the interpreter and wakes the goroutines of a cell.
func (s *Session) stop(number int) (old uint64) {
	id := s.runNumber()
	old = atomic.LoadUint64(id)
	s.stopped = old
	rt.Interrupt(number) // first: functions that return because the number has changed must find it done
	atomic.StoreUint64(id, old+1)
	return old
}

// resume makes functions work again that were made before the interrupt, once the goroutines of the cell have ended.
func (s *Session) resume(number int, old uint64) {
	for i := 0; i < 1000 && rt.Goroutines(number) > 0; i++ {
		time.Sleep(10 * time.Microsecond)
	}
	atomic.StoreUint64(s.runNumber(), old)
	s.callPostponed(number, old)
}

// postponedPatience is how long the deferred functions of an interrupted cell may take.
const postponedPatience = 100 * time.Millisecond

// callPostponed calls what the functions that an interrupt has ended have deferred. It cannot block: channels, locks and
// sleeps are over for the cell.
func (s *Session) callPostponed(number int, old uint64) {
	if !rt.HasPostponed(number) {
		return
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		rt.CallPostponed(number, stop)
	}()
	select {
	case <-done:
		return
	case <-time.After(postponedPatience):
	}
	close(stop)
	atomic.StoreUint64(s.runNumber(), old+1)
	select {
	case <-done:
	case <-time.After(interruptPatience):
	}
	atomic.StoreUint64(s.runNumber(), old)
}

// step is how far the statements of a cell got.
func (s *Session) step(p *cell.Program) int {
	if p.Step == "" {
		return 0 // it has no steps
	}
	ptr, err := s.pointer(p.Step)
	if err != nil {
		return 0
	}
	return int(ptr.Elem().Int())
}

// failure says how a cell failed, nil when it did not.
func (s *Session) failure(ctx context.Context, p *cell.Program, r result, ended bool) *Error {
	if ctx.Err() != nil {
		text := "the cell was interrupted"
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			text = cause.Error()
		}
		e := &Error{Name: "Interrupted", Value: firstLine(text), Traceback: []string{"Interrupted: " + text}}
		if at := s.cells.Load().Place(s.place(p)); at.Line != 0 {
			e.Traceback = append(e.Traceback, placed(at, "the cell's last call"))
		}
		return e
	}
	if r.panicked {
		return s.panicked(p, r.value)
	}
	if p.Failure == "" {
		return nil
	}
	ptr, err := s.pointer(p.Failure)
	if err != nil {
		return internal(err)
	}
	e, _ := ptr.Elem().Interface().(error)
	if e == nil {
		return nil
	}
	ptr.Elem().SetZero()
	text := rt.PanicText(e)
	at := s.cells.Load().Place(s.place(p))
	return &Error{Name: "Error", Value: firstLine(text), Traceback: []string{placed(at, text)}, Cause: e}
}

// place is where the call of the top level is that ran last.
func (s *Session) place(p *cell.Program) token.Pos {
	if p.At == "" {
		return token.NoPos
	}
	ptr, err := s.pointer(p.At)
	if err != nil {
		return token.NoPos
	}
	return token.Pos(ptr.Elem().Int())
}

// panicked describes a panic that the cell did not recover.
func (s *Session) panicked(p *cell.Program, value any) *Error {
	if value == nil {
		const text = "runtime.Goexit ended the cell's own goroutine: return from the function, or start a goroutine that ends itself"
		return &Error{Name: "Goexit", Value: text, Traceback: []string{placed(s.cells.Load().Place(s.place(p)), text)}}
	}
	f := rt.Explain(value)
	call := s.place(p) // of the top level, that led there
	if f.Pos == 0 {
		f.Pos = int(call) // compiled code panicked
	}
	e := s.described("panic: ", value, f)
	at, from := s.cells.Load().Place(token.Pos(f.Pos)), s.cells.Load().Place(call)
	if e.Name == "Panic" && from.Line != 0 && (at.Cell != from.Cell || at.Line != from.Line) {
		e.Traceback = append(e.Traceback, placed(from, "called here"))
	}
	return e
}

// GoroutinePanic describes a panic that has ended a goroutine of a cell.
func (s *Session) GoroutinePanic(value any, f rt.Failure) *Error {
	return s.described("panic in a goroutine: ", value, f)
}

func (s *Session) described(what string, value any, f rt.Failure) *Error {
	at := s.cells.Load().Place(token.Pos(f.Pos))
	cause, _ := value.(error)
	if exit, ok := value.(rt.Exited); ok {
		text := fmt.Sprintf("os.Exit(%d)", exit.Code)
		return &Error{Name: "Exit", Value: text, Traceback: []string{"Exit: " + text}}
	}
	if f.Refused != nil {
		r := f.Refused
		text := fmt.Sprintf("%s cannot be used in a cell: %s", r.Construct, r.Reason)
		return &Error{Name: cell.Refused, Value: firstLine(text), Traceback: []string{placed(at, text) + "\n" + r.Way}}
	}
	if before, ok := strings.CutSuffix(string([]rune(at.Source)[:min(max(at.Column-1, 0), len([]rune(at.Source)))]), "panic"); ok {
		at.Column = len([]rune(before)) + 1 // the call's position is its parenthesis
	}
	return &Error{Name: "Panic", Value: firstLine(f.Text), Traceback: []string{placed(at, what+f.Text)}, Cause: cause}
}

// placed is a message with its place in front, and the source line with a caret below.
func placed(at cell.Place, text string) string {
	if at.Line == 0 {
		return text
	}
	return fmt.Sprintf("cell %d, %d:%d: %s\n%s", at.Cell, at.Line, at.Column, text, cell.Caret(at))
}

func compileError(err error) *Error {
	var e *cell.Error
	if !errors.As(err, &e) {
		return internal(err)
	}
	return &Error{Name: e.Kind, Value: e.Summary(), Traceback: []string{e.Error()}}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
