package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Write writes a notebook as Jupyter does: keys sorted, one space of indentation, texts as lists of lines. The file is
// replaced at once, so that a crash leaves the old one or the new one.
func Write(path string, nb *Notebook) error {
	data, err := Marshal(nb)
	if err != nil {
		return fmt.Errorf("write notebook %s: %w", path, err)
	}
	return writeFile(path, data)
}

// WriteHTML writes the page that HTML makes, at once like Write.
func WriteHTML(path string, nb *Notebook) error {
	page, err := HTML(nb)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeFile(path, page)
}

// writeFile writes a file beside the old one and renames it over it; links are followed, permissions kept. What is no regular
// file (a device, a pipe) is written to and stays what it is.
func writeFile(path string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("write %s: it is a folder", path)
		}
		if !info.Mode().IsRegular() {
			return writeThrough(path, data)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Chmod(f.Name(), mode); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func writeThrough(path string, data []byte) error {
	// Without O_NONBLOCK opening a named pipe waits for a reader, perhaps for ever.
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("write %s: it is no regular file, and nothing takes what is written to it: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Marshal is the notebook as a file holds it.
func Marshal(nb *Notebook) ([]byte, error) {
	top := map[string]any{}
	for k, v := range nb.extra {
		top[k] = v
	}
	cells := make([]any, len(nb.Cells))
	used := map[string]bool{}
	for _, c := range nb.Cells {
		used[c.ID] = true
	}
	for i, c := range nb.Cells {
		cells[i] = c.marshal(nb.Minor, i, used)
	}
	top["cells"], top["metadata"] = cells, emptyIfNil(nb.Metadata)
	top["nbformat"], top["nbformat_minor"] = 4, nb.Minor
	return encode(top)
}

// encode writes JSON as Python's json does with sorted keys and an indentation of one, characters as they are.
func encode(v any) ([]byte, error) {
	var compact, out bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if err := json.Indent(&out, bytes.TrimRight(compact.Bytes(), "\n"), "", " "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (c *Cell) marshal(minor, index int, used map[string]bool) map[string]any {
	m := map[string]any{}
	for k, v := range c.extra {
		m[k] = v
	}
	m["cell_type"], m["source"], m["metadata"] = c.Type, lines(c.Source), emptyIfNil(c.Metadata)
	switch {
	case c.ID != "":
		m["id"] = c.ID
	case minor >= 5: // required since 4.5; the place in the file makes it the same every time
		id := fmt.Sprintf("cell-%d", index+1)
		for used[id] {
			id += "x"
		}
		used[id] = true
		m["id"] = id
	}
	if c.Type != Code {
		return m
	}
	m["execution_count"] = nullIfZero(c.ExecutionCount)
	outputs := make([]any, len(c.Outputs))
	for i, o := range c.Outputs {
		outputs[i] = o.marshal()
	}
	m["outputs"] = outputs
	return m
}

func (o *Output) marshal() map[string]any {
	m := map[string]any{}
	for k, v := range o.extra {
		m[k] = v
	}
	m["output_type"] = o.Type
	switch o.Type {
	case Stream:
		m["name"], m["text"] = o.Name, lines(o.Text)
	case DisplayData, ExecuteResult:
		data := map[string]any{}
		for mime, v := range o.Data {
			if s, ok := v.(string); ok && splits(mime) {
				v = lines(s)
			}
			data[mime] = v
		}
		m["data"], m["metadata"] = data, emptyIfNil(o.Metadata)
		if o.Type == ExecuteResult {
			m["execution_count"] = nullIfZero(o.ExecutionCount)
		}
	case ErrorOutput:
		traceback := o.Traceback
		if traceback == nil {
			traceback = []string{}
		}
		m["ename"], m["evalue"], m["traceback"] = o.EName, o.EValue, traceback
	}
	return m
}

// splits: nbformat writes texts as lists of lines, binary data as one string.
func splits(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
}

// lines cuts a text behind each line break.
func lines(s string) []string {
	if s == "" {
		return []string{}
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func nullIfZero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func emptyIfNil(o Object) Object {
	if o == nil {
		return Object{}
	}
	return o
}
