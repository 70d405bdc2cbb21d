package vgpu

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// gemmCase is a matrix product of testdata/matrices.cu: types, layout of B, tile and threads of a CTA.
type gemmCase struct {
	name       string
	a, c       string
	columnB    bool
	tileM      int
	tileN      int
	threads    uint32
	scale      float64
	m, n, k    int
	tensorFLOP int // of a product: two a multiply-add
}

// gemmMatrices draws A (m×k), B (k×n) and gives them encoded, with C in float64.
func gemmMatrices(t string, m, n, k int, columnB bool) (a, b []byte, c []float64) {
	r := rand.New(rand.NewPCG(51, uint64(m*n*k)))
	draw := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = drawElement(r, t)
		}
		return list
	}
	x, y := draw(m*k), draw(k*n)
	c = make([]float64, m*n)
	for i := range m {
		for p := range k {
			for j := range n {
				at := p*n + j
				if columnB {
					at = j*k + p
				}
				c[i*n+j] += x[i*k+p] * y[at]
			}
		}
	}
	encode := func(list []float64) []byte {
		size := typeBytes(t)
		b := make([]byte, len(list)*size)
		for i, v := range list {
			code := encodeElement(t, v)
			for k := range size {
				b[i*size+k] = byte(code >> (8 * k))
			}
		}
		return b
	}
	return encode(x), encode(y), c
}

// Products through nvcuda::wmma and mma.sync, as NVRTC compiles them, against float64; sums here are exact.
func TestCompiledMatrixProducts(t *testing.T) {
	d := openTest(t, testProfile())
	module := testPTX(t, d, "matrices")
	for _, c := range []gemmCase{
		{name: "wmma_half", a: "f16", c: "f32", tileM: 16, tileN: 16, threads: 32, scale: .5, m: 48, n: 32, k: 80},
		{name: "wmma_bfloat", a: "bf16", c: "f32", columnB: true, tileM: 64, tileN: 32, threads: 128, scale: 1, m: 128, n: 64, k: 48},
		{name: "wmma_byte", a: "s8", c: "s32", columnB: true, tileM: 8, tileN: 32, threads: 32, scale: 1, m: 24, n: 64, k: 64},
		{name: "wmma_tf32", a: "f32", c: "f32", tileM: 16, tileN: 16, threads: 32, scale: 1, m: 32, n: 48, k: 40},
		{name: "wmma_double", a: "f64", c: "f64", tileM: 8, tileN: 8, threads: 32, scale: 1, m: 24, n: 16, k: 28},
		{name: "mma_half", a: "f16", c: "f32", tileM: 64, tileN: 64, threads: 128, scale: 1, m: 128, n: 64, k: 160},
	} {
		a, b, want := gemmMatrices(c.a, c.m, c.n, c.k, c.columnB)
		out := upload(t, d, make([]uint64, c.m*c.n))
		f := fn(t, module, c.name)
		r := launch(t, d, f, dim(uint32(c.n/c.tileN), uint32(c.m/c.tileM)), dim(c.threads), upload(t, d, a), upload(t, d, b), out, int32(c.m), int32(c.n), int32(c.k))
		size := typeBytes(c.c)
		read := download[byte](t, d, out, size*c.m*c.n)
		for i, x := range want {
			var code uint64
			for k := range size {
				code |= uint64(read[i*size+k]) << (8 * k)
			}
			if got := decodeElement(c.c, code); !(got == c.scale*x) {
				t.Fatalf("%s: (%d, %d) is %v, want %v", c.name, i/c.n, i%c.n, got, c.scale*x)
			}
		}
		if flops := r.Counts.FLOPs[perf.FLOPTensor]; flops != uint64(2*c.m*c.n*c.k) {
			t.Errorf("%s: %d tensor FLOPs, want %d", c.name, flops, 2*c.m*c.n*c.k)
		}
	}
}

// matrixMap is a tensor map of a row-major matrix.
func matrixMap(address driver.Address, typ driver.TensorMapType, rows, columns, boxRows, boxColumns int, swizzle driver.TensorMapSwizzle) *driver.TensorMap {
	return &driver.TensorMap{Type: typ, Rank: 2, Address: address, Dims: [5]uint64{uint64(columns), uint64(rows), 1, 1, 1}, Strides: [4]uint64{uint64(columns * typ.Bytes())},
		Box: [5]uint32{uint32(boxColumns), uint32(boxRows)}, ElementStrides: [5]uint32{1, 1, 1, 1, 1}, Swizzle: swizzle}
}

// packMaps lays tensor maps and what follows them out as parameters.
func packMaps(t testing.TB, f driver.Function, args ...any) []byte {
	t.Helper()
	var b []byte
	for i, p := range f.Params() {
		for len(b) < p.Offset {
			b = append(b, 0)
		}
		if m, ok := args[i].(*driver.TensorMap); ok {
			bytes, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, bytes[:]...)
			continue
		}
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, args[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// Products with wgmma on tiles that tensor copies bring in: a ring of stages between a producer warp and two warpgroups, and
// a cluster whose CTAs multicast halves of a tile. With any number of workers values and counters are the same.
func TestHopperProducts(t *testing.T) {
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	const m, n, k = 256, 128, 320
	a, b, want := gemmMatrices("bf16", m, n, k, true)
	var first [2]perf.Counts
	for _, workers := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(workers)
		d := openTest(t, testProfile())
		d.backwards = workers == 8
		module := testPTX(t, d, "hopper")
		pa, pb := upload(t, d, a), upload(t, d, b)
		for i, name := range []string{"gemm", "gemm_pair"} {
			out := upload(t, d, make([]float32, m*n))
			f := fn(t, module, name)
			l := driver.Launch{Function: f, Wait: true, Count: true}
			mapA, mapB := matrixMap(pa, driver.TensorBF16, m, k, 128, 64, driver.Swizzle128), matrixMap(pb, driver.TensorBF16, n, k, 64, 64, driver.Swizzle128)
			if name == "gemm" {
				l.Grid, l.CTA, l.Shared = dim(n/64, m/128), dim(288), 3*(128+64)*64*2+128*64*4
				if err := f.SetMaxDynamicShared(l.Shared); err != nil {
					t.Fatal(err)
				}
				l.Args = packMaps(t, f, mapA, mapB, matrixMap(out, driver.TensorF32, m, n, 128, 32, driver.SwizzleNone), int32(k))
			} else {
				mapA.Box[1], mapB.Box[1] = 64, 32
				l.Grid, l.CTA, l.Cluster = dim(n/64, m/64), dim(128), dim(1, 2)
				l.Args = packMaps(t, f, mapA, mapB, uint64(out), int32(n), int32(k))
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			r, err := d.Launch(ctx, &l)
			cancel()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if workers == 1 { // the sanitizer has nothing to say
				l.Sanitize = true
				checked, err := d.Launch(context.Background(), &l)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, f := range checked.Findings {
					t.Errorf("%s: %+v", name, f)
				}
			}
			for i, got := range download[float32](t, d, out, m*n) {
				if !(math.Abs(float64(got)-want[i]) == 0) {
					t.Fatalf("%s: (%d, %d) is %v, want %v", name, i/n, i%n, got, want[i])
				}
			}
			if flops := r.Counts.FLOPs[perf.FLOPTensor]; flops != 2*m*n*k {
				t.Errorf("%s: %d tensor FLOPs, want %d", name, flops, 2*m*n*k)
			}
			// Each CTA loads its tiles once, B's in pairs half of it: whole sectors.
			loaded := uint64(n/64*m/128) * (128 + 64) * k * 2
			if name == "gemm_pair" {
				loaded = uint64(n/64*m/64) * (64 + 32) * k * 2
			}
			if g := r.Counts.GlobalLoad; g.Bytes != loaded || g.Sectors != loaded/32 {
				t.Errorf("%s: %+v, want %d bytes", name, g, loaded)
			}
			// How often a warp looks at an mbarrier depends on the order of warps alone.
			if workers == 1 {
				first[i] = r.Counts
			} else if r.Counts.FLOPs != first[i].FLOPs || r.Counts.GlobalLoad != first[i].GlobalLoad || r.Counts.SharedLoad != first[i].SharedLoad || r.Counts.Instructions != first[i].Instructions {
				t.Errorf("%s: counters differ with %d workers", name, workers)
			}
		}
	}
}
