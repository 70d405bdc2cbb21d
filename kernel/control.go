package kernel

import (
	"context"
	"encoding/json"
)

// receiveControl handles control requests at once, in the goroutine of their peer: an interrupt must not wait for a cell.
func (s *server) receiveControl(p *peer, frames [][]byte) {
	r := s.receive(s.control, p, frames)
	if r == nil {
		return
	}
	switch r.Header.MsgType {
	case "interrupt_request":
		s.interrupt() // before the status messages, which may have to wait for a slow subscriber
	case "execute_request", "comm_open", "comm_msg", "comm_close":
		s.requests.push(r) // runs in its turn, the answer goes back over control
		return
	}
	s.handle(r)
	s.cells.again(s)
}

// interrupt stops the running cell, also where it waits for input.
func (s *server) interrupt() {
	s.cancelInput()
	s.within(lingerLimit, "the interrupt", func(context.Context) { s.ev.Interrupt() })
}

func (s *server) answerInterrupt(r *request) {
	if r.socket == s.shell {
		s.interrupt()
	}
	s.reply(r, "interrupt_reply", map[string]any{"status": "ok"})
}

func (s *server) answerShutdown(r *request) {
	var c struct {
		Restart bool `json:"restart"`
	}
	if !s.decode(r, &c) {
		return
	}
	content := map[string]any{"status": "ok", "restart": c.Restart}
	s.reply(r, "shutdown_reply", content)
	s.publish("shutdown_reply", r.RawHeader, content) // other clients of this kernel learn of it
	r.after = func() { s.requestStop(c.Restart) }
}

// refuseDebug answers both as a Jupyter reply and as a response of the debug adapter protocol.
func (s *server) refuseDebug(r *request) {
	var c struct {
		Seq     json.Number `json:"seq"`
		Command string      `json:"command"`
	}
	if !s.decode(r, &c) {
		return
	}
	const why = "this kernel has no debugger"
	content := map[string]any{
		"status": "error", "ename": "NotSupported", "evalue": why, "traceback": []string{"NotSupported: " + why},
		"type": "response", "success": false, "command": c.Command, "message": why,
	}
	if c.Seq != "" {
		content["request_seq"] = c.Seq
	}
	s.reply(r, "debug_reply", content)
}

func (s *server) refuseSubshell(r *request) {
	s.replyError(r, "NotSupported", "this kernel has no subshells; supported_features in kernel_info_reply lists what it has")
}
