package kernel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of what an error carries; the rest of a longer text says nothing more to a reader.
const (
	maxErrorValue = 64 << 10
	maxTraceback  = 256 << 10
)

// cellState is what the cells of a session share.
type cellState struct {
	mu     sync.Mutex
	count  int      // of the last cell that was stored
	cell   *request // the execute request that is being handled
	failed failure  // of the last cell that failed and was to stop what follows
}

// failure is a cell whose error aborts the requests that were sent before anybody could know of it.
type failure struct {
	r  *request
	at time.Time
}

// abortWindow is how long after an error a request may come that was sent before it.
const abortWindow = time.Second

// aborts says whether a request was received before the error or, as the dates in the headers of the same client tell,
// sent before it: "run all" sends many cells at once, and a cell may fail before the next has come.
func (f failure) aborts(r *request) bool {
	if f.r == nil {
		return false
	}
	if !r.received.After(f.at) {
		return true
	}
	if r.Header.Session != f.r.Header.Session || r.received.Sub(f.at) > abortWindow {
		return false
	}
	sent, err := time.Parse(time.RFC3339Nano, r.Header.Date)
	first, err1 := time.Parse(time.RFC3339Nano, f.r.Header.Date)
	if err != nil || err1 != nil {
		return false
	}
	return f.r.received.Add(sent.Sub(first)).Before(f.at)
}

func (c *cellState) running() *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cell
}

func (c *cellState) begin(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cell = r
}

// done publishes that a request is answered. Frontends show the last status, whichever request it belongs to, so no busy
// of again may follow the idle of its cell: both hold mu.
func (c *cellState) done(s *server, r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cell == r {
		c.cell = nil
	}
	s.publishStatus(r, "idle")
}

// again repeats that a cell is running, after a request beside it has ended with idle.
func (c *cellState) again(s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cell != nil {
		s.publishStatus(c.cell, "busy")
	}
}

func (c *cellState) current() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// next counts a cell.
func (c *cellState) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	return c.count
}

// fail makes the requests that were sent so far be aborted.
func (c *cellState) fail(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = failure{r, time.Now()}
}

func (c *cellState) aborts(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed.aborts(r)
}

type executeRequest struct {
	Code            string            `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      *bool             `json:"allow_stdin"`
	StopOnError     *bool             `json:"stop_on_error"`
}

// execute runs one cell.
func (s *server) execute(r *request) {
	s.cells.begin(r)
	if s.cells.aborts(r) {
		s.reply(r, "execute_reply", map[string]any{"status": "aborted", "execution_count": s.cells.current()})
		return
	}
	var c executeRequest
	if !s.decode(r, &c) {
		return
	}
	blank := strings.TrimSpace(c.Code) == ""
	store := !c.Silent && (c.StoreHistory == nil || *c.StoreHistory)
	count := s.cells.current()
	if store && !blank {
		count = s.cells.next()
	}
	if !c.Silent {
		s.publish("execute_input", r.RawHeader, map[string]any{"code": c.Code, "execution_count": count})
	}
	out := newOutput(s, r, count, c.Silent, c.AllowStdin == nil || *c.AllowStdin)
	var result Result
	if !blank || len(c.UserExpressions) > 0 {
		req := Request{Code: c.Code, Count: count, Silent: c.Silent, StoreHistory: store, AllowStdin: out.allowStdin, UserExpressions: c.UserExpressions}
		if c.Silent {
			req.Count = 0
		}
		result = s.evaluate(req, out)
	}
	out.end()
	if store && !blank {
		s.history.add(count, c.Code, out.shownValue())
	}
	if result.Error != nil {
		s.replyCellError(r, &c, count, result)
		return
	}
	s.reply(r, "execute_reply", map[string]any{
		"status": "ok", "execution_count": count, "payload": payload(result), "user_expressions": userExpressions(&c, result),
	})
}

// evaluate runs a cell; a fault of the evaluator becomes the cell's error.
func (s *server) evaluate(req Request, out *output) (result Result) {
	defer func() {
		if e := recover(); e != nil {
			s.log.printf("fault in the evaluator: %v\n%s", e, stack())
			text := fmt.Sprint("the kernel met a fault of its own: ", e)
			result = Result{Error: &Error{Name: "KernelFault", Value: text, Traceback: []string{"KernelFault: " + text}}}
		}
	}()
	return s.ev.Execute(s.ctx, req, out)
}

func (s *server) replyCellError(r *request, c *executeRequest, count int, result Result) {
	e := result.Error
	traceback := []string{}
	room := maxTraceback
	for _, line := range e.Traceback {
		if room <= 0 {
			break
		}
		line = clip(line, room)
		room -= len(line)
		traceback = append(traceback, line)
	}
	content := map[string]any{"ename": clip(e.Name, maxErrorValue), "evalue": clip(e.Value, maxErrorValue), "traceback": traceback}
	if !c.Silent {
		s.publish("error", r.RawHeader, content)
	}
	reply := map[string]any{"status": "error", "execution_count": count, "payload": payload(result), "user_expressions": map[string]any{}}
	for k, v := range content {
		reply[k] = v
	}
	if c.StopOnError == nil || *c.StopOnError {
		s.cells.fail(r) // before the reply: what a client sends after it has seen the reply is run
	}
	s.reply(r, "execute_reply", reply)
}

func payload(result Result) []map[string]any {
	if result.Payload == nil {
		return []map[string]any{}
	}
	return result.Payload
}

// userExpressions answers every expression that was asked for, one by one.
func userExpressions(c *executeRequest, result Result) map[string]any {
	answers := map[string]any{}
	for key := range c.UserExpressions {
		if v, ok := result.UserExpressions[key]; ok {
			answers[key] = v
			continue
		}
		const why = "the expression was not evaluated"
		answers[key] = map[string]any{"status": "error", "ename": "NotEvaluated", "evalue": why, "traceback": []string{"NotEvaluated: " + why}}
	}
	return answers
}

// within calls f with a time limit and gives up waiting, not the call, when it is over.
func (s *server) within(limit time.Duration, what string, f func(ctx context.Context)) bool {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	done := make(chan bool, 1)
	go func() {
		defer cancel()
		ok := false
		defer func() { done <- ok }()
		defer s.recoverIn(what)
		f(ctx)
		ok = true
	}()
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		select {
		case ok := <-done:
			return ok
		case <-time.After(50 * time.Millisecond):
			s.log.printf("%s took more than %v", what, limit)
			return false
		}
	}
}

// cursorOf clamps a cursor to a text's code points; a missing one stands at the end.
func cursorOf(code string, cursor *int) int {
	n := utf8.RuneCountInString(code)
	if cursor == nil {
		return n
	}
	return min(max(*cursor, 0), n)
}
