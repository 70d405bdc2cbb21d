package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxBytes is the largest notebook that Read accepts.
const MaxBytes = 1 << 30

// Read reads a notebook. The error of a file that is not one says what it is instead and where the JSON breaks.
func Read(path string) (*Notebook, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("read notebook: %s is a folder\ngive the path of an .ipynb file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read notebook: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("read notebook: %s is larger than %d MiB", path, MaxBytes>>20)
	}
	nb, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s %w", filepath.Base(path), err)
	}
	return nb, nil
}

// Parse reads a notebook from memory; its errors continue a sentence that begins with the file's name.
func Parse(data []byte) (*Notebook, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty, not a notebook")
	}
	var top Object
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, notJSON(data, err)
	}
	if top == nil {
		return nil, errors.New("is not a notebook: it holds null, a notebook is a JSON object with cells")
	}
	nb := &Notebook{extra: Object{}}
	if err := nb.version(top); err != nil {
		return nil, err
	}
	raw, ok := top["cells"]
	if !ok {
		return nil, errors.New(`is not a notebook: it has no "cells"`)
	}
	var cells []json.RawMessage
	if err := json.Unmarshal(raw, &cells); err != nil || cells == nil {
		return nil, fmt.Errorf(`is not a notebook: "cells" is %s, not a list`, kindOf(raw))
	}
	for i, r := range cells {
		c, err := parseCell(r)
		if err != nil {
			return nil, fmt.Errorf("is not a notebook: cell %d: %w", i+1, err)
		}
		nb.Cells = append(nb.Cells, c)
	}
	var err error
	if nb.Metadata, err = object(top, "metadata"); err != nil {
		return nil, fmt.Errorf("is not a notebook: %w", err)
	}
	for k, v := range top {
		switch k {
		case "cells", "metadata", "nbformat", "nbformat_minor":
		default:
			nb.extra[k] = v
		}
	}
	return nb, nil
}

func (nb *Notebook) version(top Object) error {
	raw, ok := top["nbformat"]
	if !ok {
		return errors.New(`is JSON, but not a notebook: it has no "nbformat"`)
	}
	if json.Unmarshal(raw, &nb.Major) != nil {
		return fmt.Errorf(`is not a notebook: "nbformat" is %s, not a number`, kindOf(raw))
	}
	if raw, ok := top["nbformat_minor"]; ok && json.Unmarshal(raw, &nb.Minor) != nil {
		return fmt.Errorf(`is not a notebook: "nbformat_minor" is %s, not a whole number`, kindOf(raw))
	}
	if nb.Major != 4 {
		return fmt.Errorf("is a notebook of format %d, only 4 is supported\nopen it in Jupyter and save it again", nb.Major)
	}
	if nb.Minor < 0 {
		return fmt.Errorf(`is not a notebook: "nbformat_minor" is %d`, nb.Minor)
	}
	return nil
}

// notJSON says where the text stops being JSON, and what it looks like instead.
func notJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line, column := position(data, syntax.Offset)
		return fmt.Errorf("is not a notebook: line %d, column %d: %s\na notebook is a JSON file with a list of cells, as Jupyter writes it", line, column, syntax.Error())
	case errors.As(err, &wrong):
		return fmt.Errorf("is not a notebook: it holds %s, a notebook is a JSON object with cells", kindOf(bytes.TrimSpace(data)))
	}
	return fmt.Errorf("is not a notebook: %w", err)
}

// position turns a byte offset (of the byte after the offending one) into line and column.
func position(data []byte, offset int64) (line, column int) {
	at := int(min(max(offset-1, 0), int64(len(data))))
	before := data[:at]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, at - bytes.LastIndexByte(before, '\n')
}

// kindOf names a JSON value's kind.
func kindOf(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func parseCell(raw json.RawMessage) (*Cell, error) {
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, fmt.Errorf("is %s, not an object", kindOf(raw))
	}
	c := &Cell{extra: Object{}}
	var err error
	if c.Type, err = stringOf(o, "cell_type"); err != nil {
		return nil, err
	}
	switch c.Type {
	case Code, Markdown, Raw:
	case "":
		return nil, errors.New(`has no "cell_type"`)
	default:
		return nil, fmt.Errorf("cell_type %q is not code, markdown or raw", c.Type)
	}
	if c.ID, err = stringOf(o, "id"); err != nil {
		return nil, err
	}
	if c.Source, err = stringOf(o, "source"); err != nil {
		return nil, err
	}
	if c.Metadata, err = object(o, "metadata"); err != nil {
		return nil, err
	}
	known := map[string]bool{"cell_type": true, "id": true, "source": true, "metadata": true}
	if c.Type == Code {
		known["execution_count"], known["outputs"] = true, true
		if c.ExecutionCount, err = count(o); err != nil {
			return nil, err
		}
		if c.Outputs, err = parseOutputs(o["outputs"]); err != nil {
			return nil, err
		}
	}
	for k, v := range o {
		if !known[k] {
			c.extra[k] = v
		}
	}
	return c, nil
}

func parseOutputs(raw json.RawMessage) ([]*Output, error) {
	if raw == nil {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf(`"outputs" is %s, not a list`, kindOf(raw))
	}
	var out []*Output
	for i, r := range list {
		o, err := parseOutput(r)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		out = append(out, o)
	}
	return out, nil
}

func parseOutput(raw json.RawMessage) (*Output, error) {
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, fmt.Errorf("is %s, not an object", kindOf(raw))
	}
	out := &Output{extra: Object{}}
	var err error
	if out.Type, err = stringOf(o, "output_type"); err != nil {
		return nil, err
	}
	known := map[string]bool{"output_type": true}
	switch out.Type {
	case Stream:
		known["name"], known["text"] = true, true
		if out.Name, err = stringOf(o, "name"); err == nil {
			out.Text, err = stringOf(o, "text")
		}
	case DisplayData, ExecuteResult:
		known["data"], known["metadata"] = true, true
		if out.Type == ExecuteResult {
			known["execution_count"] = true
			if out.ExecutionCount, err = count(o); err != nil {
				return nil, err
			}
		}
		if out.Data, err = bundle(o["data"]); err == nil {
			out.Metadata, err = object(o, "metadata")
		}
	case ErrorOutput:
		known["ename"], known["evalue"], known["traceback"] = true, true, true
		if out.EName, err = stringOf(o, "ename"); err == nil {
			if out.EValue, err = stringOf(o, "evalue"); err == nil && o["traceback"] != nil {
				if json.Unmarshal(o["traceback"], &out.Traceback) != nil {
					err = fmt.Errorf(`"traceback" is not a list of strings`)
				}
			}
		}
	case "":
		return nil, errors.New(`has no "output_type"`)
	}
	if err != nil {
		return nil, err
	}
	for k, v := range o {
		if !known[k] {
			out.extra[k] = v
		}
	}
	return out, nil
}

// stringOf reads a string, or a list of strings that belong together, as nbformat writes long texts. Absent is "".
func stringOf(o Object, key string) (string, error) {
	raw, ok := o[key]
	if !ok {
		return "", nil
	}
	s, ok := joined(raw)
	if !ok {
		return "", fmt.Errorf("%q is %s, not a string", key, kindOf(raw))
	}
	return s, nil
}

func joined(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) == nil && s != nil {
		return *s, true
	}
	var list []*string
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return "", false
	}
	var b strings.Builder
	for _, x := range list {
		if x == nil {
			return "", false
		}
		b.WriteString(*x)
	}
	return b.String(), true
}

func object(o Object, key string) (Object, error) {
	raw, ok := o[key]
	if !ok {
		return Object{}, nil
	}
	out := Object{}
	if err := json.Unmarshal(raw, &out); err != nil || out == nil {
		return nil, fmt.Errorf("%q is %s, not an object", key, kindOf(raw))
	}
	return out, nil
}

func count(o Object) (int, error) {
	raw, ok := o["execution_count"]
	if !ok {
		return 0, nil
	}
	var n *int
	if err := json.Unmarshal(raw, &n); err != nil {
		return 0, fmt.Errorf(`"execution_count" is %s, not a whole number`, kindOf(raw))
	}
	if n == nil {
		return 0, nil
	}
	return *n, nil
}

// bundle reads a MIME bundle: texts joined, JSON types as they are.
func bundle(raw json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	if raw == nil {
		return out, nil
	}
	var o Object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, fmt.Errorf(`"data" is %s, not an object`, kindOf(raw))
	}
	for mime, v := range o {
		if isJSON(mime) {
			out[mime] = v
			continue
		}
		if s, ok := joined(v); ok {
			out[mime] = s
		} else {
			out[mime] = v
		}
	}
	return out, nil
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}
