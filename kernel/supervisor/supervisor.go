// Package supervisor runs cells in a worker process and keeps it alive for the kernel: it implements kernel.Evaluator.
//
// The worker holds the session: interpreter, variables, device. User code can kill it (a stack overflow, a concurrent map
// write, memory) and the kernel stays up: the cell ends with the cause and with what was lost, and the next cell finds a
// fresh worker. process.go is one worker's life, streams.go what it prints, death.go what is said of its end, memory.go
// the watch over its memory.
package supervisor

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"memwall/kernel"
	"memwall/kernel/pipe"
)

// Options of a supervisor.
type Options struct {
	// Argv starts a worker: a program that calls worker.Main.
	Argv []string
	// Env is added to this process's environment.
	Env []string
	// Dir is the worker's working directory; empty: this process's.
	Dir string
	// MemoryTotal is the memory that the worker may count on, in bytes; 0: what the machine and its cgroup have.
	// A cell is stopped at 80 % of it.
	MemoryTotal uint64
	// AnswerWithin is how long a worker may take to stop a cell before it is killed; 0: 2 s.
	AnswerWithin time.Duration
	// OutputDir is where the traces of workers that have died are kept; empty: the system's temporary directory.
	OutputDir string
	// Log gets what is wrong but no cell's business; nil: nowhere.
	Log io.Writer
}

const (
	maxCell   = 64 << 20 // bytes of code
	smallCell = 32 << 10 // fits into a pipe
)

// startWithin is how long a worker may take until it is ready.
const startWithin = 30 * time.Second

// Supervisor runs cells in a worker process.
type Supervisor struct {
	options Options

	mu      sync.Mutex
	process *process // the worker of the next cell; nil after Shutdown
	serial  uint64   // of cells and calls
	running *run
	last    *run
	notice  string // told at the start of the next cell: the worker died between cells
	closed  bool
}

// A run is one cell from its start until nothing can print in its name.
type run struct {
	id      uint64
	count   int
	out     kernel.Output
	process *process
	done    chan *pipe.Done
	asked   chan struct{} // closed when the cell has been asked to stop
	once    sync.Once
	cancel  context.CancelFunc // ends its input requests

	mu        sync.Mutex
	ended     bool // Execute has returned
	announced bool // the reader knows that what follows came late
}

// Start starts a worker in the background and returns at once.
func Start(o Options) *Supervisor {
	if o.AnswerWithin == 0 {
		o.AnswerWithin = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := &Supervisor{options: o}
	s.process = s.start()
	return s
}

var _ kernel.Evaluator = (*Supervisor)(nil)

// worker waits for the worker of the next call; it starts one where the last has failed to start.
func (s *Supervisor) worker(ctx context.Context) (*process, error) {
	for try := 0; ; try++ {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, fmt.Errorf("the kernel is shutting down")
		}
		p := s.process
		s.mu.Unlock()
		select {
		case <-p.ready:
			return p, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.dead:
		}
		s.mu.Lock()
		if s.process == p && !s.closed { // it died before it was ready
			if try > 0 {
				s.mu.Unlock()
				return nil, fmt.Errorf("the worker process does not start: %s", p.why().summary)
			}
			s.process = s.start()
		}
		s.mu.Unlock()
	}
}

// Execute runs one cell in the worker.
func (s *Supervisor) Execute(ctx context.Context, r kernel.Request, out kernel.Output) kernel.Result {
	if len(r.Code) > maxCell {
		return failure("CellTooLarge", fmt.Sprintf("a cell of %d bytes; the limit is %d: read large data from a file", len(r.Code), maxCell))
	}
	p, err := s.worker(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return failure("Interrupted", "the cell was stopped before it began")
		}
		return failure("WorkerDied", err.Error())
	}
	inputs, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &run{count: r.Count, out: out, process: p, done: make(chan *pipe.Done, 1), asked: make(chan struct{}), cancel: cancel}
	s.mu.Lock()
	s.serial++
	c.id = s.serial
	s.running, s.last = c, c
	notice := s.notice
	s.notice = ""
	s.mu.Unlock()
	if notice != "" {
		out.Stream("stderr", notice)
	}
	p.begin(c, inputs)
	// A worker that does not read must not hold up the kernel; a send that fails is followed by the worker's death.
	cell := &pipe.Execute{Cell: c.id, Count: r.Count, Code: r.Code, Silent: r.Silent, AllowStdin: r.AllowStdin, Expressions: r.UserExpressions}
	if len(r.Code) < smallCell {
		p.link.Send(cell)
	} else {
		go p.link.Send(cell)
	}
	result := s.await(ctx, c)
	s.finish(c)
	return result
}

// await waits for the end of a cell: done, or dead, or killed because it does not stop.
func (s *Supervisor) await(ctx context.Context, c *run) kernel.Result {
	p := c.process
	stop := ctx.Done()
	asked := c.asked
	var patience <-chan time.Time
	for {
		select {
		case d := <-c.done:
			if d.Kill {
				p.giveUp(d.Error)
				<-p.dead
				return p.why().result()
			}
			return result(d)
		case <-stop:
			stop = nil
			c.interrupt("", "")
		case <-asked:
			asked = nil
			patience = time.After(s.options.AnswerWithin)
		case <-patience:
			p.kill("Interrupted", fmt.Sprintf("the cell did not stop within %v, so its worker process was killed", s.options.AnswerWithin))
		case <-p.dead:
			select {
			case d := <-c.done: // it had finished just before
				return result(d)
			default:
			}
			return p.why().result()
		}
	}
}

// interrupt asks the worker to stop the cell; the first reason stands.
func (c *run) interrupt(name, reason string) {
	c.once.Do(func() {
		close(c.asked)
		c.cancel()
		// A worker that does not read its pipe must not hold up the kernel.
		go c.process.link.Send(&pipe.Interrupt{Cell: c.id, Name: name, Reason: reason})
	})
}

func (s *Supervisor) finish(c *run) {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	c.process.leave()
}

// stream sends text of the cell; what comes after its end is announced once.
func (c *run) stream(name, text string) {
	if text == "" {
		return
	}
	c.mu.Lock()
	late := c.ended && !c.announced
	if late {
		c.announced = true
	}
	c.mu.Unlock()
	if late {
		c.out.Stream(name, lateHeader(c.count))
	}
	c.out.Stream(name, text)
}

func lateHeader(count int) string {
	if count == 0 {
		return "[the cell has ended; its goroutines print:]\n"
	}
	return fmt.Sprintf("[cell %d has ended; its goroutines print:]\n", count)
}

func failure(name, value string) kernel.Result {
	return kernel.Result{Error: &kernel.Error{Name: name, Value: value, Traceback: []string{name + ": " + value}}}
}

func result(d *pipe.Done) kernel.Result {
	r := kernel.Result{Payload: d.Payload, UserExpressions: d.Expressions}
	if d.Error != nil {
		r.Error = &kernel.Error{Name: d.Error.Name, Value: d.Error.Value, Traceback: d.Error.Traceback}
	}
	return r
}

// Interrupt stops the cell that is running, if any, and keeps the session's variables; a worker that does not answer is
// killed.
func (s *Supervisor) Interrupt() {
	s.mu.Lock()
	c := s.running
	s.mu.Unlock()
	if c != nil {
		c.interrupt("", "")
	}
}

// answerWithin is how long the worker may take for completion and the like.
const answerWithin = 2 * time.Second

// ask sends a question and waits for its answer; nil where there is none.
func (s *Supervisor) ask(ctx context.Context, question func(id uint64) pipe.Message) pipe.Message {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	p, err := s.worker(ctx)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	s.serial++
	id := s.serial
	s.mu.Unlock()
	answer := p.expect(id)
	defer p.forget(id)
	if p.link.Send(question(id)) != nil {
		return nil
	}
	select {
	case m := <-answer:
		return m
	case <-ctx.Done():
	case <-p.dead:
	}
	return nil
}

// Complete lists what may stand at the cursor.
func (s *Supervisor) Complete(ctx context.Context, code string, cursor int) kernel.Completion {
	m, ok := s.ask(ctx, func(id uint64) pipe.Message { return &pipe.Complete{ID: id, Code: code, Cursor: cursor} }).(*pipe.Completion)
	if !ok {
		return kernel.Completion{Start: cursor, End: cursor}
	}
	return kernel.Completion{Matches: m.Matches, Types: m.Types, Signatures: m.Signatures, Start: m.Start, End: m.End}
}

// Inspect describes the name at the cursor.
func (s *Supervisor) Inspect(ctx context.Context, code string, cursor, detail int) (map[string]any, bool) {
	m, ok := s.ask(ctx, func(id uint64) pipe.Message {
		return &pipe.Inspect{ID: id, Code: code, Cursor: cursor, Detail: detail}
	}).(*pipe.Inspection)
	if !ok || !m.Found {
		return nil, false
	}
	return m.Bundle, true
}

// IsComplete tells whether code is a whole cell.
func (s *Supervisor) IsComplete(ctx context.Context, code string) (status, indent string) {
	m, ok := s.ask(ctx, func(id uint64) pipe.Message { return &pipe.IsComplete{ID: id, Code: code} }).(*pipe.Completeness)
	if !ok {
		return "unknown", ""
	}
	return m.Status, m.Indent
}

// Comm hands a comm message to the worker; what it sends back in answer goes to out.
func (s *Supervisor) Comm(ctx context.Context, m kernel.CommMessage, out kernel.Output) bool {
	var p *process
	var c *run
	answer, ok := s.ask(ctx, func(id uint64) pipe.Message {
		s.mu.Lock()
		p = s.process
		s.mu.Unlock()
		c = &run{id: id, out: out, process: p}
		p.remember(c)
		return &pipe.CommIn{ID: id, Comm: pipe.Comm(m)}
	}).(*pipe.CommHandled)
	return ok && answer.Handled
}

// Shutdown ends the worker: asked first, killed after half a second.
func (s *Supervisor) Shutdown(restart bool) {
	s.mu.Lock()
	p, c := s.process, s.running
	s.closed = true
	s.mu.Unlock()
	if c != nil {
		c.cancel()
	}
	p.stopping.Store(true)
	go p.link.Send(&pipe.Shutdown{})
	select {
	case <-p.dead:
	case <-time.After(500 * time.Millisecond):
		p.kill("Shutdown", "the kernel was shut down")
		<-p.dead
	}
}

// died starts the next worker and notes what to say.
func (s *Supervisor) died(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.process != p || !p.wasReady() {
		return
	}
	s.process = s.start()
	if s.running == nil || s.running.process != p {
		d := p.why()
		s.notice = "[" + d.summary + "; " + d.lost + "]\n"
		if s.last != nil && s.last.process == p { // not s.last.stream: it is no goroutine of the cell that prints
			go s.last.out.Stream("stderr", d.text()+"\n")
		}
	}
}

// environ is the worker's environment.
func (s *Supervisor) environ() []string { return append(os.Environ(), s.options.Env...) }
