// Package client is a small Jupyter client: it starts a kernel from its kernelspec's argv or joins a running one, sends
// requests over plain sockets and notes when each message came. The kernel's tests use it, and Bench measures any kernel
// with it, so that two kernels are compared by the same harness in the same run.
package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"

	"memwall/kernel/wire"
)

// Channel names one of a kernel's sockets.
type Channel int

// The five sockets of a kernel.
const (
	Shell Channel = iota
	Control
	Stdin
	IOPub
	Heartbeat
	channels
)

func (ch Channel) String() string {
	return [...]string{"shell", "control", "stdin", "iopub", "heartbeat"}[ch]
}

// pending bounds the messages that wait to be read from a channel; beyond it the kernel has to wait.
const pending = 1 << 15

// Received is a message and when it came.
type Received struct {
	*wire.Message
	At time.Time
}

// Type is the message's msg_type.
func (r *Received) Type() string { return r.Header.MsgType }

// Fields decodes the content.
func (r *Received) Fields() map[string]any {
	var m map[string]any
	if err := json.Unmarshal(r.Content, &m); err != nil {
		return map[string]any{}
	}
	return m
}

// State is the execution_state of a status message that belongs to the request id, else empty.
func (r *Received) State(id string) string {
	if r.Header.MsgType != "status" || r.ParentID() != id {
		return ""
	}
	state, _ := r.Fields()["execution_state"].(string)
	return state
}

// Client is connected to all sockets of one kernel. Each channel is for one goroutine at a time.
type Client struct {
	signer  *wire.Signer
	session string
	serial  atomic.Uint64
	links   [channels]*link
}

// link is the connection to one socket.
type link struct {
	channel Channel
	conn    net.Conn
	mu      sync.Mutex // of w
	w       *bufio.Writer
	in      chan *Received
	err     error // why in was closed
}

// Dial connects to a kernel, and tries again until ctx ends while the kernel does not listen yet. It subscribes to all
// output before it returns.
func Dial(ctx context.Context, conn wire.Connection) (*Client, error) {
	signer, err := wire.NewSigner(conn.SignatureScheme, conn.Key)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	c := &Client{signer: signer, session: hex.EncodeToString(id[:])}
	for _, o := range []struct {
		channel Channel
		port    int
		kind    zmq4.SocketType
	}{
		{IOPub, conn.IOPubPort, zmq4.Sub}, {Shell, conn.ShellPort, zmq4.Dealer}, {Control, conn.ControlPort, zmq4.Dealer},
		{Stdin, conn.StdinPort, zmq4.Dealer}, {Heartbeat, conn.HeartbeatPort, zmq4.Req},
	} {
		l, err := c.connect(ctx, conn, o.channel, o.port, o.kind)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("%v: %w", o.channel, err)
		}
		c.links[o.channel] = l
	}
	return c, nil
}

func (c *Client) connect(ctx context.Context, conn wire.Connection, channel Channel, port int, kind zmq4.SocketType) (*link, error) {
	network, address := conn.Address(port)
	var dialer net.Dialer
	var raw net.Conn
	for {
		var err error
		if raw, err = dialer.DialContext(ctx, network, address); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(500 * time.Microsecond):
		}
	}
	in := bufio.NewReaderSize(raw, 64<<10)
	if _, err := wire.Handshake(raw, in, kind, c.session, false, 10*time.Second); err != nil {
		raw.Close()
		return nil, err
	}
	l := &link{channel: channel, conn: raw, w: bufio.NewWriter(raw), in: make(chan *Received, pending)}
	if channel == IOPub {
		if err := l.write([][]byte{{1}}); err != nil {
			raw.Close()
			return nil, err
		}
	}
	go c.read(l, in)
	return l, nil
}

func (l *link) write(frames [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := wire.WriteMessage(l.w, frames); err != nil {
		return err
	}
	return l.w.Flush()
}

func (c *Client) read(l *link, in *bufio.Reader) {
	defer close(l.in)
	defer l.conn.Close()
	r := wire.NewReader(in, wire.DefaultLimits, nil, nil)
	for {
		frames, err := r.Read()
		at := time.Now()
		if err != nil {
			l.err = err
			return
		}
		var m *wire.Message
		if l.channel == Heartbeat {
			m = &wire.Message{Buffers: frames}
		} else if m, err = c.signer.Decode(frames); err != nil {
			l.err = err
			return
		}
		l.in <- &Received{m, at}
	}
}

// Close leaves the kernel. It may be called again.
func (c *Client) Close() {
	for _, l := range c.links {
		if l != nil {
			l.conn.Close()
		}
	}
}

// Send sends a message and returns its id.
func (c *Client) Send(channel Channel, msgType string, content any) (string, error) {
	return c.SendFull(channel, msgType, content, nil, nil)
}

// SendFull is Send with a parent header and buffers.
func (c *Client) SendFull(channel Channel, msgType string, content any, parent json.RawMessage, buffers [][]byte) (string, error) {
	id := c.session + "_" + strconv.FormatUint(c.serial.Add(1), 10)
	header, err := json.Marshal(wire.Header{
		MsgID: id, Session: c.session, Username: "memwall", Date: time.Now().UTC().Format(time.RFC3339Nano),
		MsgType: msgType, Version: wire.ProtocolVersion,
	})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	m := &wire.Message{RawHeader: header, Parent: parent, Content: body, Buffers: buffers}
	return id, c.links[channel].write(c.signer.Encode(m))
}

// SendFrames sends frames as they are.
func (c *Client) SendFrames(channel Channel, frames [][]byte) error {
	return c.links[channel].write(frames)
}

// Next waits for the next message on a channel.
func (c *Client) Next(ctx context.Context, channel Channel) (*Received, error) {
	l := c.links[channel]
	select {
	case m, ok := <-l.in:
		if !ok {
			return nil, fmt.Errorf("%v: %w", channel, l.err)
		}
		return m, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%v: nothing came: %w", channel, ctx.Err())
	}
}

// Await reads from a channel until a message answers the request id; others are dropped.
func (c *Client) Await(ctx context.Context, channel Channel, id string) (*Received, error) {
	for {
		m, err := c.Next(ctx, channel)
		if err != nil {
			return nil, err
		}
		if m.ParentID() == id {
			return m, nil
		}
	}
}

// Request sends a request over shell or control and waits for its reply.
func (c *Client) Request(ctx context.Context, channel Channel, msgType string, content any) (*Received, error) {
	id, err := c.Send(channel, msgType, content)
	if err != nil {
		return nil, err
	}
	return c.Await(ctx, channel, id)
}

// Run is one executed cell as the client saw it.
type Run struct {
	ID       string
	Sent     time.Time
	Reply    *Received
	Messages []*Received // of the cell on iopub, from busy to idle
}

// Idle is the time from sending the cell to both its reply and its idle status.
func (r *Run) Idle() time.Duration {
	last := r.Messages[len(r.Messages)-1].At
	if r.Reply.At.After(last) {
		last = r.Reply.At
	}
	return last.Sub(r.Sent)
}

// Text is all that the cell printed to a stream.
func (r *Run) Text(stream string) string {
	var text []byte
	for _, m := range r.Messages {
		if m.Type() == "stream" {
			var c struct{ Name, Text string }
			if json.Unmarshal(m.Content, &c) == nil && c.Name == stream {
				text = append(text, c.Text...)
			}
		}
	}
	return string(text)
}

// Types lists the kinds of the cell's messages, with the state of those of kind status.
func (r *Run) Types() []string {
	var types []string
	for _, m := range r.Messages {
		t := m.Type()
		if t == "status" {
			t = m.State(r.ID)
		}
		types = append(types, t)
	}
	return types
}

// Execute runs a cell and collects its messages; options are further fields of the execute_request.
func (c *Client) Execute(ctx context.Context, code string, options map[string]any) (*Run, error) {
	content := map[string]any{"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{}, "allow_stdin": false, "stop_on_error": true}
	for k, v := range options {
		content[k] = v
	}
	sent := time.Now()
	id, err := c.Send(Shell, "execute_request", content)
	if err != nil {
		return nil, err
	}
	return c.Collect(ctx, id, sent)
}

// Collect waits for the reply to an execute_request that was sent, and for its messages up to idle.
func (c *Client) Collect(ctx context.Context, id string, sent time.Time) (*Run, error) {
	run := &Run{ID: id, Sent: sent}
	var err error
	for idle := false; !idle; {
		m, err := c.Next(ctx, IOPub)
		if err != nil {
			return run, err
		}
		if m.ParentID() != id {
			continue
		}
		run.Messages = append(run.Messages, m)
		idle = m.State(id) == "idle"
	}
	run.Reply, err = c.Await(ctx, Shell, id)
	return run, err
}

// Ping sends a heartbeat and waits for its echo.
func (c *Client) Ping(ctx context.Context) error {
	want := "ping " + c.session
	if err := c.links[Heartbeat].write([][]byte{{}, []byte(want)}); err != nil {
		return err
	}
	m, err := c.Next(ctx, Heartbeat)
	if err != nil {
		return err
	}
	if len(m.Buffers) != 2 || len(m.Buffers[0]) != 0 || string(m.Buffers[1]) != want {
		return fmt.Errorf("heartbeat came back as %q", m.Buffers)
	}
	return nil
}
