package pipe

import (
	"io"
	"sync"
	"time"
)

// Port is the worker's side: it prints to the two descriptors and sends messages, and sets the marks that keep both in
// order. It may be used by several goroutines.
type Port struct {
	conn   *Conn
	marker *Marker
	files  [2]io.Writer // descriptors 1 and 2

	mu   sync.Mutex
	n    uint64
	last int // the descriptor of the last Print

	prints  *Prints // nil: prints are not gathered
	written uint64  // bytes to descriptor 1
	marked  bool    // every print stands between marks
	printed time.Time
	timer   *time.Timer
	armed   bool // timer runs
}

// NewPort makes a port of the descriptors 1 and 2 and the nonce in Start. Shared is memory for prints, or nil.
func NewPort(conn *Conn, nonce string, stdout, stderr io.Writer, shared *Prints) *Port {
	return &Port{conn: conn, marker: NewMarker(nonce), files: [2]io.Writer{stdout, stderr}, prints: shared}
}

// Send sends a message at once, whatever is being printed.
func (p *Port) Send(m Message) error { return p.conn.Send(m) }

// SendInOrder sends the message that message returns for a mark: behind all that has been printed, by whatever code, and in
// front of what will be.
func (p *Port) SendInOrder(message func(mark uint64) Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.mark(MarkMessage)
	err := p.conn.Send(message(p.n))
	if err != nil { // too large, or no JSON: the kernel waits for a message at this mark all the same
		p.conn.Send(&Show{Mark: p.n})
	}
	return err
}

// mark writes mark n to both descriptors. One that user code has closed takes none, which the kernel notices.
func (p *Port) mark(kind MarkKind) {
	p.flush()
	b := p.marker.Mark(kind, p.n)
	p.put(0, b)
	p.put(1, b)
}

// put writes to a descriptor.
func (p *Port) put(fd int, b []byte) (int, error) {
	n, err := p.files[fd].Write(b)
	if fd == 0 {
		p.written += uint64(n)
	}
	return n, err
}

// Print writes to descriptor 1, or 2 for stderr. A burst of prints to the first is gathered, in memory that outlives this process, so
// that nothing is lost when it dies. Where it changes from one to the other a mark keeps the two in order.
func (p *Port) Print(stderr bool, b []byte) (int, error) {
	fd := 0
	if stderr {
		fd = 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if fd != p.last || p.marked {
		p.n++
		p.mark(MarkSwitch)
		p.last = fd
	}
	if fd == 0 && p.gather(b) {
		return len(b), nil
	}
	if err := p.flush(); err != nil {
		return 0, err
	}
	n, err := p.put(fd, b)
	if stderr && p.prints == nil || p.marked {
		// What user code itself writes to the other descriptor next comes after this: it sets no mark.
		p.n++
		p.mark(MarkSwitch)
		p.last = 0
	}
	return n, err
}
