package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

func shared(t testing.TB, path string) string {
	dir, _ := os.Getwd()
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			b, err := os.ReadFile(filepath.Join(dir, "..", "shared", path))
			if err != nil {
				t.Logf("../shared/%s is not there: nothing to check", path)
			}
			return string(b)
		}
	}
	return ""
}

// The prototype's kernels, made by clang, hold sixteen entries.
func TestParseClang(t *testing.T) {
	text := shared(t, "prototype/kernels/k_sm_80.ptx")
	if text == "" {
		return
	}
	m, err := Parse("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	if m.Version != "8.0" || m.Target != "sm_80" || len(m.Functions) != 16 {
		t.Errorf("version %s, target %s, %d functions", m.Version, m.Target, len(m.Functions))
	}
}
