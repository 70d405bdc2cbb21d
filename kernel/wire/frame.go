package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Flags of a ZMTP 3.0 frame (RFC 23, "Framing").
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// firstRead bounds what is allocated for a frame before any of it has arrived.
const firstRead = 64 << 10

// Limits bounds what a peer can make this process hold.
type Limits struct {
	Frame   int64 // bytes of a frame
	Message int64 // bytes of all frames of a message
	Frames  int   // frames of a message
}

// DefaultLimits allow a message of 512 MiB, more than any client sends.
var DefaultLimits = Limits{Frame: 512 << 20, Message: 512 << 20, Frames: 4096}

// Budget bounds the bytes that all peers together hold in messages which have not arrived completely. A nil Budget does
// not bound.
type Budget struct {
	left atomic.Int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

func (b *Budget) take(n int64) bool {
	if b == nil {
		return true
	}
	if b.left.Add(-n) < 0 {
		b.left.Add(n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) {
	if b != nil {
		b.left.Add(n)
	}
}

var errBudget = errors.New("too many unfinished messages from all peers together")

// Reader reads ZMTP messages from one peer.
type Reader struct {
	in        *bufio.Reader
	limits    Limits
	budget    *Budget
	onCommand func(name string, body []byte)
}

// NewReader reads from in, which stands after the handshake. Commands (PING, SUBSCRIBE …) go to onCommand.
func NewReader(in *bufio.Reader, limits Limits, budget *Budget, onCommand func(name string, body []byte)) *Reader {
	return &Reader{in: in, limits: limits, budget: budget, onCommand: onCommand}
}

// Read returns the frames of the next message. After an error the connection is of no more use.
func (r *Reader) Read() ([][]byte, error) {
	var frames [][]byte
	var total, taken int64
	defer func() { r.budget.give(taken) }()
	for {
		flags, size, err := r.header()
		if err != nil {
			if err == io.EOF && len(frames) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if total += size; total > r.limits.Message {
			return nil, fmt.Errorf("message of more than %d bytes", r.limits.Message)
		}
		if len(frames) >= r.limits.Frames {
			return nil, fmt.Errorf("message of more than %d frames", r.limits.Frames)
		}
		body, err := r.body(size, &taken)
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			total -= size
			if err := r.command(body); err != nil {
				return nil, err
			}
			continue
		}
		frames = append(frames, body)
		if flags&flagMore == 0 {
			return frames, nil
		}
	}
}

// header reads flags and size of a frame and checks both before anything is allocated.
func (r *Reader) header() (flags byte, size int64, err error) {
	if flags, err = r.in.ReadByte(); err != nil {
		return 0, 0, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return 0, 0, fmt.Errorf("frame flags 0x%02x are not ZMTP 3.0", flags)
	}
	var length [8]byte
	width := 1
	if flags&flagLong != 0 {
		width = 8
	}
	if _, err := io.ReadFull(r.in, length[8-width:]); err != nil {
		return 0, 0, unexpected(err)
	}
	n := binary.BigEndian.Uint64(length[:])
	if n > uint64(r.limits.Frame) {
		return 0, 0, fmt.Errorf("frame of %d bytes, the limit is %d", n, r.limits.Frame)
	}
	return flags, int64(n), nil
}

// body reads a frame of size bytes into a buffer that grows with what has arrived, not with what the header promises.
func (r *Reader) body(size int64, taken *int64) ([]byte, error) {
	buf := make([]byte, 0, min(size, firstRead))
	for int64(len(buf)) < size {
		if len(buf) == cap(buf) {
			grown := min(size, 2*int64(cap(buf)))
			buf = append(make([]byte, 0, grown), buf...)
		}
		step := cap(buf) - len(buf)
		if !r.budget.take(int64(step)) {
			return nil, errBudget
		}
		*taken += int64(step)
		have := len(buf)
		buf = buf[:have+step]
		if _, err := io.ReadFull(r.in, buf[have:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return buf, nil
}

// command takes the name off a command's body (RFC 23: one length octet, then the name).
func (r *Reader) command(body []byte) error {
	if len(body) == 0 || int(body[0]) > len(body)-1 || body[0] == 0 {
		return fmt.Errorf("command of %d bytes without a name", len(body))
	}
	end := 1 + int(body[0])
	if r.onCommand != nil {
		r.onCommand(string(body[1:end]), body[end:])
	}
	return nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteMessage writes the frames of one message.
func WriteMessage(w *bufio.Writer, frames [][]byte) error {
	for i, f := range frames {
		flags := byte(flagMore)
		if i == len(frames)-1 {
			flags = 0
		}
		if err := writeFrame(w, flags, f); err != nil {
			return err
		}
	}
	return nil
}

// WriteCommand writes a ZMTP command.
func WriteCommand(w *bufio.Writer, name string, body []byte) error {
	full := make([]byte, 0, 1+len(name)+len(body))
	full = append(full, byte(len(name)))
	full = append(full, name...)
	return writeFrame(w, flagCommand, append(full, body...))
}

func writeFrame(w *bufio.Writer, flags byte, body []byte) error {
	var header [9]byte
	n := 2
	if len(body) > 255 {
		header[0] = flags | flagLong
		binary.BigEndian.PutUint64(header[1:], uint64(len(body)))
		n = 9
	} else {
		header[0], header[1] = flags, byte(len(body))
	}
	if _, err := w.Write(header[:n]); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// PongBody is the body of the PONG that answers a PING: its context without the two octets of time to live (RFC 37).
func PongBody(ping []byte) []byte {
	if len(ping) < 2 {
		return nil
	}
	return ping[2:min(len(ping), 18)]
}
