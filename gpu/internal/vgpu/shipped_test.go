package vgpu

import (
	"os"
	"path/filepath"
	"testing"

	"memwall/gpu/internal/driver"
)

// Every PTX file of kernels/ loads.
func TestLoadShippedPTX(t *testing.T) {
	files, _ := filepath.Glob("../../../kernels/*/*.ptx")
	d := openTest(t, testProfile())
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.LoadPTX(string(b), driver.LoadOptions{Name: f}); err != nil {
			t.Error(err)
		}
	}
}
