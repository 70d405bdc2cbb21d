package kernel

import (
	goversion "go/version"
	"runtime"
	"strings"
	"time"
)

// receive checks a message from a peer; nil: it was malformed, and is logged and dropped.
func (s *server) receive(sock *socket, p *peer, frames [][]byte) *request {
	now := time.Now()
	m, err := s.signer.Decode(frames)
	if err != nil {
		s.log.printf("%s: message dropped: %v", sock.name, err)
		return nil
	}
	return &request{Message: m, peer: p, socket: sock, received: now, size: messageSize(frames)}
}

// receiveShell queues a request. Those that end the kernel or a cell do not wait behind it, and what a user asks while a
// cell runs (completion, help, a page that connects) is answered at once.
func (s *server) receiveShell(p *peer, frames [][]byte) {
	r := s.receive(s.shell, p, frames)
	switch {
	case r == nil:
	case r.Header.MsgType == "shutdown_request" || r.Header.MsgType == "interrupt_request" || besideCell[r.Header.MsgType] && s.cells.running() != nil:
		s.handle(r)
		s.cells.again(s)
	default:
		s.requests.push(r)
	}
}

// besideCell lists the requests that are answered while a cell runs.
var besideCell = map[string]bool{
	"kernel_info_request": true, "complete_request": true, "inspect_request": true, "is_complete_request": true,
	"history_request": true, "comm_info_request": true,
}

// shellLoop handles the shell requests one after the other.
func (s *server) shellLoop() {
	for first := true; ; first = false {
		r := s.requests.pop()
		if r == nil {
			return
		}
		if first {
			s.awaitSubscriber()
		}
		s.handle(r)
	}
}

// awaitSubscriber holds the first request until somebody listens: a client connects its sockets at about the same time,
// and output published before its subscription arrives would be lost.
func (s *server) awaitSubscriber() {
	select {
	case <-s.subscribed:
	case <-time.After(joinLimit):
	case <-s.ctx.Done():
	}
}

// handle answers one request between the status messages busy and idle.
func (s *server) handle(r *request) {
	s.publishStatus(r, "busy")
	defer func() {
		s.cells.done(s, r)
		if r.after != nil {
			r.after()
		}
	}()
	defer func() {
		if e := recover(); e != nil {
			s.log.printf("fault while handling %s: %v\n%s", r.Header.MsgType, e, stack())
			s.replyError(r, "KernelFault", "the kernel met a fault of its own while it handled this request; its log has the details")
		}
	}()
	if id := r.Header.SubshellID; id != nil && *id != "" {
		s.replyError(r, "NotSupported", "this kernel has no subshells; send the request without subshell_id")
		return
	}
	if h, ok := handlers[r.Header.MsgType]; ok {
		h(s, r)
		return
	}
	if strings.HasSuffix(r.Header.MsgType, "_request") {
		s.replyError(r, "NotSupported", "this kernel does not know "+clip(r.Header.MsgType, 64))
		return
	}
	s.log.printf("%s: message of unknown type %q dropped", r.socket.name, clip(r.Header.MsgType, 64))
}

// handlers holds one row for each kind of message, on shell and control alike.
var handlers = map[string]func(*server, *request){
	"execute_request":         (*server).execute,
	"complete_request":        (*server).complete,
	"inspect_request":         (*server).inspect,
	"is_complete_request":     (*server).isComplete,
	"history_request":         (*server).answerHistory,
	"kernel_info_request":     (*server).kernelInfo,
	"comm_info_request":       (*server).commInfo,
	"comm_open":               (*server).comm,
	"comm_msg":                (*server).comm,
	"comm_close":              (*server).comm,
	"shutdown_request":        (*server).answerShutdown,
	"interrupt_request":       (*server).answerInterrupt,
	"debug_request":           (*server).refuseDebug,
	"create_subshell_request": (*server).refuseSubshell,
	"delete_subshell_request": (*server).refuseSubshell,
	"list_subshell_request":   (*server).refuseSubshell,
}

func (s *server) publishStatus(r *request, state string) {
	s.publish("status", r.RawHeader, map[string]any{"execution_state": state})
}

// reply sends a reply to the peer that asked, or where that has left to the one that has come back under its identity.
func (s *server) reply(r *request, msgType string, content any) {
	frames := s.encode(msgType, r.RawHeader, content, nil, nil, r.Identities)
	o := outgoing{frames: frames, size: messageSize(frames)}
	if r.peer.send(o) {
		return
	}
	if p := r.socket.byIdentity(r.peer.identity); p == nil || !p.send(o) {
		s.log.printf("%s: nobody is left to take %s", r.socket.name, msgType)
	}
}

// replyError answers a request with status "error".
func (s *server) replyError(r *request, name, value string) {
	content := map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": []string{name + ": " + value}}
	if r.Header.MsgType == "execute_request" {
		content["execution_count"] = s.cells.current()
	}
	s.reply(r, replyType(r.Header.MsgType), content)
}

func replyType(requestType string) string {
	return strings.TrimSuffix(requestType, "_request") + "_reply"
}

// decode reads a request's content, and answers with an error where it is malformed.
func (s *server) decode(r *request, v any) bool {
	if err := decodeContent(r.Content, v); err != nil {
		s.replyError(r, "MalformedRequest", err.Error())
		return false
	}
	return true
}

func (s *server) kernelInfo(r *request) {
	// The language's version, without the patch level: it is written into notebooks, which should not change with each toolchain.
	version := strings.TrimPrefix(goversion.Lang(runtime.Version()), "go")
	links := s.opts.HelpLinks
	if links == nil {
		links = []HelpLink{}
	}
	s.reply(r, "kernel_info_reply", map[string]any{
		"status":                 "ok",
		"protocol_version":       "5.5",
		"implementation":         "memwall",
		"implementation_version": s.opts.Version,
		"language_info": map[string]any{
			"name": "go", "version": version, "mimetype": "text/x-go", "file_extension": ".go",
			"pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
		},
		"banner":             s.opts.Banner,
		"help_links":         links,
		"debugger":           false,
		"supported_features": []string{},
	})
}

// clip cuts a text for a message or log line.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func stack() []byte {
	buf := make([]byte, 8<<10)
	return buf[:runtime.Stack(buf, false)]
}
