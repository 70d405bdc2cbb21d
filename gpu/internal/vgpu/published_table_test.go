package vgpu

import (
	"math/rand/v2"
	"testing"

	"memwall/gpu/internal/driver"
)

const (
	giga = 1e9
	ms   = 1e-3
	us   = 1e-6
	mebi = 1 << 20
)

var publishedTimes = func() (rows []published) {
	add := func(r ...published) { rows = append(rows, r...) }
	add(streams()...)
	add(transposes()...)
	add(reductions()...)
	add(histograms()...)
	add(gemvs()...)
	add(sgemms()...)
	add(tensorCores()...)
	add(withoutKernel()...)
	return rows
}()

// rate is a time published as bytes a second.
func rate(bytes, perSecond float64) float64 { return bytes / perSecond }

func streams() []published {
	const n = 1 << 26
	rows := []published{
		{gpu: "RTX 3070 Laptop", what: "vector add 2^26", seconds: 1.90 * ms, file: "stream/1_streams", function: "vector_add",
			grid: dim(n / 256), cta: dim(256), arguments: []any{buffer(4 * n), buffer(4 * n), buffer(4 * n), uint32(n)}},
	}
	for _, cta := range []uint32{128, 256, 512} {
		const m = 1 << 24
		rows = append(rows, published{gpu: "GTX 1650", what: "vector add, CTA " + itoa(cta), seconds: rate(12*m, 148*giga), file: "stream/1_streams", function: "vector_add",
			grid: dim(m / cta), cta: dim(cta), arguments: []any{buffer(4 * m), buffer(4 * m), buffer(4 * m), uint32(m)}})
	}
	for _, x := range []struct {
		stride uint32
		useful float64
	}{{1, 1970 * giga}, {8, 616 * giga}} {
		const m = 1 << 25
		rows = append(rows, published{gpu: "H100, 2.0 TB/s", ladder: "gather", what: "gather, stride " + itoa(x.stride), seconds: rate(8*m, x.useful), file: "stream/1_streams", function: "gather",
			grid: dim(m / 256), cta: dim(256), arguments: []any{buffer(4 * m * int64(x.stride)), buffer(4 * m), uint32(m), x.stride}})
	}
	for _, x := range []struct {
		sms  uint32
		rate float64
	}{{1, 67 * giga}, {32, .59 * 2000 * giga}, {64, .86 * 2000 * giga}, {132, .99 * 2000 * giga}} {
		const m = 1 << 22
		rows = append(rows, published{gpu: "H100, 2.0 TB/s", ladder: "SMs", what: "copy by " + itoa(x.sms) + " SMs", seconds: rate(32*m, x.rate), fitted: x.sms == 132, file: "stream/1_streams", function: "copy_vector",
			grid: dim(x.sms), cta: dim(1024), arguments: []any{buffer(16 * m), buffer(16 * m), uint32(m)}})
	}
	for _, x := range []struct {
		fields  uint32
		seconds float64
	}{{8, 1.3056 * ms}, {1, 0.1732 * ms}} {
		const m = 1 << 24
		rows = append(rows, published{gpu: "Ada, 40 SMs", ladder: "records", what: "a float of " + itoa(x.fields), seconds: x.seconds, fitted: true, file: "stream/1_streams", function: "field",
			grid: dim(m / 256), cta: dim(256), arguments: []any{buffer(4 * m * int64(x.fields)), buffer(4 * m), uint32(m), x.fields}})
	}
	return rows
}

func itoa(n uint32) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func transposes() []published {
	const n = 32768
	row := func(what, function string, cta, tile uint32, rateGB float64) published {
		return published{gpu: "H100, 2.0 TB/s", ladder: "transpose", what: what, seconds: rate(8*n*n, rateGB*giga), fitted: true, file: "transpose/1_transpose", function: function,
			grid: dim(n/tile, n/tile), cta: dim(cta, 256/cta), arguments: []any{buffer(4 * n * n), buffer(4 * n * n), uint32(n)}}
	}
	return []published{row("transpose, tile [32][32]", "tile32", 32, 32, 1224), row("transpose, padded float4", "padded_float4", 16, 64, 1904)}
}

func reductions() []published {
	const n = 1 << 26
	var rows []published
	for i, x := range []struct {
		function string
		ms       float64
	}{{"interleaved", 5.797}, {"strided_index", 3.369}, {"sequential", 3.089}, {"first_add", 1.796}, {"unrolled_warp", 1.393}, {"unrolled", 1.386}, {"several", 1.391}} {
		r := published{gpu: "RTX 2060", ladder: "sum of 2^26", what: "sum " + itoa(uint32(i+1)) + ": " + x.function, seconds: x.ms * ms, fitted: true, file: "reduction/1_reduction",
			function: x.function, grid: dim(n / 512), cta: dim(512), shared: 2048, arguments: []any{buffer(4 * n), buffer(4 * n / 512)}}
		if i > 2 {
			r.grid = dim(n / 1024)
		}
		if i == 6 {
			r.grid, r.arguments = dim(1024), append(r.arguments, uint32(n))
		}
		rows = append(rows, r)
	}
	const m = 1 << 25
	for _, x := range []struct {
		function string
		rate     float64
	}{{"interleaved_256", 814}, {"strided_index", 674}, {"sequential", 832}, {"grid_stride", 2070}} {
		r := published{gpu: "H100, 2.0 TB/s", ladder: "sum of 2^25", what: "sum: " + x.function, seconds: rate(4*m, x.rate*giga), fitted: true, file: "reduction/1_reduction",
			function: x.function, grid: dim(m / 256), cta: dim(256), shared: 1024, arguments: []any{buffer(4 * m), buffer(4 * m / 256)}}
		if x.function == "grid_stride" {
			r.fitted, r.grid, r.shared, r.arguments = false, dim(132*8), 0, append(r.arguments, uint32(m))
		}
		rows = append(rows, r)
	}
	return rows
}

// fillBins writes bins into a buffer: random ones, or all equal.
func fillBins(equal bool) func(t testing.TB, d *Device, buffers []driver.Address) {
	return func(t testing.TB, d *Device, buffers []driver.Address) {
		part := make([]byte, 4*mebi) // the part that a probe reads first is random; the rest repeats it
		r := rand.New(rand.NewPCG(1, 2))
		for i := 0; i < len(part); i += 4 {
			if !equal {
				part[i] = byte(r.Uint32())
			}
		}
		for at := range 16 {
			if err := d.CopyIn(buffers[0]+driver.Address(at*len(part)), part, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func histograms() []published {
	const n = 1 << 24
	row := func(what, function string, equal bool, micros float64, fitted bool) published {
		return published{gpu: "H100, 2.0 TB/s", ladder: "histogram", what: "histogram, " + what, seconds: micros * us, fitted: fitted, file: "histogram/1_histogram", function: function,
			grid: dim(132 * 8), cta: dim(256), arguments: []any{buffer(4 * n), buffer(1024), uint32(n)}, prepare: fillBins(equal)}
	}
	return []published{row("global, uniform", "global_atomics", false, 4328, true), row("global, all equal", "global_atomics", true, 12320, true),
		row("shared, uniform", "shared_atomics", false, 54, false), row("shared, all equal", "shared_atomics", true, 48, false)}
}

func gemvs() []published {
	return []published{
		{gpu: "H200", what: "GEMV f16 57344 x 7168, tuned", seconds: rate(2*57344*7168, .89*4800*giga), file: "gemv/4_rows", function: "gemv_rows",
			grid: dim(57344 / 16), cta: dim(128), arguments: []any{buffer(2 * 57344), buffer(2 * 57344 * 7168), buffer(2 * 7168), uint32(57344), uint32(7168)}},
		{gpu: "H200", ladder: "DRAM", what: "copy, 81.8 % of 4.8 TB/s", seconds: rate(2<<30, .818*4800*giga), fitted: true, file: "probe/1_copy", function: "probe_copy",
			grid: dim(1 << 18), cta: dim(256), arguments: []any{buffer(1 << 30), buffer(1 << 30), uint64(1 << 28)}},
		{gpu: "H200", ladder: "DRAM", what: "read, 93.8 % of 4.8 TB/s", seconds: rate(1<<30, .938*4800*giga), fitted: true, file: "probe/2_read", function: "probe_read",
			grid: dim(132 * 8), cta: dim(256), arguments: []any{buffer(1 << 20), buffer(1 << 30), uint64(1 << 28)}},
		{gpu: "RTX 3080", what: "GEMV f32 4096^2, a thread a row", seconds: 1.115 * ms, fitted: true, file: "gemv/1_gemv", function: "row_a_thread",
			grid: dim(4096 / 512), cta: dim(512), arguments: []any{buffer(4 * 4096 * 4096), buffer(4 * 4096), buffer(4 * 4096), uint32(4096), uint32(4096)}},
	}
}

func sgemms() []published {
	const n = 4096
	const work = 2.0 * n * n * n
	matrices := []any{buffer(4 * n * n), buffer(4 * n * n), buffer(4 * n * n), uint32(n)}
	row := func(gpu, what, function string, seconds float64, grid, cta driver.Dim3) published {
		return published{gpu: gpu, ladder: "SGEMM 4096^3", what: "SGEMM " + what, seconds: seconds, file: "sgemm/1_sgemm", function: function, grid: grid, cta: cta, arguments: matrices}
	}
	const ada = "RTX 4070 Ti Super"
	tile := func(m, k uint32) driver.Dim3 { return dim(n/m, n/k) }
	rows := []published{
		row(ada, "naive", "coalesced", 56.2*ms, tile(32, 32), dim(1024)), row(ada, "tile", "shared_tile", 48.1*ms, tile(32, 32), dim(1024)),
		row(ada, "coarsened", "coarsened", 39.0*ms, tile(128, 32), dim(32, 32)), row(ada, "2D", "tile_2d", 8.92*ms, tile(128, 128), dim(256)),
		row(ada, "float4", "float4_loads", 5.72*ms, tile(128, 128), dim(256)), row(ada, "A transposed", "transposed", 5.16*ms, tile(128, 128), dim(256)),
	}
	const cuBLAS = 23.2496e12 // FLOP/s, of the same article
	for _, x := range []struct {
		what, function string
		percent        float64
		grid, cta      driver.Dim3
	}{
		{"naive", "scattered", 1.3, tile(32, 32), dim(32, 32)}, {"coalesced", "coalesced", 8.5, tile(32, 32), dim(1024)}, {"shared", "shared_tile", 12.8, tile(32, 32), dim(1024)},
		{"1D tile", "tile_1d", 36.5, tile(64, 64), dim(512)}, {"2D tile", "tile_2d", 68.7, tile(128, 128), dim(256)},
		{"vectorised", "transposed", 78.4, tile(128, 128), dim(256)}, {"warp tile", "warp_tile", 93.7, tile(128, 128), dim(128)},
	} {
		rows = append(rows, row("RTX A6000", x.what, x.function, work/(x.percent/100*cuBLAS), x.grid, x.cta))
	}
	return rows
}

func tensorCores() []published {
	const n = 4096
	const work = 2.0 * n * n * n
	var rows []published
	for _, x := range []struct {
		what, function string
		tflops         float64
		shared         int
	}{{"plain", "plain", 60, 32768}, {"cp.async", "async_copy", 65, 32768}, {"padding", "padded", 167, 36864}, {"swizzle", "swizzled", 191, 32768}, {"two stages", "two_stages", 221, 65536}} {
		rows = append(rows, published{gpu: "A100", ladder: "bf16 4096^3", what: "bf16 GEMM " + x.what, seconds: work / (x.tflops * 1e12), fitted: true, file: "mma/1_mma", function: x.function,
			grid: dim(n/128, n/128), cta: dim(256), shared: x.shared, arguments: []any{buffer(2 * n * n), buffer(2 * n * n), buffer(2 * n * n), uint32(n)}})
	}
	return rows
}

// withoutKernel are published times of CUDA kernels that are not here.
func withoutKernel() (rows []published) {
	for _, x := range [][2]string{
		{"RTX 4070 Ti Super", "cuBLAS SGEMM 4096^3, 4.77 ms"}, {"RTX 4070 Ti Super", "SGEMM warp tile, 8.75 ms"}, {"RTX A6000", "cuBLAS SGEMM 4096^3"},
		{"A100", "cuBLAS bf16 4096^3, 244 TFLOP/s"}, {"H100", "bf16 GEMM, six steps of wgmma, 32 to 764 TFLOP/s"}, {"H100", "cuBLAS bf16 4096^3, 716 to 762 TFLOP/s"},
		{"H200", "cuBLAS GEMV f16 57344 x 7168, 82 %"}, {"A100", "FlashAttention-2, 230 TFLOP/s"}, {"H100", "FlashAttention-2, 335 TFLOP/s"},
		{"H100", "FlashAttention-3, 740 TFLOP/s"}, {"A100", "attention of FA1, 41.7 and 7.3 ms"}, {"A10", "Marlin, 3.87 x"}, {"H100", "gather with an offset: no loss"},
		{"B200", "atomics on 1, 1,024 and 2^20 addresses"}, {"B200", "L2 read, 21.2 TB/s"}, {"H100", "L2 copy, 3.6 TB/s"}, {"V100", "DRAM read, 869 GB/s"},
		{"Ada", "5,120 threads, one load each, 68 GB/s"},
	} {
		rows = append(rows, published{gpu: x[0], what: x[1]})
	}
	return rows
}
