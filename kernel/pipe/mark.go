package pipe

import (
	"bytes"
	"strconv"
)

// Prints are bytes on the worker's file descriptors 1 and 2; messages come another way. A mark is a short sequence that
// the worker writes into both descriptors to say where a message belongs among the prints: the kernel handles message k
// when it has passed mark k in both, and reads on behind the marks when the message has been handled. A mark with no
// message (Switch) keeps the two descriptors in order with each other.
//
// Marks hold the nonce of Start, so that no program prints one by accident, and are shorter than PIPE_BUF, so that they
// arrive whole.

// Marker writes and finds the marks of one worker.
type Marker struct{ prefix []byte }

// MarkKind tells whether a message belongs to a mark.
type MarkKind byte

// The kinds of marks.
const (
	MarkMessage MarkKind = 'm'
	MarkSwitch  MarkKind = 'x'
)

const markDigits = 16

// NewMarker makes the marks of a nonce.
func NewMarker(nonce string) *Marker {
	return &Marker{append([]byte("\x00\x1b"), nonce...)}
}

// Mark is the sequence of mark number n.
func (m *Marker) Mark(kind MarkKind, n uint64) []byte {
	b := append(make([]byte, 0, len(m.prefix)+1+markDigits), m.prefix...)
	b = append(b, byte(kind))
	digits := strconv.AppendUint(nil, n, 16)
	for range markDigits - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// Next finds the first mark in b: text is what stands in front of it and rest what follows. Without a mark found is false,
// text is what surely belongs to no mark and rest the end of b that may be the beginning of one.
func (m *Marker) Next(b []byte) (text []byte, kind MarkKind, n uint64, rest []byte, found bool) {
	from := 0
	for {
		i := bytes.IndexByte(b[from:], m.prefix[0])
		if i < 0 {
			return b, 0, 0, nil, false
		}
		i += from
		tail := b[i:]
		whole := len(m.prefix) + 1 + markDigits
		if !bytes.HasPrefix(tail, m.prefix[:min(len(tail), len(m.prefix))]) {
			from = i + 1
			continue
		}
		if len(tail) < whole {
			return b[:i], 0, 0, tail, false
		}
		n, err := strconv.ParseUint(string(tail[len(m.prefix)+1:whole]), 16, 64)
		k := MarkKind(tail[len(m.prefix)])
		if err != nil || k != MarkMessage && k != MarkSwitch {
			from = i + 1
			continue
		}
		return b[:i], k, n, tail[whole:], true
	}
}
