package pipe

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Environment names the variable that tells a worker which descriptors or handles its pipes have.
const Environment = "MEMWALL_WORKER_PIPES"

// Link is the kernel's side of a worker that is about to be started.
type Link struct {
	*Conn
	read, write *os.File   // ours
	child       []*os.File // the worker's; closed by Started
	prints      *Prints    // nil where memory cannot be shared
}

// Attach makes the two pipes and gives cmd their far ends. Call Started when cmd has been started, or Close.
func Attach(cmd *exec.Cmd) (*Link, error) {
	childRead, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the worker: %w", err)
	}
	read, childEnd, err := os.Pipe()
	if err != nil {
		childRead.Close()
		write.Close()
		return nil, fmt.Errorf("pipe from the worker: %w", err)
	}
	l := &Link{Conn: NewConn(read, write), read: read, write: write, child: []*os.File{childRead, childEnd}}
	if shared, err := shareMemory(); err == nil { // without it the worker prints unbuffered
		if l.prints, err = mapPrints(shared); err == nil {
			l.child = append(l.child, shared)
		} else {
			shared.Close()
		}
	}
	handles, err := inherit(cmd, l.child)
	if err != nil {
		l.Started()
		l.Close()
		return nil, fmt.Errorf("pipe to the worker: %w", err)
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	numbers := make([]string, len(handles))
	for i, h := range handles {
		numbers[i] = strconv.FormatUint(uint64(h), 10)
	}
	cmd.Env = append(cmd.Env, Environment+"="+strings.Join(numbers, ","))
	return l, nil
}

// Started closes our copies of the worker's ends, so that its death is seen as the end of the pipe.
func (l *Link) Started() {
	for _, f := range l.child {
		f.Close()
	}
}

// Leftover is what a worker that has died had printed and not yet written to its descriptor 1, of which received bytes have
// arrived. It is there once.
func (l *Link) Leftover(received uint64) []byte {
	if l.prints == nil {
		return nil
	}
	text := l.prints.take(received)
	l.prints.unmap()
	l.prints = nil
	return text
}

// Close closes our ends; the worker sees the end of its pipe and exits.
func (l *Link) Close() {
	l.write.Close()
	l.read.Close()
}

// Inherited opens the pipes that the kernel has handed to this process, and hides them from processes that it starts.
// Shared is memory for NewPort, nil where there is none.
func Inherited() (conn *Conn, shared *Prints, err error) {
	v := os.Getenv(Environment)
	if v == "" {
		return nil, nil, fmt.Errorf("%s is not set: a worker is started by memwall kernel, not by hand", Environment)
	}
	os.Unsetenv(Environment)
	var files []*os.File
	for i, number := range strings.Split(v, ",") {
		h, err := strconv.ParseUint(number, 10, 64)
		if err != nil || i > 2 {
			return nil, nil, fmt.Errorf("%s is %q, not two or three numbers", Environment, v)
		}
		adopt(uintptr(h), i < 2)
		f := os.NewFile(uintptr(h), "worker pipe "+number)
		if f == nil {
			return nil, nil, fmt.Errorf("%s is %q, which this process has not inherited", Environment, v)
		}
		if _, err := f.Stat(); err != nil {
			return nil, nil, fmt.Errorf("%s is %q, which this process has not inherited: %w", Environment, v, err)
		}
		files = append(files, f)
	}
	if len(files) < 2 {
		return nil, nil, fmt.Errorf("%s is %q, not two or three numbers", Environment, v)
	}
	if len(files) == 3 {
		shared, err = mapPrints(files[2])
		files[2].Close()
		if err != nil {
			return nil, nil, fmt.Errorf("memory shared with the kernel: %w", err)
		}
	}
	return NewConn(files[0], files[1]), shared, nil
}
