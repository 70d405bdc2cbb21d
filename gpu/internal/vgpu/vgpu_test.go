package vgpu

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// testProfile is an H200 with little memory.
func testProfile() *perf.Profile {
	return &perf.Profile{Name: "test", Model: "test", Major: 9, Minor: 0, SMs: 132, BoostHz: 1.98e9, MemoryBytes: 8 << 30, L1Bytes: 256 << 10, L2Bytes: 50 << 20}
}

func openTest(t testing.TB, p *perf.Profile) *Device {
	t.Helper()
	d, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	d.(*Device).watched = watchTests
	return d.(*Device)
}

// sharedFile reads a file beside the repository; "" where it is not there.
func sharedFile(t testing.TB, path string) string {
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
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

func loadModule(t testing.TB, d *Device, text string) driver.Module {
	t.Helper()
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "test.ptx"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fn(t testing.TB, m driver.Module, name string) driver.Function {
	t.Helper()
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pack lays arguments out as the function's parameters.
func pack(t testing.TB, f driver.Function, args ...any) []byte {
	t.Helper()
	params := f.Params()
	if len(params) != len(args) {
		t.Fatalf("%d arguments for %d parameters", len(args), len(params))
	}
	var b []byte
	for i, p := range params {
		for len(b) < p.Offset {
			b = append(b, 0)
		}
		var err error
		b, err = binary.Append(b, binary.LittleEndian, args[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func upload[T any](t testing.TB, d *Device, v []T) driver.Address {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Alloc(int64(len(b)))
	if err == nil {
		err = d.CopyIn(a, b, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func download[T any](t testing.TB, d *Device, a driver.Address, n int) []T {
	t.Helper()
	v := make([]T, n)
	b := make([]byte, binary.Size(v))
	if err := d.CopyOut(b, a, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func launch(t testing.TB, d *Device, f driver.Function, grid, cta driver.Dim3, args ...any) *driver.Result {
	t.Helper()
	r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: grid, CTA: cta, Args: pack(t, f, args...), Wait: true, Count: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func dim(x ...uint32) driver.Dim3 {
	d := driver.Dim3{X: 1, Y: 1, Z: 1}
	for i, p := range []*uint32{&d.X, &d.Y, &d.Z}[:len(x)] {
		*p = x[i]
	}
	return d
}

func TestClangKernels(t *testing.T) {
	text := sharedFile(t, "prototype/kernels/k_sm_80.ptx")
	if text == "" {
		return
	}
	d := openTest(t, testProfile())
	m := loadModule(t, d, text)
	t.Run("vadd", func(t *testing.T) {
		f := fn(t, m, "vadd")
		const n = 1_000_003
		a, b := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = float32(i), float32(2*i)
		}
		x, y, z := upload(t, d, a), upload(t, d, b), upload(t, d, make([]float32, n))
		r := launch(t, d, f, dim((n+255)/256), dim(256), x, y, z, int32(n))
		for i, v := range download[float32](t, d, z, n) {
			if v != a[i]+b[i] {
				t.Fatalf("element %d: %v", i, v)
			}
		}
		// hardware.md: one coalesced load a lane.
		if g := r.Counts.GlobalLoad; g.Requests != 2*31251 || g.Sectors != 2*125001 {
			t.Errorf("%+v", g)
		}
	})
	t.Run("softmax", func(t *testing.T) {
		f := fn(t, m, "softmax")
		const rows, columns = 7, 1000
		x := make([]float32, rows*columns)
		for i := range x {
			x[i] = float32(math.Sin(float64(i)))
		}
		in, out := upload(t, d, x), upload(t, d, make([]float32, rows*columns))
		launch(t, d, f, dim(rows), dim(128), in, out, int32(columns))
		y := download[float32](t, d, out, rows*columns)
		for r := range rows {
			sum := 0.0
			for _, v := range x[r*columns : (r+1)*columns] {
				sum += math.Exp(float64(v))
			}
			for c := range columns {
				want := math.Exp(float64(x[r*columns+c])) / sum
				if got := float64(y[r*columns+c]); !(math.Abs(got-want) < 1e-6*want+1e-9) {
					t.Fatalf("%d,%d: %v, want %v", r, c, got, want)
				}
			}
		}
	})
}
