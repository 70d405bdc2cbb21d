//go:build unix

package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memwall/kernel"
)

// A recorder writes down what a cell shows, one line an event, stream text joined while the stream is the same.
type recorder struct {
	mu     sync.Mutex
	events [][]byte
	answer func(ctx context.Context, prompt string) (string, error)
}

func (r *recorder) add(kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.events); n > 0 && (kind == "stdout" || kind == "stderr") && bytes.HasPrefix(r.events[n-1], []byte(kind+": ")) {
		r.events[n-1] = append(r.events[n-1], text...)
		return
	}
	r.events = append(r.events, []byte(kind+": "+text))
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(bytes.Join(r.events, []byte("|")))
}

func plain(b map[string]any) string                        { return fmt.Sprint(b["text/plain"]) }
func (r *recorder) Stream(name, text string)               { r.add(name, text) }
func (r *recorder) Display(b, _ map[string]any, id string) { r.add("display", plain(b)) }
func (r *recorder) Update(b, _ map[string]any, id string)  { r.add("update", plain(b)) }
func (r *recorder) Value(b, _ map[string]any)              { r.add("value", plain(b)) }
func (r *recorder) Clear(wait bool)                        { r.add("clear", fmt.Sprint(wait)) }
func (r *recorder) Comm(m kernel.CommMessage)              { r.add("comm", m.Type+" "+m.ID) }
func (r *recorder) Input(ctx context.Context, prompt string, _ bool) (string, error) {
	r.add("input", prompt)
	if r.answer == nil {
		return "", fmt.Errorf("no input here")
	}
	return r.answer(ctx, prompt)
}

// rig is a supervisor over the test's worker, with execution counts.
type rig struct {
	*Supervisor
	t     *testing.T
	count int
}

func newRig(t *testing.T, o Options) *rig {
	o.Argv = []string{os.Args[0]}
	r := &rig{Supervisor: Start(o), t: t}
	t.Cleanup(func() { r.Shutdown(false) })
	return r
}

// current is the process of the next cell.
func (r *rig) current() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

// cell runs a cell and gives what it showed and its error's traceback.
func (r *rig) cell(code string) (string, string) {
	r.t.Helper()
	rec := new(recorder)
	return r.cellTo(rec, code)
}

func (r *rig) cellTo(rec *recorder, code string) (string, string) {
	r.t.Helper()
	r.count++
	res := make(chan kernel.Result, 1)
	go func() {
		res <- r.Execute(context.Background(), kernel.Request{Code: code, Count: r.count, AllowStdin: true}, rec)
	}()
	select {
	case result := <-res:
		if result.Error == nil {
			return rec.text(), ""
		}
		return rec.text(), strings.Join(result.Error.Traceback, "\n")
	case <-time.After(20 * time.Second):
		r.t.Fatalf("cell %q does not end; so far %s", code, rec.text())
	}
	return "", ""
}

// want runs a cell and compares both whole texts.
func (r *rig) want(code, shown, failed string) {
	r.t.Helper()
	gotShown, gotFailed := r.cell(code)
	if gotShown != shown {
		r.t.Errorf("%s\nshowed %q\n  want %q", code, gotShown, shown)
	}
	if gotFailed != failed {
		r.t.Errorf("%s\nfailed %q\n  want %q", code, gotFailed, failed)
	}
}

func TestOrderOfOutput(t *testing.T) {
	r := newRig(t, Options{})
	r.want("out a\nvalue 1", "stdout: a|value: 1", "")
	r.want(`out a\nb\n`, "stdout: a\nb\n", "")
	r.want("rawout a\ndisplay d\nrawout b\ndisplay e\nrawerr c\nerr f", "stdout: a|display: d|stdout: b|display: e|stderr: cf", "")
	r.want("error boom", "", "Panic: boom")
	for range 20 {
		r.want("out a\nerr b\nout c\ndisplay d\nout e\nerr f\nvalue g", "stdout: a|stderr: b|stdout: c|display: d|stdout: e|stderr: f|value: g", "")
	}
}

func TestTwoStreamsKeepTheirOrder(t *testing.T) {
	r := newRig(t, Options{})
	got, _ := r.cell("alternate 2000")
	var want []string
	for i := range 2000 {
		want = append(want, fmt.Sprintf("%s: %d ", []string{"stdout", "stderr"}[i%2], i))
	}
	if got != strings.Join(want, "|") {
		t.Errorf("out of order: %.300s", got)
	}
}

// 100,000 lines all come before the cell ends, in order.
func TestManyLines(t *testing.T) {
	r := newRig(t, Options{})
	r.cell("out ready")
	start := time.Now()
	got, _ := r.cell("lines 100000")
	t.Logf("100,000 lines of 80 bytes in %v", time.Since(start))
	var want strings.Builder
	want.WriteString("stdout: ")
	for i := range 100000 {
		fmt.Fprintf(&want, "%79d\n", i)
	}
	if got != want.String() {
		t.Errorf("%d bytes came of %d", len(got), want.Len())
	}
}

func TestOutputAfterTheCell(t *testing.T) {
	r := newRig(t, Options{})
	for _, verb := range []string{"late", "rawlate"} {
		rec := new(recorder)
		r.cellTo(rec, "out a\\n\n"+verb+" b")
		want := fmt.Sprintf("stdout: a\n[cell %d has ended; its goroutines print:]\nb", r.count)
		waitFor(t, want, rec.text)
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

var traceFile = regexp.MustCompile(`\d+ more lines in \S+`)

func TestDeaths(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ code, head string }{
		{"overflow", "WorkerDied: stack overflow\na function calls itself without end, or too deep: give it a case that ends\n"},
		{"mapwrite", "WorkerDied: concurrent map writes: two goroutines wrote to one map\nguard the map with a sync.Mutex, or use sync.Map\n"},
		{"unlock", "WorkerDied: a mutex was unlocked that was not locked\npair each Unlock with one Lock; defer the Unlock right after the Lock\n"},
		{"gopanic oh", "WorkerDied: panic in a goroutine that nobody watches: oh\nrecover in the goroutine, or start it with a go statement of the cell\n"},
		{"suicide", "WorkerDied: the worker process was killed (SIGKILL), by hand or by the system because memory ran out\n"},
		{"segv", "WorkerDied: the worker process was ended by signal 15 (terminated)\n"},
		{"exit 3", "WorkerDied: compiled code ended the worker process with exit status 3\n"},
		{"close 4", "WorkerDied: the worker closed its connection to the kernel, so it was stopped\n"},
		{"garbage", "WorkerDied: the worker's connection to the kernel was written to by the cell (pipe: unknown message kind 255), so it was stopped\n"},
	} {
		t.Run(c.code, func(t *testing.T) {
			// The race detector would print what is raced on purpose.
			r := newRig(t, Options{Env: []string{"GORACE=log_path=" + t.TempDir() + "/race"}})
			r.want("name x\nname y", "", "")
			r.want("name z", "", "")
			shown, failed := r.cell("out before\n" + c.code)
			if shown != "stdout: before" {
				t.Errorf("showed %q", shown)
			}
			want := c.head + "lost: variables x, y, z; run cells 1, 2 again\nthe next cell runs in a fresh worker"
			head, trace, _ := strings.Cut(failed, "\nthe next cell runs in a fresh worker")
			if head+"\nthe next cell runs in a fresh worker" != want {
				t.Errorf("failed with\n%s\nwant\n%s", failed, want)
			}
			if strings.Count(trace, "\n") > shownTrace+1 {
				t.Errorf("the trace has %d lines", strings.Count(trace, "\n"))
			}
			if strings.Contains(c.head, "stack overflow") && !traceFile.MatchString(trace) {
				t.Errorf("the trace names no file: %s", trace)
			}
			start := time.Now()
			r.want("out alive", "stdout: alive", "")
			if d := time.Since(start); d > 2*time.Second { // the worker's benchmark has the figure; here the machine may be busy
				t.Errorf("the next cell took %v", d)
			}
		})
	}
}

// Nothing that was printed is lost, however the worker dies.
// A worker that says that it cannot go on is killed, and its cell told why.
func TestWorkerThatGivesUp(t *testing.T) {
	r := newRig(t, Options{})
	r.want("name x\nout a", "stdout: a", "")
	old := r.current().pid()
	r.want("error cannot go on: do otherwise", "", "Panic: cannot go on; its code could not be stopped, so the worker process was killed\ndo otherwise\nlost: variable x; run cell 1 again\nthe next cell runs in a fresh worker")
	r.want("out b", "stdout: b", "")
	if r.current().pid() == old {
		t.Error("the same worker")
	}
}

func TestPrintsBeforeDeath(t *testing.T) {
	var want strings.Builder
	want.WriteString("stdout: ")
	for i := range 3000 {
		fmt.Fprintf(&want, "%79d\n", i)
	}
	for _, how := range []string{"suicide", "unlock", "exit 3"} {
		r := newRig(t, Options{})
		for range 3 {
			shown, failed := r.cell("lines 3000\n" + how)
			if shown != want.String() || !strings.HasPrefix(failed, "WorkerDied: ") {
				t.Errorf("%s: %d of %d bytes came, %.60s", how, len(shown), want.Len(), failed)
			}
		}
	}
}

// A worker that dies while no cell runs: the last cell and the next one say so.
func TestDeathBetweenCells(t *testing.T) {
	r := newRig(t, Options{})
	rec := new(recorder)
	r.cellTo(rec, "name x")
	syscall.Kill(r.current().pid(), syscall.SIGKILL)
	const what = "the worker process was killed (SIGKILL), by hand or by the system because memory ran out"
	waitFor(t, "stderr: WorkerDied: "+what+"\nlost: variable x; run cell 1 again\nthe next cell runs in a fresh worker\n", rec.text)
	r.want("out a", "stderr: ["+what+"; lost: variable x; run cell 1 again]\n|stdout: a", "")
	r.want("out b", "stdout: b", "")
}

// What looks like a trace and is none is shown.
func TestNoTrace(t *testing.T) {
	r := newRig(t, Options{})
	r.want(`rawerr panic: not really\n`, "stderr: panic: not really\n", "")
	r.want(`err x\nfatal error: no\n`, "stderr: x\nfatal error: no\n", "")
	start := time.Now()
	r.want("err panic: a\nvalue 1\nerr panic: b", "stderr: panic: a|value: 1|stderr: panic: b", "")
	if d := time.Since(start); d > 300*time.Millisecond {
		t.Errorf("held for %v although marks came", d)
	}
}

func TestInterrupt(t *testing.T) {
	r := newRig(t, Options{AnswerWithin: 300 * time.Millisecond})
	r.want("name x", "", "")
	interrupt := func() { time.Sleep(50 * time.Millisecond); r.Interrupt(); r.Interrupt() }
	go interrupt()
	r.want("out a\nwait", "stdout: a", "Interrupted: stopped by the user")
	r.want("out b", "stdout: b", "")
	go interrupt()
	r.want("spin", "", "Interrupted: the cell did not stop within 300ms, so its worker process was killed\nlost: variable x; run cell 1 again\nthe next cell runs in a fresh worker")
	r.want("out c", "stdout: c", "")
	r.Interrupt() // nothing runs
	r.want("out d", "stdout: d", "")
}

func TestContextInterrupts(t *testing.T) {
	r := newRig(t, Options{})
	r.cell("out a")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	res := r.Execute(ctx, kernel.Request{Code: "wait", Count: 1}, new(recorder))
	if res.Error == nil || res.Error.Name != "Interrupted" {
		t.Errorf("%+v", res.Error)
	}
}

func TestInput(t *testing.T) {
	r := newRig(t, Options{})
	rec := &recorder{answer: func(context.Context, string) (string, error) { return "Ada", nil }}
	if got, _ := r.cellTo(rec, "out name\ninput ? "); got != "stdout: name|input: ? |stdout: Ada" {
		t.Error(got)
	}
	r.want("input ? ", "input: ? |stdout: no input here", "")
	// An interrupt ends the wait for the user.
	rec = &recorder{answer: func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
	go func() { time.Sleep(50 * time.Millisecond); r.Interrupt() }()
	if got, failed := r.cellTo(rec, "input ? "); got != "input: ? " || failed != "Interrupted: stopped by the user" {
		t.Error(got, failed)
	}
}

func TestQuestions(t *testing.T) {
	r := newRig(t, Options{})
	ctx := context.Background()
	if c := r.Complete(ctx, "ab", 2); fmt.Sprint(c) != "{[abx] [variable] [] 0 2}" {
		t.Errorf("completion %v", c)
	}
	b, found := r.Inspect(ctx, "known", 1, 1)
	if !found || fmt.Sprint(b) != "map[text/plain:1]" {
		t.Errorf("inspection %v %v", b, found)
	}
	if _, found := r.Inspect(ctx, "unknown", 1, 1); found {
		t.Error("found the unknown")
	}
	if s, indent := r.IsComplete(ctx, "for {"); s != "incomplete" || indent != "\t" {
		t.Errorf("%s %q", s, indent)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if c := r.Complete(short, "no answer", 3); len(c.Matches) != 0 || c.Start != 3 || c.End != 3 {
		t.Errorf("no answer: %v", c)
	}
	rec := new(recorder)
	if !r.Comm(ctx, kernel.CommMessage{Type: "comm_open", ID: "1", Target: "mine"}, rec) || rec.text() != "comm: comm_open 1" {
		t.Errorf("comm: %s", rec.text())
	}
	if r.Comm(ctx, kernel.CommMessage{Type: "comm_open", ID: "1", Target: "other"}, rec) {
		t.Error("another's comm was handled")
	}
}

func TestMemory(t *testing.T) {
	if !seesMemory {
		t.Log("this system does not show another process's memory: the worker watches its own")
		return
	}
	r := newRig(t, Options{MemoryTotal: 300e6, AnswerWithin: 10 * time.Second})
	r.want("name x", "", "")
	_, failed := r.cell("hog")
	if failed != "" { // the test worker's error has no traceback
		t.Error(failed)
	}
	res := r.Execute(context.Background(), kernel.Request{Code: "hog", Count: 3}, new(recorder))
	want := regexp.MustCompile(`^the worker uses \d\d\d MB of memory, more than 80% of the 300 MB that there are; the cell was stopped: drop large variables \(x = nil\), work on less data at once, or start again with %reset$`)
	if res.Error == nil || res.Error.Name != "MemoryLimit" || !want.MatchString(res.Error.Value) {
		t.Errorf("%+v", res.Error)
	}
	r.count++
	r.want("out a", "stdout: a", "")
	_, failed = r.cell("glutton")
	want = regexp.MustCompile(`^MemoryLimit: the worker uses \d\d\d MB of memory, more than 80% of the 300 MB that there are and grows on; it was killed
drop large variables \(x = nil\), work on less data at once, or start again with %reset
lost: variable x; run cell 1 again
the next cell runs in a fresh worker$`)
	if !want.MatchString(failed) {
		t.Errorf("%s", failed)
	}
	r.want("out b", "stdout: b", "")
}

func TestWorkerThatDoesNotStart(t *testing.T) {
	s := Start(Options{Argv: []string{"/nowhere/memwall", "worker"}})
	defer s.Shutdown(false)
	res := s.Execute(context.Background(), kernel.Request{Code: "x"}, new(recorder))
	if res.Error == nil || res.Error.Traceback[0] != "WorkerDied: the worker process does not start: /nowhere/memwall: fork/exec /nowhere/memwall: no such file or directory" {
		t.Errorf("%+v", res.Error)
	}
	r := newRig(t, Options{Env: []string{"MEMWALL_TEST_BROKEN=1"}})
	r.want("x", "", "WorkerDied: the worker process does not start: fatal error: no such GPU")
}

func TestHugeCell(t *testing.T) {
	r := newRig(t, Options{})
	r.want(strings.Repeat("x", maxCell+1), "", "CellTooLarge: a cell of 67108865 bytes; the limit is 67108864: read large data from a file")
	r.want("out a\n"+strings.Repeat("x", 1<<20), "stdout: a", "")
}

// User code may close descriptor 1; cells go on, without what it prints there.
func TestClosedStdout(t *testing.T) {
	r := newRig(t, Options{})
	r.want("out a\nclose 1\nvalue 1", "stdout: a|value: 1", "")
	r.want("out b\nvalue 2\nerr c", "value: 2|stderr: c", "")
}

func TestNoOrphan(t *testing.T) {
	r := newRig(t, Options{})
	r.cell("out a")
	pid := r.current().pid()
	r.Shutdown(false)
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the worker lives: %v", err)
	}
	res := r.Execute(context.Background(), kernel.Request{Code: "out a"}, new(recorder))
	if res.Error == nil || res.Error.Value != "the kernel is shutting down" {
		t.Errorf("after shutdown: %+v", res.Error)
	}
	busy := newRig(t, Options{})
	go busy.cell("spin")
	time.Sleep(200 * time.Millisecond)
	pid = busy.current().pid()
	busy.Shutdown(false)
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the busy worker lives: %v", err)
	}
}

// A kernel that is killed takes its worker along, also one that is busy.
func TestKernelKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MEMWALL_TEST_KERNEL=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || pid == 0 {
		t.Fatalf("no worker: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for until := time.Now().Add(3 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); bytes.Contains(state, []byte(") Z ")) {
			return // dead, and not yet collected by whoever inherited it
		}
		if time.Now().After(until) {
			t.Fatalf("worker %d lives on", pid)
		}
	}
}

// BenchmarkTrivialCell is a cell that shows one value: to the worker process and back.
func BenchmarkTrivialCell(b *testing.B) {
	s := Start(Options{Argv: []string{os.Args[0]}})
	defer s.Shutdown(false)
	rec := new(recorder)
	req := kernel.Request{Code: "value 2", Count: 1}
	s.Execute(context.Background(), req, rec)
	for b.Loop() {
		rec.events = rec.events[:0]
		if r := s.Execute(context.Background(), req, rec); r.Error != nil {
			b.Fatal(r.Error)
		}
	}
}
