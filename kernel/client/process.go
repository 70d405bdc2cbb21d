package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"memwall/kernel/wire"
)

// NewConnection chooses five free ports on this machine and a key.
func NewConnection() (wire.Connection, error) {
	c := wire.Connection{Transport: "tcp", IP: "127.0.0.1", SignatureScheme: "hmac-sha256"}
	var key [32]byte
	rand.Read(key[:]) // never fails (crypto/rand)
	c.Key = hex.EncodeToString(key[:])
	for _, port := range []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HeartbeatPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return c, err
		}
		defer l.Close() // after all five: no port is chosen twice
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return c, nil
}

// WriteConnection writes a connection file for the user alone.
func WriteConnection(path string, c wire.Connection) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Process is a kernel that Start has started, with a client that is connected to it.
type Process struct {
	*Client
	Connection wire.Connection
	Started    time.Time // just before the process was made
	cmd        *exec.Cmd
	dir        string
	exited     chan struct{}
	exitErr    error
}

// StartOptions says how a kernel is started beyond its argv.
type StartOptions struct {
	Env    []string        // beside this process's
	Stderr io.Writer       // where the kernel's own messages go; nil: nowhere
	Wire   wire.Connection // where it listens; zero: free ports on this machine
}

// Start starts a kernel as Jupyter does: argv is a kernelspec's, with {connection_file} where the file's path goes. The
// client has subscribed to its output when Start returns.
func Start(ctx context.Context, argv []string, o StartOptions) (*Process, error) {
	conn := o.Wire
	if conn.ShellPort == 0 {
		var err error
		if conn, err = NewConnection(); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "kernel-client-*")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "connection.json")
	if err := WriteConnection(file, conn); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = strings.ReplaceAll(a, "{connection_file}", file)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stderr = o.Stderr
	p := &Process{Connection: conn, cmd: cmd, dir: dir, Started: time.Now(), exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", args[0], err), os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		p.exitErr = cmd.Wait()
		close(p.exited)
		cancel(fmt.Errorf("%s ended: %v", args[0], p.exitErr))
	}()
	if p.Client, err = Dial(ctx, conn); err != nil {
		cause := context.Cause(ctx)
		p.Kill()
		return nil, errors.Join(err, cause)
	}
	return p, nil
}

// PID is the kernel's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the kernel's process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Signal sends a signal to the kernel.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Shutdown asks the kernel to end, and returns how long its process took. A kernel that is still there when ctx ends is
// killed.
func (p *Process) Shutdown(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := p.Request(ctx, Control, "shutdown_request", map[string]any{"restart": false})
	if err == nil {
		select {
		case <-p.exited:
			err = p.exitErr
		case <-ctx.Done():
			err = errors.New("the kernel answered the shutdown request but its process stays")
		}
	}
	took := time.Since(start)
	p.Kill()
	return took, err
}

// Kill ends the kernel's process and removes its connection file. It may be called again.
func (p *Process) Kill() {
	if p.Client != nil {
		p.Client.Close()
	}
	p.cmd.Process.Kill() // an error means that it has ended already
	<-p.exited
	os.RemoveAll(p.dir)
}
