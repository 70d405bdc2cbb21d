package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memwall/kernel"
	"memwall/kernel/pipe"
)

// A death is how a worker ended, in the words that the cell shows.
type death struct {
	name    string // of the error
	summary string // one line: what happened
	advice  string // one line: how to avoid it; may be empty
	lost    string // one line: what is gone, and how to get it back
	trace   string // the first lines of the runtime's trace; may be empty
}

// shownTrace is how many lines of a trace a cell shows; the rest, the interpreter's inside, stands in a file.
const shownTrace = 4

func (d *death) text() string {
	lines := []string{d.name + ": " + d.summary}
	for _, l := range []string{d.advice, d.lost, "the next cell runs in a fresh worker", d.trace} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

func (d *death) result() kernel.Result {
	return kernel.Result{Error: &kernel.Error{Name: d.name, Value: d.summary, Traceback: strings.Split(d.text(), "\n")}}
}

// fatals are the ways in which Go code ends its process, by a text in the trace.
var fatals = []struct{ text, summary, advice string }{
	{"goroutine stack exceeds", "stack overflow", "a function calls itself without end, or too deep: give it a case that ends"},
	{"stack overflow", "stack overflow", "a function calls itself without end, or too deep: give it a case that ends"},
	{"concurrent map writes", "concurrent map writes: two goroutines wrote to one map", "guard the map with a sync.Mutex, or use sync.Map"},
	{"concurrent map read and map write", "concurrent map read and map write: a goroutine read a map that another wrote", "guard the map with a sync.RWMutex, or use sync.Map"},
	{"concurrent map iteration and map write", "concurrent map iteration and map write: a goroutine walked over a map that another wrote", "guard the map with a sync.RWMutex, or copy it first"},
	{"unlock of unlocked", "a mutex was unlocked that was not locked", "pair each Unlock with one Lock; defer the Unlock right after the Lock"},
	{"cannot allocate", "out of memory", "work on less data at once, or drop large variables first (x = nil)"},
	{"out of memory", "out of memory", "work on less data at once, or drop large variables first (x = nil)"},
	{"program exceeds", "too many threads", "bound the number of goroutines that wait in system calls"},
	{"deadlock", "deadlock: all goroutines are asleep", ""},
	{"SIGSEGV", "a segmentation fault in compiled code", ""},
	{"SIGBUS", "a bus error in compiled code", ""},
	{"unexpected fault address", "a memory fault in compiled code", ""},
}

// postMortem says why the process is gone; its mutex is held.
func (p *process) postMortem() *death {
	d := &death{name: "WorkerDied", lost: lost(p.names)}
	trace := p.trace.take()
	switch {
	case p.killed != nil:
		d.name, d.summary, d.advice = p.killed.name, p.killed.summary, p.killed.advice
		trace = ""
	case trace != "":
		d.summary, d.advice = cause(trace)
	default:
		d.summary = p.exitText()
	}
	if trace != "" {
		d.trace = shorten(trace, p.s.options.OutputDir)
	}
	return d
}

// cause reads the reason out of a trace of the Go runtime.
func cause(trace string) (summary, advice string) {
	head, _, _ := strings.Cut(trace, "\ngoroutine ")
	for _, f := range fatals {
		if strings.Contains(head, f.text) && !strings.HasPrefix(head, "panic: ") {
			return f.summary, f.advice
		}
	}
	line, _, _ := strings.Cut(head, "\n")
	if rest, ok := strings.CutPrefix(line, "panic: "); ok {
		rest = strings.TrimSuffix(rest, " [recovered, repanicked]")
		return "panic in a goroutine that nobody watches: " + rest, "recover in the goroutine, or start it with a go statement of the cell"
	}
	return line, ""
}

func (p *process) pid() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// shorten keeps the head of a trace and puts the whole into a file.
func shorten(trace, dir string) string {
	lines := strings.Split(strings.TrimRight(trace, "\n"), "\n")
	if len(lines) <= shownTrace {
		return strings.Join(lines, "\n")
	}
	head := strings.Join(lines[:shownTrace], "\n")
	if dir == "" {
		dir = os.TempDir()
	}
	forget(dir)
	file, err := os.CreateTemp(dir, tracePrefix+time.Now().Format("20060102-150405")+"-*.txt")
	if err == nil {
		_, err = file.WriteString(trace)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Sprintf("%s\n… %d more lines", head, len(lines)-shownTrace)
	}
	return fmt.Sprintf("%s\n… %d more lines in %s", head, len(lines)-shownTrace, file.Name())
}

const (
	tracePrefix = "memwall-trace-"
	keptTraces  = 9 // older ones are removed when another is written
)

// forget removes the oldest traces.
func forget(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, tracePrefix+"*.txt"))
	slices.Sort(names)
	for len(names) > keptTraces {
		os.Remove(names[0])
		names = names[1:]
	}
}

// shownNames is how many names of a kind are listed.
const shownNames = 12

// lost lists what the session held.
func lost(names []pipe.Name) string {
	if len(names) == 0 {
		return "no variables were lost"
	}
	var parts []string
	cells := map[int]bool{}
	for _, kind := range []string{"variable", "function", "type", "constant"} {
		var of []string
		for _, n := range names {
			if n.Kind == kind {
				of = append(of, n.Name)
				if n.Cell > 0 {
					cells[n.Cell] = true
				}
			}
		}
		if len(of) == 0 {
			continue
		}
		slices.Sort(of)
		text := strings.Join(of[:min(len(of), shownNames)], ", ")
		if len(of) > shownNames {
			text += fmt.Sprintf(" and %d others", len(of)-shownNames)
		}
		if len(of) > 1 {
			kind += "s"
		}
		parts = append(parts, kind+" "+text)
	}
	text := "lost: " + strings.Join(parts, "; ")
	var again []int
	for c := range cells {
		again = append(again, c)
	}
	slices.Sort(again)
	switch len(again) {
	case 0:
	case 1:
		text += fmt.Sprintf("; run cell %d again", again[0])
	default:
		text += "; run cells " + ranges(again) + " again"
	}
	return text
}

// ranges writes sorted numbers as 1–3, 5.
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, fmt.Sprint(n[i]))
		case 1:
			parts = append(parts, fmt.Sprint(n[i]), fmt.Sprint(n[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d–%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
