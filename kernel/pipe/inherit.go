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
	read, write         *os.File // ours
	childRead, childEnd *os.File // the worker's; closed by Started
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
	l := &Link{NewConn(read, write), read, write, childRead, childEnd}
	in, out, err := inherit(cmd, childRead, childEnd)
	if err != nil {
		l.Started()
		l.Close()
		return nil, fmt.Errorf("pipe to the worker: %w", err)
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d,%d", Environment, in, out))
	return l, nil
}

// Started closes our copies of the worker's ends, so that its death is seen as the end of the pipe.
func (l *Link) Started() {
	l.childRead.Close()
	l.childEnd.Close()
}

// Close closes our ends; the worker sees the end of its pipe and exits.
func (l *Link) Close() {
	l.write.Close()
	l.read.Close()
}

// Inherited opens the pipes that the kernel has handed to this process, and hides them from processes that it starts.
func Inherited() (*Conn, error) {
	v := os.Getenv(Environment)
	if v == "" {
		return nil, fmt.Errorf("%s is not set: a worker is started by memwall kernel, not by hand", Environment)
	}
	os.Unsetenv(Environment)
	a, b, _ := strings.Cut(v, ",")
	in, err1 := strconv.ParseUint(a, 10, 64)
	out, err2 := strconv.ParseUint(b, 10, 64)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%s is %q, not two numbers", Environment, v)
	}
	adopt(uintptr(in))
	adopt(uintptr(out))
	r, w := os.NewFile(uintptr(in), "kernel to worker"), os.NewFile(uintptr(out), "worker to kernel")
	for _, f := range []*os.File{r, w} {
		if f == nil {
			return nil, fmt.Errorf("%s is %q, which this process has not inherited", Environment, v)
		}
		if _, err := f.Stat(); err != nil {
			return nil, fmt.Errorf("%s is %q, which this process has not inherited: %w", Environment, v, err)
		}
	}
	return NewConn(r, w), nil
}
