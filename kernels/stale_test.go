package kernels

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"memwall/gpu"
)

// TestStalePTX edits a source, or loses its PTX: the kernel is compiled when it is launched, or says why it cannot be.
func TestStalePTX(t *testing.T) {
	k := Get("gemm/8_swizzle") // it includes a shared header
	edited := k.source() + "\n// edited\n"
	stale, _ := k.ptx("sm_80")
	whole := files
	defer func() { files = whole }()
	for _, c := range []struct {
		state string
		files fstest.MapFS
	}{
		{"older than its source", fstest.MapFS{"gemm/8_swizzle.sm_80.ptx": {Data: []byte(stale)}}},
		{"missing", fstest.MapFS{}},
	} {
		c.files["gemm/8_swizzle.cu"] = &fstest.MapFile{Data: []byte(edited)}
		for _, name := range []string{"element.cuh", "piece.cuh", "tensor.cuh"} {
			c.files["include/"+name] = &fstest.MapFile{Data: []byte(header(name))}
		}
		files = c.files
		run := func() (*gpu.Tensor, error) {
			dev := open(t, "virtual:a100")
			loaded.Lock()
			delete(loaded.modules, loadedKey{dev, k.name})
			loaded.Unlock()
			y := dev.Zeros(gpu.F16, 3, 8)
			return y, Run(k.name, y, dev.Full(gpu.F16, 2, 8, 40), dev.Full(gpu.F16, 3, 3, 40))
		}
		if gpu.CompilerAvailable() == nil {
			y, err := run()
			if err != nil {
				t.Fatalf("%s: %v", c.state, err)
			}
			for _, v := range y.Float64s() {
				if v != 2*3*40 {
					t.Fatalf("%s: %g, want 240", c.state, v)
				}
			}
		} else {
			t.Log("not compiled: there is no NVRTC")
		}
		t.Run("without a compiler", func(t *testing.T) {
			t.Setenv("MEMWALL_NVRTC", filepath.Join(t.TempDir(), "nowhere"))
			_, err := run()
			want := "launch gemm/8_swizzle: its PTX is " + c.state + ", and the source cannot be compiled here\nnvrtc: "
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "\nrun `go generate ./kernels` on a machine with NVRTC and build again") {
				t.Errorf("got %v\nwant %s…", err, want)
			}
		})
		files = whole
	}
	loaded.Lock()
	clear(loaded.modules)
	loaded.Unlock()
}

// TestBuildsWithoutPTX builds the package as if every generated file were missing.
func TestBuildsWithoutPTX(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, pattern := range []string{"*/*.ptx", "*/*/*.ptx", "*/facts.tsv"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			overlay.Replace[filepath.Join(here, path)] = ""
		}
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-overlay", path, "-f", "{{.EmbedFiles}}", ".")
	out, err := list.CombinedOutput()
	if err != nil || strings.Contains(string(out), ".ptx") || !strings.Contains(string(out), "gemv/1_naive.cu") {
		t.Fatalf("the overlay hides nothing: %s, %v", out, err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", path, ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFaultNamesTheSource makes a kernel read out of bounds and wants the line of CUDA C++ in the message.
func TestFaultNamesTheSource(t *testing.T) {
	dev := open(t, "virtual:h200")
	k := Get("gemv/1_naive")
	module, err := k.load(dev)
	if err != nil {
		t.Fatal(err)
	}
	function, err := module.Function("gemv_naive")
	if err != nil {
		t.Fatal(err)
	}
	y, w, x := dev.Zeros(gpu.F16, 4), dev.Zeros(gpu.F16, 4, 64), dev.Zeros(gpu.F16, 64)
	err = function.Launch(gpu.Config{Grid: gpu.Dim(1), CTA: gpu.Dim(128)}, y, w, x, 4, 100000)
	if err == nil || !strings.Contains(err.Error(), "out of bounds") || !strings.Contains(err.Error(), "gemv/1_naive.ptx:") || !strings.Contains(err.Error(), "1_naive.cu:21") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkGEMV is the f16 matrix-vector product of 4096² that the virtual GPU's speed is judged by, counters on.
func BenchmarkGEMV(b *testing.B) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		b.Fatal(err)
	}
	y, w, x := dev.Zeros(gpu.F16, 4096), dev.Randn(gpu.F16, 4096, 4096), dev.Randn(gpu.F16, 4096)
	for _, name := range names(steps("gemv")) {
		b.Run(name[len("gemv/"):], func(b *testing.B) {
			b.SetBytes(2 * 4096 * 4096)
			for b.Loop() {
				if err := Run(name, y, w, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
