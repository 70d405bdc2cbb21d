package rt

import (
	"reflect"
	"sync"
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
			Panic(t.cell, v, explain(v, t.at(v)))
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

// Send sends v on a channel. An interrupt of the cell ends the wait, as it does for the functions below.
func Send(ch, v any) {
	c := reflect.ValueOf(ch)
	x := sent(c, v)
	if c.IsNil() {
		<-current().done
		panic(Interrupted{})
	}
	if c.TrySend(x) {
		return
	}
	if i, _, _ := reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectSend, Chan: c, Send: x}, done()}); i == 1 {
		panic(Interrupted{})
	}
}

// sent is a value in the form of a channel's elements.
func sent(c reflect.Value, v any) reflect.Value {
	x := reflect.New(c.Type().Elem()).Elem()
	if v != nil {
		x.Set(reflect.ValueOf(v))
	}
	return x
}

func done() reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(current().done)}
}

// Recv receives from a channel; ok is false when it is closed and empty.
func Recv(ch any) (v any, ok bool) {
	c := reflect.ValueOf(ch)
	if c.IsNil() {
		<-current().done
		panic(Interrupted{})
	}
	x, ok := c.TryRecv()
	if !x.IsValid() {
		i := 0
		if i, x, ok = reflect.Select([]reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: c}, done()}); i == 1 {
			panic(Interrupted{})
		}
	}
	return x.Interface(), ok
}

// Wait is (*sync.WaitGroup).Wait.
func Wait(w *sync.WaitGroup) { await(w.Wait, func() {}) }

// Lock is (*sync.Mutex).Lock.
func Lock(m *sync.Mutex) {
	if !m.TryLock() {
		await(m.Lock, m.Unlock)
	}
}

// LockRW is (*sync.RWMutex).Lock.
func LockRW(m *sync.RWMutex) {
	if !m.TryLock() {
		await(m.Lock, m.Unlock)
	}
}

// RLock is (*sync.RWMutex).RLock.
func RLock(m *sync.RWMutex) {
	if !m.TryRLock() {
		await(m.RLock, m.RUnlock)
	}
}

// await blocks in get until it returns or the cell is interrupted; what get gets then is given back.
func await(get, giveBack func()) {
	got := make(chan any, 1)
	go func() {
		defer func() { got <- recover() }()
		get()
	}()
	select {
	case p := <-got:
		if p != nil {
			panic(p)
		}
	case <-current().done:
		go func() {
			if p := <-got; p == nil {
				giveBack()
			}
		}()
		panic(Interrupted{})
	}
}

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
	s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectSend, Chan: c, Send: sent(c, v)})
}

// Recv adds a case that receives.
func (s *Select) Recv(ch any) {
	s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ch)})
}

// Do carries the statement out and gives the number of the case that ran, -1 for the default.
func (s *Select) Do() int {
	n := len(s.cases)
	if s.blocking {
		s.cases = append(s.cases, done())
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
