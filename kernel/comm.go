package kernel

import (
	"encoding/json"
	"sync"
)

// maxComms bounds how many comms are remembered for comm_info.
const maxComms = 10000

// commTable knows the open comms, whichever side opened them.
type commTable struct {
	mu      sync.Mutex
	targets map[string]string // comm id → target name
}

func (t *commTable) note(m CommMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m.Type {
	case "comm_open":
		if t.targets == nil {
			t.targets = map[string]string{}
		}
		if len(t.targets) < maxComms {
			t.targets[m.ID] = m.Target
		}
	case "comm_close":
		delete(t.targets, m.ID)
	}
}

func (t *commTable) list(target string) map[string]any {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[string]any{}
	for id, name := range t.targets {
		if target == "" || name == target {
			found[id] = map[string]any{"target_name": name}
		}
	}
	return found
}

// publishComm sends a comm message to the frontend.
func (s *server) publishComm(parent json.RawMessage, m CommMessage) {
	content := map[string]any{"comm_id": m.ID, "data": orEmptyMap(m.Data)}
	if m.Type == "comm_open" {
		content["target_name"] = m.Target
	}
	s.comms.note(m)
	s.publishFull(m.Type, parent, content, orEmptyMap(m.Metadata), m.Buffers)
}

// comm hands a comm message of the frontend to the evaluator. A comm_open that nobody takes is answered by comm_close.
func (s *server) comm(r *request) {
	var c struct {
		ID     string         `json:"comm_id"`
		Target string         `json:"target_name"`
		Data   map[string]any `json:"data"`
	}
	if err := decodeContent(r.Content, &c); err != nil || c.ID == "" {
		s.log.printf("%s: %s dropped: %v", r.socket.name, r.Header.MsgType, orText(err, "no comm_id"))
		return
	}
	var metadata map[string]any
	if err := json.Unmarshal(r.Metadata, &metadata); err != nil {
		metadata = nil // not an object: nothing that a comm needs
	}
	m := CommMessage{Type: r.Header.MsgType, ID: c.ID, Target: c.Target, Data: c.Data, Metadata: metadata, Buffers: r.Buffers}
	out := newOutput(s, r, s.cells.current(), false, false)
	if m.Type == "comm_open" {
		s.comms.note(m) // before the evaluator, which may close it
	}
	handled := s.handComm(m, out)
	out.end()
	if m.Type == "comm_close" {
		s.comms.note(m)
	}
	if m.Type == "comm_open" && !handled {
		s.publishComm(r.RawHeader, CommMessage{Type: "comm_close", ID: m.ID})
	}
}

func (s *server) handComm(m CommMessage, out *output) (handled bool) {
	defer s.recoverIn(m.Type)
	return s.ev.Comm(s.ctx, m, out)
}

func orText(err error, text string) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// commInfo lists the open comms.
func (s *server) commInfo(r *request) {
	var c struct {
		Target *string `json:"target_name"`
	}
	if !s.decode(r, &c) {
		return
	}
	target := ""
	if c.Target != nil {
		target = *c.Target
	}
	s.reply(r, "comm_info_reply", map[string]any{"status": "ok", "comms": s.comms.list(target)})
}
