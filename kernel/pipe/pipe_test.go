package pipe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test binary its own worker: it echoes what it gets.
func TestMain(m *testing.M) {
	if os.Getenv(Environment) != "" {
		conn, _, err := Inherited()
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(3)
		}
		for {
			m, err := conn.Receive()
			if err != nil {
				os.Exit(0)
			}
			if err := conn.Send(m); err != nil {
				os.Exit(4)
			}
		}
	}
	os.Exit(m.Run())
}

// samples is one message of each kind, with every field set, and some with none.
func samples() []Message {
	bundle := map[string]any{"text/plain": "a\x00ü\n", "application/json": json.RawMessage(`{"a":[1,2]}`)}
	comm := Comm{Type: "comm_open", ID: "c", Target: "t", Data: bundle, Metadata: map[string]any{"version": "2.1.0"}, Buffers: [][]byte{{1, 2}, {0}}}
	return []Message{
		&Start{Nonce: "n", MemoryLimit: 1 << 40, WatchMemory: true},
		&Execute{Cell: 1 << 50, Count: 7, Code: "x := 1\n", Silent: true, AllowStdin: true, Expressions: map[string]string{"a": "1", "b": ""}},
		&Execute{Count: -1},
		&Interrupt{Cell: 1, Name: "MemoryLimit", Reason: "too much"}, &Shutdown{},
		&Complete{ID: 1, Code: "fmt.", Cursor: 4},
		&Inspect{ID: 2, Code: "fmt", Cursor: 3, Detail: 1},
		&IsComplete{ID: 3, Code: "for {"},
		&InputReply{ID: 4, Text: "yes", Error: "no"},
		&CommIn{ID: 5, Comm: comm},
		&Ready{PID: 1234},
		&Show{Cell: 1, Mark: 2, What: ShowClear, Bundle: bundle, Metadata: map[string]any{}, ID: "d", Wait: true},
		&Show{},
		&Late{Cell: 1, Stream: "stderr", Text: "x"},
		&InputRequest{ID: 1, Cell: 2, Mark: 3, Prompt: "? ", Password: true},
		&Names{Names: []Name{{"x", "variable", 1}, {"f", "function", 2}}},
		&Done{Cell: 1, Mark: 2, Error: &Error{"Panic", "v", []string{"a", "b"}}, Payload: []map[string]any{bundle}, Expressions: bundle},
		&Done{},
		&Done{Cell: 3, Error: &Error{"StackOverflow", "v", nil}, Kill: true},
		&Completion{ID: 1, Matches: []string{"a"}, Types: []string{"type"}, Signatures: []string{""}, Start: 1, End: 2},
		&Inspection{ID: 1, Found: true, Bundle: bundle},
		&Completeness{ID: 1, Status: "incomplete", Indent: "\t"},
		&CommHandled{ID: 1, Handled: true},
		&CommOut{Cell: 1, Mark: 2, Comm: comm},
	}
}

func TestEveryMessageComesBack(t *testing.T) {
	var wire bytes.Buffer
	c := NewConn(&wire, &wire)
	seen := map[byte]bool{}
	for _, m := range samples() {
		if err := c.Send(m); err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		got, err := c.Receive()
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%T (-sent +received):\n%s", m, d)
		}
		seen[m.kind()] = true
	}
	for i, f := range kinds {
		if k := f().kind(); int(k) != i {
			t.Errorf("%T has kind %d and stands at %d", f(), k, i)
		}
		if !seen[byte(i)] {
			t.Errorf("%T has no sample", f())
		}
	}
}

// Every cut of every message is an error, and never a panic or another message.
func TestCutMessages(t *testing.T) {
	for _, m := range samples() {
		frame, err := Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(frame)-4; n++ {
			if got, err := Decode(frame[4 : 4+n]); err == nil {
				t.Fatalf("%T cut to %d of %d bytes gave %T", m, n, len(frame)-4, got)
			}
		}
		if _, err := Decode(append(bytes.Clone(frame[4:]), 0)); err == nil || err.Error() != "pipe: "+reflect.TypeOf(m).String()+": 1 bytes too many" {
			t.Errorf("%T with a byte too many: %v", m, err)
		}
	}
}

func TestBadFrames(t *testing.T) {
	frame := func(n uint32, body string) string {
		return string(binary.LittleEndian.AppendUint32(nil, n)) + body
	}
	for _, c := range []struct{ name, wire, want string }{
		{"nothing", "", "EOF"},
		{"half a length", "\x01\x00", "EOF"},
		{"empty", frame(0, ""), "pipe: a frame of 0 bytes; it must have 1 to 134217728"},
		{"huge", frame(1<<31, "x"), "pipe: a frame of 2147483648 bytes; it must have 1 to 134217728"},
		{"largest length, no bytes", frame(MaxFrame, "\x00"), "EOF"},
		{"unknown kind", frame(1, "\xff"), "pipe: unknown message kind 255"},
		{"list longer than the frame", frame(6, "\x0d\xff\xff\xff\xff\x0f"), "pipe: *pipe.Names: message ends inside a field"},
		{"form of output", frame(4, "\x0a\x01\x02\x09"), "pipe: *pipe.Show: unknown form of output 9"},
		{"bundle that is not JSON", frame(11, "\x10\x01\x01\x01\x01\x01a\x01\x02{["), `pipe: *pipe.Inspection: "a" of a bundle is neither text nor JSON`},
	} {
		m, err := NewConn(strings.NewReader(c.wire), io.Discard).Receive()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %T, %v; want %s", c.name, m, err, c.want)
		}
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	var wire bytes.Buffer
	c := NewConn(&wire, &wire)
	err := c.Send(&Late{Text: strings.Repeat("x", MaxFrame)})
	want := "an output of 134217735 bytes is too large for a notebook: the limit is 134217728; write it to a file and show its name"
	if err == nil || err.Error() != want {
		t.Errorf("too large: %v\nwant %s", err, want)
	}
	err = c.Send(&Show{Bundle: map[string]any{"application/json": func() {}}})
	if err == nil || err.Error() != `"application/json" of a bundle: json: unsupported type: func()` {
		t.Errorf("not JSON: %v", err)
	}
	if wire.Len() != 0 {
		t.Errorf("%d bytes were sent", wire.Len())
	}
}

// A length alone must not reserve memory.
func TestLengthReservesNothing(t *testing.T) {
	wire := append(binary.LittleEndian.AppendUint32(nil, MaxFrame), 11)
	perRun := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			NewConn(bytes.NewReader(wire), io.Discard).Receive()
		}
	}).AllocedBytesPerOp()
	if perRun > 1<<20 {
		t.Errorf("a frame header of 128 MiB without bytes took %d bytes", perRun)
	}
}

func TestMarks(t *testing.T) {
	m := NewMarker("0123456789abcdef")
	a, b := m.Mark(MarkMessage, 7), m.Mark(MarkSwitch, 1<<64-1)
	text, kind, n, rest, found := m.Next(append(append(append([]byte("one\x00two"), a...), "three"...), b...))
	if string(text) != "one\x00two" || kind != MarkMessage || n != 7 || !found {
		t.Fatalf("first: %q %c %d %v", text, kind, n, found)
	}
	text, kind, n, rest, found = m.Next(rest)
	if string(text) != "three" || kind != MarkSwitch || n != 1<<64-1 || !found || len(rest) != 0 {
		t.Fatalf("second: %q %c %d %q %v", text, kind, n, rest, found)
	}
	// A mark that arrives in two pieces, cut anywhere.
	for i := 1; i < len(a); i++ {
		text, _, _, rest, found := m.Next(append([]byte("x"), a[:i]...))
		if string(text) != "x" || found || !bytes.Equal(rest, a[:i]) {
			t.Fatalf("cut at %d: %q %q %v", i, text, rest, found)
		}
	}
	other := NewMarker("fedcba9876543210").Mark(MarkMessage, 7)
	for _, s := range []string{"", "plain", "\x00\x00\x00a", string(other), string(m.prefix) + "q0000000000000000", string(m.prefix) + "m000000000000000z", "\x00\x1bx"} {
		text, _, _, rest, found := m.Next([]byte(s))
		if string(text) != s || len(rest) != 0 || found {
			t.Errorf("%q: %q %q %v", s, text, rest, found)
		}
	}
	if len(a) > 512 {
		t.Errorf("a mark of %d bytes does not surely arrive whole (POSIX PIPE_BUF ≥ 512)", len(a))
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		frame, _ := Append(nil, m)
		f.Add(frame[4:])
	}
	f.Add([]byte("\x0d\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := Decode(body)
		if err != nil {
			return
		}
		again, err := Append(nil, m)
		if err != nil {
			t.Fatalf("%T was read and cannot be written: %v", m, err)
		}
		back, err := Decode(again[4:])
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if d := cmp.Diff(m, back); d != "" {
			t.Fatalf("%T (-first +second):\n%s", m, d)
		}
	})
}

func FuzzMarks(f *testing.F) {
	m := NewMarker("00")
	f.Add([]byte("a"), m.Mark(MarkMessage, 1), 1)
	f.Add([]byte("\x00\x1b00"), m.Mark(MarkSwitch, 2), 5)
	f.Fuzz(func(t *testing.T, before, after []byte, cut int) {
		// However the bytes are cut, the same texts and marks come out, and no byte is lost.
		all := append(append(bytes.Clone(before), m.Mark(MarkMessage, 5)...), after...)
		read := func(pieces ...[]byte) (out []byte, marks int) {
			var held []byte
			for _, p := range pieces {
				held = append(held, p...)
				for {
					text, _, n, rest, found := m.Next(held)
					out = append(out, text...)
					held = bytes.Clone(rest)
					if !found {
						break
					}
					marks++
					out = append(out, byte(n))
				}
			}
			return append(out, held...), marks
		}
		a, n := read(all)
		cut = int(uint(cut) % uint(len(all)+1))
		b, k := read(all[:cut], all[cut:])
		if !bytes.Equal(a, b) || n != k || n < 1 {
			t.Fatalf("whole: %q with %d marks; cut at %d: %q with %d", a, n, cut, b, k)
		}
	})
}

// A port with memory writes the same bytes in the same order; what it has not written is in the memory.
func TestGatheredPrints(t *testing.T) {
	var out, err bytes.Buffer
	mem := newPrints(make([]byte, printsBytes))
	p := NewPort(NewConn(&bytes.Buffer{}, io.Discard), "n", &out, &err, mem)
	var want strings.Builder
	for i := range 30000 {
		line := strings.Repeat("x", i%100) + "\n"
		p.Print(false, []byte(line))
		want.WriteString(line)
	}
	big := strings.Repeat("y", printsBytes+1)
	p.Print(false, []byte(big))
	p.Print(false, []byte("z"))
	want.WriteString(big)
	p.mu.Lock()
	got := out.String()
	left := mem.take(uint64(len(got)))
	p.mu.Unlock()
	if got+string(left) != want.String()+"z" {
		t.Errorf("%d bytes written and %d left, want %d", len(got), len(left), want.Len()+1)
	}
	p.Print(true, []byte("e"))
	p.Print(true, []byte("f"))
	p.Unbuffered(false)
	p.Print(true, []byte("g"))
	if !strings.Contains(err.String(), "efg") || mem.used.Load() != 0 {
		t.Errorf("stderr %q, %d bytes left", err.String(), mem.used.Load())
	}
	// A write that was cut off: what has arrived is not left.
	mem.add([]byte("abcdef"), 1000)
	for received, want := range map[uint64]string{0: "abcdef", 1000: "abcdef", 1002: "cdef", 1006: "", 5000: ""} {
		if left := mem.take(received); string(left) != want {
			t.Errorf("after %d bytes %q is left, want %q", received, left, want)
		}
	}
	// Whatever a worker has made of the memory, reading it is safe.
	for _, n := range []uint64{printsBytes, 1 << 63, 1<<64 - 1} {
		mem.used.Store(n)
		if left := mem.take(0); left != nil {
			t.Errorf("%d bytes of %d", len(left), n)
		}
	}
}

// The last print waits no longer than a moment.
func TestGatheredPrintComes(t *testing.T) {
	r, w := io.Pipe()
	p := NewPort(NewConn(&bytes.Buffer{}, io.Discard), "n", w, io.Discard, newPrints(make([]byte, printsBytes)))
	go func() {
		for range 3 {
			p.Print(false, []byte("a"))
		}
	}()
	b := make([]byte, 3)
	read := make(chan error, 1)
	go func() { _, err := io.ReadFull(r, b); read <- err }()
	select {
	case err := <-read:
		if err != nil || string(b) != "aaa" {
			t.Errorf("%q %v", b, err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the print does not come")
	}
}

// BenchmarkPrint is one of many printed lines of 80 bytes.
func BenchmarkPrint(b *testing.B) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	defer w.Close()
	p := NewPort(NewConn(&bytes.Buffer{}, io.Discard), "n", w, io.Discard, newPrints(make([]byte, printsBytes)))
	line := []byte(strings.Repeat("x", 79) + "\n")
	for b.Loop() {
		p.Print(false, line)
	}
}

// echo starts this test binary as a worker that echoes.
func echo(tb testing.TB) *Link {
	cmd := exec.Command(os.Args[0])
	cmd.Stderr = os.Stderr
	l, err := Attach(cmd)
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	l.Started()
	tb.Cleanup(func() {
		l.Close() // the end of the pipe ends the worker
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				tb.Errorf("worker: %v", err)
			}
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			tb.Error("the worker outlived its pipe")
		}
	})
	return l
}

func TestAcrossProcesses(t *testing.T) {
	l := echo(t)
	for _, m := range append(samples(), &Late{Text: strings.Repeat("long ", 1<<18)}) {
		go l.Send(m)
		got, err := l.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%T:\n%s", m, d)
		}
	}
}

func TestInheritedWithoutKernel(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", "MEMWALL_WORKER_PIPES is not set: a worker is started by memwall kernel, not by hand"},
		{"3", `MEMWALL_WORKER_PIPES is "3", not two or three numbers`},
		{"a,b", `MEMWALL_WORKER_PIPES is "a,b", not two or three numbers`},
	} {
		t.Setenv(Environment, c.env)
		if _, _, err := Inherited(); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.env, err, c.want)
		}
	}
}

// BenchmarkRoundTrip is a message to a worker process and back, as a trivial cell costs: µs.
func BenchmarkRoundTrip(b *testing.B) {
	l := echo(b)
	m := &Execute{Cell: 1, Count: 1, Code: "x + 1"}
	for b.Loop() {
		if err := l.Send(m); err != nil {
			b.Fatal(err)
		}
		if _, err := l.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPort(t *testing.T) {
	var out, err, wire bytes.Buffer
	conn := NewConn(&wire, &wire)
	p := NewPort(conn, "n", &out, &err, nil)
	p.Print(false, []byte("a"))
	p.Print(true, []byte("b"))
	p.Print(true, []byte("c"))
	p.SendInOrder(func(mark uint64) Message { return &Done{Cell: 1, Mark: mark} })
	p.Print(false, []byte("d"))
	if e := p.SendInOrder(func(mark uint64) Message { return &Show{Mark: mark, Bundle: map[string]any{"x": func() {}}} }); e == nil {
		t.Error("a function was sent")
	}
	const x1, x2, x3, x4 = "\x00\x1bnx0000000000000001", "\x00\x1bnx0000000000000002", "\x00\x1bnx0000000000000003", "\x00\x1bnx0000000000000004"
	const m5, m6 = "\x00\x1bnm0000000000000005", "\x00\x1bnm0000000000000006"
	if got, want := out.String(), "a"+x1+x2+x3+x4+m5+"d"+m6; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := err.String(), x1+"b"+x2+x3+"c"+x4+m5+m6; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	for _, want := range []Message{&Done{Cell: 1, Mark: 5}, &Show{Mark: 6}} {
		if m, err := conn.Receive(); err != nil || cmp.Diff(want, m) != "" {
			t.Errorf("%v %v, want %v", m, err, want)
		}
	}
}
