package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"memwall/kernel/client"
	"memwall/kernel/wire"
)

// TestMain lets the test binary be a kernel of its own: with KERNEL_ECHO set it serves the echo language.
func TestMain(m *testing.M) {
	if os.Getenv("KERNEL_ECHO") == "" {
		os.Exit(m.Run())
	}
	if mebibytes, err := strconv.Atoi(os.Getenv("KERNEL_ECHO_QUEUE")); err == nil {
		queueLimit = mebibytes << 20
	}
	err := Serve(context.Background(), Options{
		ConnectionFile: os.Args[len(os.Args)-1], Evaluator: newEcho(), Version: "1.2.3", Banner: "echo", OutputDir: os.Getenv("KERNEL_ECHO"),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// echo is the language of the tests. A cell is lines of a command and its argument; other lines are printed as they are.
type echo struct {
	mu          sync.Mutex
	interrupted chan struct{}
	comms       map[string]bool
	ended       chan bool
}

func newEcho() *echo { return &echo{comms: map[string]bool{}, ended: make(chan bool, 1)} }

func (e *echo) Execute(ctx context.Context, r Request, out Output) (result Result) {
	e.mu.Lock()
	e.interrupted = make(chan struct{})
	stop := e.interrupted
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.interrupted = nil
		e.mu.Unlock()
	}()
	for line := range strings.Lines(r.Code) {
		command, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		run, ok := echoCommands[command]
		if !ok {
			out.Stream("stdout", line)
			continue
		}
		if err := run(&echoCell{echo: e, ctx: ctx, request: r, out: out, stop: stop, result: &result}, arg); err != nil {
			result.Error = err
			break
		}
	}
	if result.Error == nil && len(r.UserExpressions) > 0 {
		result.UserExpressions = map[string]any{}
		for k, v := range r.UserExpressions {
			if v != "missing" {
				result.UserExpressions[k] = map[string]any{"status": "ok", "data": map[string]any{"text/plain": v}, "metadata": map[string]any{}}
			}
		}
	}
	return result
}

type echoCell struct {
	echo    *echo
	ctx     context.Context
	request Request
	out     Output
	stop    chan struct{}
	result  *Result
}

func (c *echoCell) stopped() *Error {
	select {
	case <-c.stop:
		return &Error{Name: "Interrupted", Value: "stopped", Traceback: []string{"Interrupted: stopped"}}
	default:
		return nil
	}
}

func plain(text string) map[string]any { return map[string]any{"text/plain": text} }

var echoCommands = map[string]func(c *echoCell, arg string) *Error{
	"stderr": func(c *echoCell, arg string) *Error { c.out.Stream("stderr", arg+"\n"); return nil },
	"value":  func(c *echoCell, arg string) *Error { c.out.Value(plain(arg), nil); return nil },
	"display": func(c *echoCell, arg string) *Error {
		c.out.Display(map[string]any{"text/html": arg, "text/plain": arg}, nil, "id-1")
		return nil
	},
	"update": func(c *echoCell, arg string) *Error { c.out.Update(plain(arg), nil, "id-1"); return nil },
	"nan": func(c *echoCell, arg string) *Error {
		c.out.Display(map[string]any{"application/json": map[string]any{"x": nan()}}, nil, "")
		return nil
	},
	"huge": func(c *echoCell, arg string) *Error {
		c.out.Display(plain(strings.Repeat("y", atoi(arg)<<20)), nil, "")
		return nil
	},
	"clear": func(c *echoCell, arg string) *Error { c.out.Clear(arg == "wait"); return nil },
	"panic": func(c *echoCell, arg string) *Error { panic(arg) },
	"count": func(c *echoCell, arg string) *Error { c.out.Stream("stdout", fmt.Sprint(c.request.Count)); return nil },
	"page": func(c *echoCell, arg string) *Error {
		c.result.Payload = append(c.result.Payload, map[string]any{"source": "page", "data": plain(arg), "start": 0})
		return nil
	},
	"error": func(c *echoCell, arg string) *Error {
		return &Error{Name: "EchoError", Value: arg, Traceback: []string{"EchoError: " + arg}}
	},
	"sleep": func(c *echoCell, arg string) *Error {
		select {
		case <-c.stop:
		case <-time.After(time.Duration(atoi(arg)) * time.Millisecond):
		}
		return c.stopped()
	},
	"lines": func(c *echoCell, arg string) *Error {
		for i := range atoi(arg) {
			c.out.Stream("stdout", fmt.Sprintf("%08d %070d\n", i, 0))
		}
		return nil
	},
	"endless": func(c *echoCell, arg string) *Error {
		text := strings.Repeat(arg+"\n", 1+4096/(len(arg)+1))
		for c.stopped() == nil {
			c.out.Stream("stdout", text)
		}
		return c.stopped()
	},
	"mebibytes": func(c *echoCell, arg string) *Error { // of one line, in pieces as a worker sends them
		piece := strings.Repeat("z", 1<<20)
		for range atoi(arg) {
			c.out.Stream("stdout", piece)
		}
		return nil
	},
	"halves": func(c *echoCell, arg string) *Error { // code points cut in two, and the halves sent apart
		for i := range len(arg) {
			c.out.Stream("stdout", arg[i:i+1])
			time.Sleep(streamDelay + streamDelay/2)
		}
		return nil
	},
	"later": func(c *echoCell, arg string) *Error {
		go func() {
			time.Sleep(50 * time.Millisecond)
			c.out.Stream("stdout", arg)
			if n, err := strconv.Atoi(arg); err == nil {
				c.out.Stream("stdout", strings.Repeat("late\n", n<<20/5))
			}
		}()
		return nil
	},
	"input":    func(c *echoCell, arg string) *Error { return c.ask(arg, false) },
	"password": func(c *echoCell, arg string) *Error { return c.ask(arg, true) },
	"comm": func(c *echoCell, arg string) *Error {
		c.out.Comm(CommMessage{Type: "comm_open", ID: arg, Target: "echo", Data: map[string]any{"n": 1}, Metadata: map[string]any{"version": "2.1.0"}, Buffers: [][]byte{{1, 2, 3}}})
		return nil
	},
}

func (c *echoCell) ask(prompt string, password bool) *Error {
	text, err := c.out.Input(c.ctx, prompt, password)
	if err != nil {
		return &Error{Name: "InputError", Value: err.Error(), Traceback: []string{"InputError: " + err.Error()}}
	}
	c.out.Stream("stdout", "got "+text)
	return nil
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func nan() float64 { z := 0.0; return z / z }

func (e *echo) Complete(ctx context.Context, code string, cursor int) Completion {
	if code == "panic" {
		panic("complete")
	}
	r := []rune(code)
	start := cursor
	for start > 0 && r[start-1] != ' ' {
		start--
	}
	c := Completion{Start: start, End: cursor}
	for _, word := range []string{"display", "lines", "later"} {
		if prefix := string(r[start:cursor]); prefix != "" && strings.HasPrefix(word, prefix) {
			c.Matches = append(c.Matches, word)
			c.Types = append(c.Types, "function")
			c.Signatures = append(c.Signatures, "("+word+")")
		}
	}
	return c
}

func (e *echo) Inspect(ctx context.Context, code string, cursor, detail int) (map[string]any, bool) {
	if !strings.HasPrefix(code, "display") {
		return nil, false
	}
	return plain(fmt.Sprintf("display TEXT (cursor %d, detail %d)", cursor, detail)), true
}

func (e *echo) IsComplete(ctx context.Context, code string) (status, indent string) {
	switch opened, closed := strings.Count(code, "{"), strings.Count(code, "}"); {
	case opened > closed:
		return "incomplete", "\t"
	case opened < closed:
		return "invalid", ""
	}
	return "complete", ""
}

func (e *echo) Interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.interrupted != nil {
		close(e.interrupted)
		e.interrupted = nil
	}
}

func (e *echo) Comm(ctx context.Context, m CommMessage, out Output) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch m.Type {
	case "comm_open":
		e.comms[m.ID] = m.Target == "echo"
		return m.Target == "echo"
	case "comm_msg":
		if e.comms[m.ID] {
			out.Stream("stdout", "comm ")
			out.Comm(CommMessage{Type: "comm_msg", ID: m.ID, Data: m.Data, Buffers: m.Buffers})
		}
		return e.comms[m.ID]
	}
	delete(e.comms, m.ID)
	return true
}

func (e *echo) Shutdown(restart bool) { e.ended <- restart }

// patience is what a loaded machine may add to a time that a test checks.
const patience = time.Second

// startEcho starts an echo kernel in a process of its own. Its log goes to the test's.
func startEcho(t *testing.T, env ...string) *client.Process {
	t.Helper()
	p, err := client.Start(limit(t, 20*time.Second), []string{self(t), "{connection_file}"}, client.StartOptions{
		Env: append(env, "KERNEL_ECHO="+t.TempDir()), Stderr: testLog{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	if utf8.Valid(p) {
		l.t.Logf("kernel: %s", strings.TrimSuffix(string(p), "\n"))
	}
	return len(p), nil
}

// limit is a context that ends with the test, or when the time is over.
func limit(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// mustRun executes a cell and fails the test where its reply has another status.
func mustRun(t *testing.T, c *client.Client, code, status string) *client.Run {
	t.Helper()
	run, err := c.Execute(limit(t, 60*time.Second), code, nil)
	if err != nil {
		t.Fatalf("%.40q: %v", code, err)
	}
	if got := run.Reply.Fields()["status"]; got != status {
		t.Fatalf("%.40q: status %v, want %s: %s", code, got, status, run.Reply.Content)
	}
	return run
}

func tempFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// serveEcho runs an echo kernel within the test's process; prepare may change it before it accepts anybody.
func serveEcho(t testing.TB, prepare ...func(*server)) (*server, wire.Connection) {
	t.Helper()
	conn, err := client.NewConnection()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(conn, Options{Evaluator: newEcho(), Version: "1.2.3", Banner: "echo", OutputDir: t.TempDir(), Log: testLog{t}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.ctx = ctx
	s.hook()
	for _, p := range prepare {
		p(s)
	}
	s.run()
	t.Cleanup(func() { s.shutdown(cancel) })
	return s, conn
}

// connect joins a kernel.
func connect(t *testing.T, conn wire.Connection) *client.Client {
	t.Helper()
	c, err := client.Dial(limit(t, 5*time.Second), conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
