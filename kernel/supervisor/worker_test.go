//go:build unix

package supervisor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memwall/kernel"
	"memwall/kernel/pipe"
)

// TestMain makes the test binary its own worker, one whose cells are commands, a line each.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("MEMWALL_TEST_BROKEN") != "":
		os.Stderr.WriteString("fatal error: no such GPU\n")
		os.Exit(2)
	case os.Getenv("MEMWALL_TEST_KERNEL") != "" && os.Getenv(pipe.Environment) == "":
		s := Start(Options{Argv: []string{os.Args[0]}})
		s.Execute(context.Background(), kernel.Request{Code: "out a"}, new(recorder))
		fmt.Println(s.process.pid())
		s.Execute(context.Background(), kernel.Request{Code: "spin"}, new(recorder))
	case os.Getenv(pipe.Environment) != "":
		worker()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type testWorker struct {
	conn   *pipe.Conn
	port   *pipe.Port
	stop   chan pipe.Interrupt
	inputs chan *pipe.InputReply
	names  []pipe.Name
}

func worker() {
	conn, shared, err := pipe.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	w := &testWorker{conn: conn, stop: make(chan pipe.Interrupt, 1), inputs: make(chan *pipe.InputReply, 1)}
	for {
		m, err := conn.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pipe.Start:
			w.port = pipe.NewPort(conn, m.Nonce, os.Stdout, os.Stderr, shared)
			w.port.Send(&pipe.Ready{PID: os.Getpid()})
		case *pipe.Execute:
			go w.execute(m)
		case *pipe.Interrupt:
			w.stop <- *m
		case *pipe.InputReply:
			w.inputs <- m
		case *pipe.Complete:
			if m.Code != "no answer" {
				w.port.Send(&pipe.Completion{ID: m.ID, Matches: []string{m.Code + "x"}, Types: []string{"variable"}, Signatures: []string{""}, Start: 0, End: m.Cursor})
			}
		case *pipe.Inspect:
			w.port.Send(&pipe.Inspection{ID: m.ID, Found: m.Code == "known", Bundle: map[string]any{"text/plain": strconv.Itoa(m.Detail)}})
		case *pipe.IsComplete:
			w.port.Send(&pipe.Completeness{ID: m.ID, Status: "incomplete", Indent: "\t"})
		case *pipe.CommIn:
			w.port.SendInOrder(func(mark uint64) pipe.Message { return &pipe.CommOut{Cell: m.ID, Mark: mark, Comm: m.Comm} })
			w.port.Send(&pipe.CommHandled{ID: m.ID, Handled: m.Comm.Target == "mine"})
		case *pipe.Shutdown:
			return
		}
	}
}

func (w *testWorker) execute(m *pipe.Execute) {
	done := &pipe.Done{Cell: m.Cell, Kill: m.Code == "error cannot go on: do otherwise"}
	for _, line := range strings.Split(m.Code, "\n") {
		verb, arg, _ := strings.Cut(line, " ")
		if done.Error = w.command(m, verb, strings.ReplaceAll(arg, `\n`, "\n")); done.Error != nil {
			break
		}
	}
	w.port.Send(&pipe.Names{Names: w.names})
	w.port.SendInOrder(func(mark uint64) pipe.Message { done.Mark = mark; return done })
}

func (w *testWorker) command(m *pipe.Execute, verb, arg string) *pipe.Error {
	n, _ := strconv.Atoi(arg)
	show := func(what pipe.ShowKind) {
		w.port.SendInOrder(func(mark uint64) pipe.Message {
			return &pipe.Show{Cell: m.Cell, Mark: mark, What: what, Bundle: map[string]any{"text/plain": arg}}
		})
	}
	switch verb {
	case "out":
		w.port.Print(false, []byte(arg))
	case "err":
		w.port.Print(true, []byte(arg))
	case "rawout":
		os.Stdout.WriteString(arg)
	case "rawerr":
		os.Stderr.WriteString(arg)
	case "lines":
		for i := range n {
			w.port.Print(false, fmt.Appendf(nil, "%79d\n", i))
		}
	case "alternate":
		for i := range n {
			w.port.Print(i%2 == 1, fmt.Appendf(nil, "%d ", i))
		}
	case "value":
		show(pipe.ShowValue)
	case "display":
		show(pipe.ShowDisplay)
	case "name":
		w.names = append(w.names, pipe.Name{Name: arg, Kind: "variable", Cell: m.Count})
	case "input":
		w.port.SendInOrder(func(mark uint64) pipe.Message {
			return &pipe.InputRequest{ID: 1, Cell: m.Cell, Mark: mark, Prompt: arg}
		})
		select {
		case r := <-w.inputs:
			w.port.Print(false, []byte(r.Text+r.Error))
		case <-w.stop:
			return &pipe.Error{Name: "Interrupted", Traceback: []string{"Interrupted: stopped by the user"}}
		}
	case "late", "rawlate":
		go func() {
			time.Sleep(50 * time.Millisecond)
			if verb == "late" {
				w.port.Send(&pipe.Late{Cell: m.Cell, Stream: "stdout", Text: arg})
			} else {
				os.Stdout.WriteString(arg)
			}
		}()
	case "wait":
		i := <-w.stop
		if i.Name == "" {
			i.Name, i.Reason = "Interrupted", "stopped by the user"
		}
		return &pipe.Error{Name: i.Name, Value: i.Reason, Traceback: []string{i.Name + ": " + i.Reason}}
	case "spin":
		for {
			time.Sleep(time.Millisecond)
		}
	case "error":
		return &pipe.Error{Name: "Panic", Value: arg, Traceback: []string{"Panic: " + arg}}
	default:
		return w.dangerous(verb, arg, n)
	}
	return nil
}

// dangerous commands end the process.
func (w *testWorker) dangerous(verb, arg string, n int) *pipe.Error {
	switch verb {
	case "overflow":
		deep(1)
	case "mapwrite":
		m := map[int]int{}
		for g := range 8 {
			go func() {
				for i := 0; ; i++ {
					m[i%100+g] = i
				}
			}()
		}
		time.Sleep(10 * time.Second)
	case "gopanic":
		go func() { panic(arg) }()
		time.Sleep(10 * time.Second)
	case "exit":
		os.Exit(n)
	case "unlock":
		new(sync.Mutex).Unlock()
	case "suicide":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(10 * time.Second)
	case "segv":
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(10 * time.Second)
	case "hog": // grows by 10 MB, and stops when asked
		var keep [][]byte
		for {
			b := make([]byte, 10<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			keep = append(keep, b)
			select {
			case i := <-w.stop:
				keep = nil
				runtime.GC()
				return &pipe.Error{Name: i.Name, Value: i.Reason}
			case <-time.After(2 * time.Millisecond):
			}
		}
	case "glutton": // does not stop
		var keep [][]byte
		for {
			b := make([]byte, 10<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			keep = append(keep, b)
			time.Sleep(2 * time.Millisecond)
		}
	case "close":
		syscall.Close(n)
	case "garbage":
		syscall.Write(4, []byte("\x05\x00\x00\x00\xffoops"))
		time.Sleep(10 * time.Second)
	}
	return nil
}

func deep(n int) int { return deep(n+1) + deep(n+2) }
