package supervisor

import (
	"io"
	"os"
	"sync"
	"time"

	"memwall/kernel"
	"memwall/kernel/pipe"
)

// What comes from a worker comes three ways: descriptor 1, descriptor 2 and messages. Marks (pipe.Marker) number the
// places where they must meet: each way stops at a mark until the others that take part have reached it.

type way int

const (
	wayStdout way = iota
	wayStderr
	wayMessages
	ways
)

var streamNames = [...]string{wayStdout: "stdout", wayStderr: "stderr"}

// A sequencer is where the ways wait for each other.
type sequencer struct {
	mu      sync.Mutex
	changed chan struct{} // closed and made anew at each change
	passed  [ways]uint64  // the last mark that each has reached
	active  [ways]bool    // it is delivering, not waiting for bytes
	read    [ways]uint64  // reads so far, to tell a silent descriptor from a slow one
	gone    [ways]bool    // user code closed or replaced the descriptor: marks don't come
	ended   bool          // the process is gone: nobody waits any more
}

func newSequencer() *sequencer { return &sequencer{changed: make(chan struct{})} }

func (s *sequencer) change(f func()) {
	s.mu.Lock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

func (s *sequencer) arrive(w way, n uint64) {
	s.change(func() {
		s.passed[w] = max(s.passed[w], n)
		s.gone[w] = false
	})
}

func (s *sequencer) leave(w way) { s.change(func() { s.gone[w] = true }) }

// over lets every way run on.
func (s *sequencer) over() { s.change(func() { s.ended = true }) }

func (s *sequencer) activity(w way, active bool) {
	s.mu.Lock()
	s.active[w] = active
	if active {
		s.read[w]++
	}
	s.mu.Unlock()
}

// busy says whether a descriptor's text is being delivered.
func (s *sequencer) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[wayStdout] || s.active[wayStderr] || s.active[wayMessages]
}

// silence is how long a descriptor may give no byte while its mark is awaited. The mark was written before the message
// that speaks of it, so only a descriptor that user code has closed or replaced is silent that long.
const silence = 500 * time.Millisecond

// await waits until way w has reached mark n.
func (s *sequencer) await(w way, n uint64) {
	var reads uint64
	var timer *time.Timer
	for {
		s.mu.Lock()
		if s.passed[w] >= n || s.gone[w] || s.ended {
			s.mu.Unlock()
			break
		}
		changed := s.changed
		if timer == nil {
			reads = s.read[w]
			timer = time.NewTimer(silence)
			defer timer.Stop()
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			s.mu.Lock()
			if w != wayMessages && !s.active[w] && s.read[w] == reads {
				s.gone[w] = true
			}
			reads = s.read[w]
			s.mu.Unlock()
			timer.Reset(silence)
		}
	}
}

// A cell that prints line by line writes as often; after manySmall reads of less than smallRead bytes the reader lets what
// comes gather for a moment, which costs half as much on both sides.
const (
	manySmall = 16
	smallRead = 4 << 10
	gather    = 400 * time.Microsecond
)

// readStream delivers what the worker prints to descriptor 1 or 2 until its end.
func (p *process) readStream(w way, f *os.File) {
	defer p.readers.Done()
	defer p.order.leave(w)
	buf := make([]byte, 64<<10)
	held := 0  // bytes at the start of buf that may begin a mark
	small := 0 // reads of few bytes since the last mark
	for {
		if small > manySmall {
			time.Sleep(gather)
		}
		n, err := f.Read(buf[held:])
		p.order.activity(w, true)
		if w == wayStdout {
			p.received += uint64(n)
		}
		if n < smallRead {
			small++
		}
		data := buf[:held+n]
		for {
			text, kind, number, rest, found := p.marker.Next(data)
			if found {
				p.print(w, text)
				p.pass(w, kind, number)
				small = 0
				data = rest
				continue
			}
			p.print(w, text)
			held = copy(buf, rest)
			break
		}
		if err != nil {
			p.print(w, buf[:held])
			p.order.activity(w, false)
			return
		}
		p.order.activity(w, false)
	}
}

// pass stops at a mark until the other ways have reached it.
func (p *process) pass(w way, kind pipe.MarkKind, number uint64) {
	if w == wayStderr {
		p.trace.release() // a process that writes marks is not dying
	}
	p.order.arrive(w, number)
	if kind == pipe.MarkMessage {
		p.order.await(wayMessages, number)
	} else {
		p.order.await(wayStdout+wayStderr-w, number)
	}
}

func (p *process) print(w way, b []byte) {
	if len(b) == 0 {
		return
	}
	if w == wayStderr {
		p.trace.write(b)
		return
	}
	p.deliver(streamNames[w], b)
}

// deliver sends text to the cell that runs, or to the one that ran last.
func (p *process) deliver(stream string, b []byte) {
	p.mu.Lock()
	c := p.current
	p.mu.Unlock()
	if c == nil { // before the first cell
		p.s.options.Log.Write(b)
		return
	}
	c.stream(stream, string(b))
}

// readMessages handles what the worker says until its end. A worker that talks nonsense or hangs up is killed.
func (p *process) readMessages() {
	defer p.readers.Done()
	defer p.order.leave(wayMessages)
	for {
		m, err := p.link.Receive()
		if err != nil {
			select {
			case <-p.exited:
				return
			case <-time.After(200 * time.Millisecond):
			}
			if p.stopping.Load() {
				return
			}
			if err == io.EOF {
				p.kill("WorkerDied", "the worker closed its connection to the kernel, so it was stopped")
			} else {
				p.kill("WorkerDied", "the worker's connection to the kernel was written to by the cell ("+err.Error()+"), so it was stopped")
			}
			return
		}
		p.order.activity(wayMessages, true)
		p.handle(m)
		p.order.activity(wayMessages, false)
	}
}

// inOrder does f when the prints in front of the mark have been delivered, and lets those behind it follow.
func (p *process) inOrder(mark uint64, f func()) {
	if mark == 0 {
		f()
		return
	}
	p.order.await(wayStdout, mark)
	p.order.await(wayStderr, mark)
	f()
	p.order.arrive(wayMessages, mark)
}

func (p *process) handle(m pipe.Message) {
	switch m := m.(type) {
	case *pipe.Ready:
		select {
		case <-p.ready:
		default:
			close(p.ready)
		}
	case *pipe.Show:
		p.inOrder(m.Mark, func() { p.show(m) })
	case *pipe.Late:
		if c := p.run(m.Cell); c != nil && (m.Stream == "stdout" || m.Stream == "stderr") {
			c.stream(m.Stream, m.Text)
		}
	case *pipe.InputRequest:
		p.inOrder(m.Mark, func() { p.input(m) })
	case *pipe.Names:
		p.mu.Lock()
		p.names = m.Names
		p.mu.Unlock()
	case *pipe.Done:
		p.inOrder(m.Mark, func() {
			if c := p.run(m.Cell); c != nil && c.done != nil {
				select {
				case c.done <- m:
				default: // a second Done, which no worker of ours sends
				}
			}
		})
	case *pipe.Completion:
		p.answer(m.ID, m)
	case *pipe.Inspection:
		p.answer(m.ID, m)
	case *pipe.Completeness:
		p.answer(m.ID, m)
	case *pipe.CommHandled:
		p.answer(m.ID, m)
	case *pipe.CommOut:
		p.inOrder(m.Mark, func() {
			if c := p.run(m.Cell); c != nil {
				c.out.Comm(kernel.CommMessage(m.Comm))
			}
		})
	}
}

func (p *process) show(m *pipe.Show) {
	c := p.run(m.Cell)
	if c == nil {
		return
	}
	switch m.What {
	case pipe.ShowDisplay:
		c.out.Display(m.Bundle, m.Metadata, m.ID)
	case pipe.ShowUpdate:
		c.out.Update(m.Bundle, m.Metadata, m.ID)
	case pipe.ShowValue:
		c.out.Value(m.Bundle, m.Metadata)
	case pipe.ShowClear:
		c.out.Clear(m.Wait)
	}
}

// interruptFollows is how long after the end of a question an interrupt of its cell may come.
const interruptFollows = 100 * time.Millisecond

// input asks the user; the answer goes back when it comes, and messages are read on meanwhile.
func (p *process) input(m *pipe.InputRequest) {
	c := p.run(m.Cell)
	p.mu.Lock()
	ctx := p.inputs
	p.mu.Unlock()
	go func() {
		reply := &pipe.InputReply{ID: m.ID}
		switch {
		case c == nil || ctx == nil:
			reply.Error = "the cell has ended: only a running cell can ask for input"
		default:
			text, err := c.out.Input(ctx, m.Prompt, m.Password)
			reply.Text = text
			if err != nil {
				reply.Error = err.Error()
				// An interrupt ends the question and then the cell: the cell must not read on in between.
				select {
				case <-c.asked:
					return
				case <-time.After(interruptFollows):
				}
			}
		}
		p.link.Send(reply)
	}()
}
