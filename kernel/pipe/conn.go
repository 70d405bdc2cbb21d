package pipe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// MaxFrame is the largest frame in bytes: room for a large picture, and a limit for a peer gone wrong.
const MaxFrame = 128 << 20

// TooLargeError is Send's answer to a message above MaxFrame; nothing was sent.
type TooLargeError struct{ Bytes int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("an output of %d bytes is too large for a notebook: the limit is %d; write it to a file and show its name", e.Bytes, MaxFrame)
}

// Conn sends and receives messages. Send may be called by several goroutines, Receive by one.
type Conn struct {
	r *bufio.Reader
	w io.Writer

	mu  sync.Mutex
	out []byte // reused by Send
}

// NewConn makes a connection of two ends.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{r: bufio.NewReaderSize(r, 16<<10), w: w}
}

// Send writes a message in one piece. What it cannot encode it does not send.
func (c *Conn) Send(m Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	frame, err := Append(c.out[:0], m)
	if err != nil {
		return err
	}
	if cap(frame) <= 64<<10 { // keep a small buffer, not one that a picture has grown
		c.out = frame
	}
	_, err = c.w.Write(frame)
	return err
}

// Append adds a message's frame to b.
func Append(b []byte, m Message) ([]byte, error) {
	start := len(b)
	enc := coder{buf: append(b, 0, 0, 0, 0, m.kind())}
	m.fields(&enc)
	if enc.err != nil {
		return b, enc.err
	}
	n := len(enc.buf) - start - 4
	if n > MaxFrame {
		return b, &TooLargeError{n}
	}
	binary.LittleEndian.PutUint32(enc.buf[start:], uint32(n))
	return enc.buf, nil
}

// Receive waits for the next message. io.EOF means that the other side is gone; any other error that it talks nonsense.
func (c *Conn) Receive() (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF // died while writing
		}
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return nil, fmt.Errorf("pipe: a frame of %d bytes; it must have 1 to %d", n, MaxFrame)
	}
	body := make([]byte, 0, min(n, 64<<10))
	if n <= 64<<10 {
		body = body[:n]
		if _, err := io.ReadFull(c.r, body); err != nil {
			return nil, io.EOF
		}
		return Decode(body)
	}
	// The buffer grows as bytes arrive: the length alone reserves nothing.
	grown := bytes.NewBuffer(body)
	if m, err := io.CopyN(grown, c.r, int64(n)); err != nil || m != int64(n) {
		return nil, io.EOF
	}
	return Decode(grown.Bytes())
}

// Decode reads the message in a frame, without the frame's length.
func Decode(body []byte) (Message, error) {
	if len(body) == 0 {
		return nil, fmt.Errorf("pipe: an empty frame")
	}
	if int(body[0]) >= len(kinds) {
		return nil, fmt.Errorf("pipe: unknown message kind %d", body[0])
	}
	m := kinds[body[0]]()
	dec := coder{decode: true, buf: body[1:]}
	m.fields(&dec)
	if dec.err != nil {
		return nil, fmt.Errorf("pipe: %T: %w", m, dec.err)
	}
	if len(dec.buf) != 0 {
		return nil, fmt.Errorf("pipe: %T: %d bytes too many", m, len(dec.buf))
	}
	return m, nil
}
