package kernel

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"memwall/kernel/wire"
)

// queueLimit bounds the bytes that wait for one peer. Senders wait when it is reached. Tests make it smaller.
var queueLimit = 64 << 20

const (
	// stallLimit is how long a peer whose queue is full may take nothing at all before it is dropped.
	stallLimit = 2 * time.Second
	// pauseLimit is how much may wait for a peer before its further requests stay unread.
	pauseLimit = 1 << 20
	// messageOverhead is what a queued message is reckoned to cost beside its bytes.
	messageOverhead = 256
)

// peer is one connection to one of the kernel's sockets. A goroutine reads from it, another writes what its queue holds.
type peer struct {
	conn     net.Conn
	identity string

	mu       sync.Mutex
	change   *sync.Cond // the queue grew or shrank, or the peer died
	queue    []outgoing
	queued   int // bytes of queue and of what is being written
	writing  bool
	progress time.Time // when the peer last took a byte, or got its first message after a pause
	dead     bool
	stalled  bool           // dead because it took nothing
	topics   map[string]int // subscriptions and how often each was made
}

// outgoing is a message, or where command is set a ZMTP command with one frame.
type outgoing struct {
	frames  [][]byte
	command string
	size    int
}

func newPeer(conn net.Conn, identity string) *peer {
	p := &peer{conn: conn, identity: identity, progress: time.Now(), topics: map[string]int{}}
	p.change = sync.NewCond(&p.mu)
	return p
}

func messageSize(frames [][]byte) int {
	n := messageOverhead
	for _, f := range frames {
		n += len(f)
	}
	return n
}

// offer queues a message if there is room. It reports whether the peer is done with: queued, or dead.
func (p *peer) offer(o outgoing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead && p.full(o.size) {
		return false
	}
	p.put(o)
	return true
}

// send queues a message and waits for room as long as the peer takes something now and then; a peer with a full queue
// that has taken nothing for stallLimit is dropped. It reports whether the message was queued.
func (p *peer) send(o outgoing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && p.full(o.size) {
		left := stallLimit - time.Since(p.progress)
		if left <= 0 {
			p.stalled = true
			p.die()
			break
		}
		p.wait(left)
	}
	return p.put(o)
}

// full says whether a message of so many bytes must wait. An empty queue takes a message of any size.
func (p *peer) full(size int) bool { return p.queued > 0 && p.queued+size > queueLimit }

func (p *peer) put(o outgoing) bool {
	if p.dead {
		return false
	}
	if p.queued == 0 {
		p.progress = time.Now()
	}
	p.queue = append(p.queue, o)
	p.queued += o.size
	p.change.Broadcast()
	return true
}

// wait waits for a change, at most so long. The caller holds mu.
func (p *peer) wait(atMost time.Duration) {
	t := time.AfterFunc(atMost, func() {
		p.mu.Lock()
		p.change.Broadcast()
		p.mu.Unlock()
	})
	p.change.Wait()
	t.Stop()
}

// awaitBelow waits until at most limit bytes are queued. It returns false when the peer is dead.
func (p *peer) awaitBelow(limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && p.queued > limit {
		p.change.Wait()
	}
	return !p.dead
}

// flush waits until everything is written, the peer dies, or the time is over.
func (p *peer) flush(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.dead && (p.queued > 0 || p.writing) {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		p.wait(left)
	}
}

// die drops the peer and what waits for it. The caller holds mu.
func (p *peer) die() {
	if p.dead {
		return
	}
	p.dead = true
	p.queue, p.queued = nil, 0
	p.conn.Close()
	p.change.Broadcast()
}

func (p *peer) kill() {
	p.mu.Lock()
	p.die()
	p.mu.Unlock()
}

func (p *peer) wasStalled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stalled
}

func (p *peer) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead
}

// writeLoop writes the queue until the peer dies.
func (p *peer) writeLoop() {
	w := bufio.NewWriterSize(&progressWriter{p}, 64<<10)
	for {
		batch, ok := p.nextBatch()
		if !ok {
			return
		}
		for _, o := range batch {
			var err error
			if o.command != "" {
				err = wire.WriteCommand(w, o.command, o.frames[0])
			} else {
				err = wire.WriteMessage(w, o.frames)
			}
			if err != nil {
				p.kill()
				return
			}
			p.mu.Lock()
			if !p.dead {
				p.queued -= o.size
			}
			p.change.Broadcast()
			p.mu.Unlock()
		}
		if err := w.Flush(); err != nil {
			p.kill()
			return
		}
		p.mu.Lock()
		p.writing = false
		p.change.Broadcast()
		p.mu.Unlock()
	}
}

// nextBatch waits for the queue to hold something and takes all of it.
func (p *peer) nextBatch() ([]outgoing, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) == 0 && !p.dead {
		p.change.Wait()
	}
	if p.dead {
		return nil, false
	}
	batch := p.queue
	p.queue = nil
	p.writing = true
	return batch, true
}

// progressWriter notes every byte that the peer takes, also of a frame that takes minutes on a slow line.
type progressWriter struct{ p *peer }

func (w *progressWriter) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		if err := w.p.conn.SetWriteDeadline(time.Now().Add(stallLimit / 4)); err != nil {
			return done, err
		}
		n, err := w.p.conn.Write(b[done:])
		done += n
		if n > 0 {
			w.p.mu.Lock()
			w.p.progress = time.Now()
			w.p.mu.Unlock()
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
	}
	return done, nil
}

// subscription counts a subscription to a topic, or takes one back (RFC 29).
func (p *peer) subscription(subscribe bool, topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if subscribe {
		p.topics[topic]++
		return
	}
	if p.topics[topic]--; p.topics[topic] <= 0 {
		delete(p.topics, topic)
	}
}

// wants says whether the peer has subscribed to a prefix of topic.
func (p *peer) wants(topic []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for prefix := range p.topics {
		if len(topic) >= len(prefix) && string(topic[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}
