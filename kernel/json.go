package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// marshal encodes what the kernel sends. A value that JSON cannot hold (an evaluator's NaN or function) is replaced by
// text that says so, rather than losing the message.
func (s *server) marshal(v any) json.RawMessage {
	raw, err := encodeJSON(v)
	if err == nil {
		return raw
	}
	s.log.printf("a message holds what JSON cannot: %v", err)
	if raw, err = encodeJSON(presentable(v)); err == nil {
		return raw
	}
	return json.RawMessage("{}")
}

// encodeJSON is json.Marshal without the escapes that only HTML pages need.
func encodeJSON(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// presentable replaces, within maps and lists, each value that JSON cannot hold.
func presentable(v any) any {
	switch x := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, e := range x {
			m[k] = presentable(e)
		}
		return m
	case []any:
		l := make([]any, len(x))
		for i, e := range x {
			l[i] = presentable(e)
		}
		return l
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return x
	}
	if _, err := encodeJSON(v); err != nil {
		return "(not JSON: " + err.Error() + ")"
	}
	return v
}

// decodeContent reads a request's content into v and names the field that has the wrong type.
func decodeContent(content json.RawMessage, v any) error {
	err := json.Unmarshal(content, v)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field == "" {
			return errors.New("content is a JSON " + kind.Value + ", want an object")
		}
		return errors.New("content." + kind.Field + " is a JSON " + kind.Value + ", want " + kind.Type.String())
	}
	return err
}
