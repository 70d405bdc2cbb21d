package worker

import (
	"fmt"
	"regexp"
	"runtime/metrics"
	"strings"
	"time"

	"memwall/gpu"
	"memwall/kernel/pipe"
)

// An order is a cell taken apart: the magics on its first lines, and the Go code below them.
type order struct {
	magics  []string // "%device t4", in order
	timed   bool     // %%time
	checked bool     // %%sanitize
	code    string   // with an empty line for each magic, so that places in it stay right
	page    string   // name? asks for help on a name
	detail  int      // name?? for more
	foreign string   // "cuda" or "ptx": code is that and not Go
	options []string // of the compiler
	failure *pipe.Error
}

const magicList = "%%cuda, %%ptx, %%time, %%sanitize, %device NAME, %reset, %help"

var question = regexp.MustCompile(`^\s*(?:(\?{1,2})\s*([\pL_][\pL\pN_.]*)|([\pL_][\pL\pN_.]*)\s*(\?{1,2}))\s*$`)

// parse takes a cell apart.
func parse(code string) order {
	var o order
	if m := question.FindStringSubmatch(code); m != nil {
		o.page, o.detail = m[2]+m[3], len(m[1])+len(m[4])-1
		return o
	}
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		t := strings.TrimSpace(line)
		if t == "" || strings.HasPrefix(t, "//") {
			continue
		}
		if !strings.HasPrefix(t, "%") {
			break
		}
		name, arg, _ := strings.Cut(t, " ")
		arg = strings.TrimSpace(arg)
		switch {
		case name == "%%time" && arg == "":
			o.timed = true
		case name == "%%sanitize" && arg == "":
			o.checked = true
		case name == "%%cuda" || name == "%%ptx" && arg == "":
			lines[i] = ""
			o.foreign, o.options, o.code = name[2:], strings.Fields(arg), strings.Join(lines, "\n")
			return o
		case name == "%%ptx":
			o.failure = plainError("UnknownMagic", "%%ptx stands alone on its line; the PTX follows below")
		case name == "%device" || name == "%reset" || name == "%help":
			o.magics = append(o.magics, t)
		case name == "%time":
			o.failure = plainError("UnknownMagic", "%time is written %%time, on the first line of the cell that it times")
		case name == "%%time":
			o.failure = plainError("UnknownMagic", "%%time stands alone on its line; the code that it times follows below")
		case name == "%sanitize" || name == "%%sanitize":
			o.failure = plainError("UnknownMagic", "%%sanitize stands alone on the first line of the cell whose launches it checks")
		default:
			o.failure = plainError("UnknownMagic", unknownMagic(name))
		}
		if o.failure != nil {
			return o
		}
		lines[i] = ""
	}
	o.code = strings.Join(lines, "\n")
	return o
}

// unknownMagic says how a magic is written, or which there are.
func unknownMagic(name string) string {
	bare := strings.ToLower(strings.Trim(name, "%"))
	for _, known := range strings.Split(magicList, ", ") {
		if known, _, _ = strings.Cut(known, " "); bare == strings.Trim(known, "%") {
			place := "on a line before the code"
			if strings.HasPrefix(known, "%%") {
				place = "on the first line of the cell"
			}
			return name + " is written " + known + ", " + place
		}
	}
	return name + " is no magic here; there are " + magicList + "; anything else is said in Go"
}

const help = `A cell is Go. Its last expression is shown (x, y: each on its line); packages are imported when they are used (fmt, math, gpu, kernels, display, plot …).
An unused error of a top-level call ends the cell. Variables, functions and types may be declared again.
An interrupt ends the cell and keeps all variables; what its functions have deferred is still called, for 0.1 s at most.

dev                           the device: $MEMWALL_DEVICE, else virtual:h200, an H200 in Go
kernels.Run("gemv", y, w, x)  runs a CUDA kernel; its card appears under the cell
gpu.Measure(func() { … })     times and counts; gpu.Sweep, gpu.Compare, gpu.Last()
gpu.Sample(k, func() { … })   executes every k-th CTA; gpu.SampleFor(2*time.Second, func() { … }) finds the k
dev.Procedural(gpu.F16, seed, shape…)  weights larger than this computer's memory; dev.SetLimit(time.Minute) ends long launches
gpu.Config{Grid: gpu.Dim(64), CTA: gpu.Dim(256), Shared: 0, Cluster: gpu.Dim(2), Cooperative: true, Stream: s, Limit: time.Second}
gpu.SetSimulation(false)      predicts times by bounds alone; gpu.Printed() is all that printf has printed
%%cuda                        first line: the cell is CUDA C++; options of NVRTC may follow (-use_fast_math). Each __global__
                              becomes a Go variable: saxpy.Launch(gpu.Threads(n, 256), 2, x, y, n); so do instances of
                              templates (template __global__ void scale<float>(float *, int);), __constant__ and __device__
%%ptx                         first line: the cell is PTX; each .entry becomes a Go variable
display.Table(rows)           also HTML, Markdown, Math, SVG, PNG, Image, Progress, Show, Clear

%%time                        first line: how long the cell took
%%sanitize                    first line: launches are checked for races, bounds, uninitialised memory, barriers, missing waits;
                              gpu.Sanitize(func() { … }) does the same in the middle of a cell
%device t4                    dev becomes virtual:t4; tensors stay on the device that made them; %device mine.json opens a profile of
                              your own: {"name": "mine", "like": "h100", "sms": 78, "sources": ["data sheet"]}
%reset                        forgets all variables, functions and types
%help                         this text
name?                         help on a name; Shift-Tab does the same, Tab completes`

// magic carries out one magic.
func (w *worker) magic(c *cell, line string) *pipe.Error {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	say := func(text string) { w.port.Print(false, []byte(text+"\n")) }
	switch name {
	case "%device":
		return w.setDevice(arg, say)
	case "%reset":
		n := len(w.session.Names())
		if err := w.session.Reset(); err != nil {
			return plainError("ResetFailed", err.Error())
		}
		if err := w.session.Predeclare("dev", &w.dev); err != nil {
			return plainError("ResetFailed", err.Error())
		}
		say(fmt.Sprintf("forgot %s", plural(n, "name")))
	case "%help":
		if arg != "" {
			return plainError("UnknownMagic", "%help stands alone; help on a name is written "+strings.Fields(arg)[0]+"?")
		}
		say(help)
	}
	return nil
}

func (w *worker) setDevice(name string, say func(string)) *pipe.Error {
	if name == "" {
		if err := w.device(); err != nil {
			return plainError("gpu.Error", err.Error())
		}
		say("dev is " + describe(w.dev))
		return nil
	}
	d, err := gpu.Open(name)
	if err != nil {
		return plainError("gpu.Error", err.Error())
	}
	w.dev = d
	gpu.SetDefault(d)
	say("dev is " + describe(d))
	return nil
}

// deviceNames are the names that %device takes, as a user would type them.
func deviceNames() []string {
	var names []string
	for _, d := range gpu.Devices() {
		if d.Unavailable == "" {
			names = append(names, strings.TrimPrefix(d.Name, "virtual:"))
		}
	}
	return names
}

// describe names a device: "virtual:t4 (Tesla T4)".
func describe(d *gpu.Device) string {
	i := d.Info()
	return fmt.Sprintf("%s (%s)", i.Name, i.Model)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A timer is the %%time of a cell; nil: not timed.
type timer struct {
	start, cpu     time.Duration
	bytes, objects uint64
}

var clock = time.Now()

func startTimer(timed bool) *timer {
	if !timed {
		return nil
	}
	t := &timer{cpu: processTime()}
	t.bytes, t.objects = allocated()
	t.start = time.Since(clock)
	return t
}

func allocated() (bytes, objects uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

func (t *timer) print(w *worker, c *cell) {
	if t == nil {
		return
	}
	wall, cpu := time.Since(clock)-t.start, processTime()-t.cpu
	bytes, objects := allocated()
	w.port.Print(false, fmt.Appendf(nil, "MEASURED: %s, CPU %s, allocated %.3g MB in %s\n",
		digits(wall), digits(cpu), float64(bytes-t.bytes)/1e6, plural(int(objects-t.objects), "object")))
}

// digits writes a duration with three significant digits: 1.00s, 707ms, 61.2s. Nanoseconds are whole; from 1000 s on it is
// in hours and minutes.
func digits(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	d = d.Round(unit)
	name := "s"
	unit = time.Second
	switch {
	case d >= 1000*time.Second || d < time.Microsecond:
		return d.String()
	case d < time.Millisecond:
		name, unit = "µs", time.Microsecond
	case d < time.Second:
		name, unit = "ms", time.Millisecond
	}
	decimals := 0
	for v := d; v < 100*unit; v *= 10 {
		decimals++
	}
	return fmt.Sprintf("%.*f%s", decimals, float64(d)/float64(unit), name)
}

// complete answers a completion; a line that begins with % lists the magics.
func (w *worker) complete(m *pipe.Complete) pipe.Message {
	runes := []rune(m.Code)
	at := min(max(m.Cursor, 0), len(runes))
	before := string(runes[:at])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if strings.HasPrefix(line, "%") && !strings.Contains(line, " ") {
		c := &pipe.Completion{ID: m.ID, Start: at - len([]rune(line)), End: at}
		for _, magic := range []string{"%%cuda", "%%ptx", "%%sanitize", "%%time", "%device", "%help", "%reset"} {
			if strings.HasPrefix(magic, line) {
				c.Matches, c.Types, c.Signatures = append(c.Matches, magic), append(c.Types, "keyword"), append(c.Signatures, "")
			}
		}
		return c
	}
	typed, names, ok := completeName(before)
	if arg, device := strings.CutPrefix(line, "%device "); device {
		typed, names, ok = strings.TrimLeft(arg, " "), nil, true
		for _, d := range openNames(typed) {
			if strings.HasPrefix(d, typed) {
				names = append(names, d)
			}
		}
	}
	if ok {
		c := &pipe.Completion{ID: m.ID, Start: at - len([]rune(typed)), End: at}
		for _, name := range names {
			c.Matches, c.Types, c.Signatures = append(c.Matches, name), append(c.Types, "module"), append(c.Signatures, "")
		}
		return c
	}
	code := m.Code
	if parse(code).foreign != "" {
		return &pipe.Completion{ID: m.ID, Start: at, End: at} // nothing is known of CUDA C++ and PTX
	}
	if o := parse(code); o.failure == nil && o.code != "" && (len(o.magics) > 0 || o.timed || o.checked) {
		code = blanked(code)
	}
	c := &pipe.Completion{ID: m.ID}
	c.Matches, c.Types, c.Signatures, c.Start, c.End = w.session.Complete(code, at)
	return c
}

// blanked makes spaces of the magics' lines, so that positions in code points stay as they are.
func blanked(code string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "%") {
			lines[i] = strings.Repeat(" ", len([]rune(line)))
		} else if strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// isComplete tells whether a console may run the code.
func (w *worker) isComplete(m *pipe.IsComplete) pipe.Message {
	o := parse(m.Code)
	a := &pipe.Completeness{ID: m.ID, Status: "complete"}
	if o.foreign != "" {
		if !strings.HasSuffix(strings.TrimRight(m.Code, " \t"), "\n") {
			a.Status = "incomplete" // an empty line ends it
		}
		return a
	}
	if o.failure == nil && strings.TrimSpace(o.code) != "" {
		a.Status, a.Indent = w.session.IsComplete(o.code)
	} else if (o.timed || o.checked) && o.page == "" {
		a.Status = "incomplete"
	}
	return a
}
