// Package wire is what goes over a Jupyter kernel's sockets, for both ends: the connection file, signed messages
// (jupyter_client, "Messaging in Jupyter", protocol 5.5) and ZMTP 3.0 framing (ZeroMQ RFC 23) with limits.
//
// Everything that is read here comes from a peer that nobody has authenticated yet, so each parser is bounded, returns
// errors and never panics.
package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"sync"
)

// ProtocolVersion is the version of the messaging protocol that the kernel speaks.
const ProtocolVersion = "5.5"

// Delimiter stands between the routing identities and the signature of a message.
var Delimiter = []byte("<IDS|MSG>")

// Header is a message's header.
type Header struct {
	MsgID      string  `json:"msg_id"`
	Session    string  `json:"session"`
	Username   string  `json:"username"`
	Date       string  `json:"date"`
	MsgType    string  `json:"msg_type"`
	Version    string  `json:"version"`
	SubshellID *string `json:"subshell_id,omitempty"`
}

// Message is one Jupyter message. The JSON parts stay raw, so that a parent header is echoed verbatim.
type Message struct {
	Identities [][]byte
	Header     Header          // decoded from RawHeader
	RawHeader  json.RawMessage // what is signed and echoed
	Parent     json.RawMessage // parent header, {} where there is none
	Metadata   json.RawMessage
	Content    json.RawMessage
	Buffers    [][]byte
}

// ErrSignature says that a message was not signed with the connection file's key.
var ErrSignature = errors.New("signature does not match the connection file's key")

// Signer signs and checks messages. It may be used by several goroutines.
type Signer struct {
	pool *sync.Pool // of hash.Hash; nil: messages are not signed
	size int        // length of the signature in hex digits
}

var schemes = map[string]func() hash.Hash{
	"hmac-sha256": sha256.New,
	"hmac-sha224": sha256.New224,
	"hmac-sha384": sha512.New384,
	"hmac-sha512": sha512.New,
	"hmac-sha1":   sha1.New,
	"hmac-md5":    md5.New,
}

// NewSigner makes a signer; an empty key means that messages are neither signed nor checked.
func NewSigner(scheme, key string) (*Signer, error) {
	newHash, ok := schemes[scheme]
	if !ok {
		return nil, fmt.Errorf("signature_scheme %q is not supported, want hmac-sha256 (or hmac- with md5, sha1, sha224, sha384, sha512)", scheme)
	}
	if key == "" {
		return &Signer{}, nil
	}
	pool := &sync.Pool{New: func() any { return hmac.New(newHash, []byte(key)) }}
	return &Signer{pool: pool, size: 2 * newHash().Size()}, nil
}

// Sign returns the hex HMAC of the parts, or an empty frame where there is no key.
func (s *Signer) Sign(parts ...[]byte) []byte {
	if s.pool == nil {
		return []byte{}
	}
	mac := s.pool.Get().(hash.Hash)
	mac.Reset()
	for _, p := range parts {
		mac.Write(p)
	}
	signature := make([]byte, s.size)
	hex.Encode(signature, mac.Sum(nil))
	s.pool.Put(mac)
	return signature
}

// Decode checks and takes apart the frames of one message: identities, delimiter, signature, header, parent header,
// metadata, content, buffers. The frames are kept, not copied.
func (s *Signer) Decode(frames [][]byte) (*Message, error) {
	at := -1
	for i, f := range frames {
		if bytes.Equal(f, Delimiter) {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("no %s delimiter in %d frames", Delimiter, len(frames))
	}
	parts := frames[at+1:]
	if len(parts) < 5 {
		return nil, fmt.Errorf("%d frames after the delimiter, want at least 5 (signature, header, parent, metadata, content)", len(parts))
	}
	if s.pool != nil && !hmac.Equal(s.Sign(parts[1:5]...), parts[0]) {
		return nil, ErrSignature
	}
	m := &Message{Identities: frames[:at], RawHeader: parts[1], Parent: parts[2], Metadata: parts[3], Content: parts[4], Buffers: parts[5:]}
	if err := json.Unmarshal(m.RawHeader, &m.Header); err != nil {
		return nil, fmt.Errorf("header: %w", explainJSON(m.RawHeader, err))
	}
	if m.Header.MsgType == "" {
		return nil, errors.New("header: no msg_type")
	}
	for _, part := range []struct {
		name string
		text []byte
	}{{"parent header", m.Parent}, {"metadata", m.Metadata}, {"content", m.Content}} {
		if !json.Valid(part.text) {
			return nil, fmt.Errorf("%s is not JSON", part.name)
		}
	}
	return m, nil
}

// Encode signs a message and lays out its frames. RawHeader must hold the header; an empty Parent, Metadata or Content
// becomes {}.
func (s *Signer) Encode(m *Message) [][]byte {
	parent, metadata, content := orEmpty(m.Parent), orEmpty(m.Metadata), orEmpty(m.Content)
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, Delimiter, s.Sign(m.RawHeader, parent, metadata, content), m.RawHeader, parent, metadata, content)
	return append(frames, m.Buffers...)
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// ParentID is the msg_id of the message's parent header, or empty.
func (m *Message) ParentID() string {
	var parent struct {
		MsgID string `json:"msg_id"`
	}
	if json.Unmarshal(m.Parent, &parent) != nil {
		return ""
	}
	return parent.MsgID
}
