package kernel

import (
	"context"
	"time"
)

// assistLimit bounds the time for completion, help and completeness: a frontend waits for them while the user types.
const assistLimit = 5 * time.Second

// complete answers a complete_request; positions are code points.
func (s *server) complete(r *request) {
	var c struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
	}
	if !s.decode(r, &c) {
		return
	}
	cursor := cursorOf(c.Code, c.Cursor)
	got := make(chan Completion, 1)
	s.within(assistLimit, "completion", func(ctx context.Context) { got <- s.ev.Complete(ctx, c.Code, cursor) })
	answer := Completion{Start: cursor, End: cursor}
	select {
	case answer = <-got:
	default:
	}
	if answer.Start < 0 || answer.Start > answer.End || answer.End > cursorOf(c.Code, nil) {
		s.log.printf("completion of [%d, %d) in a text of %d code points dropped", answer.Start, answer.End, cursorOf(c.Code, nil))
		answer = Completion{Start: cursor, End: cursor}
	}
	matches := answer.Matches
	if matches == nil {
		matches = []string{}
	}
	metadata := map[string]any{}
	if len(answer.Types) == len(matches) && len(matches) > 0 {
		metadata["_jupyter_types_experimental"] = completionTypes(answer)
	}
	s.reply(r, "complete_reply", map[string]any{
		"status": "ok", "matches": matches, "cursor_start": answer.Start, "cursor_end": answer.End, "metadata": metadata,
	})
}

// completionTypes is IPython's extension that JupyterLab shows beside each match.
func completionTypes(c Completion) []map[string]any {
	types := make([]map[string]any, len(c.Matches))
	for i, text := range c.Matches {
		types[i] = map[string]any{"text": text, "type": c.Types[i], "start": c.Start, "end": c.End}
		if i < len(c.Signatures) && c.Signatures[i] != "" {
			types[i]["signature"] = c.Signatures[i]
		}
	}
	return types
}

// inspect answers an inspect_request.
func (s *server) inspect(r *request) {
	var c struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
		Detail int    `json:"detail_level"`
	}
	if !s.decode(r, &c) {
		return
	}
	got := make(chan map[string]any, 1)
	s.within(assistLimit, "inspection", func(ctx context.Context) {
		if bundle, found := s.ev.Inspect(ctx, c.Code, cursorOf(c.Code, c.Cursor), c.Detail); found {
			got <- bundle
		}
	})
	bundle, found := map[string]any{}, false
	select {
	case bundle = <-got:
		found = true
	default:
	}
	s.reply(r, "inspect_reply", map[string]any{"status": "ok", "found": found, "data": bundle, "metadata": map[string]any{}})
}

// isComplete answers an is_complete_request, which consoles send at each Enter.
func (s *server) isComplete(r *request) {
	var c struct {
		Code string `json:"code"`
	}
	if !s.decode(r, &c) {
		return
	}
	got := make(chan map[string]any, 1)
	s.within(assistLimit, "the completeness check", func(ctx context.Context) {
		status, indent := s.ev.IsComplete(ctx, c.Code)
		answer := map[string]any{"status": status}
		if status == "incomplete" {
			answer["indent"] = indent
		}
		got <- answer
	})
	answer := map[string]any{"status": "unknown"}
	select {
	case answer = <-got:
	default:
	}
	s.reply(r, "is_complete_reply", answer)
}
