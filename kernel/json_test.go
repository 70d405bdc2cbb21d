package kernel

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkStreamMessage encodes and signs a stream message of 64 KiB of lines.
func BenchmarkStreamMessage(b *testing.B) {
	s, _ := serveEcho(b)
	text := []byte(strings.Repeat(strings.Repeat("x", 79)+"\n", streamChunk/80))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.encode("stream", json.RawMessage(`{"msg_id":"1"}`), map[string]any{"name": "stdout", "text": string(text)}, nil, nil, s.topic("stream"))
	}
}

func TestPresentable(t *testing.T) {
	inf := 1 / nan()
	for _, r := range []struct {
		v    any
		want string
	}{
		{map[string]any{"a": []any{1.5, nan(), "<&>\u2028"}, "b": map[string]any{"c": func() {}}}, `{"a":[1.5,"NaN","<&>\u2028"],"b":{"c":"(not JSON: json: unsupported type: func())"}}`},
		{inf, `"NaN"`},
		{map[string]any{"text/plain": "\xff"}, "{\"text/plain\":\"\\ufffd\"}"},
	} {
		s := &server{log: &logger{w: testLog{t}}}
		if got := string(s.marshal(r.v)); got != r.want {
			t.Errorf("%v: %s, want %s", r.v, got, r.want)
		}
	}
}
