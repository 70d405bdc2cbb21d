package worker

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"memwall/kernel/pipe"
)

const (
	inspectPatience = 200 * time.Millisecond // for a variable's value, whose methods may take any time
	turnPatience    = 20 * time.Millisecond  // for the cell before to end
	maxValueLine    = 200                    // characters of a variable's value in its description
)

// inspect describes the name at the cursor. The value of a variable is read between cells only: while one runs, it may be
// half-written.
func (w *worker) inspect(code string, cursor, detail int) (bundle map[string]any, found bool) {
	if parse(code).foreign != "" {
		return nil, false
	}
	d, found := w.session.Inspect(code, cursor, detail)
	if !found {
		return nil, false
	}
	if d.Variable != "" && w.takeTurn() {
		defer w.turn.Unlock()
		d.Value = w.valueLine(context.Background(), d.Variable)
	}
	return bundleOf(d), true
}

func bundleOf(d description) map[string]any {
	return map[string]any{"text/plain": d.Text(), "text/markdown": d.Markdown()}
}

// takeTurn takes the place of a cell when none runs.
func (w *worker) takeTurn() bool {
	for end := time.Now().Add(turnPatience); ; time.Sleep(time.Millisecond) {
		if w.turn.TryLock() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// valueLine is what a variable shows, on one line; "" when it takes too long or cannot be read. The caller has the turn.
func (w *worker) valueLine(ctx context.Context, name string) string {
	ctx, end := context.WithTimeout(ctx, inspectPatience)
	defer end()
	if name == "dev" && w.device() != nil {
		return ""
	}
	out := w.session.Eval(ctx, name)
	if out.Err != nil || len(out.Values) != 1 {
		return ""
	}
	shown := make(chan string, 1)
	ended := w.session.During(ctx, 0, func() {
		defer func() { recover() }() // a method of a cell's type
		b := ownBundle(out.Values[0])
		if b == nil {
			b = map[string]any{"text/plain": text(out.Values[0], out.Types[0])}
		}
		plain, _ := b["text/plain"].(string)
		shown <- oneLine(plain)
	})
	if !ended {
		return ""
	}
	select {
	case s := <-shown:
		return s
	default:
		return ""
	}
}

// oneLine is a text on one line of at most maxValueLine characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxValueLine {
		return s
	}
	return string([]rune(s)[:maxValueLine]) + "…"
}

// page answers name?: what there is to say, for the client's pager. The cell that asks has the turn.
func (w *worker) page(ctx context.Context, name string, detail int) ([]map[string]any, *pipe.Error) {
	d, found := w.session.Inspect(name, len([]rune(name)), detail)
	if !found {
		return nil, plainError("NotFound", "there is no "+name+" to help with")
	}
	if d.Variable != "" {
		d.Value = w.valueLine(ctx, d.Variable)
	}
	return []map[string]any{{"source": "page", "data": bundleOf(d), "start": 0}}, nil
}
