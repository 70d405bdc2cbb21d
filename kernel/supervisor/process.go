package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memwall/kernel/pipe"
)

// rememberedCells is for how many cells back the output of goroutines still finds its cell.
const rememberedCells = 100

// A process is one worker process from its start to its death.
type process struct {
	s        *Supervisor
	cmd      *exec.Cmd
	link     *pipe.Link
	marker   *pipe.Marker
	order    *sequencer
	trace    *traceFilter
	ready    chan struct{} // closed when it takes cells
	dead     chan struct{} // closed when it is gone and everything that it said has been delivered
	exited   chan struct{} // closed when the process is gone
	readers  sync.WaitGroup
	stopping atomic.Bool
	received uint64           // bytes of descriptor 1, until its reader has ended
	state    *os.ProcessState // set when exited is closed
	oomKills int64            // of the cgroup when it started

	mu      sync.Mutex
	current *run
	inputs  context.Context // of the current cell
	runs    map[uint64]*run
	oldest  uint64
	waiting map[uint64]chan pipe.Message
	names   []pipe.Name
	killed  *death // why we killed it
	end     *death // why it is gone
}

// start starts a worker; whatever fails is said by why.
func (s *Supervisor) start() *process {
	var nonce [8]byte
	rand.Read(nonce[:])
	p := &process{
		s: s, marker: pipe.NewMarker(hex.EncodeToString(nonce[:])), order: newSequencer(),
		ready: make(chan struct{}), dead: make(chan struct{}), exited: make(chan struct{}),
		runs: map[uint64]*run{}, waiting: map[uint64]chan pipe.Message{}, oomKills: oomKills(),
	}
	p.trace = newTraceFilter(func(b []byte) { p.deliver("stderr", b) })
	p.cmd = exec.Command(s.options.Argv[0], s.options.Argv[1:]...)
	p.cmd.Env, p.cmd.Dir = s.environ(), s.options.Dir
	separate(p.cmd)
	var err error
	if p.link, err = pipe.Attach(p.cmd); err != nil {
		p.link = &pipe.Link{Conn: pipe.NewConn(eof{}, io.Discard)}
		return p.stillborn(err)
	}
	var outs, ends [2]*os.File
	for i := range outs {
		if outs[i], ends[i], err = os.Pipe(); err != nil {
			return p.stillborn(err)
		}
		widen(ends[i])
	}
	p.cmd.Stdout, p.cmd.Stderr = ends[0], ends[1]
	started := make(chan error)
	go func() {
		// The worker's death signal follows this thread, so the thread stays until the worker is gone.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.state, _ = p.cmd.Process.Wait()
			close(p.exited)
		}
		runtime.UnlockOSThread()
	}()
	err = <-started
	p.link.Started()
	ends[0].Close()
	ends[1].Close()
	if err != nil {
		return p.stillborn(err)
	}
	p.readers.Add(3)
	go p.readStream(0, outs[0])
	go p.readStream(1, outs[1])
	go p.readMessages()
	limit := memoryLimit(s.options.MemoryTotal)
	go p.link.Send(&pipe.Start{Nonce: hex.EncodeToString(nonce[:]), MemoryLimit: limit.stop, WatchMemory: !seesMemory})
	go p.watchMemory(limit)
	go p.bury(outs[:])
	return p
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// stillborn is a worker that could not be started.
func (p *process) stillborn(err error) *process {
	p.end = &death{name: "WorkerDied", summary: fmt.Sprintf("%s: %v", p.s.options.Argv[0], err)}
	close(p.exited)
	close(p.dead)
	return p
}

// bury waits for the end of the process, collects its last words and tells the supervisor.
func (p *process) bury(outs []*os.File) {
	select {
	case <-p.exited:
	case <-p.ready:
		<-p.exited
	case <-time.After(startWithin):
		p.kill("WorkerDied", fmt.Sprintf("the worker process was not ready within %v", startWithin))
		<-p.exited
	}
	killGroup(p.cmd) // what it has started
	// Its last words are in the pipes. A process that it started and that left the group may hold them open: don't wait
	// for the end longer than it takes to read what is there.
	p.order.over()
	read := make(chan struct{})
	go func() { p.readers.Wait(); close(read) }()
	for waiting := true; waiting; {
		select {
		case <-read:
			waiting = false
		case <-time.After(200 * time.Millisecond):
			if !p.order.busy() {
				for _, f := range outs {
					f.Close()
				}
				p.link.Close()
				<-read
				waiting = false
			}
		}
	}
	for _, f := range outs {
		f.Close()
	}
	p.link.Close()
	if text := p.link.Leftover(p.received); len(text) > 0 { // printed before it died, and not yet written
		p.deliver("stdout", text)
	}
	p.mu.Lock()
	p.end = p.postMortem()
	p.mu.Unlock()
	p.s.died(p)
	close(p.dead)
}

// giveUp ends a worker that says of itself that it cannot go on.
func (p *process) giveUp(why *pipe.Error) {
	if why == nil {
		why = &pipe.Error{Name: "WorkerDied", Value: "the worker process gave up"}
	}
	summary, advice, _ := strings.Cut(why.Value, ": ")
	p.killFor(&death{name: why.Name, summary: summary + "; its code could not be stopped, so the worker process was killed", advice: advice})
}

// kill ends the process.
func (p *process) kill(name, summary string) { p.killFor(&death{name: name, summary: summary}) }

// killFor ends the process; the first reason stands.
func (p *process) killFor(d *death) {
	p.mu.Lock()
	if p.killed == nil {
		p.killed = d
	}
	p.mu.Unlock()
	killGroup(p.cmd)
	if p.cmd.Process != nil {
		p.cmd.Process.Kill()
	}
}

// why is how it ended; only after dead is closed.
func (p *process) why() *death {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

func (p *process) wasReady() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// begin makes c the cell that prints belong to.
func (p *process) begin(c *run, inputs context.Context) {
	p.remember(c)
	p.mu.Lock()
	p.current, p.inputs = c, inputs
	p.mu.Unlock()
}

// leave ends the current cell, which keeps what is printed until the next.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inputs = nil
}

func (p *process) remember(c *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[c.id] = c
	for len(p.runs) > rememberedCells {
		if _, ok := p.runs[p.oldest]; ok {
			delete(p.runs, p.oldest)
		}
		p.oldest++
	}
}

func (p *process) run(id uint64) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[id]
}

func (p *process) expect(id uint64) chan pipe.Message {
	answer := make(chan pipe.Message, 1)
	p.mu.Lock()
	p.waiting[id] = answer
	p.mu.Unlock()
	return answer
}

func (p *process) forget(id uint64) {
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
}

func (p *process) answer(id uint64, m pipe.Message) {
	p.mu.Lock()
	answer := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}
