package notebook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"unicode/utf8"

	"memwall/kernel"
)

// displays are the outputs of a run that have a display id, and the lock under which outputs change: a goroutine of an earlier
// cell may still write to its cell.
type displays struct {
	mu     sync.Mutex
	byID   map[string][]*Output
	closed bool // the run is over: what comes now is dropped
}

func newDisplays() *displays { return &displays{byID: map[string][]*Output{}} }

func (d *displays) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
}

// collector is the kernel.Output of one cell: it appends to the cell's outputs as a Jupyter client does.
type collector struct {
	cell     *Cell
	count    int
	dir      string // for what the notebook has no room for; empty: the system's temporary directory
	displays *displays
	clear    bool   // clear_output(wait): the next output removes the others
	printed  int    // bytes of streams that the cell's outputs hold
	folded   int    // bytes beyond foldLimit
	tail     []byte // the last of them
	rest     *rest  // all of them; nil: none so far
}

const (
	// foldLimit is how much text of its streams a cell keeps; of what comes beyond the end is kept, and all goes to a file.
	foldLimit = 16 << 20
	tailBytes = 64 << 10
	// restLimit bounds that file, so that an endless print does not fill the disk.
	restLimit = 2 << 30
)

// A rest is the file of what a cell prints beyond foldLimit.
type rest struct {
	file    *os.File
	w       *bufio.Writer
	written int
	failure error
}

var errRestLimit = errors.New("the limit of a file")

func newRest(dir string, cell int) *rest {
	r := &rest{}
	if r.file, r.failure = os.CreateTemp(dir, fmt.Sprintf("memwall-cell-%d-output-*.txt", cell)); r.failure == nil {
		r.w = bufio.NewWriterSize(r.file, 256<<10)
	}
	return r
}

// write writes until the limit, or until the disk refuses.
func (r *rest) write(text string) {
	if r.failure != nil {
		return
	}
	if room := restLimit - r.written; len(text) > room {
		text, r.failure = text[:room], errRestLimit
	}
	n, err := r.w.WriteString(text)
	r.written += n
	if err != nil {
		r.failure = err
	}
}

// close says where the text is.
func (r *rest) close() string {
	if r.file == nil {
		return fmt.Sprintf("could not be kept in a file: %v", r.failure)
	}
	if err := errors.Join(r.w.Flush(), r.file.Close()); err != nil && (r.failure == nil || r.failure == errRestLimit) {
		r.failure = err
	}
	switch r.failure {
	case nil:
		return "are in " + r.file.Name()
	case errRestLimit:
		return fmt.Sprintf("are in %s up to %d bytes", r.file.Name(), r.written)
	}
	return fmt.Sprintf("could not be kept in a file: %v", r.failure)
}

// locked runs f under the lock of the run, unless the run is over.
func (c *collector) locked(f func()) {
	c.displays.mu.Lock()
	defer c.displays.mu.Unlock()
	if !c.displays.closed {
		f()
	}
}

func (c *collector) append(o *Output) {
	if c.clear {
		c.cell.Outputs, c.clear, c.printed = nil, false, 0
	}
	c.cell.Outputs = append(c.cell.Outputs, o)
}

// pages shows what a client would show in its pager: the answer to name?.
func (c *collector) pages(payload []map[string]any) {
	for _, p := range payload {
		data, ok := p["data"].(map[string]any)
		if raw, isRaw := p["data"].(json.RawMessage); isRaw { // as it comes through the worker's pipe
			ok = json.Unmarshal(raw, &data) == nil
		}
		if ok && p["source"] == "page" {
			c.Display(data, nil, "")
		}
	}
}

// Stream appends text, to the last output where that is the same stream.
func (c *collector) Stream(name, text string) {
	if text == "" {
		return
	}
	c.locked(func() {
		if c.clear {
			c.cell.Outputs, c.clear, c.printed = nil, false, 0
		}
		if room := foldLimit - c.printed; len(text) > room {
			for room > 0 && !utf8.RuneStart(text[room]) {
				room--
			}
			c.fold(text[room:])
			text = text[:room]
		}
		if text == "" {
			return
		}
		c.printed += len(text)
		c.stream(name, text)
	})
}

func (c *collector) stream(name, text string) {
	if n := len(c.cell.Outputs); n > 0 {
		if last := c.cell.Outputs[n-1]; last.Type == Stream && last.Name == name {
			last.pending = append(last.pending, text...)
			return
		}
	}
	c.append(&Output{Type: Stream, Name: name, pending: []byte(text)})
}

// fold counts text that the notebook has no room for and keeps its end.
func (c *collector) fold(text string) {
	c.folded += len(text)
	if c.rest == nil {
		c.rest = newRest(c.dir, c.count)
	}
	c.rest.write(text)
	if len(text) > tailBytes {
		text, c.tail = text[len(text)-tailBytes:], nil
	}
	c.tail = append(c.tail, text...)
	if over := len(c.tail) - tailBytes; over > 0 {
		c.tail = append([]byte(nil), c.tail[over:]...)
	}
}

// finish makes the texts of the cell's streams final; later text is added to them.
func (c *collector) finish() {
	c.locked(func() {
		if c.folded > 0 {
			gap := c.folded - len(c.tail)
			c.stream("stdout", fmt.Sprintf("\n… %d bytes left out: a notebook keeps the first %d MiB that a cell prints, and the end;\nthe %d bytes after the first %s …\n%s", gap, foldLimit>>20, c.folded, c.rest.close(), c.tail))
			c.folded, c.tail, c.rest = 0, nil, nil
		}
		settle(c.cell)
	})
}

// settle moves what streams collected into their texts.
func settle(c *Cell) {
	for _, o := range c.Outputs {
		if len(o.pending) > 0 {
			o.Text += string(bytes.ToValidUTF8(o.pending, []byte("\uFFFD")))
			o.pending = nil
		}
	}
}

// Display appends display_data.
func (c *collector) Display(data, metadata map[string]any, id string) {
	c.locked(func() {
		o := &Output{Type: DisplayData, Data: mimeData(data), Metadata: metadataOf(metadata)}
		c.append(o)
		if id != "" {
			c.displays.byID[id] = append(c.displays.byID[id], o)
		}
	})
}

// Update replaces the data of every output that has the id, in whatever cell.
func (c *collector) Update(data, metadata map[string]any, id string) {
	c.locked(func() {
		for _, o := range c.displays.byID[id] {
			o.Data, o.Metadata = mimeData(data), metadataOf(metadata)
		}
	})
}

// Value appends an execute_result.
func (c *collector) Value(data, metadata map[string]any) {
	c.locked(func() {
		c.append(&Output{Type: ExecuteResult, Data: mimeData(data), Metadata: metadataOf(metadata), ExecutionCount: c.count})
	})
}

// Clear removes the cell's outputs, with wait when the next one comes.
func (c *collector) Clear(wait bool) {
	c.locked(func() {
		if wait {
			c.clear = true
			return
		}
		c.cell.Outputs, c.clear, c.printed = nil, false, 0
	})
}

// Input fails: nobody is there to ask.
func (c *collector) Input(context.Context, string, bool) (string, error) { return "", errNoUser }

// Comm messages have no frontend to go to.
func (c *collector) Comm(kernel.CommMessage) {}

func (c *collector) error(e *kernel.Error) {
	c.locked(func() {
		c.append(&Output{Type: ErrorOutput, EName: e.Name, EValue: e.Value, Traceback: e.Traceback})
	})
}

// mimeData copies a bundle: strings stay, JSON types become raw JSON, and a value that JSON cannot hold becomes a string that
// says so.
func mimeData(data map[string]any) map[string]any {
	out := make(map[string]any, len(data))
	for mime, v := range data {
		switch x := v.(type) {
		case string:
			out[mime] = x
			if isJSON(mime) {
				out[mime] = rawJSON(x)
			}
		case []byte:
			out[mime] = string(x)
		default:
			out[mime] = rawJSON(v)
		}
	}
	return out
}

func rawJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		raw, _ = json.Marshal("cannot be written as JSON: " + err.Error())
	}
	return raw
}

func metadataOf(m map[string]any) Object {
	out := Object{}
	for k, v := range m {
		out[k] = rawJSON(v)
	}
	return out
}
