// Package kernel is a Jupyter kernel: it owns the five sockets of the messaging protocol 5.5 (jupyter_client, "Messaging
// in Jupyter") and runs cells through an Evaluator, which may be any language.
//
// Serve reads the connection file, opens the sockets (socket.go, peer.go), checks and dispatches requests (shell.go,
// control.go), runs cells (execute.go) and carries their output (output.go, fold.go). What is on the wire is in
// kernel/wire. Input from a peer, however malformed, never stops the kernel: it is dropped and logged.
package kernel

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zeromq/zmq4"

	"memwall/kernel/wire"
)

const (
	// lingerLimit bounds the time from a shutdown request to the end of Serve.
	lingerLimit = 2 * time.Second
	// joinLimit is how long the first request waits for a subscriber, so that a client's first output is not lost.
	joinLimit = time.Second
	// unfinishedLimit bounds what all peers together may have sent of messages that are not complete.
	unfinishedLimit = 1 << 30
)

// Options says what Serve serves.
type Options struct {
	ConnectionFile string    // written by Jupyter, passed as -f
	Evaluator      Evaluator // runs the cells; it may still be starting
	// Start makes the evaluator, where Evaluator is nil, once the connection file has been read and the ports are open, so
	// that nothing is started in vain. It should return at once.
	Start     func() (Evaluator, error)
	Version   string // of the kernel, for kernel_info
	Banner    string // what a console shows at its start
	HelpLinks []HelpLink
	OutputDir string    // where output too long for a page is kept; empty: the system's temporary directory
	Log       io.Writer // nil: os.Stderr
}

// HelpLink is an entry of the frontend's help menu.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// server is one running kernel.
type server struct {
	opts    Options
	ev      Evaluator
	log     *logger
	signer  *wire.Signer
	session string
	serial  atomic.Uint64 // of message ids

	shell, control, stdin, iopub, heartbeat *socket

	iopubMu    sync.Mutex // one message at a time, so that all subscribers see one order
	started    bool       // "starting" has been published; guarded by iopubMu
	subscribed chan struct{}
	subscribe1 sync.Once

	requests *requestQueue
	cells    cellState
	history  history
	comms    commTable
	input    inputState

	idle     chan struct{} // closed when no more requests are handled
	stop     chan struct{} // closed by a shutdown request
	stopOnce sync.Once
	restart  atomic.Bool
	ctx      context.Context
}

// collectAt is by how many percent the heap of a kernel's process grows between two collections of garbage.
const collectAt = 300

// Serve runs the kernel until a client asks it to shut down, ctx ends, or the process is told to terminate. It returns an
// error only when the kernel cannot start: a broken connection file, a port that is taken.
func Serve(ctx context.Context, opts Options) error {
	if opts.Log == nil {
		opts.Log = os.Stderr
	}
	if opts.OutputDir == "" {
		opts.OutputDir = os.TempDir()
	}
	conn, err := wire.ReadConnection(opts.ConnectionFile)
	if err != nil {
		return fmt.Errorf("jupyter kernel: %w", err)
	}
	s, err := newServer(conn, opts)
	if err != nil {
		return fmt.Errorf("jupyter kernel: connection file %s: %w", opts.ConnectionFile, err)
	}
	if s.ev == nil {
		if s.ev, err = opts.Start(); err != nil {
			s.closeListeners()
			return fmt.Errorf("jupyter kernel: %w", err)
		}
	}
	if os.Getenv("GOGC") == "" {
		// What is alive here is small, so that Go would collect garbage every few dozen cells and make one of them wait.
		debug.SetGCPercent(collectAt)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go s.watchParent()
	s.hook()
	s.run()
	for {
		select {
		case sig := <-signals:
			if sig == os.Interrupt {
				go s.interrupt()
				continue
			}
		case <-ctx.Done():
		case <-s.stop:
		}
		s.shutdown(cancel)
		return nil
	}
}

func newServer(conn wire.Connection, opts Options) (*server, error) {
	signer, err := wire.NewSigner(conn.SignatureScheme, conn.Key)
	if err != nil {
		return nil, err
	}
	s := &server{
		opts: opts, ev: opts.Evaluator, log: &logger{w: opts.Log}, signer: signer, session: newID(),
		subscribed: make(chan struct{}), requests: newRequestQueue(), idle: make(chan struct{}), stop: make(chan struct{}), ctx: context.Background(),
	}
	var opened []*socket
	for _, o := range []struct {
		to    **socket
		name  string
		field string
		port  int
		kind  zmq4.SocketType
	}{
		{&s.iopub, "iopub", "iopub_port", conn.IOPubPort, zmq4.XPub},
		{&s.shell, "shell", "shell_port", conn.ShellPort, zmq4.Router},
		{&s.control, "control", "control_port", conn.ControlPort, zmq4.Router},
		{&s.stdin, "stdin", "stdin_port", conn.StdinPort, zmq4.Router},
		{&s.heartbeat, "heartbeat", "hb_port", conn.HeartbeatPort, zmq4.Rep},
	} {
		sock, err := listen(conn, o.name, o.field, o.port, o.kind)
		if err != nil {
			for _, open := range opened {
				open.listener.Close()
			}
			return nil, err
		}
		sock.log = s.log
		*o.to = sock
		opened = append(opened, sock)
	}
	budget := wire.NewBudget(unfinishedLimit)
	for _, sock := range opened {
		sock.budget = budget
	}
	return s, nil
}

// hook says who handles what comes in.
func (s *server) hook() {
	s.iopub.onSubscribe = s.welcome
	s.heartbeat.onMessage = func(p *peer, frames [][]byte) {
		p.send(outgoing{frames: frames, size: messageSize(frames)})
	}
	s.stdin.onMessage = s.receiveInput
	s.shell.onMessage = s.receiveShell
	s.control.onMessage = s.receiveControl
}

// run starts the goroutines that accept, read and handle.
func (s *server) run() {
	for _, sock := range s.sockets() {
		go sock.serve()
	}
	go func() {
		defer close(s.idle)
		s.shellLoop()
	}()
}

func (s *server) closeListeners() {
	for _, sock := range s.sockets() {
		sock.listener.Close()
	}
}

func (s *server) sockets() []*socket {
	return []*socket{s.iopub, s.heartbeat, s.stdin, s.shell, s.control}
}

// welcome greets a new subscriber (JEP 65), so that clients know when output will reach them.
func (s *server) welcome(p *peer, topic string) {
	content := map[string]any{"subscription": topic}
	frames := s.encode("iopub_welcome", nil, content, nil, nil, [][]byte{[]byte(topic)})
	p.offer(outgoing{frames: frames, size: messageSize(frames)})
	s.iopubMu.Lock()
	s.publishStarting()
	s.iopubMu.Unlock()
	s.subscribe1.Do(func() { close(s.subscribed) })
}

// publishStarting publishes the status "starting", once in the life of the kernel. The caller holds iopubMu.
func (s *server) publishStarting() {
	if !s.started {
		s.started = true
		s.iopub.publish(s.encode("status", nil, map[string]any{"execution_state": "starting"}, nil, nil, s.topic("status")))
	}
}

func (s *server) topic(msgType string) [][]byte {
	return [][]byte{[]byte("kernel." + s.session + "." + msgType)}
}

// publish sends a message to all subscribers; parent is the raw header of the request that caused it.
func (s *server) publish(msgType string, parent json.RawMessage, content any) {
	s.publishFull(msgType, parent, content, nil, nil)
}

func (s *server) publishFull(msgType string, parent json.RawMessage, content, metadata any, buffers [][]byte) {
	frames := s.encode(msgType, parent, content, metadata, buffers, s.topic(msgType))
	s.iopubMu.Lock()
	defer s.iopubMu.Unlock()
	s.publishStarting()
	s.iopub.publish(frames)
}

// encode makes the frames of a new message.
func (s *server) encode(msgType string, parent json.RawMessage, content, metadata any, buffers, identities [][]byte) [][]byte {
	header := wire.Header{
		MsgID:    s.session + "_" + strconv.FormatUint(s.serial.Add(1), 10),
		Session:  s.session,
		Username: "memwall",
		Date:     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		MsgType:  msgType,
		Version:  wire.ProtocolVersion,
	}
	m := &wire.Message{Identities: identities, RawHeader: s.marshal(header), Parent: parent, Content: s.marshal(content), Buffers: buffers}
	if metadata != nil {
		m.Metadata = s.marshal(metadata)
	}
	return s.signer.Encode(m)
}

// shutdown ends the evaluator and lets the peers take what waits for them; it takes at most lingerLimit.
func (s *server) shutdown(cancel context.CancelFunc) {
	until := time.Now().Add(lingerLimit)
	s.cancelInput()
	cancel()
	s.requests.close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer s.recoverIn("shutdown")
		s.ev.Shutdown(s.restart.Load())
	}()
	select {
	case <-ended:
	case <-time.After(lingerLimit / 2):
		s.log.printf("the evaluator has not ended after %v; leaving", lingerLimit/2)
	}
	select {
	case <-s.idle: // the cell that was running has got its reply
	case <-time.After(lingerLimit / 8):
	}
	var all sync.WaitGroup
	for _, sock := range s.sockets() {
		all.Go(func() { sock.close(until) })
	}
	all.Wait()
}

// watchParent ends the kernel when the process that started it is gone, as Jupyter asks by JPY_PARENT_PID.
func (s *server) watchParent() {
	parent := os.Getppid()
	if runtime.GOOS == "windows" || parent <= 1 || os.Getenv("JPY_PARENT_PID") != strconv.Itoa(parent) {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if os.Getppid() != parent {
				s.log.printf("the process that started the kernel is gone; leaving")
				s.requestStop(false)
				return
			}
		}
	}
}

func (s *server) requestStop(restart bool) {
	s.stopOnce.Do(func() {
		s.restart.Store(restart)
		close(s.stop)
	})
}

// recoverIn keeps a fault in an evaluator or handler from ending the kernel.
func (s *server) recoverIn(what string) {
	if r := recover(); r != nil {
		buf := make([]byte, 8<<10)
		s.log.printf("fault in %s: %v\n%s", what, r, buf[:runtime.Stack(buf, false)])
	}
}

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
