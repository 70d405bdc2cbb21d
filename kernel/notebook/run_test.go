package notebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"memwall/kernel"
)

// lineLanguage is a fake language: each line of a cell is one command.
//
//	print TEXT · warn TEXT · show ID TEXT · page TEXT · update ID TEXT · value TEXT · clear · clearlater · fail NAME TEXT · ask · wait · flood MiB · later TEXT
type lineLanguage struct {
	counts []int
	later  sync.WaitGroup
}

func (e *lineLanguage) Execute(ctx context.Context, r kernel.Request, out kernel.Output) kernel.Result {
	e.counts = append(e.counts, r.Count)
	text := func(s string) map[string]any { return map[string]any{"text/plain": s} }
	for _, line := range strings.Split(r.Code, "\n") {
		command, rest, _ := strings.Cut(line, " ")
		switch command {
		case "print":
			out.Stream("stdout", rest+"\n")
		case "warn":
			out.Stream("stderr", rest+"\n")
		case "show":
			id, s, _ := strings.Cut(rest, " ")
			out.Display(map[string]any{"text/plain": s, "application/json": map[string]any{"n": 1}}, map[string]any{"wide": true}, id)
		case "update":
			id, s, _ := strings.Cut(rest, " ")
			out.Update(text(s), nil, id)
		case "value":
			out.Value(text(rest), nil)
		case "clear":
			out.Clear(false)
		case "clearlater":
			out.Clear(true)
		case "fail":
			name, s, _ := strings.Cut(rest, " ")
			return kernel.Result{Error: &kernel.Error{Name: name, Value: s, Traceback: []string{"\x1b[31m" + name + "\x1b[0m: " + s}}}
		case "ask":
			if _, err := out.Input(ctx, "name? ", false); err != nil {
				return kernel.Result{Error: &kernel.Error{Name: "InputError", Value: err.Error()}}
			}
		case "wait":
			<-ctx.Done()
			return kernel.Result{Error: &kernel.Error{Name: "Interrupted"}}
		case "flood":
			n, _ := strconv.Atoi(rest)
			chunk := strings.Repeat("0123456789abcde\n", 1<<12)
			for i := 0; i < n*16; i++ {
				out.Stream("stdout", chunk)
			}
			out.Stream("stdout", "the end\n")
		case "rawpage":
			return kernel.Result{Payload: []map[string]any{{"source": "page", "data": json.RawMessage(`{"text/plain": "` + rest + `"}`)}}}
		case "page":
			return kernel.Result{Payload: []map[string]any{{"source": "page", "data": text(rest), "start": 0}, {"source": "set_next_input", "text": "x"}}}
		case "later":
			e.later.Add(1)
			go func() {
				time.Sleep(20 * time.Millisecond)
				out.Stream("stdout", rest+"\n")
				e.later.Done()
			}()
		case "settle":
			e.later.Wait()
		}
	}
	return kernel.Result{}
}

func (*lineLanguage) Complete(context.Context, string, int) kernel.Completion {
	return kernel.Completion{}
}
func (*lineLanguage) Inspect(context.Context, string, int, int) (map[string]any, bool) {
	return nil, false
}
func (*lineLanguage) IsComplete(context.Context, string) (string, string)              { return "complete", "" }
func (*lineLanguage) Interrupt()                                                       {}
func (*lineLanguage) Comm(context.Context, kernel.CommMessage, kernel.Output) (b bool) { return }
func (*lineLanguage) Shutdown(bool)                                                    {}

func codeCells(sources ...string) *Notebook {
	nb := &Notebook{Major: 4, Minor: 5, Metadata: Object{}}
	for _, s := range sources {
		nb.Cells = append(nb.Cells, &Cell{Type: Code, Source: s, Metadata: Object{}})
	}
	return nb
}

// shown lists a cell's outputs, one a line.
func shown(c *Cell) string {
	var out []string
	for _, o := range c.Outputs {
		switch o.Type {
		case Stream:
			out = append(out, o.Name+": "+strconv.Quote(o.Text))
		case ErrorOutput:
			out = append(out, fmt.Sprintf("error: %s, %s, %q", o.EName, o.EValue, o.Traceback))
		default:
			s := fmt.Sprintf("%s: %v", o.Type, o.Data["text/plain"])
			if o.Type == ExecuteResult {
				s += fmt.Sprintf(" [%d]", o.ExecutionCount)
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func TestRunCollectsOutputs(t *testing.T) {
	nb := codeCells("print a\nprint b\nwarn c\nprint d\nvalue 7", "", "show p 10%", "print x\nclear\nprint y\nclearlater\nprint z", "update p 100%", "skip")
	nb.Cells[5].Metadata["tags"] = []byte(`["skip-execution"]`)
	nb.Cells[5].Outputs = []*Output{{Type: Stream, Name: "stdout", Text: "kept"}}
	nb.Cells[0].Outputs = []*Output{{Type: Stream, Name: "stdout", Text: "old"}}
	nb.Cells = append(nb.Cells, &Cell{Type: Markdown, Source: "# print no"})
	var progress []string
	e := &lineLanguage{}
	err := Run(context.Background(), nb, e, Options{Progress: func(p Progress) {
		p.Elapsed = 1234 * time.Millisecond
		progress = append(progress, p.String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"stdout: \"a\\nb\\n\"\nstderr: \"c\\n\"\nstdout: \"d\\n\"\nexecute_result: 7 [1]", "", "display_data: 100%", `stdout: "z\n"`, "", `stdout: "kept"`,
	} {
		if got := shown(nb.Cells[i]); got != want {
			t.Errorf("cell %d:\n got %s\nwant %s", i+1, got, want)
		}
	}
	if got := fmt.Sprint(e.counts); got != "[1 2 3 4]" {
		t.Errorf("counts %s", got)
	}
	want := "cell 1/4: print a|cell 1/4: 1.2 s|cell 2/4: show p 10%|cell 2/4: 1.2 s|cell 3/4: print x|cell 3/4: 1.2 s|cell 4/4: update p 100%|cell 4/4: 1.2 s"
	if got := strings.Join(progress, "|"); got != want {
		t.Errorf("progress:\n got %s\nwant %s", got, want)
	}
	data, err := Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(data); err != nil {
		t.Errorf("the result is not a notebook: %v", err)
	}
}

// What a client would show in its pager stands in the cell's output.
func TestRunShowsPages(t *testing.T) {
	nb := codeCells("print a\npage func Open(name string)", "rawpage func Open")
	if err := Run(context.Background(), nb, &lineLanguage{}, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(nb.Cells[0]), "stdout: \"a\\n\"\ndisplay_data: func Open(name string)"; got != want || shown(nb.Cells[1]) != "display_data: func Open" {
		t.Errorf("shown\n%s\nwant\n%s", got, want)
	}
}

func TestRunStopsAtTheFirstError(t *testing.T) {
	nb := codeCells("print 1", "print 2\nfail Panic index 9 of 3", "print 3")
	nb.Cells[2].Outputs = []*Output{{Type: Stream, Name: "stdout", Text: "of an older run"}}
	err := Run(context.Background(), nb, &lineLanguage{}, Options{StripCounts: true})
	var cell *CellError
	if !errors.As(err, &cell) || err.Error() != "cell 2 of 3: Panic: index 9 of 3" {
		t.Fatalf("got %v", err)
	}
	if got, want := shown(nb.Cells[1]), "stdout: \"2\\n\"\nerror: Panic, index 9 of 3, [\"\\x1b[31mPanic\\x1b[0m: index 9 of 3\"]"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if len(nb.Cells[2].Outputs) != 0 {
		t.Error("a cell that did not run shows outputs of an older run")
	}
	if nb.HasCounts() {
		t.Error("execution counts are left")
	}
}

func TestRunAllowsErrors(t *testing.T) {
	nb := codeCells("fail A one", "print 2", "fail B two", "fail C three")
	nb.Cells[3].Metadata["tags"] = []byte(`["raises-exception"]`)
	var failed []string
	err := Run(context.Background(), nb, &lineLanguage{}, Options{AllowErrors: true, Progress: func(p Progress) {
		if p.Failed != "" {
			failed = append(failed, p.Failed)
		}
	}})
	if err == nil || err.Error() != "2 of 4 cells failed: cells 1, 3" {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(failed, "|"); got != "A: one|B: two|C: three" {
		t.Errorf("progress says %s", got)
	}
	nb = codeCells("fail C three")
	nb.Cells[0].Metadata["tags"] = []byte(`["raises-exception"]`)
	if err := Run(context.Background(), nb, &lineLanguage{}, Options{}); err != nil {
		t.Errorf("raises-exception: %v", err)
	}
}

func TestRunIsStopped(t *testing.T) {
	nb := codeCells("print 1", "print 2\nwait", "print 3")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := Run(ctx, nb, &lineLanguage{}, Options{})
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "stopped in cell 2 of 3: context deadline exceeded" {
		t.Errorf("got %v", err)
	}
	if shown(nb.Cells[0]) != `stdout: "1\n"` || !strings.HasPrefix(shown(nb.Cells[1]), `stdout: "2\n"`) || nb.Cells[2].Outputs != nil {
		t.Error("outputs of what ran are lost")
	}
	if err := Run(ctx, nb, &lineLanguage{}, Options{}); err == nil || err.Error() != "stopped before cell 1 of 3: context deadline exceeded" {
		t.Errorf("got %v", err)
	}
}

func TestRunAsksNobody(t *testing.T) {
	err := Run(context.Background(), codeCells("ask"), &lineLanguage{}, Options{})
	want := "cell 1 of 1: InputError: the cell asks for input, but a notebook that runs without Jupyter has nobody to ask\n" +
		"put the value into a variable, or run the notebook with `memwall lab`"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestRunKeepsLateOutput: what a goroutine prints after its cell goes to that cell.
func TestRunKeepsLateOutput(t *testing.T) {
	nb := codeCells("print now\nlater then", "settle\nprint second")
	if err := Run(context.Background(), nb, &lineLanguage{}, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(nb.Cells[0]), `stdout: "now\nthen\n"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRunFoldsAFlood: 40 MiB of text leave the first 16 MiB, the end and what was left out, which stands in a file.
func TestRunFoldsAFlood(t *testing.T) {
	nb := codeCells("flood 40")
	dir := t.TempDir()
	if err := Run(context.Background(), nb, &lineLanguage{}, Options{OutputDir: dir}); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "memwall-cell-1-output-*.txt"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	rest, err := os.ReadFile(files[0])
	if err != nil || len(rest) != 40<<20+8-16<<20 || !strings.HasSuffix(string(rest), "the end\n") {
		t.Errorf("%d bytes in the file: %v", len(rest), err)
	}
	text := nb.Cells[0].Outputs[0].Text
	const left = 40<<20 + 8 - 16<<20 - 64<<10
	notice := fmt.Sprintf("\n… %d bytes left out: a notebook keeps the first 16 MiB that a cell prints, and the end;\nthe %d bytes after the first are in %s …\n", left, len(rest), files[0])
	if len(nb.Cells[0].Outputs) != 1 || text[16<<20:16<<20+len(notice)] != notice || !strings.HasSuffix(text, "the end\n") ||
		len(text) != 16<<20+len(notice)+64<<10 {
		t.Errorf("%d outputs, %d bytes, notice %q", len(nb.Cells[0].Outputs), len(text), text[16<<20:16<<20+len(notice)])
	}
}

// TestRunFoldsWithoutADisk: text that no file can take is counted all the same.
func TestRunFoldsWithoutADisk(t *testing.T) {
	nb := codeCells("flood 17")
	if err := Run(context.Background(), nb, &lineLanguage{}, Options{OutputDir: filepath.Join(t.TempDir(), "none")}); err != nil {
		t.Fatal(err)
	}
	text := nb.Cells[0].Outputs[0].Text[16<<20:]
	if want := "after the first could not be kept in a file: open "; !strings.Contains(text[:400], want) || !strings.HasSuffix(text, "the end\n") {
		t.Errorf("%.400s", text)
	}
}

const pageNotebook = `{"nbformat":4,"nbformat_minor":5,"metadata":{"language_info":{"name":"go"}},"cells":[
{"cell_type":"markdown","id":"a","metadata":{},"source":"# Wall <x>\n\nThe ridge is $I_r = P_{max}/B_{max}$, $5 and $6.\n\n$$\nt = \\frac{b}{B}\n- c\n$$\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n<details><summary>answer</summary>\n\n42\n\n</details>\n\n` + "```go\\nx := 1\\n```" + `\n\n![dot](attachment:d.png)","attachments":{"d.png":{"image/png":"iVBO\nRw=="}}},
{"cell_type":"code","id":"b","metadata":{},"execution_count":2,"source":"fmt.Println(\"<hi>\")","outputs":[
{"output_type":"stream","name":"stdout","text":"<hi> \u001b[1;31mred\u001b[0m\n"},
{"output_type":"stream","name":"stderr","text":"oops\n"},
{"output_type":"display_data","metadata":{},"data":{"text/html":"<b>card</b>","text/plain":"card"}},
{"output_type":"display_data","metadata":{},"data":{"image/svg+xml":"<svg/>","text/plain":"a picture"}},
{"output_type":"execute_result","metadata":{},"execution_count":2,"data":{"text/plain":"1 < 2"}},
{"output_type":"error","ename":"Panic","evalue":"no","traceback":["\u001b[31mPanic\u001b[0m: a < b"]}]},
{"cell_type":"raw","id":"c","metadata":{},"source":"raw <b>"}]}`

func TestHTML(t *testing.T) {
	nb, err := Parse([]byte(pageNotebook))
	if err != nil {
		t.Fatal(err)
	}
	page, err := HTML(nb)
	if err != nil {
		t.Fatal(err)
	}
	s := string(page)
	_, body, _ := strings.Cut(s, "<main>\n")
	want := `<section class="md">
<h1 id="wall-x">Wall <x></h1>
<p>The ridge is <span class="math">$I_r = P_{max}/B_{max}$</span>, $5 and $6.</p>
<div class="math">$$
t = \frac{b}{B}
- c
$$</div>
<table>
<thead>
<tr>
<th>a</th>
<th style="text-align:right">b</th>
</tr>
</thead>
<tbody>
<tr>
<td>1</td>
<td style="text-align:right">2</td>
</tr>
</tbody>
</table>
<details><summary>answer</summary>
<p>42</p>
</details>
<pre class="chroma"><code><span class="line"><span class="cl"><span class="n">x</span><span class="w"> </span><span class="o">:=</span><span class="w"> </span><span class="m">1</span></span></span></code></pre>
<p><img src="data:image/png;base64,iVBORw==" alt="dot"></p>
</section>
<section class="code"><span class="count">[2]</span><pre class="chroma"><code><span class="line"><span class="cl"><span class="n">fmt</span><span class="p">.</span><span class="nf">Println</span><span class="p">(</span><span class="s">&#34;&lt;hi&gt;&#34;</span><span class="p">)</span></span></span></code></pre>
</section>
<section class="out">
<pre class="std">&lt;hi&gt; <span class="ab a1">red</span>
</pre>
<pre class="err">oops
</pre>
<div><b>card</b></div>
<div><img src="data:image/svg+xml;base64,PHN2Zy8+" alt="a picture"></div>
<pre>1 &lt; 2</pre>
<pre class="err"><span class="a1">Panic</span>: a &lt; b</pre>
</section>
<pre>raw &lt;b&gt;</pre>
</main>
</body>
</html>
`
	if body != want {
		t.Errorf("got\n%s", body)
	}
	for _, must := range []string{"<title>Wall &lt;x&gt;</title>", "default-src 'none'; img-src data:", "prefers-color-scheme:dark"} {
		if !strings.Contains(s, must) {
			t.Errorf("the page lacks %q", must)
		}
	}
	for _, never := range []string{"http://", "https://", "<script", "<link"} {
		if strings.Contains(s, never) {
			t.Errorf("the page holds %q: it is not self-contained", never)
		}
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := WriteHTML(path, nb); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != s {
		t.Errorf("the file differs: %v", err)
	}
}

// TestHighlight: no character of the source is lost or changed, whatever it is, and words get their classes.
func TestHighlight(t *testing.T) {
	for _, c := range []struct{ language, source, want string }{
		{"go", "%time\nfor i := range 0x1F { f(`a\n`, 'x', \"\\\"\") } // c", `<span class="k">for</span>`},
		{"go", "x := len(s) + 1.5e3", `<span class="nb">len</span>`},
		{"cuda", "%%cuda\n__global__ void scale(float *x) { x[threadIdx.x] *= 2.0f; }", `<span class="nb">__global__</span>`},
		{"bash", "go run . lab # start", `<span class="c1"># start</span>`},
		{"go", "\"unterminated \u00b5 \x00 ` # $", "unterminated"},
		{"brainf", "a < b", "a &lt; b"},
	} {
		got := highlight(c.source, c.language)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nlacks %s", c.source, got, c.want)
		}
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(got, ""))
		if strings.TrimRight(text, "\n") != c.source {
			t.Errorf("%q became %q", c.source, text)
		}
	}
}
