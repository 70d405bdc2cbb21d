package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/kernel/client"
	"memwall/kernel/wire"
)

// lockedBuffer keeps what a kernel logs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// TestMalformedMessages: each is dropped with its reason in the log, on both channels, and the same client is served on.
func TestMalformedMessages(t *testing.T) {
	var log lockedBuffer
	s, conn := serveEcho(t, func(s *server) { s.log.w = &log })
	c := connect(t, conn)
	sign := func(header, parent, metadata, content string) [][]byte {
		parts := [][]byte{[]byte(header), []byte(parent), []byte(metadata), []byte(content)}
		return append([][]byte{wire.Delimiter, s.signer.Sign(parts...)}, parts...)
	}
	const good = `{"msg_type":"kernel_info_request","msg_id":"1"}`
	forged := sign(good, "{}", "{}", "{}")
	forged[1] = bytes.Repeat([]byte("0"), 64)
	unsigned := sign(good, "{}", "{}", "{}")
	unsigned[1] = nil
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	cases := []struct {
		frames [][]byte
		want   string
	}{
		{[][]byte{[]byte("x")}, "no <IDS|MSG> delimiter in 1 frames"},
		{[][]byte{{}}, "no <IDS|MSG> delimiter in 1 frames"},
		{[][]byte{wire.Delimiter}, "0 frames after the delimiter, want at least 5 (signature, header, parent, metadata, content)"},
		{forged[:4], "3 frames after the delimiter, want at least 5 (signature, header, parent, metadata, content)"},
		{forged, "signature does not match the connection file's key"},
		{unsigned, "signature does not match the connection file's key"},
		{sign("not json", "{}", "{}", "{}"), "header: line 1, column 2: not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{sign(`{"msg_type":5}`, "{}", "{}", "{}"), "header: msg_type is a number, want a string"},
		{sign(`[]`, "{}", "{}", "{}"), "header: is a JSON array, want an object"},
		{sign(`null`, "null", "null", "null"), "header: no msg_type"},
		{sign(`{"msg_id":"1"}`, "{}", "{}", "{}"), "header: no msg_type"},
		{sign(good, "{", "{}", "{}"), "parent header is not JSON"},
		{sign(good, "{}", "", "{}"), "metadata is not JSON"},
		{sign(good, "{}", "{}", `{"code":`), "content is not JSON"},
		{sign(good, "{}", "{}", deep), "content is not JSON"},
	}
	for _, channel := range []client.Channel{client.Shell, client.Control} {
		log.take()
		var want strings.Builder
		for _, r := range cases {
			if err := c.SendFrames(channel, r.frames); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, "memwall kernel: %v: message dropped: %s\n", channel, r.want)
		}
		reply, err := c.Request(limit(t, 5*time.Second), channel, "kernel_info_request", map[string]any{})
		if err != nil || reply.Type() != "kernel_info_reply" {
			t.Fatalf("%v: the client is not served on: %v", channel, err)
		}
		if got := log.take(); got != want.String() {
			t.Errorf("%v: log\n%s\nwant\n%s", channel, got, want.String())
		}
		time.Sleep(time.Second) // the log takes so many lines a second
	}
	if err := c.SendFrames(client.Shell, sign(`{"msg_type":"gossip","msg_id":"2"}`, "{}", "{}", "{}")); err != nil {
		t.Fatal(err)
	}
	for _, frames := range [][][]byte{sign(`{"msg_type":"gossip"}`, "{}", "{}", "{}"), sign(`{"msg_type":"input_reply"}`, "{}", "{}", "{}"), sign(`{"msg_type":"input_reply"}`, "{}", "{}", `{"value":5}`)} {
		if err := c.SendFrames(client.Stdin, frames); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, c, "hi", "ok")
	wanted := []string{
		`memwall kernel: shell: message of unknown type "gossip" dropped`,
		"memwall kernel: stdin: gossip dropped: not an input_reply with a value",
		"memwall kernel: stdin: input_reply dropped: no question is waiting for it",
	}
	got := "" // the stdin socket has its own reader: the reply over shell does not say that it has read
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got += log.take()
		missing := slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(got, w) })
		if !missing {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("log %s", got)
		}
	}
}

// TestMalformedExecute: a request of the wrong shape is answered by an error, not run.
func TestMalformedExecute(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	for content, want := range map[string]string{
		`{"code":5}`:                         "content.code is a JSON number, want string",
		`{"code":"x","silent":"yes"}`:        "content.silent is a JSON string, want bool",
		`"x"`:                                "content is a JSON string, want an object",
		`{"code":"x","user_expressions":[]}`: "content.user_expressions is a JSON array, want map[string]string",
	} {
		m, err := c.Request(limit(t, 5*time.Second), client.Shell, "execute_request", json.RawMessage(content))
		if err != nil {
			t.Fatal(err)
		}
		if f := m.Fields(); m.Type() != "execute_reply" || f["status"] != "error" || f["evalue"] != want || f["execution_count"] != 0.0 {
			t.Errorf("%s: %s", content, m.Content)
		}
	}
}

// TestLogIsBounded: a peer cannot fill the server's log.
func TestLogIsBounded(t *testing.T) {
	var b lockedBuffer
	l := &logger{w: &b}
	for range 10000 {
		l.printf("x")
	}
	l.second-- // as if a second had passed
	l.printf("y")
	lines := strings.Split(strings.TrimSpace(b.take()), "\n")
	if n := len(lines); n > 2*logBurst+2 || lines[n-1] != "memwall kernel: y" || !strings.HasSuffix(lines[n-2], "more messages of the same second") {
		t.Errorf("%d lines, the last %q", n, lines[n-2:])
	}
}

// TestServeErrors: whole texts of what keeps a kernel from starting.
func TestServeErrors(t *testing.T) {
	dir := t.TempDir()
	conn, err := client.NewConnection()
	if err != nil {
		t.Fatal(err)
	}
	serve := func(text string) string {
		t.Helper()
		path := filepath.Join(dir, "c.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Serve(t.Context(), Options{ConnectionFile: path, Evaluator: newEcho(), Log: testLog{t}})
		if err == nil {
			return "no error"
		}
		return strings.ReplaceAll(err.Error(), dir, "DIR")
	}
	encode := func(c wire.Connection) string {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, taken := serveEcho(t)
	for _, r := range []struct{ text, want string }{
		{`{"transport": "tcp",` + "\n  bad", `jupyter kernel: connection file DIR/c.json: line 2, column 3: not JSON: invalid character 'b' looking for beginning of object key string`},
		{`{}`, `jupyter kernel: connection file DIR/c.json: missing transport, ip, shell_port, iopub_port, stdin_port, control_port, hb_port, key`},
		{encode(taken), fmt.Sprintf(`jupyter kernel: connection file DIR/c.json: iopub_port: 127.0.0.1:%d is taken by another program; end it, or let Jupyter choose new ports by starting the kernel again`, taken.IOPubPort)},
		{encode(wire.Connection{Transport: "tcp", IP: "192.0.2.1", ShellPort: 1, IOPubPort: conn.IOPubPort, StdinPort: 3, ControlPort: 4, HeartbeatPort: 5}),
			fmt.Sprintf(`jupyter kernel: connection file DIR/c.json: iopub_port: cannot listen on 192.0.2.1:%d: bind: cannot assign requested address`, conn.IOPubPort)},
	} {
		if got := serve(r.text); got != r.want {
			t.Errorf("\n got %s\nwant %s", got, r.want)
		}
	}
	mixed := conn
	mixed.ShellPort = taken.ShellPort
	want := fmt.Sprintf(`jupyter kernel: connection file DIR/c.json: shell_port: 127.0.0.1:%d is taken by another program; end it, or let Jupyter choose new ports by starting the kernel again`, taken.ShellPort)
	if got := serve(encode(mixed)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if again, err := newServer(conn, Options{Log: testLog{t}}); err != nil { // what was opened before the taken port is free again
		t.Error(err)
	} else {
		again.closeListeners()
	}
	if err := Serve(t.Context(), Options{ConnectionFile: filepath.Join(dir, "none")}); err == nil ||
		err.Error() != "jupyter kernel: connection file "+filepath.Join(dir, "none")+": no such file or directory; Jupyter writes it before it starts the kernel" {
		t.Error(err)
	}
	path := filepath.Join(dir, "c.json")
	if err := os.WriteFile(path, []byte(encode(conn)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the ports are free again after the failed start
		err := Serve(t.Context(), Options{ConnectionFile: path, Start: func() (Evaluator, error) { return nil, errors.New("no worker") }})
		if err == nil || err.Error() != "jupyter kernel: no worker" {
			t.Error(err)
		}
	}
	if err := Serve(t.Context(), Options{}); err == nil || err.Error() != "jupyter kernel: no connection file: Jupyter passes one as -f FILE" {
		t.Error(err)
	}
}

// TestIPC: the kernel over Unix sockets; files that a killed kernel left are replaced, those in use are not.
func TestIPC(t *testing.T) {
	dir, err := os.MkdirTemp("", "ipc") // a Unix socket's name is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conn := wire.Connection{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HeartbeatPort: 5, Key: "secret", SignatureScheme: "hmac-sha256"}
	start := func() *client.Process {
		p, err := client.Start(limit(t, 20*time.Second), []string{self(t), "{connection_file}"}, client.StartOptions{
			Env: []string{"KERNEL_ECHO=" + dir}, Stderr: testLog{t}, Wire: conn,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	start().Kill() // leaves its socket files
	if _, err := os.Stat(conn.IP + "-1"); err != nil {
		t.Fatalf("the killed kernel left no socket file: %v", err)
	}
	p := start()
	mustServe(t, p, time.Second)
	_, err = newServer(conn, Options{Log: testLog{t}})
	want := "iopub_port: " + conn.IP + "-2 is taken by another program; end it, or let Jupyter choose new ports by starting the kernel again"
	if err == nil || err.Error() != want {
		t.Errorf("in use: %v", err)
	}
	if _, err := p.Shutdown(limit(t, 5*time.Second)); err != nil {
		t.Error(err)
	}
	if left := tempFiles(t, dir); len(left) != 0 {
		t.Errorf("files left after shutdown: %v", left)
	}
	if err := os.WriteFile(conn.IP+"-2", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = newServer(conn, Options{Log: testLog{t}})
	want = "iopub_port: " + conn.IP + "-2 is a file, not a socket; move it away or change ip in the connection file"
	if err == nil || err.Error() != want {
		t.Errorf("a file: %v", err)
	}
	if text, err := os.ReadFile(conn.IP + "-2"); string(text) != "precious" {
		t.Errorf("the file is now %q (%v)", text, err)
	}
}
