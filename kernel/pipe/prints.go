package pipe

import (
	"encoding/binary"
	"sync/atomic"
	"time"
	"unsafe"
)

// A write to a descriptor costs more than the print behind it, so a burst of prints is gathered. Output must not be lost
// when the worker dies, which it may do at any instruction: so the prints are gathered in memory that the kernel process
// sees too, and reads when the worker is gone.

// Prints is that memory: how many bytes it holds, which descriptor they are for, and the bytes.
type Prints struct {
	mem  []byte
	used *atomic.Uint64
}

const (
	printsBytes  = 64 << 10
	printsHeader = 16
)

// newPrints takes memory of printsBytes, aligned as pages are.
func newPrints(mem []byte) *Prints {
	return &Prints{mem, (*atomic.Uint64)(unsafe.Pointer(&mem[0]))}
}

func (p *Prints) room() int { return len(p.mem) - printsHeader - int(p.used.Load()) }

// add appends a print that there is room for.
func (p *Prints) add(fd int, b []byte) {
	n := int(p.used.Load())
	if n == 0 {
		binary.LittleEndian.PutUint32(p.mem[8:], uint32(fd))
	}
	copy(p.mem[printsHeader+n:], b)
	p.used.Store(uint64(n + len(b))) // from here on it cannot be lost
}

func (p *Prints) bytes() []byte { return p.mem[printsHeader : printsHeader+int(p.used.Load())] }

// take reads what a worker has left, whatever it has made of the memory.
func (p *Prints) take() (stderr bool, text []byte) {
	n := p.used.Load()
	if n > uint64(len(p.mem)-printsHeader) {
		return false, nil
	}
	text = append(text, p.mem[printsHeader:printsHeader+int(n)]...)
	return binary.LittleEndian.Uint32(p.mem[8:]) == 1, text
}

const (
	// burst is how close prints follow each other that are gathered; one that stands alone is written at once.
	burst = 500 * time.Microsecond
	// gatherFor is how long a gathered print waits at most.
	gatherFor = time.Millisecond
)

// Unbuffered makes every print a write at once, from now on: user code writes to the descriptors itself, and its writes
// and the prints must keep their order.
func (p *Port) Unbuffered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.prints = nil
}

// gather takes a print into the memory when it is one of a burst; false: it is to be written.
func (p *Port) gather(fd int, b []byte) bool {
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
	p.prints.add(fd, b)
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
	_, err := p.files[p.last].Write(p.prints.bytes())
	p.prints.used.Store(0)
	return err
}
