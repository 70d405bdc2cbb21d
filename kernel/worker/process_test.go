package worker

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"memwall/kernel"
	"memwall/kernel/supervisor"
)

// The tests of this file run Go cells through the whole of a worker process: session, interpreter, device.

func TestCells(t *testing.T) {
	r := newRig(t)
	r.want("x := 1", "", "")
	r.want("x + 1", "value: 2", "")
	r.want(`fmt.Println("a"); fmt.Fprintln(os.Stderr, "b"); fmt.Println("c")`, "stdout: a\n|stderr: b\n|stdout: c\n", "")
	r.want("type P struct {\n\tX, Y int\n\tname string\n}\np := P{1, 2, \"n\"}\np", "value: {X:1 Y:2 name:n}", "")
	r.want("&p", "value: &{X:1 Y:2 name:n}", "")
	r.want("[]P{p, p}", "value: [{X:1 Y:2 name:n} {X:1 Y:2 name:n}]", "")
	r.want("func (p P) String() string { return p.name + \"!\" }", "", "")
	r.want("p", "value: n!", "")
	r.want("[]P{p}", "value: [n!]", "")
	r.want("type Big struct{ V []int }\nmake([]Big, 150)", "value: [\n  "+strings.Repeat("{V:[]}\n  ", 100)+"… 50 more, 150 in all\n]", "")
	r.want("errors.New(\"broken\")", "", "cell 11, 1:1: broken\n    errors.New(\"broken\")\n    ^")
	r.want("display.HTML(\"<b>hi</b>\")", "display: hi", "")
	r.want("for i := range 3 {\n\tdisplay.Markdown(fmt.Sprint(i))\n}", "display: 0|display: 1|display: 2", "")
	r.want("type Row struct {\n\tName string\n\tN int\n}\ndisplay.Table([]Row{{\"a\", 1}, {\"bc\", 20}})", "display: Name   N\n----  --\na      1\nbc    20", "")
	r.want("x, p, []int{x, 2}, errors.New, nil", "value: 1\nn!\n[1 2]\nfunc(text string) error\n<nil>", "")
	r.want("xs := []float64{1, 2, 6}\nstat.Mean(xs, nil), stat.StdDev(xs, nil)", "value: 3\n2.6457513110645907", "")
	r.want("display.HTML(\"<i>a</i>\"), 1", "display: a|value: 1", "")
	r.want("", "", "")
	r.want("// only a comment", "", "")
}

// What a cell does to its standard output ends with the cell, or with what it has set.
func TestClosedOutput(t *testing.T) {
	r := newRig(t)
	r.want("fmt.Print(\"a\")\nos.Stdout.Close()\nos.Stderr.Close()\n1", "stdout: a|value: 1", "")
	r.want("fmt.Print(\"b\")\nfmt.Fprint(os.Stderr, \"c\")\nw := bufio.NewWriter(os.Stdout)\nw.WriteString(\"d\")\nw.Flush()\n2", "stdout: b|stderr: c|stdout: d|value: 2", "")
}

// Prints and what a cell writes to os.Stdout and os.Stderr itself keep their order.
func TestOwnWrites(t *testing.T) {
	r := newRig(t)
	for range 10 {
		r.want("fmt.Print(\"a\")\nos.Stderr.WriteString(\"b\")\nfmt.Print(\"c\")\nos.Stdout.WriteString(\"d\")\nfmt.Fprint(os.Stderr, \"e\")\nos.Stdout.WriteString(\"f\")",
			"stdout: a|stderr: b|stdout: cd|stderr: e|stdout: f|value: 1", "")
	}
}

func TestOwnBundles(t *testing.T) {
	r := newRig(t)
	r.want("type H string\nfunc (h H) MIMEBundle() map[string]any {\n\treturn map[string]any{\"text/html\": \"<i>\" + string(h) + \"</i>\", \"text/plain\": string(h)}\n}\nH(\"mine\")", "value: mine", "")
	if got := r.last.bundles[0]["text/html"]; got != "<i>mine</i>" {
		t.Errorf("%v", got)
	}
	r.want("p := plot.New()\np.Title.Text = \"knee\"\np", "value: [plot: knee, 600 × 370]", "")
}

func TestCellsOnTheDevice(t *testing.T) {
	r := newRig(t)
	got, err := r.run("w := dev.Randn(gpu.F16, 64, 256)\nx := dev.Randn(gpu.F16, 256)\ny := dev.Zeros(gpu.F16, 64)\nkernels.Run(\"gemv/1_naive\", y, w, x)")
	if err != nil || strings.Count(got, "display: ") != 1 || !strings.Contains(got, "gemv/1_naive") || r.last.bundles[0]["text/html"] == nil {
		t.Errorf("the card: %s %+v", got, err)
	}
	got, err = r.run("y")
	if err != nil || !strings.HasPrefix(got, "value: ") || !strings.Contains(got, "virtual:h200") {
		t.Errorf("a tensor: %s %+v", got, err)
	}
	r.want("%device t4\ndev.Name()", "stdout: dev is virtual:t4 (T4 16 GB)\n|value: virtual:t4", "")
	_, err = r.run("kernels.Run(\"gemv/1_naive\", y)")
	if err == nil || err.Name != "gpu.Error" || strings.Contains(strings.Join(err.Traceback, "\n"), "goroutine ") {
		t.Errorf("a wrong launch: %+v", err)
	}
}

func TestCellsThatEndTheWorker(t *testing.T) {
	if testing.Short() {
		t.Log("slow: five worker processes")
		return
	}
	r := newRig(t)
	again := func() {
		t.Helper()
		start := time.Now()
		r.want("1 + 1", "value: 2", "")
		d := time.Since(start)
		t.Logf("the next cell's result after %v", d)
		if d > 2*time.Second { // BenchmarkRestart has the figure; here the machine may be busy
			t.Errorf("the next cell's result after %v", d)
		}
	}
	r.want("keep := 1\nfunc half(n int) int { return n / 2 }", "", "")
	_, err := r.run("m := map[int]int{}\nfor g := range 8 {\n\tgo func() { for i := 0; ; i++ { m[i%100+g] = i } }()\n}\ntime.Sleep(20 * time.Second)")
	if err == nil || err.Name != "WorkerDied" || !strings.HasPrefix(err.Value, "concurrent map") || !strings.Contains(strings.Join(err.Traceback, "\n"), "\nlost: variable keep; function half; run cell 1 again\nthe next cell runs in a fresh worker\n") {
		t.Errorf("map: %+v", err)
	}
	again()
	r.want("me := os.FindProcess(os.Getpid())\nme.Kill()\ntime.Sleep(20 * time.Second)", "", "WorkerDied: the worker process was killed (SIGKILL), by hand or by the system because memory ran out\nno variables were lost\nthe next cell runs in a fresh worker")
	again()
	r.want("go func() { panic(\"in the dark\") }()\ntime.Sleep(20 * time.Second)", "", "cell 6, 1:13: panic in a goroutine: in the dark\n    go func() { panic(\"in the dark\") }()\n                ^")
	_, err = r.run("time.AfterFunc(time.Millisecond, func() { panic(\"timer\") })\ntime.Sleep(20 * time.Second)")
	if err == nil || err.Name != "WorkerDied" || err.Value != "panic in a goroutine that nobody watches: timer" {
		t.Errorf("timer: %+v", err)
	}
	again()
}

func TestStackOverflow(t *testing.T) {
	r := newRig(t)
	r.want("keep := 1", "", "")
	_, err := r.run("func down(n int) int { return down(n+1) + 1 }\ndown(0)")
	if err == nil || err.Name != "StackOverflow" || err.Traceback[1] != "cell 2, 2:1: the cell's last call\n    down(0)\n    ^" {
		t.Errorf("%+v", err)
	}
	r.want("keep", "value: 1", "")
}

func TestInterruptOfCells(t *testing.T) {
	r := newRig(t)
	r.want("keep := 1\nfunc get() int { return keep }\nf := func() int { return keep + 1 }", "", "")
	for _, code := range []string{"for {\n}", "for i := 0; ; i++ {\n\tkeep += i - i\n}", "time.Sleep(time.Hour)", "select {}", "c := make(chan int)\n<-c", "sync.OnceFunc(func() { select {} })()"} {
		asked := make(chan time.Time, 1)
		go func() {
			time.Sleep(150 * time.Millisecond)
			asked <- time.Now()
			r.Interrupt()
		}()
		_, err := r.run(code)
		took := time.Since(<-asked)
		if err == nil || err.Name != "Interrupted" {
			t.Errorf("%s: %+v", code, err)
		}
		t.Logf("%q interrupted in %v", code, took)
		if took > time.Second { // BenchmarkInterrupt has the figure; here the machine may be busy
			t.Errorf("%s: took %v", code, took)
		}
		r.want("keep + get() + f()", "value: 4", "")
	}
}

// What the device refuses is an error, whether gpu returns it or panics with it.
func TestErrorsOfTheDevice(t *testing.T) {
	r := newRig(t)
	for code, want := range map[string]string{
		"x := dev.Zeros(gpu.F32, 4)\nx.Free()\ny := x.Float32s()": "Float32s: tensor f32 [4] was freed",
		"dev.Empty(gpu.F32, -1)":                                  "Empty: shape [-1] has the negative extent -1",
		"z := gpu.Open(\"t5\")":                                   "open \"t5\": there is no such device",
	} {
		_, err := r.run(code)
		if err == nil || err.Name != "gpu.Error" || err.Value != want || strings.Contains(strings.Join(err.Traceback, "\n"), "panic") {
			t.Errorf("%s: %+v", code, err)
		}
	}
}

// A launch stops within a second, and the device stays good.
func TestInterruptOfLaunches(t *testing.T) {
	r := newRig(t)
	r.want("n := 2048\na := dev.Randn(gpu.F16, n, n)\nb := dev.Randn(gpu.F16, n, n)\nc := dev.Zeros(gpu.F16, n, n)", "", "")
	asked := make(chan time.Time, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		asked <- time.Now()
		r.Interrupt()
	}()
	shown, err := r.run("kernels.Run(\"gemm/1_naive\", c, a, b)")
	took := time.Since(<-asked)
	if err == nil || err.Name != "Interrupted" {
		t.Errorf("%s %+v", shown, err)
	}
	if took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	got, err := r.run("x := dev.Full(gpu.F16, 2, 16)\ny := dev.Zeros(gpu.F16, 16)\nkernels.Run(\"gemv/1_naive\", y, dev.Full(gpu.F16, 1, 16, 16), x)\ny.Float32s()[15]")
	if err != nil || !strings.HasSuffix(got, "value: 32") {
		t.Errorf("afterwards: %s %+v", got, err)
	}
	t.Logf("a launch interrupted in %v", took)
}

func TestMemoryOfCells(t *testing.T) {
	s := supervisor.Start(supervisor.Options{Argv: []string{os.Args[0]}, MemoryTotal: 500e6})
	t.Cleanup(func() { s.Shutdown(false) })
	r := &rig{Supervisor: s, t: t}
	r.want("keep := 1", "", "")
	_, err := r.run("var all [][]byte\nfor {\n\tall = append(all, bytes.Repeat([]byte{1}, 1<<20))\n}")
	want := regexp.MustCompile(`^the worker uses \d+ MB of memory, more than 80% of the 500 MB that there are`)
	if err == nil || err.Name != "MemoryLimit" || !want.MatchString(err.Value) {
		t.Errorf("%+v", err)
	}
	if got, err := r.run("all = nil\nkeep"); got != "value: 1" || err != nil {
		t.Errorf("afterwards: %s %+v", got, err)
	}
}

func TestInputOfCells(t *testing.T) {
	r := newRig(t)
	r.want("var name string\nfmt.Print(\"name? \")\nfmt.Scanln(&name)\nname", "stdout: name? |input|value: Ada", "", "Ada")
	r.stdin = true
	asked := make(chan bool)
	go func() { time.Sleep(200 * time.Millisecond); r.Interrupt(); close(asked) }()
	r.want("select {\ncase <-time.After(time.Hour):\n}", "", "Interrupted: the cell was interrupted\ncell 2, 2:8: the cell's last call\n    case <-time.After(time.Hour):\n           ^")
	<-asked
	r.want("s := bufio.NewScanner(os.Stdin)\nn := 0\nfor s.Scan() && s.Text() != \"\" {\n\tn += len(s.Text())\n}\nn", "input|input|value: 5", "", "hello", "")
}

func TestOutputOfGoroutines(t *testing.T) {
	r := newRig(t)
	r.want("go func() {\n\ttime.Sleep(100 * time.Millisecond)\n\tfmt.Println(\"late\")\n}()", "", "")
	first := r.last
	r.want("time.Sleep(200 * time.Millisecond)\nfmt.Println(\"mine\")", "stdout: mine\n", "")
	waitFor(t, "stdout: [cell 1 has ended; its goroutines print:]\nlate\n", first.text)
}

func TestExpressionsOfClients(t *testing.T) {
	r := newRig(t)
	r.run("x := 20")
	res := r.Execute(context.Background(), kernel.Request{Code: "x++", Count: 2, UserExpressions: map[string]string{"v": "x * 2"}}, new(recorder))
	if got := fmt.Sprintf("%s", res.UserExpressions); got != `map[v:{"data":{"text/plain":"42"},"metadata":{},"status":"ok"}]` {
		t.Errorf("%s %+v", got, res.Error)
	}
}

// BenchmarkCell is "x + 1" through the worker process, with its value.
func BenchmarkCell(b *testing.B) {
	r := newRig(b)
	r.run("x := 1")
	rec := new(recorder)
	req := kernel.Request{Code: "x + 1", Count: 2}
	for b.Loop() {
		rec.events, rec.bundles = rec.events[:0], rec.bundles[:0]
		r.Execute(context.Background(), req, rec)
	}
}

// BenchmarkFirstResult is from the start of a worker process to the value of its first cell.
func BenchmarkFirstResult(b *testing.B) {
	for b.Loop() {
		s := supervisor.Start(supervisor.Options{Argv: []string{os.Args[0]}})
		s.Execute(context.Background(), kernel.Request{Code: "1 + 1", Count: 1}, new(recorder))
		b.StopTimer()
		s.Shutdown(false)
		b.StartTimer()
	}
}

// BenchmarkRestart is from kill -9 of a worker to the result of the next cell.
func BenchmarkRestart(b *testing.B) {
	r := newRig(b)
	for b.Loop() {
		if _, err := r.run("me := os.FindProcess(os.Getpid())\nme.Kill()\nselect {}"); err == nil || err.Name != "WorkerDied" {
			b.Fatal(err)
		}
		if got, err := r.run("1 + 1"); got != "value: 2" {
			b.Fatal(got, err)
		}
	}
}

// BenchmarkInterrupt is from the request to stop a busy loop to the end of its cell: ms/interrupt.
func BenchmarkInterrupt(b *testing.B) {
	r := newRig(b)
	var total time.Duration
	for b.Loop() {
		asked := make(chan time.Time, 1)
		go func() {
			time.Sleep(30 * time.Millisecond)
			asked <- time.Now()
			r.Interrupt()
		}()
		if _, err := r.run("for {\n}"); err == nil || err.Name != "Interrupted" {
			b.Fatal(err)
		}
		total += time.Since(<-asked)
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/interrupt")
}

// BenchmarkLines is 100,000 printed lines of 80 bytes, all of them received.
func BenchmarkLines(b *testing.B) {
	r := newRig(b)
	for b.Loop() {
		got, err := r.run("for i := 0; i < 100000; i++ {\n\tfmt.Printf(\"%79d\\n\", i)\n}")
		if len(got) != 8000008 || err != nil {
			b.Fatal(len(got), err)
		}
	}
}
