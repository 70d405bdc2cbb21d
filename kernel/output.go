package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// streamChunk and streamDelay say when printed text is sent: at so many bytes, or so long after the first of them.
	streamChunk = 64 << 10
	streamDelay = 20 * time.Millisecond
	// bundleLimit is the largest display that is sent to a page.
	bundleLimit = 16 << 20
)

// output carries what one cell shows. Printed text is gathered into few large messages, and sent before any other message
// of the cell and before its idle status.
type output struct {
	s          *server
	r          *request
	count      int
	silent     bool
	allowStdin bool

	mu    sync.Mutex
	name  string            // stream of the text in text
	text  []byte            // printed, not yet sent; at most streamChunk bytes
	cut   map[string][]byte // by stream other than name: the first bytes of a code point whose rest has not come
	timer *time.Timer       // sends text when it is old enough; nil: not running
	fold  fold
	ended bool
	value string // the cell's value as plain text
}

func newOutput(s *server, r *request, count int, silent, allowStdin bool) *output {
	o := &output{s: s, r: r, count: count, silent: silent, allowStdin: allowStdin, cut: map[string][]byte{}}
	o.fold.dir = s.opts.OutputDir
	o.fold.count = count
	return o
}

// Stream implements Output.
func (o *output) Stream(name, text string) {
	if o.silent || text == "" {
		return
	}
	if name != "stderr" {
		name = "stdout"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if name != o.name {
		o.send()
		o.cut[o.name] = bytes.Clone(o.text)
		o.text = append(o.text[:0], o.cut[name]...)
		o.name = name
	}
	for len(text) > 0 {
		n := min(len(text), streamChunk-len(o.text))
		o.text = append(o.text, text[:n]...)
		text = text[n:]
		if len(o.text) >= streamChunk {
			o.send()
		}
	}
	if len(o.text) > 0 && o.timer == nil {
		o.timer = time.AfterFunc(streamDelay, o.tick)
	}
}

func (o *output) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	o.send()
}

// send sends the gathered text, but for the beginning of a code point that is not complete. The caller holds mu.
func (o *output) send() {
	whole := len(o.text) - incompleteTail(o.text)
	o.show(o.name, o.text[:whole])
	o.text = o.text[:copy(o.text, o.text[whole:])]
}

// show sends text to the page as long as there is room, and the rest to the fold. The caller holds mu.
func (o *output) show(name string, text []byte) {
	if len(text) == 0 {
		return
	}
	head := o.fold.head(text)
	if len(head) > 0 {
		o.publishStream(name, head)
	}
	if rest := text[len(head):]; len(rest) > 0 {
		o.report(o.fold.add(rest))
	}
}

func (o *output) publishStream(name string, text []byte) {
	o.s.publish("stream", o.r.RawHeader, map[string]any{"name": name, "text": string(text)})
}

// report shows or renews the notice on folded output. The caller holds mu.
func (o *output) report(n notice) {
	switch n {
	case noticeFirst:
		o.publishDisplay("display_data", o.fold.bundle(!o.ended), nil, o.fold.displayID(o.s.session))
	case noticeAgain:
		o.publishDisplay("update_display_data", o.fold.bundle(!o.ended), nil, o.fold.displayID(o.s.session))
	}
}

// incompleteTail is the number of bytes at the end of text that begin a UTF-8 sequence without ending it.
func incompleteTail(text []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(text)); n++ {
		b := text[len(text)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// flush sends all printed text, half code points included, because something else follows. The caller holds mu.
func (o *output) flush() {
	o.show(o.name, o.text)
	o.text = o.text[:0]
	for name, rest := range o.cut {
		if name != o.name && len(rest) > 0 {
			o.show(name, rest)
		}
	}
	clear(o.cut)
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

// end sends what is left of the cell's output and closes its fold.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	o.ended = true
	if o.fold.active {
		o.fold.close()
		o.report(noticeAgain)
		o.publishStream("stdout", o.fold.tail())
	}
	o.fold.end()
	o.text = nil
}

// Display implements Output.
func (o *output) Display(bundle, metadata map[string]any, id string) {
	o.show1("display_data", bundle, metadata, id)
}

// Update implements Output.
func (o *output) Update(bundle, metadata map[string]any, id string) {
	o.show1("update_display_data", bundle, metadata, id)
}

func (o *output) show1(msgType string, bundle, metadata map[string]any, id string) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	o.publishDisplay(msgType, bundle, metadata, id)
}

func (o *output) publishDisplay(msgType string, bundle, metadata map[string]any, id string) {
	transient := map[string]any{}
	if id != "" {
		transient["display_id"] = id
	}
	o.s.publish(msgType, o.r.RawHeader, map[string]any{"data": o.fit(bundle), "metadata": orEmptyMap(metadata), "transient": transient})
}

// Value implements Output.
func (o *output) Value(bundle, metadata map[string]any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text, ok := bundle["text/plain"].(string); ok {
		o.value = clip(text, streamChunk)
	}
	if o.silent {
		return
	}
	o.flush()
	o.s.publish("execute_result", o.r.RawHeader, map[string]any{"execution_count": o.count, "data": o.fit(bundle), "metadata": orEmptyMap(metadata)})
}

func (o *output) shownValue() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.value
}

// fit encodes a bundle, and replaces one that no page could show by the name of a file that holds it.
func (o *output) fit(bundle map[string]any) json.RawMessage {
	raw := o.s.marshal(orEmptyMap(bundle))
	if len(raw) <= bundleLimit {
		return raw
	}
	return o.s.marshal(map[string]any{"text/plain": o.fold.saveBundle(bundle, len(raw))})
}

func orEmptyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Clear implements Output.
func (o *output) Clear(wait bool) {
	if o.silent {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	o.fold.cleared()
	o.s.publish("clear_output", o.r.RawHeader, map[string]any{"wait": wait})
}

// Comm implements Output.
func (o *output) Comm(m CommMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	o.s.publishComm(o.r.RawHeader, m)
}

// errNoStdin is what a cell gets that asks for input where nobody can give it.
var errNoStdin = errors.New("this frontend cannot ask for input (allow_stdin is false): run the cell in a notebook or console, or set the value in the code")

// Input implements Output.
func (o *output) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if !o.allowStdin {
		return "", errNoStdin
	}
	o.mu.Lock()
	ended := o.ended
	o.flush()
	o.mu.Unlock()
	if ended {
		return "", errors.New("input is only asked for while its cell runs")
	}
	return o.s.ask(ctx, o.r, prompt, password)
}
