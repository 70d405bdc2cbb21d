package kernel

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"

	"memwall/kernel/wire"
)

const (
	handshakeLimit = 10 * time.Second // a peer that has not shaken hands by then is dropped
	maxTopics      = 1024             // subscriptions of one peer
	maxTopic       = 1024             // bytes of a topic
)

// socket listens on one port of the connection: ROUTER, XPUB or REP, as ZeroMQ calls them, over zmq4's handshake and our
// framing. zmq4's own sockets are not used: a silent or hostile peer stops or kills them (see ARCHITECTURE.md).
type socket struct {
	name     string // of the channel, for messages: "shell"
	kind     zmq4.SocketType
	listener net.Listener
	log      *logger
	budget   *wire.Budget

	onMessage   func(p *peer, frames [][]byte) // ROUTER and REP: called by the peer's goroutine
	onSubscribe func(p *peer, topic string)    // XPUB: called for each subscription

	mu      sync.Mutex
	peers   []*peer // in the order of their handshakes
	closing bool
	serial  atomic.Uint32 // for identities of peers that have none
	readers sync.WaitGroup
}

// listen opens a socket's port. The errors say which port, and what holds it.
func listen(c wire.Connection, name, field string, port int, kind zmq4.SocketType) (*socket, error) {
	network, address := c.Address(port)
	l, err := net.Listen(network, address)
	if err != nil && network == "unix" && isAddressTaken(err) && removeStale(address) {
		l, err = net.Listen(network, address)
	}
	if err != nil {
		return nil, explainListen(field, network, address, err)
	}
	return &socket{name: name, kind: kind, listener: l}, nil
}

func explainListen(field, network, address string, err error) error {
	if isAddressTaken(err) {
		if info, serr := os.Lstat(address); network == "unix" && serr == nil && info.Mode()&fs.ModeSocket == 0 {
			return fmt.Errorf("%s: %s is a file, not a socket; move it away or change ip in the connection file", field, address)
		}
		return fmt.Errorf("%s: %s is taken by another program; end it, or let Jupyter choose new ports by starting the kernel again", field, address)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("%s: cannot listen on %s: %w", field, address, err)
}

// removeStale removes a socket file that a killed kernel left behind: one that nobody answers on.
func removeStale(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return false
	}
	return os.Remove(path) == nil
}

// serve accepts peers until the socket is closed.
func (s *socket) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.log.printf("%s: accept: %v", s.name, err)
			time.Sleep(10 * time.Millisecond) // out of file descriptors: some peer will leave
			continue
		}
		go s.servePeer(conn)
	}
}

// servePeer shakes hands with a peer and reads from it until it leaves or misbehaves.
func (s *socket) servePeer(conn net.Conn) {
	defer conn.Close()
	defer func() {
		if r := recover(); r != nil {
			s.log.printf("%s: peer dropped: %v", s.name, r)
		}
	}()
	in := bufio.NewReaderSize(conn, 16<<10)
	about, err := wire.Handshake(conn, in, s.kind, "", true, handshakeLimit)
	if err != nil {
		s.log.printf("%s: peer refused: %v", s.name, err)
		return
	}
	p := newPeer(conn, about.Identity)
	if p.identity == "" || p.identity[0] == 0 { // identities that begin with a zero octet are the socket's to give (RFC 28)
		var id [5]byte
		binary.BigEndian.PutUint32(id[1:], s.serial.Add(1))
		p.identity = string(id[:])
	}
	if !s.add(p) {
		return
	}
	defer s.readers.Done()
	defer s.remove(p)
	go p.writeLoop()
	r := wire.NewReader(in, wire.DefaultLimits, s.budget, func(name string, body []byte) { s.command(p, name, body) })
	for s.kind == zmq4.XPub || p.awaitBelow(pauseLimit) {
		frames, err := r.Read()
		if err != nil {
			if p.alive() && !isHangUp(err) {
				s.log.printf("%s: peer dropped: %v", s.name, err)
			}
			return
		}
		if s.kind != zmq4.XPub {
			s.onMessage(p, frames)
		} else if len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1 {
			s.subscribe(p, frames[0][0] == 1, string(frames[0][1:]))
		}
	}
}

// command answers a ZMTP command: PING (RFC 37), and the subscription commands of ZMTP 3.1.
func (s *socket) command(p *peer, name string, body []byte) {
	switch name {
	case "PING":
		p.offer(outgoing{frames: [][]byte{wire.PongBody(body)}, command: "PONG", size: messageOverhead})
	case "SUBSCRIBE", "CANCEL":
		if s.kind == zmq4.XPub {
			s.subscribe(p, name == "SUBSCRIBE", string(body))
		}
	}
}

func (s *socket) subscribe(p *peer, on bool, topic string) {
	p.mu.Lock()
	known := len(p.topics)
	p.mu.Unlock()
	if len(topic) > maxTopic || on && known >= maxTopics {
		return
	}
	p.subscription(on, topic)
	if on && s.onSubscribe != nil {
		s.onSubscribe(p, topic)
	}
}

func (s *socket) add(p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.peers = append(s.peers, p)
	s.readers.Add(1)
	return true
}

func (s *socket) remove(p *peer) {
	p.kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, q := range s.peers {
		if q == p {
			s.peers = append(s.peers[:i:i], s.peers[i+1:]...)
			return
		}
	}
}

// snapshot lists the peers; the slice is not changed afterwards.
func (s *socket) snapshot() []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers[:len(s.peers):len(s.peers)]
}

// byIdentity finds the newest live peer with an identity.
func (s *socket) byIdentity(identity string) *peer {
	peers := s.snapshot()
	for i := len(peers) - 1; i >= 0; i-- {
		if peers[i].identity == identity && peers[i].alive() {
			return peers[i]
		}
	}
	return nil
}

// publish sends a message, whose first frame is its topic, to every peer that has subscribed to it. Peers with room get
// it before the call waits for one without. Callers must not call it at the same time: that keeps the order.
func (s *socket) publish(frames [][]byte) {
	o := outgoing{frames: frames, size: messageSize(frames)}
	var full []*peer
	for _, p := range s.snapshot() {
		if p.wants(frames[0]) && !p.offer(o) {
			full = append(full, p)
		}
	}
	for _, p := range full {
		if !p.send(o) && p.wasStalled() {
			s.log.printf("%s: a peer took nothing for %v with %d MiB waiting: dropped", s.name, stallLimit, queueLimit>>20)
		}
	}
}

// flush waits until all peers have taken what waits for them, and ends their streams, so that nothing is lost when the
// process exits.
func (s *socket) flush(until time.Time) {
	for _, p := range s.snapshot() {
		p.flush(until)
	}
}

// close stops accepting, lets each peer take what waits for it until the time is over, and closes the connections. A
// connection is first closed for writing: closing it with unread requests would make the system discard what it has not
// delivered.
func (s *socket) close(until time.Time) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.listener.Close()
	s.flush(until)
	peers := s.snapshot()
	for _, p := range peers {
		if c, ok := p.conn.(interface{ CloseWrite() error }); ok {
			c.CloseWrite()
		}
	}
	gone := make(chan struct{})
	go func() { s.readers.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(min(100*time.Millisecond, max(0, time.Until(until)))):
	}
	for _, p := range peers {
		p.kill()
	}
}

// isHangUp says whether an error only means that the peer has left.
func isHangUp(err error) bool {
	text := err.Error()
	return text == "EOF" || errors.Is(err, net.ErrClosed) || strings.Contains(text, "reset by peer") || strings.Contains(text, "broken pipe") ||
		strings.Contains(text, "forcibly closed")
}
