package kernel

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"memwall/kernel/client"
	"memwall/kernel/wire"
)

// The six faults of zmq4's own sockets, each attacked: silent peer, hostile frame length, hostile READY, slow subscriber,
// burst then shutdown, slow joiner; then what else a peer can do to a transport.

// greeting is a ZMTP 3.0 greeting with NULL security (RFC 23).
var greeting = append(append([]byte{0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U', 'L', 'L'}, make([]byte, 16)...), make([]byte, 32)...)

func property(name, value string) string {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(value)))
	return string(rune(len(name))) + name + string(size[:]) + value
}

// dial opens a plain connection to a port of a kernel.
func dial(t *testing.T, conn wire.Connection, port int) net.Conn {
	t.Helper()
	network, address := conn.Address(port)
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// shake dials and shakes hands as a socket of some kind.
func shake(t *testing.T, conn wire.Connection, port int, kind, identity string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := dial(t, conn, port)
	in := bufio.NewReader(c)
	if _, err := wire.Handshake(c, in, zmq4.SocketType(kind), identity, false, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	return c, in
}

func ports(c wire.Connection) []int {
	return []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HeartbeatPort}
}

// mustServe checks that a kernel still serves a client that was there before, and one that comes anew.
func mustServe(t *testing.T, p *client.Process, within time.Duration) {
	t.Helper()
	start := time.Now()
	run := mustRun(t, p.Client, "hello", "ok")
	if run.Text("stdout") != "hello" {
		t.Errorf("the old client got %q", run.Text("stdout"))
	}
	c, err := client.Dial(limit(t, 5*time.Second), p.Connection)
	if err != nil {
		t.Fatalf("a new client: %v", err)
	}
	defer c.Close()
	mustWelcome(t, c)
	if run := mustRun(t, c, "hello", "ok"); run.Text("stdout") != "hello" {
		t.Errorf("the new client got %q", run.Text("stdout"))
	}
	if took := time.Since(start); took > within {
		t.Errorf("serving two clients took %v", took)
	}
}

// mustWelcome waits until the kernel says that a client has subscribed: what it published before is not sent to that client.
func mustWelcome(t *testing.T, c *client.Client) {
	t.Helper()
	for ctx := limit(t, 20*time.Second); ; {
		m, err := c.Next(ctx, client.IOPub)
		if err != nil {
			t.Fatal(err)
		}
		if m.Type() == "iopub_welcome" {
			return
		}
	}
}

// peakMemory is the most resident memory that a process has had, in bytes; 0 where the system does not say.
func peakMemory(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kib int
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}

func TestSilentPeer(t *testing.T) {
	p := startEcho(t)
	for _, port := range ports(p.Connection) {
		for range 5 {
			dial(t, p.Connection, port)
		}
		half := dial(t, p.Connection, port)
		half.Write(greeting[:20])
	}
	mustServe(t, p, time.Second)
}

func TestGarbageInsteadOfGreeting(t *testing.T) {
	p := startEcho(t)
	for _, port := range ports(p.Connection) {
		c := dial(t, p.Connection, port)
		c.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", 20)))
		mustHangUp(t, c)
	}
	mustServe(t, p, time.Second)
}

// mustHangUp checks that the kernel closes a connection.
func mustHangUp(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the kernel keeps a hostile connection")
	}
}

func TestHostileReady(t *testing.T) {
	p := startEcho(t)
	long := func(n uint64) string { return "\x06" + string(binary.BigEndian.AppendUint64(nil, n)) }
	short := func(body string) string { return "\x04" + string(rune(len(body))) + body }
	for name, ready := range map[string]string{
		"name past the end":      short("\x05READY\x0bSocket"),
		"value cut off":          short("\x05READY\x0bSocket-Type\x00\x00"),
		"value of 4 GiB":         short("\x05READY\x0bSocket-Type\xff\xff\xff\xff"),
		"empty name":             short("\x05READY\x00\x00\x00\x00\x00"),
		"no metadata":            short("\x05READY"),
		"no name":                short(""),
		"length of name only":    short("\x05"),
		"another command":        short("\x05ERROR\x03bad"),
		"a message":              "\x00\x05hello",
		"READY with more":        "\x05\x06\x05READY",
		"READY of 2^62 bytes":    long(1<<62) + "\x05READY",
		"READY of 2^40 bytes":    long(1<<40) + "\x05READY",
		"READY of 2^63 bytes":    long(1<<63) + "\x05READY",
		"READY of 64 KiB":        long(64<<10) + strings.Repeat("x", 64<<10),
		"incompatible socket":    short("\x05READY" + property("Socket-Type", "PULL")),
		"unknown socket":         short("\x05READY" + property("Socket-Type", "\x00\xff")),
		"property twice":         short("\x05READY" + property("Socket-Type", "PUB") + property("socket-type", "PUSH")),
		"control bytes in names": short("\x05READY" + property("\x00\x01\xfe", "x")),
	} {
		for _, port := range ports(p.Connection) {
			c := dial(t, p.Connection, port)
			c.Write(greeting)
			c.Write([]byte(ready))
			t.Run(name, func(t *testing.T) { mustHangUp(t, c) })
		}
	}
	mustServe(t, p, time.Second)
	if peak := peakMemory(p.PID()); peak > 100<<20 {
		t.Errorf("peak memory %d MiB", peak>>20)
	}
}

func TestHostileFrameLength(t *testing.T) {
	p := startEcho(t)
	for _, size := range []uint64{1 << 63, 1 << 62, 1 << 40, 1 << 36} {
		for port, kind := range map[int]string{p.Connection.ShellPort: "DEALER", p.Connection.IOPubPort: "SUB", p.Connection.HeartbeatPort: "REQ"} {
			c, _ := shake(t, p.Connection, port, kind, "evil")
			c.Write(binary.BigEndian.AppendUint64([]byte{2}, size))
			mustHangUp(t, c)
		}
	}
	for _, frames := range []string{"\x08\x01x", "\x80\x01x", "\x05\x06\x05READY", "\x04\x00", "\x04\x02\x05R"} { // reserved flags, command with more, no name
		c, _ := shake(t, p.Connection, p.Connection.ShellPort, "DEALER", "evil")
		c.Write([]byte(frames))
		mustHangUp(t, c)
	}
	many, _ := shake(t, p.Connection, p.Connection.ShellPort, "DEALER", "evil") // a message without end
	go many.Write(bytes.Repeat([]byte("\x01\x01x"), 10000))
	mustHangUp(t, many)
	for range 20 { // an allowed length that never comes must not be allocated
		c, _ := shake(t, p.Connection, p.Connection.ShellPort, "DEALER", "")
		c.Write(binary.BigEndian.AppendUint64([]byte{2}, 500<<20))
	}
	mustServe(t, p, time.Second)
	if peak := peakMemory(p.PID()); peak > 100<<20 {
		t.Errorf("peak memory %d MiB", peak>>20)
	}
}

// subscribe opens a subscriber with its own hands on the connection.
func subscribe(t *testing.T, conn wire.Connection) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, in := shake(t, conn, conn.IOPubPort, "SUB", "")
	if _, err := c.Write([]byte{0, 1, 1}); err != nil {
		t.Fatal(err)
	}
	return c, in
}

// TestSlowSubscriber: one subscriber never reads, another pauses for less than the limit now and then, a third is quick.
// The first is dropped; the others get everything; the kernel's memory stays bounded.
func TestSlowSubscriber(t *testing.T) {
	p := startEcho(t, "KERNEL_ECHO_QUEUE=4")
	mustWelcome(t, p.Client)
	stalled, _ := subscribe(t, p.Connection)
	slow, in := subscribe(t, p.Connection)
	defer slow.Close()
	const displays = 60 // of 1 MiB
	got := make(chan int, 1)
	go func() {
		r := wire.NewReader(in, wire.DefaultLimits, nil, nil)
		n := 0
		for n < displays {
			frames, err := r.Read()
			if err != nil {
				break
			}
			if bytes.Contains(frames[0], []byte("display_data")) {
				if n++; n%20 == 10 {
					time.Sleep(stallLimit * 6 / 10)
				}
			}
		}
		got <- n
	}()
	time.Sleep(100 * time.Millisecond) // both have subscribed
	run := mustRun(t, p.Client, strings.Repeat("huge 1\n", displays), "ok")
	if n := strings.Count(strings.Join(run.Types(), " "), "display_data"); n != displays {
		t.Errorf("the quick subscriber got %d displays of %d", n, displays)
	}
	if n := <-got; n != displays {
		t.Errorf("the slow subscriber got %d displays of %d", n, displays)
	}
	mustHangUp(t, stalled)
	mustServe(t, p, 10*time.Second) // the machine may be busy
	if peak := peakMemory(p.PID()); peak > 200<<20 {
		t.Errorf("peak memory %d MiB", peak>>20)
	}
}

func TestBurstThenShutdown(t *testing.T) {
	p := startEcho(t)
	const messages = 20000
	id, err := p.Send(client.Shell, "execute_request", map[string]any{"code": strings.Repeat("display x\n", messages)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := limit(t, 20*time.Second)
	if _, err := p.Await(ctx, client.Shell, id); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	reply, err := p.Request(ctx, client.Control, "shutdown_request", map[string]any{"restart": true})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(reply.Content); got != `{"restart":true,"status":"ok"}` {
		t.Errorf("shutdown_reply %s", got)
	}
	<-p.Exited()
	if took := time.Since(start); took > lingerLimit+patience {
		t.Errorf("the kernel took %v to end", took)
	}
	run, err := p.Collect(ctx, id, start)
	if n := len(run.Messages); n != messages+3 { // and busy, execute_input, idle
		t.Errorf("%d messages came of %d (%v)", n, messages+3, err)
	}
}

// TestSlowJoiner: a client sends its first cell at once and subscribes later; it loses nothing.
func TestSlowJoiner(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 400 * time.Millisecond} {
		_, conn := serveEcho(t, func(s *server) {
			subscribed := s.iopub.onSubscribe
			s.iopub.onSubscribe = func(p *peer, topic string) {
				p.subscription(false, topic)
				time.Sleep(delay)
				p.subscription(true, topic)
				subscribed(p, topic)
			}
		})
		c := connect(t, conn)
		run := mustRun(t, c, "hello", "ok")
		if got := strings.Join(run.Types(), " "); got != "busy execute_input stream idle" {
			t.Errorf("subscribed %v late: %s", delay, got)
		}
	}
	s, conn := serveEcho(t)
	sh, in := shake(t, conn, conn.ShellPort, "DEALER", "alone")
	frames := s.signer.Encode(&wire.Message{RawHeader: []byte(`{"msg_type":"kernel_info_request","msg_id":"1"}`)})
	start := time.Now()
	w := bufio.NewWriter(sh)
	if err := errors.Join(wire.WriteMessage(w, frames), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.NewReader(in, wire.DefaultLimits, nil, nil).Read(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > joinLimit+patience {
		t.Errorf("a client without a subscription waited %v", took)
	}
}

// TestStalledRequester: a client sends requests and never reads the replies. Others are served.
func TestStalledRequester(t *testing.T) {
	p := startEcho(t)
	signer, err := wire.NewSigner(p.Connection.SignatureScheme, p.Connection.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := shake(t, p.Connection, p.Connection.ShellPort, "DEALER", "stalled")
	frames := signer.Encode(&wire.Message{RawHeader: []byte(`{"msg_type":"kernel_info_request","msg_id":"1"}`)})
	w := bufio.NewWriter(c)
	c.SetWriteDeadline(time.Now().Add(2 * time.Second))
	sent := 0
	for sent < 10000 && wire.WriteMessage(w, frames) == nil {
		sent++
	}
	mustServe(t, p, 20*time.Second) // after the requests that came before
	t.Logf("%d requests sent without reading", sent)
	start := time.Now()
	if _, err := p.Shutdown(limit(t, 20*time.Second)); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > lingerLimit+patience {
		t.Errorf("shutdown took %v", took)
	}
}

func TestPing(t *testing.T) {
	_, conn := serveEcho(t)
	for port, kind := range map[int]string{conn.ShellPort: "DEALER", conn.IOPubPort: "SUB"} {
		c, in := shake(t, conn, port, kind, "")
		w := bufio.NewWriter(c)
		if err := errors.Join(wire.WriteCommand(w, "PING", []byte("\x00\x10context")), w.Flush()); err != nil {
			t.Fatal(err)
		}
		var got string
		pong := make(chan bool)
		go wire.NewReader(in, wire.DefaultLimits, nil, func(name string, body []byte) {
			got = name + " " + string(body)
			close(pong)
		}).Read()
		select {
		case <-pong:
			if got != "PONG context" {
				t.Errorf("%s: PING is answered by %q", kind, got)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: PING is not answered", kind)
		}
		c.Close()
	}
}

func TestHeartbeat(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	for range 3 {
		if err := c.Ping(limit(t, 5*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWelcome: a subscriber is told that it is one, then that the kernel has started, whatever topic it asked for.
func TestWelcome(t *testing.T) {
	s, conn := serveEcho(t)
	c := connect(t, conn)
	ctx := limit(t, 5*time.Second)
	for _, want := range []string{`iopub_welcome {"subscription":""}`, `status {"execution_state":"starting"}`} {
		m, err := c.Next(ctx, client.IOPub)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Type() + " " + string(m.Content); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	other, in := shake(t, conn, conn.IOPubPort, "SUB", "")
	other.Write([]byte("\x00\x05\x01kern\x00\x02\x01x"))
	r := wire.NewReader(in, wire.DefaultLimits, nil, nil)
	for _, topic := range []string{"kern", "x"} {
		frames, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.signer.Decode(frames)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Content) != `{"subscription":"`+topic+`"}` || string(frames[0]) != topic {
			t.Errorf("topic %q: content %s, first frame %q", topic, m.Content, frames[0])
		}
	}
}

// TestReconnect: a client that comes again under its identity gets its replies; two at once get their own.
func TestReconnect(t *testing.T) {
	s, conn := serveEcho(t)
	connect(t, conn)
	ask := func(c net.Conn, in *bufio.Reader, id string) {
		t.Helper()
		frames := s.signer.Encode(&wire.Message{RawHeader: []byte(`{"msg_type":"kernel_info_request","msg_id":"` + id + `"}`)})
		w := bufio.NewWriter(c)
		if err := errors.Join(wire.WriteMessage(w, frames), w.Flush()); err != nil {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		got, err := wire.NewReader(in, wire.DefaultLimits, nil, nil).Read()
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		m, err := s.signer.Decode(got)
		if err != nil || m.ParentID() != id {
			t.Errorf("%s: got the reply to %q (%v)", id, m.ParentID(), err)
		}
	}
	for i := range 3 {
		c, in := shake(t, conn, conn.ShellPort, "DEALER", "same")
		ask(c, in, fmt.Sprint("again ", i))
		c.Close()
	}
	a, ina := shake(t, conn, conn.ShellPort, "DEALER", "twice")
	b, inb := shake(t, conn, conn.ShellPort, "DEALER", "twice")
	ask(a, ina, "a")
	ask(b, inb, "b")
	ask(a, ina, "a again")
}

// TestChurn: clients come and go; nothing of them stays.
func TestChurn(t *testing.T) {
	s, conn := serveEcho(t)
	for range 100 {
		c, err := client.Dial(limit(t, 5*time.Second), conn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Request(limit(t, 5*time.Second), client.Shell, "kernel_info_request", map[string]any{}); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	var left []int
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		left = left[:0]
		for _, sock := range s.sockets() {
			left = append(left, len(sock.snapshot()))
		}
		if slices.Max(left) == 0 {
			return
		}
	}
	t.Errorf("peers that stay after their clients have left: %v", left)
}
