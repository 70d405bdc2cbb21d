package kernel

import (
	"context"
	"errors"
	"sync"
	"time"
)

// inputState is the question that waits for the user, if any.
type inputState struct {
	turn sync.Mutex // one question at a time

	mu      sync.Mutex
	peer    *peer         // who was asked; nil: nobody
	id      string        // msg_id of the question
	cell    string        // msg_id of the execute_request behind it
	answers chan string   // takes one answer
	cancel  chan struct{} // closed by an interrupt
}

var errInputInterrupted = errors.New("interrupted while waiting for input")

// ask sends an input_request to the client that runs the cell and waits for its answer, for an interrupt, or for the
// client to leave.
func (s *server) ask(ctx context.Context, r *request, prompt string, password bool) (string, error) {
	s.input.turn.Lock()
	defer s.input.turn.Unlock()
	p, err := s.stdinPeer(ctx, r)
	if err != nil {
		return "", err
	}
	frames := s.encode("input_request", r.RawHeader, map[string]any{"prompt": prompt, "password": password}, nil, nil, r.Identities)
	question, err := s.signer.Decode(frames)
	if err != nil {
		return "", err
	}
	answers, cancel := make(chan string, 1), make(chan struct{})
	s.input.mu.Lock()
	s.input.peer, s.input.id, s.input.cell = p, question.Header.MsgID, r.Header.MsgID
	s.input.answers, s.input.cancel = answers, cancel
	s.input.mu.Unlock()
	defer func() {
		s.input.mu.Lock()
		s.input.peer, s.input.answers, s.input.cancel = nil, nil, nil
		s.input.mu.Unlock()
	}()
	if !p.send(outgoing{frames: frames, size: messageSize(frames)}) {
		return "", errNobodyToAsk
	}
	gone := time.NewTicker(100 * time.Millisecond)
	defer gone.Stop()
	for {
		select {
		case text := <-answers:
			return text, nil
		case <-cancel:
			return "", errInputInterrupted
		case <-ctx.Done():
			return "", errInputInterrupted
		case <-gone.C:
			if !p.alive() {
				return "", errors.New("the frontend left before it answered the question")
			}
		}
	}
}

var errNobodyToAsk = errors.New("the frontend that runs this cell has no stdin channel open: it cannot be asked for input")

// stdinPeer finds the stdin connection of the client that sent a request; it has the identity of its shell connection. A
// client that has just connected gets a moment to open it.
func (s *server) stdinPeer(ctx context.Context, r *request) (*peer, error) {
	for until := time.Now().Add(joinLimit); ; {
		if p := s.stdin.byIdentity(r.peer.identity); p != nil {
			return p, nil
		}
		if time.Now().After(until) {
			return nil, errNobodyToAsk
		}
		select {
		case <-ctx.Done():
			return nil, errInputInterrupted
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// receiveInput takes an input_reply. Some clients leave its parent header empty or name the cell; one that names another
// question is late and dropped.
func (s *server) receiveInput(p *peer, frames [][]byte) {
	r := s.receive(s.stdin, p, frames)
	if r == nil {
		return
	}
	var c struct {
		Value string `json:"value"`
	}
	if err := decodeContent(r.Content, &c); err != nil || r.Header.MsgType != "input_reply" {
		s.log.printf("stdin: %s dropped: not an input_reply with a value", clip(r.Header.MsgType, 64))
		return
	}
	s.input.mu.Lock()
	defer s.input.mu.Unlock()
	parent := r.ParentID()
	if s.input.peer != p || parent != "" && parent != s.input.id && parent != s.input.cell {
		s.log.printf("stdin: input_reply dropped: no question is waiting for it")
		return
	}
	select {
	case s.input.answers <- c.Value:
	default: // answered already
	}
}

func (s *server) cancelInput() {
	s.input.mu.Lock()
	defer s.input.mu.Unlock()
	if s.input.cancel != nil {
		close(s.input.cancel)
		s.input.cancel = nil
	}
}
