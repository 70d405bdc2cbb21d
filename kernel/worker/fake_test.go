package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"memwall/gpu"
	"memwall/kernel/cell/rt"
	"memwall/kernel/display"
	"memwall/kernel/pipe"
	"memwall/kernel/worker/session"
)

// TestMain makes the test binary a worker: of Go cells, or with MEMWALL_TEST_FAKE of cells that are names of the functions
// below, which do what a cell may do without an interpreter in between.
func TestMain(m *testing.M) {
	gpu.ChildMain()
	if os.Getenv(pipe.Environment) != "" {
		if os.Getenv("MEMWALL_TEST_FAKE") != "" {
			os.Exit(serve(func() (language, error) { return &fake{}, nil }))
		}
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

type fake struct{ names []session.Name }

func (f *fake) Predeclare(string, any) error { return nil }
func (f *fake) Names() []session.Name        { return f.names }
func (f *fake) Reset() error                 { f.names = nil; return nil }
func (f *fake) Ended() bool                  { return true }
func (f *fake) During(_ context.Context, _ int, g func()) bool {
	g()
	return true
}
func (f *fake) GoroutinePanic(_ any, e rt.Failure) *session.Error {
	return &session.Error{Name: "Panic", Value: e.Text, Traceback: []string{"panic in a goroutine: " + e.Text}}
}
func (f *fake) Complete(code string, cursor int) (m, t, s []string, start, end int) {
	return []string{fmt.Sprintf("%q", code)}, []string{"variable"}, []string{""}, 0, cursor
}
func (f *fake) Inspect(code string, cursor, detail int) (description, bool) {
	return description{Title: fmt.Sprint(code, cursor, detail)}, code != "nothing"
}
func (f *fake) IsComplete(code string) (string, string) {
	if strings.Contains(code, "panic") {
		panic("a fault in the parser")
	}
	return "invalid", code
}
func (f *fake) Eval(ctx context.Context, code string) session.Outcome {
	if code == "bad" {
		return session.Outcome{Err: &session.Error{Name: "CompileError", Value: "undefined: bad", Traceback: []string{"undefined: bad"}}}
	}
	return value(code)
}

func value(v any) session.Outcome {
	return session.Outcome{HasValue: true, Values: []any{v}, Types: []string{fmt.Sprintf("%T", v)}}
}

// Run runs a function on a goroutine of its own, as the interpreter does, so that an interrupt can leave it behind.
func (f *fake) Run(ctx context.Context, cell int, code string) session.Outcome {
	code = strings.TrimSpace(code)
	name, arg, _ := strings.Cut(code, " ")
	if name == "name" {
		f.names = append(f.names, session.Name{Name: arg, Kind: "variable", Cell: cell})
		return session.Outcome{}
	}
	run, ok := functions[name]
	if !ok {
		return session.Outcome{Err: &session.Error{Name: "CompileError", Value: "undefined: " + code, Traceback: []string{"undefined: " + code}}}
	}
	done := make(chan session.Outcome, 1)
	go func() {
		rt.BeginCell(cell)
		defer rt.EndCell()
		done <- run(arg)
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
		return session.Outcome{Err: &session.Error{Name: "Interrupted", Value: "the cell was interrupted", Traceback: []string{"Interrupted: the cell was interrupted"}}}
	}
}

var functions = map[string]func(string) session.Outcome{
	"print": func(s string) session.Outcome { rt.Print(s); return session.Outcome{} },
	"mixed": func(string) session.Outcome {
		rt.Println("a")
		rt.Fprintln(os.Stderr, "b")
		log.SetFlags(0)
		log.Print("c")
		display.Markdown("d")
		fmt.Fprintln(os.Stdout, "e")
		return value(1)
	},
	"redirect": func(string) session.Outcome {
		old := os.Stdout
		r, w, _ := os.Pipe()
		os.Stdout = w
		rt.Print("caught")
		os.Stdout = old
		w.Close()
		text, _ := io.ReadAll(r)
		rt.Printf("<%s>", text)
		return session.Outcome{}
	},
	"later": func(string) session.Outcome {
		rt.Go(func() {
			time.Sleep(60 * time.Millisecond)
			rt.Println("late")
			display.Text("late display")
		})
		return session.Outcome{}
	},
	"panics": func(string) session.Outcome {
		rt.Go(func() { panic("oh") })
		select {}
	},
	"panicslater": func(string) session.Outcome {
		rt.Go(func() { time.Sleep(50 * time.Millisecond); panic("oh") })
		return session.Outcome{}
	},
	"scan": func(string) session.Outcome {
		rt.Print("name? ")
		var name string
		var n int
		_, err := fmt.Scan(&name, &n)
		return value(fmt.Sprint(name, n, err))
	},
	"lines": func(string) session.Outcome {
		s := bufio.NewScanner(os.Stdin) // Stdin
		var all []string
		for s.Scan() && s.Text() != "end" {
			all = append(all, s.Text())
		}
		return value(strings.Join(all, ","))
	},
	"readall": func(string) session.Outcome {
		b, err := io.ReadAll(os.Stdin)
		return value(fmt.Sprintf("%q %v", b, err))
	},
	"sleep": func(string) session.Outcome { time.Sleep(time.Hour); return session.Outcome{} },
	"deep":  func(string) session.Outcome { return value(deep(0)) },
	"html":  func(string) session.Outcome { return value(display.HTML("<i>x</i>")) },
	"plot": func(string) session.Outcome {
		p := plot.New()
		p.Title.Text = "roofs"
		l, _ := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 2}})
		p.Add(l)
		return value(p)
	},
	"badplot": func(string) session.Outcome { p := plot.New(); p.X.Scale = plot.LogScale{}; return value(p) },
	"image":   func(string) session.Outcome { return value(image.NewGray(image.Rect(0, 0, 4, 2))) },
	"gpuerror": func(string) session.Outcome {
		err := &gpu.Error{What: "launch scale: 2 arguments, the function takes 3", How: "give a value for parameter 3"}
		return session.Outcome{Err: &session.Error{Name: "Error", Value: err.What, Traceback: strings.Split(err.Error(), "\n"), Cause: err}}
	},
	"error": func(string) session.Outcome { return value(errors.New("broken")) },
	"many": func(string) session.Outcome {
		return session.Outcome{HasValue: true, Values: []any{1, "x", nil}, Types: []string{"int", "string", "any"}}
	},
	"faulty": func(string) session.Outcome { return value(faulty{}) },
	"fault":  func(string) session.Outcome { return session.Outcome{} },
	"slow":   func(string) session.Outcome { time.Sleep(20 * time.Millisecond); return value(math.Pi) },
}

type faulty struct{}

func (faulty) MIMEBundle() map[string]any { panic("no picture") }

func deep(n int) int {
	if n < 0 {
		return 0
	}
	time.Sleep(0)
	return deep(n+1) + deep(-1)
}
