package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

const goodConnection = `{"transport":"tcp","ip":"127.0.0.1","shell_port":5001,"iopub_port":5002,"stdin_port":5003,"control_port":5004,"hb_port":5005,"key":"k","signature_scheme":"hmac-sha256","kernel_name":"memwall","new_field":[1]}`

// TestConnectionErrors compares whole texts.
func TestConnectionErrors(t *testing.T) {
	for _, r := range []struct{ text, want string }{
		{goodConnection, "<nil>"},
		{strings.Replace(goodConnection, `,"signature_scheme":"hmac-sha256"`, "", 1), "<nil>"},
		{strings.Replace(goodConnection, `"key":"k"`, `"key":""`, 1), "<nil>"},
		{strings.NewReplacer(`"tcp"`, `"ipc"`, "127.0.0.1", "/tmp/k").Replace(goodConnection), "<nil>"},
		{``, "line 1, column 1: not JSON: unexpected end of JSON input"},
		{"{\n \"ip\": \"1\",\n}", "line 3, column 1: not JSON: invalid character '}' looking for beginning of object key string"},
		{`[1]`, "is a JSON array, want an object"},
		{`null`, "missing transport, ip, shell_port, iopub_port, stdin_port, control_port, hb_port, key"},
		{strings.Replace(goodConnection, `"shell_port":5001,`, "", 1), "missing shell_port"},
		{strings.Replace(goodConnection, `"key":"k"`, `"key":null`, 1), "missing key"},
		{strings.Replace(goodConnection, `5001`, `"5001"`, 1), "shell_port is a string, want an integer"},
		{strings.Replace(goodConnection, `5001`, `5001.5`, 1), "shell_port is a number 5001.5, want an integer"},
		{strings.Replace(goodConnection, `5001`, `0`, 1), "shell_port is 0, want 1 to 65535"},
		{strings.Replace(goodConnection, `5005`, `70000`, 1), "hb_port is 70000, want 1 to 65535"},
		{strings.Replace(goodConnection, `5005`, `5001`, 1), "shell_port and hb_port are both 5001, want five different ports"},
		{strings.Replace(goodConnection, `"tcp"`, `"udp"`, 1), `transport is "udp", want "tcp" or "ipc"`},
		{strings.Replace(goodConnection, `127.0.0.1`, ``, 1), "ip is empty, want an address such as 127.0.0.1, or for ipc a path"},
		{strings.Replace(goodConnection, `hmac-sha256`, `rot13`, 1), `signature_scheme "rot13" is not supported, want hmac-sha256 (or hmac- with md5, sha1, sha224, sha384, sha512)`},
	} {
		_, err := ParseConnection([]byte(r.text))
		if got := fmt.Sprint(err); got != r.want {
			t.Errorf("%s\n got %s\nwant %s", r.text, got, r.want)
		}
	}
	dir := t.TempDir()
	if _, err := ReadConnection(dir); err == nil || err.Error() != "connection file "+dir+": is a directory; Jupyter writes it before it starts the kernel" {
		t.Error(err)
	}
	path := filepath.Join(dir, "c.json")
	if err := os.WriteFile(path, []byte(goodConnection), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadConnection(path); err != nil || c.HeartbeatPort != 5005 || c.Key != "k" {
		t.Error(c, err)
	}
}

func TestAddress(t *testing.T) {
	for _, r := range []struct {
		c    Connection
		want string
	}{
		{Connection{Transport: "tcp", IP: "127.0.0.1"}, "tcp 127.0.0.1:7"},
		{Connection{Transport: "tcp", IP: "::1"}, "tcp [::1]:7"},
		{Connection{Transport: "tcp", IP: "[::1]"}, "tcp [::1]:7"},
		{Connection{Transport: "tcp", IP: "*"}, "tcp :7"},
		{Connection{Transport: "ipc", IP: "/tmp/k"}, "unix /tmp/k-7"},
	} {
		network, address := r.c.Address(7)
		if got := network + " " + address; got != r.want {
			t.Errorf("%+v: %s, want %s", r.c, got, r.want)
		}
	}
}

// TestSignatures: the HMACs are those that Python's hmac module gives for key "secret" and the four frames "abc" {} {} {}:
// python3 -c 'import hmac; print(hmac.new(b"secret", b"abc{}{}{}", "sha256").hexdigest())'.
func TestSignatures(t *testing.T) {
	for scheme, want := range map[string]string{
		"hmac-sha256": "dcd9c5abea5bdb7fd6a96a2a3ffba5f4360788d32b43425a66383e7370f8fd83", "hmac-sha1": "6b03ba8173553667694768c6bcf3c9f618abf0d5", "hmac-md5": "43b89175da6171d1f0a565e6488462a6", "hmac-sha512": "787293d2ec12f73bbd7157778722917b07c45aa5c653f18707909dafbf7e512c20392f64b79b692af4479f0e8c4df07a7a23645e7bbf296dd0f902300e070f97",
	} {
		s, err := NewSigner(scheme, "secret")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Sign([]byte("abc"), []byte("{}"), []byte("{}"), []byte("{}"))); got != want {
			t.Errorf("%s: %s, want %s", scheme, got, want)
		}
	}
	s, err := NewSigner("hmac-sha256", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Sign([]byte("abc")); len(got) != 0 {
		t.Errorf("without a key: %q", got)
	}
}

func TestEncodeDecode(t *testing.T) {
	s, err := NewSigner("hmac-sha256", "secret")
	if err != nil {
		t.Fatal(err)
	}
	m := &Message{Identities: [][]byte{{0, 1}, []byte("b")}, RawHeader: []byte(`{"msg_id":"1","msg_type":"x"}`), Content: []byte(`{"a":1}`), Buffers: [][]byte{{}, {9}, Delimiter}}
	frames := s.Encode(m)
	got, err := s.Decode(frames)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Identities) != 2 || got.Header.MsgID != "1" || string(got.Parent) != "{}" || string(got.Content) != `{"a":1}` || len(got.Buffers) != 3 || got.ParentID() != "" {
		t.Errorf("%+v", got)
	}
	for i := range 4 { // any change of a signed frame is noticed
		changed := append([][]byte(nil), frames...)
		changed[4+i] = append([]byte(" "), changed[4+i]...)
		if _, err := s.Decode(changed); err != ErrSignature {
			t.Errorf("frame %d changed: %v", i, err)
		}
	}
}

func read(input []byte, limits Limits, budget *Budget) ([][][]byte, []string, error) {
	var commands []string
	r := NewReader(bufio.NewReader(bytes.NewReader(input)), limits, budget, func(name string, body []byte) {
		commands = append(commands, name+" "+string(body))
	})
	var messages [][][]byte
	for {
		m, err := r.Read()
		if err != nil {
			return messages, commands, err
		}
		messages = append(messages, m)
	}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 300)
	limits := Limits{Frame: 1000, Message: 1500, Frames: 3}
	for _, r := range []struct{ input, want string }{
		{"", `[] [] EOF`},
		{"\x00\x02hi", `[["hi"]] [] EOF`},
		{"\x01\x02hi\x00\x00", `[["hi" ""]] [] EOF`},
		{"\x02\x00\x00\x00\x00\x00\x00\x01\x2c" + long, `[["` + long + `"]] [] EOF`},
		{"\x04\x06\x04PINGx\x00\x01a", `[["a"]] ["PING x"] EOF`},
		{"\x01\x01a\x04\x05\x04PING\x00\x01b", `[["a" "b"]] ["PING "] EOF`},
		{"\x01\x01a", `[] [] unexpected EOF`},
		{"\x00", `[] [] unexpected EOF`},
		{"\x02\x00\x00", `[] [] unexpected EOF`},
		{"\x00\x05hi", `[] [] unexpected EOF`},
		{"\x02\x00\x00\x00\x00\x00\x00\x03\xe9", `[] [] frame of 1001 bytes, the limit is 1000`},
		{"\x02\xff\xff\xff\xff\xff\xff\xff\xff", `[] [] frame of 18446744073709551615 bytes, the limit is 1000`},
		{strings.Repeat("\x03\x00\x00\x00\x00\x00\x00\x03\xe8"+strings.Repeat("y", 1000), 2), `[] [] message of more than 1500 bytes`},
		{"\x01\x00\x01\x00\x01\x00\x01\x00", `[] [] message of more than 3 frames`},
		{"\x10\x00", `[] [] frame flags 0x10 are not ZMTP 3.0`},
		{"\x05\x05\x04PING", `[] [] frame flags 0x05 are not ZMTP 3.0`},
		{"\x04\x00", `[] [] command of 0 bytes without a name`},
		{"\x04\x03\x04PI", `[] [] command of 3 bytes without a name`},
		{"\x04\x01\x00", `[] [] command of 1 bytes without a name`},
	} {
		messages, commands, err := read([]byte(r.input), limits, nil)
		if got := fmt.Sprintf("%q %q %v", messages, commands, err); got != r.want {
			t.Errorf("%.40q:\n got %.200s\nwant %.200s", r.input, got, r.want)
		}
	}
}

// TestBudget: unfinished messages of all readers together are bounded, finished ones are given back.
func TestBudget(t *testing.T) {
	b := NewBudget(1000)
	limits := Limits{Frame: 1 << 20, Message: 1 << 20, Frames: 10}
	frame := append(binary.BigEndian.AppendUint64([]byte{2}, 600), make([]byte, 600)...)
	if messages, _, err := read(bytes.Repeat(frame, 5), limits, b); len(messages) != 5 || err != io.EOF {
		t.Errorf("%d messages, %v", len(messages), err)
	}
	frame[0] |= 1
	if _, _, err := read(bytes.Repeat(frame, 2), limits, b); err != errBudget {
		t.Errorf("two halves of 600 bytes: %v", err)
	}
	if left := b.left.Load(); left != 1000 {
		t.Errorf("%d bytes left of 1000", left)
	}
}

func TestWriteReadsBack(t *testing.T) {
	var buf bytes.Buffer
	w := bufio.NewWriter(&buf)
	want := [][]byte{{}, bytes.Repeat([]byte{1}, 255), bytes.Repeat([]byte{2}, 256), bytes.Repeat([]byte{3}, 300_000)}
	if err := WriteMessage(w, want); err != nil {
		t.Fatal(err)
	}
	if err := WriteCommand(w, "PONG", bytes.Repeat([]byte{4}, 300)); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	messages, commands, err := read(buf.Bytes(), DefaultLimits, nil)
	if err != io.EOF || len(messages) != 1 || len(messages[0]) != 4 || len(commands) != 1 || len(commands[0]) != 305 {
		t.Fatalf("%d messages, %d commands, %v", len(messages), len(commands), err)
	}
	for i, f := range messages[0] {
		if !bytes.Equal(f, want[i]) {
			t.Errorf("frame %d: %d bytes, want %d", i, len(f), len(want[i]))
		}
	}
}

// TestHandshakeOwn: both ends of our own handshake, and its time limit.
func TestHandshakeOwn(t *testing.T) {
	a, b := net.Pipe()
	go func() { // a pipe has no buffer: the client's greeting is read while the server's is written
		in := bufio.NewReader(b)
		p, err := Handshake(&buffered{Conn: b}, in, zmq4.Dealer, "me", false, 5*time.Second)
		if err != nil || p.SocketType != "ROUTER" {
			t.Errorf("client: %+v, %v", p, err)
		}
	}()
	p, err := Handshake(&buffered{Conn: a}, bufio.NewReader(a), zmq4.Router, "", true, 5*time.Second)
	if err != nil || p.SocketType != "DEALER" || p.Identity != "me" {
		t.Errorf("server: %+v, %v", p, err)
	}
	c, d := net.Pipe()
	defer d.Close()
	start := time.Now()
	go io.Copy(io.Discard, d)
	if _, err := Handshake(c, bufio.NewReader(c), zmq4.Router, "", true, 50*time.Millisecond); err == nil || time.Since(start) > 2*time.Second {
		t.Errorf("silent peer: %v after %v", err, time.Since(start))
	}
}

// buffered writes in the background, as a socket with a buffer does.
type buffered struct{ net.Conn }

func (b *buffered) Write(p []byte) (int, error) {
	go b.Conn.Write(bytes.Clone(p))
	time.Sleep(5 * time.Millisecond)
	return len(p), nil
}

func FuzzFrames(f *testing.F) {
	for _, s := range []string{"\x00\x02hi", "\x01\x02hi\x00\x00", "\x04\x06\x04PINGx\x00\x01a", "\x02\xff\xff\xff\xff\xff\xff\xff\xff", "\x02\x00\x00\x00\x00\x00\x01\x00\x00"} {
		f.Add([]byte(s))
	}
	limits := Limits{Frame: 1 << 16, Message: 1 << 17, Frames: 16}
	f.Fuzz(func(t *testing.T, input []byte) {
		budget := NewBudget(1 << 18)
		messages, _, err := read(input, limits, budget)
		if err == nil {
			t.Fatal("reading ended without an error")
		}
		if budget.left.Load() != 1<<18 {
			t.Fatal("budget is lost")
		}
		for _, m := range messages { // what was read is written as the same message
			var buf bytes.Buffer
			w := bufio.NewWriter(&buf)
			if err := WriteMessage(w, m); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			again, _, _ := read(buf.Bytes(), limits, nil)
			if len(again) != 1 || fmt.Sprintf("%q", again[0]) != fmt.Sprintf("%q", m) {
				t.Fatalf("%q became %q", m, again)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	s, err := NewSigner("hmac-sha256", "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("a\n<IDS|MSG>\n\n{\"msg_type\":\"x\"}\n{}\n{}\n{}\nbuffer"))
	f.Add([]byte("<IDS|MSG>\n\n{\"msg_type\":\"x\",\"subshell_id\":\"1\"}\n{\"msg_id\":\"p\"}\n{}\n[1]"))
	f.Add([]byte("<IDS|MSG>\n<IDS|MSG>\n\n\n\n\n\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		frames := bytes.Split(input, []byte("\n"))
		m, err := s.Decode(frames)
		if err != nil {
			return
		}
		m.ParentID()
		again, err := s.Decode(s.Encode(m))
		if err != nil || again.Header.MsgType != m.Header.MsgType || !bytes.Equal(again.Content, m.Content) || len(again.Buffers) != len(m.Buffers) {
			t.Fatalf("%q became %+v, %v", frames, again, err)
		}
	})
}

// FuzzReady: whatever checkReady lets through, zmq4 parses without a panic.
func FuzzReady(f *testing.F) {
	f.Add([]byte("\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"))
	f.Add([]byte("\x05READY\x0bSocket-Type\xff\xff\xff\xff"))
	f.Add([]byte("\x05READY\x0b"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if checkReady(body) != nil {
			return
		}
		md := zmq4.Metadata{}
		if err := md.UnmarshalZMTP(body[6:]); err != nil {
			t.Logf("zmq4 refuses what we let through: %v", err)
		}
	})
}

func FuzzConnection(f *testing.F) {
	f.Add([]byte(goodConnection))
	f.Add([]byte(`{"shell_port": 1e99}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConnection(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := ParseConnection(again); err != nil || d != c {
			t.Fatalf("%+v became %+v, %v", c, d, err)
		}
	})
}
