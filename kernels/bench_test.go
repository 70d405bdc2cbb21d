package kernels

import (
	"context"
	"strings"
	"testing"
)

// TestBenchVirtual runs the smallest job that package kernels contributes to and checks what happens to a wrong filter.
func TestBenchVirtual(t *testing.T) {
	if _, err := BenchVirtual(t.Context(), "gemx"); err == nil || !strings.HasPrefix(err.Error(), "bench vgpu: no job contains \"gemx\"\nthey are SGEMM 512³, 8 × 8 a thread; ") {
		t.Errorf("unknown: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := BenchVirtual(ended, "softmax"); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("ended: %v", err)
	}
}
