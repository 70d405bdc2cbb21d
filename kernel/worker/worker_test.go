package worker

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/kernel"
	"memwall/kernel/supervisor"
)

// A recorder writes down what a cell shows, one entry an event, stream text joined while the stream is the same.
type recorder struct {
	mu      sync.Mutex
	events  []string
	bundles []map[string]any
	answers []string // to input requests; none: the client cannot be asked
}

func (r *recorder) add(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.events); n > 0 && (kind == "stdout" || kind == "stderr") && strings.HasPrefix(r.events[n-1], kind+": ") {
		r.events[n-1] += text
		return
	}
	r.events = append(r.events, kind+": "+text)
}

func (r *recorder) bundle(kind string, b map[string]any) {
	r.add(kind, fmt.Sprint(b["text/plain"]))
	r.mu.Lock()
	r.bundles = append(r.bundles, b)
	r.mu.Unlock()
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, "|")
}

func (r *recorder) Stream(name, text string)              { r.add(name, text) }
func (r *recorder) Display(b, _ map[string]any, _ string) { r.bundle("display", b) }
func (r *recorder) Update(b, _ map[string]any, _ string)  { r.bundle("update", b) }
func (r *recorder) Value(b, _ map[string]any)             { r.bundle("value", b) }
func (r *recorder) Clear(wait bool)                       { r.add("clear", fmt.Sprint(wait)) }
func (r *recorder) Comm(m kernel.CommMessage)             { r.add("comm", m.Type) }
func (r *recorder) Input(ctx context.Context, prompt string, _ bool) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, "input")
	if len(r.answers) == 0 {
		return "", fmt.Errorf("nobody answers")
	}
	a := r.answers[0]
	r.answers = r.answers[1:]
	return a, nil
}

// rig is a worker process under its supervisor.
type rig struct {
	*supervisor.Supervisor
	t     testing.TB
	count int
	last  *recorder
	stdin bool
}

func newRig(t testing.TB, env ...string) *rig {
	s := supervisor.Start(supervisor.Options{Argv: []string{os.Args[0]}, Env: env, Log: os.Stderr})
	t.Cleanup(func() { s.Shutdown(false) })
	return &rig{Supervisor: s, t: t, stdin: true}
}

func newFakeRig(t testing.TB) *rig { return newRig(t, "MEMWALL_TEST_FAKE=1") }

// run runs a cell and gives what it showed and its error.
func (r *rig) run(code string, answers ...string) (string, *kernel.Error) {
	r.t.Helper()
	r.last = &recorder{answers: answers}
	r.count++
	end := make(chan kernel.Result, 1)
	req := kernel.Request{Code: code, Count: r.count, AllowStdin: r.stdin}
	rec := r.last
	go func() { end <- r.Execute(context.Background(), req, rec) }()
	select {
	case res := <-end:
		return rec.text(), res.Error
	case <-time.After(30 * time.Second):
		r.t.Fatalf("cell %q does not end; so far it showed %s", code, rec.text())
	}
	return "", nil
}

// want runs a cell and compares the whole of what it showed and of its error's traceback.
func (r *rig) want(code, shown, failed string, answers ...string) {
	r.t.Helper()
	got, err := r.run(code, answers...)
	if got != shown {
		r.t.Errorf("%s\nshowed %q\n  want %q", code, got, shown)
	}
	text := ""
	if err != nil {
		text = strings.Join(err.Traceback, "\n")
	}
	if text != failed {
		r.t.Errorf("%s\nfailed %q\n  want %q", code, text, failed)
	}
}

func waitFor(t *testing.T, want string, f func() string) {
	t.Helper()
	got := ""
	for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if got = f(); got == want {
			return
		}
	}
	t.Errorf("got %q\nwant %q", got, want)
}

func TestOutput(t *testing.T) {
	r := newFakeRig(t)
	r.want("print hello", "stdout: hello", "")
	for range 5 {
		r.want("mixed", "stdout: a\n|stderr: b\nc\n|display: d|stdout: e\n|value: 1", "")
	}
	r.want("redirect", "stdout: <caught>", "")
	r.want("nothing", "", "undefined: nothing")
	r.want("html", "display: x", "") // once, though it is also the value
	r.want("error", "value: broken", "")
	r.want("many", "value: 1\nx\n<nil>", "")
	r.want("faulty", "", "Panic: while the cell's value was shown: no picture")
}

func TestGoroutinesAfterTheirCell(t *testing.T) {
	r := newFakeRig(t)
	r.want("later", "", "")
	first := r.last
	r.want("slow", "value: 3.141592653589793", "") // the goroutine prints after this cell, or in it
	waitFor(t, "stdout: [cell 1 has ended; its goroutines print:]\nlate\n|display: late display", first.text)
	if got := r.last.text(); got != "value: 3.141592653589793" {
		t.Errorf("another cell got it: %s", got)
	}
	r.want("panics", "", "panic in a goroutine: oh")
	r.want("panicslater", "", "")
	waitFor(t, "stderr: [cell 4 has ended; its goroutines print:]\npanic in a goroutine: oh\n", r.last.text)
	r.want("print alive", "stdout: alive", "")
}

func TestInput(t *testing.T) {
	r := newFakeRig(t)
	r.want("scan // Scan", "stdout: name? |input|value: Ada36 <nil>", "", "Ada 36")
	r.want("scan // Scan", "stdout: name? |input|input|value: Ada36 <nil>", "", "Ada", "36 37")
	r.want("scan // what was left unread is not this cell's", "stdout: name? |input|value: Bob1 <nil>", "", "Bob 1")
	r.want("lines", "input|input|input|value: one,two", "", "one", "two", "end")
	r.want("readall", "input|stderr: input: nobody answers\n|value: \"\" <nil>", "")
	r.want("readall", "input|input|stderr: input: nobody answers\n|value: \"x\\n\" <nil>", "", "x")
	r.stdin = false
	r.want("scan", "stdout: name? |stderr: input: this client cannot be asked for input, so the cell reads the end of the file\n|value: 0 EOF", "")
	r.want("print alive", "stdout: alive", "")
}

func TestInterrupt(t *testing.T) {
	r := newFakeRig(t)
	r.run("print ready")
	for range 3 {
		start := time.Now()
		go func() { time.Sleep(30 * time.Millisecond); r.Interrupt() }()
		r.want("sleep", "", "Interrupted: the cell was interrupted")
		if d := time.Since(start); d > time.Second {
			t.Errorf("took %v", d)
		}
	}
	go func() { time.Sleep(100 * time.Millisecond); r.Interrupt() }()
	r.want("readall // Stdin: a question ends with the interrupt, and the cell with it", "input", "Interrupted: the cell was interrupted")
	r.want("print alive", "stdout: alive", "")
}

// Compiled code that calls itself cannot be stopped: its worker is killed, and its own cell says so.
func TestStack(t *testing.T) {
	r := newFakeRig(t)
	_, err := r.run("deep")
	want := regexp.MustCompile(`^StackOverflow: the cell's functions use \d+ MB of stack and were stopped; its code could not be stopped, so the worker process was killed
a function calls itself without end, or too deep
no variables were lost
the next cell runs in a fresh worker$`)
	if err == nil || !want.MatchString(strings.Join(err.Traceback, "\n")) {
		t.Errorf("%+v", err)
	}
	r.want("print alive", "stdout: alive", "")
}

func TestPictures(t *testing.T) {
	r := newFakeRig(t)
	r.want("plot", "value: [plot: roofs, 600 × 370]", "")
	html, _ := r.last.bundles[0]["text/html"].(string)
	head, data, _ := strings.Cut(html, "base64,")
	data, tail, _ := strings.Cut(data, `"`)
	svg, err := base64.StdEncoding.DecodeString(data)
	if err != nil || head != `<img src="data:image/svg+xml;` || tail != ` width="600" height="370" style="width:100%;max-width:600px;height:auto" alt="plot: roofs">` || !strings.Contains(string(svg), "<svg") {
		t.Errorf("%s … %s, %v", head, tail, err)
	}
	if len(r.last.bundles[0]) != 2 {
		t.Errorf("more than HTML and text: %d forms", len(r.last.bundles[0]))
	}
	r.want("image", "value: [picture, 4 × 2]", "")
	got, _ := r.run("badplot")
	if !strings.HasPrefix(got, "value: plot: cannot be drawn: ") {
		t.Error(got)
	}
}

func TestMagics(t *testing.T) {
	r := newFakeRig(t)
	const duration = `(0s|\d\.\d\d[mµ]?s|\d\d\.\d[mµ]?s|\d\d\d[mµn]?s)`
	const times = `stdout: MEASURED: ` + duration + `, CPU ` + duration + `, allocated [\d.e-]+ MB in \d+ objects?\n$`
	const device = `stdout: dev is virtual:t4 \(T4 16 GB\)\n`
	for code, want := range map[string]string{
		"%%time\nslow":             `^value: 3\.141592653589793\|` + times,
		"%%time\n%device t4\nslow": `^` + device + `\|value: 3\.141592653589793\|` + times,
		"%device t4\n%%time\nslow": `^` + device + `\|value: 3\.141592653589793\|` + times,
		"%%time\n%device t4":       `^` + device + times[len("stdout: "):],
	} {
		if got, err := r.run(code); err != nil || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q: %q %v", code, got, err)
		}
	}
	r.want("%%cuda", "", "SyntaxError: the %%cuda cell is empty: its text follows below the first line")
	r.want("%%ptx -O3\nret;", "", "UnknownMagic: %%ptx stands alone on its line; the PTX follows below")
	r.want("%sanitize", "", "UnknownMagic: %%sanitize stands alone on the first line of the cell whose launches it checks")
	r.want("%ls", "", "UnknownMagic: %ls is no magic here; there are %%cuda, %%ptx, %%time, %%sanitize, %device NAME, %reset, %help; anything else is said in Go")
	r.want("%time f()", "", "UnknownMagic: %time is written %%time, on the first line of the cell that it times")
	r.want("%help", "stdout: "+help+"\n", "")
	r.want("%help fmt", "", "UnknownMagic: %help stands alone; help on a name is written fmt?")
	r.want("name x", "", "")
	r.want("\n%reset\nprint y", "stdout: forgot 1 name\ny", "")
	r.want("%device t4\nprint z", "stdout: dev is virtual:t4 (T4 16 GB)\nz", "")
	r.want("%device", "stdout: dev is virtual:t4 (T4 16 GB)\n", "")
	_, err := r.run("%device nvidia9")
	if err == nil || err.Name != "gpu.Error" || !strings.HasPrefix(err.Value, `open "nvidia9": there is no such device`) {
		t.Errorf("%+v", err)
	}
	r.want("gpuerror", "", "launch scale: 2 arguments, the function takes 3\ngive a value for parameter 3")
}

func TestQuestions(t *testing.T) {
	r := newFakeRig(t)
	ctx := context.Background()
	for _, c := range []struct {
		code   string
		cursor int
		want   string
	}{
		{"fmt.", 4, `{["fmt."] [variable] [] 0 4}`},
		{"%", 1, "{[%%cuda %%ptx %%sanitize %%time %device %help %reset] [keyword keyword keyword keyword keyword keyword keyword] [      ] 0 1}"},
		{"é\n%%t", 5, "{[%%time] [keyword] [] 2 5}"},
		{"%%cuda\nthreadI", 14, "{[] [] [] 14 14}"},
		{"%device a1", 10, "{[a10g a100 a100-40] [module module module] [  ] 8 10}"},
		{"%%time\nx.", 9, `{["      \nx."] [variable] [] 0 9}`},
		{"x", -3, `{["x"] [variable] [] 0 0}`},
		{"x", 99, `{["x"] [variable] [] 0 1}`},
	} {
		if got := fmt.Sprint(r.Complete(ctx, c.code, c.cursor)); got != c.want {
			t.Errorf("%q at %d: %s, want %s", c.code, c.cursor, got, c.want)
		}
	}
	for code, want := range map[string]string{"x": "invalid x", "%%time": "incomplete ", "%%cuda\nint x;": "incomplete ", "%%cuda\nint x;\n": "complete ", "%help": "complete ", "%%time\ny": "invalid \ny", "fmt?": "complete ", "panic": "unknown "} {
		status, indent := r.IsComplete(ctx, code)
		if got := status + " " + indent; got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
	res := r.Execute(ctx, kernel.Request{Code: "fmt.Println??", Count: 1, UserExpressions: map[string]string{"a": "6", "b": "bad"}}, new(recorder))
	if got := fmt.Sprint(res.Error, res.Payload[0]["source"], string(fmt.Append(nil, res.Payload[0]["data"])) != ""); got != "<nil>pagetrue" {
		t.Error(got)
	}
	res = r.Execute(ctx, kernel.Request{Code: "print x", Count: 1, UserExpressions: map[string]string{"a": "6", "b": "bad"}}, new(recorder))
	want := `map[a:{"data":{"text/plain":"6"},"metadata":{},"status":"ok"} b:{"ename":"CompileError","evalue":"undefined: bad","status":"error","traceback":["undefined: bad"]}]`
	if got := fmt.Sprintf("%s", res.UserExpressions); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.want("nothing?", "", "NotFound: there is no nothing to help with")
}

// BenchmarkFakeCell is a cell with a value through the worker, without the interpreter.
func BenchmarkFakeCell(b *testing.B) {
	r := newFakeRig(b)
	r.run("error")
	rec := new(recorder)
	req := kernel.Request{Code: "error", Count: 2}
	for b.Loop() {
		rec.events, rec.bundles = rec.events[:0], rec.bundles[:0]
		r.Execute(context.Background(), req, rec)
	}
}
