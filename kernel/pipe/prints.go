package pipe

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// A write to a descriptor costs more than the print behind it, so a burst of prints is gathered. Output must not be lost
// when the worker dies, which it may do at any instruction: so the prints are gathered in memory that the kernel process
// sees too, and reads when the worker is gone.

// Only what goes to descriptor 1 is gathered: to descriptor 2 the Go runtime itself writes when it dies.

// Prints is that memory: how many bytes it holds, how many bytes had been written to the descriptor before them, and the
// bytes. With the second number the kernel tells what has been written from what has not when a write was cut off.
type Prints struct {
	mem  []byte
	used *atomic.Uint64
	base *atomic.Uint64
}

const (
	printsBytes  = 64 << 10
	printsHeader = 16
)

// newPrints takes memory of printsBytes, aligned as pages are.
func newPrints(mem []byte) *Prints {
	return &Prints{mem, (*atomic.Uint64)(unsafe.Pointer(&mem[0])), (*atomic.Uint64)(unsafe.Pointer(&mem[8]))}
}

func (p *Prints) room() int { return len(p.mem) - printsHeader - int(p.used.Load()) }

// add appends a print that there is room for; written is how many bytes the descriptor has had.
func (p *Prints) add(b []byte, written uint64) {
	n := int(p.used.Load())
	if n == 0 {
		p.base.Store(written)
	}
	copy(p.mem[printsHeader+n:], b)
	p.used.Store(uint64(n + len(b))) // from here on it cannot be lost
}

func (p *Prints) bytes() []byte { return p.mem[printsHeader : printsHeader+int(p.used.Load())] }

// take reads what a worker has left, of whose descriptor received bytes have arrived. The worker may have made anything of
// the memory.
func (p *Prints) take(received uint64) []byte {
	n, base := p.used.Load(), p.base.Load()
	if n > uint64(len(p.mem)-printsHeader) {
		return nil
	}
	arrived := uint64(0)
	if received > base {
		arrived = min(received-base, n)
	}
	return append([]byte(nil), p.mem[printsHeader+arrived:printsHeader+n]...)
}

const (
	// burst is how close prints follow each other that are gathered; one that stands alone is written at once.
	burst = 500 * time.Microsecond
	// gatherFor is how long a gathered print waits at most.
	gatherFor = time.Millisecond
)

// Unbuffered makes every print a write at once, from now on: user code writes to the descriptors itself, and its writes
// and the prints must keep their order. With stderr it writes to descriptor 2 too, and every print stands between marks;
// only two such writes to different descriptors, with no print between them, have no order then.
func (p *Port) Unbuffered(stderr bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.prints = nil
	p.marked = p.marked || stderr
}

// gather takes a print for descriptor 1 into the memory when it is one of a burst; false: it is to be written.
func (p *Port) gather(b []byte) bool {
	if p.prints == nil {
		return false
	}
	now := time.Now()
	alone := now.Sub(p.printed) > burst
	p.printed = now
	if p.prints.used.Load() == 0 && alone {
		return false
	}
	if len(b) > p.prints.room() {
		p.flush()
		if len(b) > p.prints.room() {
			return false
		}
	}
	p.prints.add(b, p.written)
	if !p.armed {
		p.armed = true
		if p.timer == nil {
			p.timer = time.AfterFunc(gatherFor, p.late)
		} else {
			p.timer.Reset(gatherFor)
		}
	}
	return true
}

func (p *Port) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	p.flush()
}

// flush writes what has been gathered; it is forgotten only when it is written.
func (p *Port) flush() error {
	if p.prints == nil || p.prints.used.Load() == 0 {
		return nil
	}
	_, err := p.put(0, p.prints.bytes())
	p.prints.used.Store(0)
	return err
}
