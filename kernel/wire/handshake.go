package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// Sizes of the two things that a peer sends in a handshake: the greeting (RFC 23) and the most of a READY command that is
// believed; libzmq's own has about 40 bytes.
const (
	greetingSize = 64
	maxReady     = 4096
)

// Peer is what a handshake says about the other end.
type Peer struct {
	SocketType string // "DEALER", "SUB" …
	Identity   string // may be empty
}

// Handshake performs the ZMTP handshake with NULL security on a new connection, within the time given, and returns what
// the peer said of itself. in must read from c; afterwards it stands at the first message. The handshake is zmq4's; what
// the peer sends is checked before zmq4 sees it, because zmq4 believes every length.
func Handshake(c net.Conn, in *bufio.Reader, kind zmq4.SocketType, identity string, server bool, within time.Duration) (p Peer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("handshake: %v", r)
		}
	}()
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return Peer{}, err
	}
	zc, err := zmq4.Open(&guard{Conn: c, in: in, left: greetingSize}, null.Security(), kind, zmq4.SocketIdentity(identity), server, nil)
	if err != nil {
		return Peer{}, fmt.Errorf("handshake: %w", err)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return Peer{}, err
	}
	return Peer{SocketType: zc.Peer.Meta["Socket-Type"], Identity: zc.Peer.Meta["Identity"]}, nil
}

// guard hands zmq4 the greeting and then one READY (or ERROR) command whose lengths have been checked.
type guard struct {
	net.Conn
	in    *bufio.Reader
	left  int    // bytes of the greeting that have not been read
	ready []byte // the rest of the checked command
	done  bool   // the command has been read from the peer
}

func (g *guard) Read(p []byte) (int, error) {
	if g.left > 0 {
		n, err := g.in.Read(p[:min(len(p), g.left)])
		g.left -= n
		return n, err
	}
	if !g.done {
		ready, err := readReady(g.in)
		if err != nil {
			return 0, err
		}
		g.ready, g.done = ready, true
	}
	if len(g.ready) == 0 {
		return 0, io.EOF
	}
	n := copy(p, g.ready)
	g.ready = g.ready[n:]
	return n, nil
}

// readReady reads one short command frame and checks its metadata. It returns the frame, header included.
func readReady(in *bufio.Reader) ([]byte, error) {
	flags, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	if flags != flagCommand && flags != flagCommand|flagLong {
		return nil, fmt.Errorf("frame flags 0x%02x where READY was expected", flags)
	}
	frame := []byte{flags}
	width := 1
	if flags&flagLong != 0 {
		width = 8
	}
	var length [8]byte
	if _, err := io.ReadFull(in, length[8-width:]); err != nil {
		return nil, unexpected(err)
	}
	size := binary.BigEndian.Uint64(length[:])
	if size > maxReady {
		return nil, fmt.Errorf("READY of %d bytes, the limit is %d", size, maxReady)
	}
	frame = append(frame, length[8-width:]...)
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, unexpected(err)
	}
	if err := checkReady(body); err != nil {
		return nil, err
	}
	return append(frame, body...), nil
}

// checkReady checks that a command is READY and that its properties (RFC 23: octet and name, four octets and value) fill
// it exactly.
func checkReady(body []byte) error {
	const name = "\x05READY"
	if !strings.HasPrefix(string(body), name) {
		return fmt.Errorf("command %.16q where READY was expected", body)
	}
	for rest := body[len(name):]; len(rest) > 0; {
		n := int(rest[0])
		if n == 0 || len(rest) < 1+n+4 {
			return errors.New("READY: property name is cut off")
		}
		size := binary.BigEndian.Uint32(rest[1+n:])
		rest = rest[1+n+4:]
		if uint64(size) > uint64(len(rest)) {
			return fmt.Errorf("READY: property of %d bytes, %d are there", size, len(rest))
		}
		rest = rest[size:]
	}
	return nil
}
