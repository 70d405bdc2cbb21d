package kernels

import (
	"context"
	"strings"
	"testing"
)

func TestBenchVirtual(t *testing.T) {
	table, err := BenchVirtual(t.Context(), "one CTA")
	if err != nil || len(table) != 1 || !(table[0].Milliseconds > 0) || !(table[0].ThreadInstructions > 1000) || !(table[0].Rate > 0) {
		t.Errorf("%+v, %v", table, err)
	}
	if text := table.String(); !strings.Contains(text, "gemv/2_warp, one CTA") || !strings.Contains(text, "MEASURED") {
		t.Errorf("shown:\n%s", text)
	}
	if _, err := BenchVirtual(t.Context(), "gemx"); err == nil || !strings.HasPrefix(err.Error(), `bench vgpu: no launch contains "gemx"; they are gemv/3_vec16 (f16 4096²), `) {
		t.Errorf("unknown: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := BenchVirtual(ended, "one CTA"); err != context.Canceled {
		t.Errorf("ended: %v", err)
	}
}
