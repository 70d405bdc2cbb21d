package kernel

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memwall/kernel/client"
)

// TestPrintedLines: 100,000 lines, all before idle, none lost or out of order, in few messages.
func TestPrintedLines(t *testing.T) {
	p := startEcho(t)
	run := mustRun(t, p.Client, "lines 100000", "ok")
	if err := client.CheckLines(run.Text("stdout"), 100000); err != nil {
		t.Error(err)
	}
	if n := strings.Count(strings.Join(run.Types(), " "), "stream"); n > 200 {
		t.Errorf("%d messages", n)
	}
	t.Logf("100000 printed lines to idle: %v", run.Idle())
}

// TestStreamIsTimely: what a running cell prints is shown soon, not when the cell ends.
func TestStreamIsTimely(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	run := mustRun(t, c, "soon\nsleep 400", "ok")
	for _, m := range run.Messages {
		if took := m.At.Sub(run.Sent); m.Type() == "stream" && took > 350*time.Millisecond {
			t.Errorf("shown after %v", took)
		}
	}
}

// TestLateOutput: what a goroutine prints after its cell has ended belongs to that cell.
func TestLateOutput(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	first := mustRun(t, c, "later goroutine", "ok")
	if got := first.Text("stdout"); got != "" {
		t.Errorf("printed too early: %q", got)
	}
	mustRun(t, c, "display x", "ok")
	m, err := c.Await(limit(t, 5*time.Second), client.IOPub, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Content); got != `{"name":"stdout","text":"goroutine"}` {
		t.Errorf("got %s", got)
	}
}

// TestLateFold: a goroutine that prints more than a page can show after its cell has ended.
func TestLateFold(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	run := mustRun(t, c, "0123456789\nlater 17", "ok")
	shown := len(run.Text("stdout"))
	for {
		m, err := c.Await(limit(t, 5*time.Second), client.IOPub, run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if m.Type() == "stream" {
			shown += len(m.Fields()["text"].(string))
			continue
		}
		want := regexp.MustCompile(`^⋯ output folded after 16,777,216 bytes: [\d,]+ bytes, [\d,]+ lines so far, printed after the cell has ended too\n⋯ all but its first 16,777,216 bytes is in \S+$`)
		if notice := m.Fields()["data"].(map[string]any)["text/plain"].(string); !want.MatchString(notice) || shown != foldLimit {
			t.Errorf("%d bytes shown, notice %q", shown, notice)
		}
		return
	}
}

// TestLongOutput: 16 MiB are shown as they are; beyond that the head, a notice with the count, and the tail are shown, and
// a file has everything.
func TestLongOutput(t *testing.T) {
	p := startEcho(t)
	whole := mustRun(t, p.Client, "mebibytes 16", "ok")
	if n := len(whole.Text("stdout")); n != 16<<20 || strings.Contains(strings.Join(whole.Types(), " "), "display") {
		t.Errorf("16 MiB: %d bytes shown, messages %v", n, whole.Types()[len(whole.Types())-3:])
	}
	const lines = 300_000 // of 80 bytes
	run := mustRun(t, p.Client, fmt.Sprint("lines ", lines), "ok")
	notice := checkNotices(t, run)
	pattern := regexp.MustCompile(`^⋯ output folded after 16,777,216 bytes: 24,000,000 bytes, 300,000 lines in all; the end follows\n⋯ all of it is in (\S+)$`)
	match := pattern.FindStringSubmatch(notice)
	if match == nil {
		t.Fatalf("notice %q", notice)
	}
	text, err := os.ReadFile(match[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CheckLines(string(text), lines); err != nil {
		t.Errorf("file: %v", err)
	}
	shown := run.Text("stdout")
	head, tail := shown[:foldLimit], shown[foldLimit:]
	if string(text[:foldLimit]) != head {
		t.Error("the head is not the beginning of the output")
	}
	if !strings.HasSuffix(string(text), tail) || len(tail) > tailLimit || len(tail) < tailLimit-80 || tail[:3] != "002" {
		t.Errorf("the tail of %d bytes begins with %.20q", len(tail), tail)
	}
}

// checkNotices returns the text of the last notice on folded output; the one before it must have its display id.
func checkNotices(t *testing.T, run *client.Run) string {
	t.Helper()
	var id, text string
	for _, m := range run.Messages {
		if m.Type() != "display_data" && m.Type() != "update_display_data" {
			continue
		}
		f := m.Fields()
		got := f["transient"].(map[string]any)["display_id"].(string)
		if id == "" {
			id = got
		} else if got != id || m.Type() == "display_data" {
			t.Errorf("%s of display %q, want an update of %q", m.Type(), got, id)
		}
		text = f["data"].(map[string]any)["text/plain"].(string)
	}
	return text
}

// TestHugeString: one line of 1 GiB, in bounded memory.
func TestHugeString(t *testing.T) {
	p := startEcho(t)
	run := mustRun(t, p.Client, "mebibytes 1024", "ok")
	notice := checkNotices(t, run)
	if !strings.HasPrefix(notice, "⋯ output folded after 16,777,216 bytes: 1,073,741,824 bytes, 0 lines in all; the end follows\n⋯ all of it is in ") {
		t.Errorf("notice %q", notice)
	}
	path := notice[strings.LastIndex(notice, " ")+1:]
	info, err := os.Stat(path)
	if err != nil || info.Size() != 1<<30 {
		t.Errorf("file: %v %v", info, err)
	}
	if n := len(run.Text("stdout")); n != foldLimit+tailLimit {
		t.Errorf("%d bytes shown", n)
	}
	if peak := peakMemory(p.PID()); peak > 200<<20 {
		t.Errorf("peak memory %d MiB", peak>>20)
	}
	t.Logf("1 GiB string to idle: %v", run.Idle())
	mustServe(t, p, time.Second)
}

// TestEndlessPrint: an endless print shows how much it has printed, can be interrupted, and takes bounded memory.
func TestEndlessPrint(t *testing.T) {
	p := startEcho(t)
	id, err := p.Send(client.Shell, "execute_request", map[string]any{"code": "endless hello"})
	if err != nil {
		t.Fatal(err)
	}
	for renewed := 0; renewed < 2; {
		m, err := p.Next(limit(t, 20*time.Second), client.IOPub)
		if err != nil {
			t.Fatal(err)
		}
		if m.Type() == "update_display_data" {
			renewed++
		}
	}
	start := time.Now()
	if _, err := p.Request(limit(t, 5*time.Second), client.Control, "interrupt_request", nil); err != nil {
		t.Fatal(err)
	}
	run, err := p.Collect(limit(t, 10*time.Second), id, start)
	if err != nil {
		t.Fatal(err)
	}
	if took := run.Idle(); took > patience {
		t.Errorf("the interrupt took %v", took)
	}
	if got := run.Reply.Fields()["ename"]; got != "Interrupted" {
		t.Errorf("ename %v", got)
	}
	if peak := peakMemory(p.PID()); peak > 200<<20 {
		t.Errorf("peak memory %d MiB", peak>>20)
	}
	pattern := regexp.MustCompile(`^⋯ output folded after 16,777,216 bytes: [\d,]+ bytes, [\d,]+ lines in all; the end follows\n⋯ (all of it is|its first 2,147,483,648 bytes are) in \S+$`)
	if notice := checkNotices(t, run); !pattern.MatchString(notice) {
		t.Errorf("notice %q", notice)
	}
}

// TestHugeDisplay: a display that no page could show is kept in a file.
func TestHugeDisplay(t *testing.T) {
	_, conn := serveEcho(t)
	c := connect(t, conn)
	run := mustRun(t, c, "huge 17", "ok")
	notice := displayedText(run)
	want := regexp.MustCompile(`^⋯ a display of 17,825,809 bytes is too large for the page \(limit 16,777,216 bytes\)\n⋯ it is in (\S+\.json) \(a JSON object, MIME type to data\)$`)
	match := want.FindStringSubmatch(notice)
	if match == nil {
		t.Fatalf("notice %q", notice)
	}
	if text, err := os.ReadFile(match[1]); err != nil || string(text) != `{"text/plain":"`+strings.Repeat("y", 17<<20)+"\"}\n" {
		t.Errorf("file of %d bytes, %v", len(text), err)
	}
}

func displayedText(run *client.Run) string {
	for _, m := range run.Messages {
		if m.Type() == "display_data" {
			return m.Fields()["data"].(map[string]any)["text/plain"].(string)
		}
	}
	return ""
}

// TestFoldWithoutDisk: where no file can be written, the rest of the output is counted and the notice says why.
func TestFoldWithoutDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, conn := serveEcho(t, func(s *server) { s.opts.OutputDir = dir })
	c := connect(t, conn)
	run := mustRun(t, c, "mebibytes 20", "ok")
	notice := checkNotices(t, run)
	want := regexp.MustCompile(`^⋯ output folded after 16,777,216 bytes: 20,971,520 bytes, 0 lines in all; the end follows\n⋯ it could not be kept in a file: open ` + regexp.QuoteMeta(dir) + `.memwall-cell-1-output-\d+\.txt: no such file or directory$`)
	if !want.MatchString(notice) {
		t.Errorf("notice %q", notice)
	}
}

func TestIncompleteTail(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "é": 0, "é"[:1]: 1, "a€"[:2]: 1, "a€"[:3]: 2, "😀"[:3]: 3, "x😀": 0, "\xff": 0, "\x80\x80\x80\x80": 0, "€"[1:]: 0} {
		if got := incompleteTail([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// FuzzStreamPieces: however printed text is cut, it arrives whole and valid.
func FuzzStreamPieces(f *testing.F) {
	f.Add("aé€😀z", uint16(0x1234))
	f.Add("\xff\x80x", uint16(1))
	f.Fuzz(func(t *testing.T, text string, cuts uint16) {
		var sent []string
		cut := []byte(nil)
		for rest := text; len(rest) > 0; cuts = cuts>>2 | cuts<<14 {
			n := min(len(rest), 1+int(cuts&3))
			piece := append(cut, rest[:n]...)
			rest = rest[n:]
			whole := len(piece) - incompleteTail(piece)
			sent = append(sent, string(piece[:whole]))
			cut = []byte(string(piece[whole:]))
		}
		sent = append(sent, string(cut))
		if got := strings.Join(sent, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		if utf8.ValidString(text) {
			for _, s := range sent {
				if !utf8.ValidString(s) {
					t.Fatalf("%q was cut within a code point: %q", text, sent)
				}
			}
		}
	})
}

// FuzzGlob compares the history's patterns with a plain recursive matcher.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*", "a*b", "[a-c]x", "[^a]?", "[", "a[]b]", "**?"} {
		f.Add(s, "axb")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 8 || len(text) > 10 {
			return
		}
		p, x := []rune(pattern), []rune(text)
		if got, want := globMatch(p, x), slowGlob(p, 0, x); got != want {
			t.Errorf("pattern %q, text %q: %v, want %v", pattern, text, got, want)
		}
	})
}

func slowGlob(pattern []rune, p int, text []rune) bool {
	if p == len(pattern) {
		return len(text) == 0
	}
	if pattern[p] == '*' {
		return slowGlob(pattern, p+1, text) || len(text) > 0 && slowGlob(pattern, p, text[1:])
	}
	if len(text) == 0 {
		return false
	}
	next, ok := globOne(pattern, p, text[0])
	return ok && slowGlob(pattern, next, text[1:])
}

// BenchmarkCell measures a trivial cell from the client's send to reply and idle, in an echo kernel.
func BenchmarkCell(b *testing.B) {
	p, err := client.Start(b.Context(), []string{os.Args[0], "{connection_file}"}, client.StartOptions{Env: []string{"KERNEL_ECHO=" + b.TempDir()}, Stderr: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Kill()
	for b.Loop() {
		if _, err := p.Execute(b.Context(), "value 2", nil); err != nil {
			b.Fatal(err)
		}
	}
}
