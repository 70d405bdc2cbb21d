package client

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestCheckLines(t *testing.T) {
	for _, r := range []struct {
		text string
		want string
	}{
		{"00000000 a\n00000001\n", ""},
		{"00000000 a\n00000002 b\n", `line 1 of the output begins with "00000002"`},
		{"00000001 a\n00000000 b\n", `line 0 of the output begins with "00000001"`},
		{"00000000 a\n0000", `line 1 is cut: "0000"`},
		{"00000000 a\n00000001 b", `line 1 is cut: "00000001 b"`},
		{"00000000 a\n", "1 lines came, want 2"},
		{"", "0 lines came, want 2"},
	} {
		got := ""
		if err := CheckLines(r.text, 2); err != nil {
			got = err.Error()
		}
		if got != r.want {
			t.Errorf("%q: %s, want %s", r.text, got, r.want)
		}
	}
}

func TestFiguresTable(t *testing.T) {
	var d []time.Duration
	for i := range 200 {
		d = append(d, time.Duration(200-i)*time.Millisecond)
	}
	got := summarise(d)
	if want := (Times{N: 200, Median: 101 * time.Millisecond, P99: 199 * time.Millisecond, Max: 200 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	text := Figures{Idle: got, Lines: 109270 * time.Microsecond, LineChunks: 125, Shutdown: time.Millisecond, PSS: 4e6}.String()
	for _, line := range []string{
		"trivial cell → reply and idle      median   101.00 ms   p99   199.00 ms   max   200.00 ms   n=200   MEASURED\n",
		"100000 printed lines                 109.27 ms in 125 messages, all in order, before idle   MEASURED\n",
		"PSS of all processes                    4.0 MB   MEASURED\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

// TestStartFailures: a program that is not there, and one that ends instead of listening.
func TestStartFailures(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := Start(ctx, []string{"/nonexistent/kernel"}, StartOptions{}); err == nil || !strings.HasPrefix(err.Error(), "start /nonexistent/kernel: ") {
		t.Error(err)
	}
	start := time.Now()
	if _, err := Start(ctx, []string{"go", "no-such-command", "{connection_file}"}, StartOptions{}); err == nil || !strings.HasSuffix(err.Error(), "go ended: exit status 2") {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("a kernel that ended was awaited for %v", took)
	}
}
