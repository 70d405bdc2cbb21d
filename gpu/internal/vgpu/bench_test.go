package vgpu

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"memwall/gpu/internal/driver"
)

// benchLaunch measures one launch of a shipped or prototype kernel, all counters on.
func benchLaunch(b *testing.B, d *Device, f driver.Function, l driver.Launch) {
	l.Function, l.Wait, l.Count = f, true, true
	var r *driver.Result
	if _, err := d.Launch(context.Background(), &l); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	start := cpuTime()
	for range b.N {
		var err error
		if r, err = d.Launch(context.Background(), &l); err != nil {
			b.Fatal(err)
		}
	}
	used := (cpuTime() - start).Seconds()
	b.ReportMetric(1e3*used/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(r.Counts.ThreadInstructions)*float64(b.N)/used/1e6, "Mti/cpu-s")
}

func benchModule(b testing.TB, path string) driver.Module {
	text, err := os.ReadFile(filepath.Join("../../../kernels", path))
	if err != nil {
		b.Fatal(err)
	}
	d := openTest(b, testProfile())
	m, err := d.LoadPTX(string(text), driver.LoadOptions{Name: path})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// The f16 GEMV of a 4096² matrix: at most 150 ms a core.
func BenchmarkGEMV(b *testing.B) {
	const n = 4096
	for _, c := range []struct {
		path string
		rows uint32 // of W a CTA
	}{{"gemv/1_naive", 128}, {"gemv/2_warp", 4}, {"gemv/3_vec16", 4}} {
		b.Run(c.path, func(b *testing.B) {
			m := benchModule(b, c.path+".sm_80.ptx")
			d := m.(*module).device
			f := fn(b, m, m.Functions()[0])
			w, x, y := upload(b, d, halves(n*n)), upload(b, d, halves(n)), upload(b, d, make([]uint16, n))
			benchLaunch(b, d, f, driver.Launch{Grid: dim(n / c.rows), CTA: dim(128), Args: pack(b, f, y, w, x, int32(n), int32(n))})
		})
	}
}

func halves(n int) []uint16 {
	v := make([]uint16, n)
	for i := range v {
		v[i] = floatToHalf(float32(i%17)/8 - 1)
	}
	return v
}

// Tensor-core GEMM 512 × 4096 × 4096, every 16th CTA.
func BenchmarkGEMM(b *testing.B) {
	const m, n, k = 512, 4096, 4096
	mod := benchModule(b, "gemm/8_swizzle.sm_80.ptx")
	d := mod.(*module).device
	f := fn(b, mod, mod.Functions()[0])
	w, x, y := upload(b, d, halves(n*k)), upload(b, d, halves(m*k)), upload(b, d, make([]uint16, m*n))
	benchLaunch(b, d, f, driver.Launch{Grid: dim(m/64, n/64), CTA: dim(128), Sample: 16, Args: pack(b, f, y, w, x, int32(m), int32(n), int32(k))})
}

// Row softmax 512 × 4096.
func BenchmarkSoftmax(b *testing.B) {
	const rows, columns = 512, 4096
	for _, c := range []struct {
		path string
		rows uint32
	}{{"softmax/2_warp", 4}, {"softmax/3_online", 4}} {
		b.Run(c.path, func(b *testing.B) {
			mod := benchModule(b, c.path+".sm_80.ptx")
			d := mod.(*module).device
			f := fn(b, mod, mod.Functions()[0])
			x, y := upload(b, d, make([]float32, rows*columns)), upload(b, d, make([]float32, rows*columns))
			benchLaunch(b, d, f, driver.Launch{Grid: dim(rows / c.rows), CTA: dim(128), Args: pack(b, f, y, x, int32(rows), int32(columns))})
		})
	}
}

// A small launch: what every launch costs.
func BenchmarkSmallLaunch(b *testing.B) {
	d := openTest(b, testProfile())
	f := fn(b, loadModule(b, d, accessKernelGrid), "k")
	p := upload(b, d, make([]uint32, 128))
	benchLaunch(b, d, f, driver.Launch{Grid: dim(1), CTA: dim(128), Args: pack(b, f, p)})
}
