package rt

import (
	"reflect"
	"time"
)

// Go starts a goroutine of the calling cell. Its panic, if it has one, is reported to the hook Panic.
func Go(f func()) {
	t := current()
	t.goroutines.Add(1)
	go func() {
		defer t.goroutines.Add(-1)
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			v := translate(r)
			if Panic == nil {
				panic(v)
			}
			Panic(t.cell, v, Explain(v).Text)
		}()
		f()
	}()
}

// Sleep is time.Sleep, but an interrupt of the cell wakes it.
func Sleep(d time.Duration) {
	if d <= 0 {
		time.Sleep(d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-current().done:
		panic(Interrupted{})
	}
}

// Interrupted is the panic that ends a goroutine of an interrupted cell which was blocked in the run time.
type Interrupted struct{}

func (Interrupted) Error() string { return "interrupted" }

// Select is a select statement being built and carried out.
type Select struct {
	cases    []reflect.SelectCase
	blocking bool
	chosen   int
	value    reflect.Value
	ok       bool
}

// NewSelect returns a select statement without cases; one that does not block has a default.
func NewSelect(blocking bool) *Select { return &Select{blocking: blocking} }

// Send adds a case that sends v.
func (s *Select) Send(ch, v any) {
	c := reflect.ValueOf(ch)
	x := reflect.Zero(c.Type().Elem())
	if v != nil {
		x = reflect.ValueOf(v)
	}
	s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectSend, Chan: c, Send: x})
}

// Recv adds a case that receives.
func (s *Select) Recv(ch any) {
	s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ch)})
}

// Do carries the statement out and gives the number of the case that ran, -1 for the default.
func (s *Select) Do() int {
	n := len(s.cases)
	if s.blocking {
		s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(current().done)})
	} else {
		s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectDefault})
	}
	s.chosen, s.value, s.ok = reflect.Select(s.cases)
	if s.chosen == n {
		if s.blocking {
			panic(Interrupted{})
		}
		s.chosen = -1
	}
	return s.chosen
}

// OK reports whether the case that ran received a value that was sent.
func (s *Select) OK() bool { return s.ok }

// Received is what case i received, nil when another case ran.
func (s *Select) Received(i int) any {
	if s.chosen != i || !s.value.IsValid() {
		return nil
	}
	return s.value.Interface()
}
