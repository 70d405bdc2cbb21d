package vgpu

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

const header = ".version 8.0\n.target sm_80\n.address_size 64\n"

// accessKernel loads one element a lane from p + offset + stride·lane in a space and stores it to q + stride·lane.
func accessKernel(t, space string) string {
	reg := "b32"
	if t == "f64" {
		reg = "b64"
	}
	operand, declare := "%v", ".reg ."+reg+" %v, %w, %x, %y;"
	if strings.HasPrefix(t, "v4") {
		operand = "{%v, %w, %x, %y}"
	}
	return header + `.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 stride, .param .u32 offset) {
	.reg .b64 %a<4>; .reg .b32 %t, %s, %o, %l;` + declare + `
	.shared .align 16 .b8 buffer[32768];
	ld.param.u64 %a1, [p]; ld.param.u64 %a2, [q]; ld.param.u32 %s, [stride]; ld.param.u32 %o, [offset];
	mov.u32 %t, %tid.x;
	mad.lo.s32 %l, %t, %s, %o;
	cvt.s64.s32 %a3, %l;
	add.s64 %a1, %a1, %a3;
	add.s64 %a2, %a2, %a3;
	` + map[string]string{
		"global": "ld.global." + t + " " + operand + ", [%a1];\n st.global." + t + " [%a2], " + operand + ";",
		"shared": "mov.u32 %t, buffer; add.u32 %l, %l, %t; ld.shared." + t + " " + operand + ", [%l];\n st.shared." + t + " [%l], " + operand + ";",
	}[space] + "\n ret;\n}\n"
}

// What one warp's access touches, worked out by hand: 32-byte sectors and 128-byte lines of global memory.
func TestGlobalAccessCounts(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		name           string
		typ            string
		stride, offset int32
		lanes          uint32
		want           perf.Access // of the load; the store is the same
		pairs, parts   uint64      // sectors that DRAM moves in pairs for the load; sectors that the store covers in part
	}{
		{"coalesced", "f32", 4, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 4, IdealSectors: 4, Lines: 1}, 4, 0},
		{"stride 2", "f32", 8, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 8, IdealSectors: 4, Lines: 2}, 8, 8},
		{"stride 8", "f32", 32, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 32, IdealSectors: 4, Lines: 8}, 32, 32},
		{"stride 32", "f32", 128, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 32, IdealSectors: 4, Lines: 32}, 64, 32},
		{"reversed", "f32", -4, 124, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 4, IdealSectors: 4, Lines: 1}, 4, 0},
		{"broadcast", "f32", 0, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 1, IdealSectors: 4, Lines: 1}, 2, 1},
		{"misaligned by 4", "f32", 4, 4, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 5, IdealSectors: 4, Lines: 2}, 6, 2},
		{"ragged warp", "f32", 4, 0, 7, perf.Access{Requests: 1, Lanes: 7, Bytes: 28, Sectors: 1, IdealSectors: 1, Lines: 1}, 2, 1},
		{"f64", "f64", 8, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 256, Sectors: 8, IdealSectors: 8, Lines: 2}, 8, 0},
		{"f64 column", "f64", 256, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 256, Sectors: 32, IdealSectors: 8, Lines: 32}, 64, 32},
		{"16 bytes a lane", "v4.f32", 16, 0, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 512, Sectors: 16, IdealSectors: 16, Lines: 4}, 16, 0},
		{"two bytes", "u16", 2, 2, 32, perf.Access{Requests: 1, Lanes: 32, Bytes: 64, Sectors: 3, IdealSectors: 2, Lines: 1}, 4, 2},
	} {
		m := loadModule(t, d, accessKernel(c.typ, "global"))
		p, q := upload(t, d, make([]byte, 16384)), upload(t, d, make([]byte, 16384))
		f := fn(t, m, "k")
		r := launch(t, d, f, dim(1), dim(c.lanes), p, q, c.stride, c.offset)
		if r.Counts.GlobalLoad != c.want || r.Counts.GlobalStore != c.want {
			t.Errorf("%s: load %+v, store %+v, want %+v", c.name, r.Counts.GlobalLoad, r.Counts.GlobalStore, c.want)
		}
		if touched := []driver.Touched{{Base: p, Bytes: 16384, Read: true}, {Base: q, Bytes: 16384, Written: true}}; !reflect.DeepEqual(r.Touched, touched) {
			t.Errorf("%s: touched %v, want %v", c.name, r.Touched, touched)
		}
		if cache := r.Counts.Cache; cache.DistinctRead != c.want.Sectors || cache.DistinctWritten != c.want.Sectors || cache.L1Hits != 0 ||
			cache.DRAMReadSectors != c.pairs+c.parts || cache.DRAMWriteSectors != c.want.Sectors {
			t.Errorf("%s: caches %+v", c.name, cache)
		}
		// Two warps of the same pattern count twice: the memo gives what the first look gave.
		if r := launch(t, d, f, dim(2), dim(c.lanes), p, q, c.stride, c.offset); r.Counts.GlobalLoad.Sectors != 2*c.want.Sectors || r.Counts.GlobalLoad.Lines != 2*c.want.Lines {
			t.Errorf("%s, twice: %+v", c.name, r.Counts.GlobalLoad)
		}
	}
}

// Bank conflicts, by phases of 32, 16 and 8 lanes (hardware.md).
func TestSharedAccessCounts(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		name         string
		typ          string
		stride       int32
		lanes        uint32
		waves, ideal uint64
	}{
		{"rows", "f32", 4, 32, 1, 1},
		{"broadcast", "f32", 0, 32, 1, 1},
		{"stride 2", "f32", 8, 32, 2, 1},
		{"column of [32][32]", "f32", 128, 32, 32, 1},
		{"column of [32][33]", "f32", 132, 32, 1, 1},
		{"f64 rows", "f64", 8, 32, 2, 2},
		{"f64 column of [32][32]", "f64", 256, 32, 32, 2},
		{"f64 column of [32][33]", "f64", 264, 32, 2, 2},
		{"16 bytes", "v4.f32", 16, 32, 4, 4},
		{"16 bytes, column", "v4.f32", 128, 32, 32, 4},
		{"16 bytes, 9 lanes", "v4.f32", 16, 9, 2, 2},
		{"bytes", "u8", 1, 32, 1, 1},
		{"half words, stride 64", "u16", 64, 32, 16, 1},
	} {
		m := loadModule(t, d, accessKernel(c.typ, "shared"))
		r := launch(t, d, fn(t, m, "k"), dim(1), dim(c.lanes), driver.Address(0), driver.Address(0), c.stride, int32(0))
		for _, s := range []perf.SharedAccess{r.Counts.SharedLoad, r.Counts.SharedStore} {
			if s.Requests != 1 || s.Lanes != uint64(c.lanes) || s.Wavefronts != c.waves || s.IdealWavefronts != c.ideal {
				t.Errorf("%s: %+v, want %d wavefronts, ideal %d", c.name, s, c.waves, c.ideal)
			}
		}
	}
}

// transposeF64 is OLCF's transpose: 32×32 threads, rows read, columns written.
const transposeF64 = header + `.visible .entry transpose(.param .u64 in, .param .u64 out, .param .u32 n) {
	.reg .b32 %x, %y, %t, %n, %i, %j; .reg .b64 %a, %b, %o; .reg .f64 %v;
	ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [n];
	mov.u32 %t, %ctaid.x; mov.u32 %x, %tid.x; mad.lo.s32 %x, %t, 32, %x;
	mov.u32 %t, %ctaid.y; mov.u32 %y, %tid.y; mad.lo.s32 %y, %t, 32, %y;
	mad.lo.s32 %i, %y, %n, %x; mul.wide.s32 %o, %i, 8; add.s64 %a, %a, %o; ld.global.f64 %v, [%a];
	mad.lo.s32 %j, %x, %n, %y; mul.wide.s32 %o, %j, 8; add.s64 %b, %b, %o; st.global.f64 [%b], %v;
	ret;
}
`

func TestTransposeCounts(t *testing.T) {
	d := openTest(t, testProfile())
	const n = 512 // 4096 on the published run: 64 times the requests
	in := make([]float64, n*n)
	for i := range in {
		in[i] = float64(i)
	}
	a, b := upload(t, d, in), upload(t, d, make([]float64, n*n))
	f := fn(t, loadModule(t, d, transposeF64), "transpose")
	r := launch(t, d, f, dim(n/32, n/32), dim(32, 32), a, b, int32(n))
	out := download[float64](t, d, b, n*n)
	for i := range n {
		for j := range n {
			if out[j*n+i] != in[i*n+j] {
				t.Fatalf("(%d, %d) is %v", i, j, out[j*n+i])
			}
		}
	}
	// Published: 524,288 requests (of 4096²), 4,194,304 and 16,777,216 sectors.
	const scale = (4096 / n) * (4096 / n)
	if l, s := r.Counts.GlobalLoad, r.Counts.GlobalStore; l.Requests*scale != 524288 || l.Sectors*scale != 4194304 || s.Sectors*scale != 16777216 {
		t.Errorf("load %+v, store %+v", l, s)
	}
	if r.Counts.Warps != n*n/32 || r.Counts.CTAs != n*n/1024 {
		t.Errorf("%d warps, %d CTAs", r.Counts.Warps, r.Counts.CTAs)
	}
}

// divergent: lanes part by parity, then meet; a guard turns off the upper half.
const divergent = header + `.visible .entry k(.param .u64 out) {
	.reg .pred %p, %q; .reg .b32 %t, %b; .reg .f32 %f; .reg .b64 %a, %o;
	ld.param.u64 %a, [out];
	mov.u32 %t, %tid.x;
	and.b32 %b, %t, 1;
	setp.eq.u32 %p, %b, 0;
	setp.lt.u32 %q, %t, 16;
	mov.f32 %f, 0f3F800000;
	@%p bra EVEN;
	add.f32 %f, %f, 0f40000000;
	add.f32 %f, %f, 0f40000000;
	bra JOIN;
EVEN:
	fma.rn.f32 %f, %f, %f, %f;
JOIN:
	@%q mul.f32 %f, %f, 0f40000000;
	mul.wide.u32 %o, %t, 4;
	add.s64 %a, %a, %o;
	st.global.f32 [%a], %f;
	bar.sync 0;
	ret;
}
`

func TestDivergenceCounts(t *testing.T) {
	d := openTest(t, testProfile())
	out := upload(t, d, make([]float32, 32))
	r := launch(t, d, fn(t, loadModule(t, d, divergent), "k"), dim(1), dim(32), out)
	for i, v := range download[float32](t, d, out, 32) {
		want := float32(2)
		if i%2 == 1 {
			want = 5
		}
		if i < 16 {
			want *= 2
		}
		if v != want {
			t.Errorf("lane %d: %v, want %v", i, v, want)
		}
	}
	c := &r.Counts
	// 16 odd lanes add twice, 16 even lanes fma, 16 lanes multiply.
	if c.FLOPs[perf.FLOPF32] != 16*2+16*2+16 {
		t.Errorf("%d f32 FLOPs", c.FLOPs[perf.FLOPF32])
	}
	if c.Branches != 1 || c.DivergentBranches != 1 || c.Barriers != 1 {
		t.Errorf("%d branches, %d divergent, %d barriers", c.Branches, c.DivergentBranches, c.Barriers)
	}
	// 7 before the branch (the branch among them), 3 odd, 1 even, 6 behind.
	if c.WarpInstructions != 7+3+1+6 {
		t.Errorf("%d warp instructions", c.WarpInstructions)
	}
	// The branch counts the lanes that take it, the guarded mul those it is on for.
	if want := uint64(6*32 + 16 + 3*16 + 1*16 + 16 + 5*32); c.ThreadInstructions != want {
		t.Errorf("%d thread instructions, want %d", c.ThreadInstructions, want)
	}
	var sum uint64
	for _, n := range c.Instructions {
		sum += n
	}
	if sum != c.WarpInstructions || c.Instructions[perf.ClassFP32] != 4 || c.Instructions[perf.ClassBarrier] != 1 {
		t.Errorf("by class: %v", c.Instructions)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Text, "@%q mul.f32") && (l.ThreadInstructions != 16 || l.PTXLine == 0 || l.Class != perf.ClassFP32) {
			t.Errorf("%+v", l)
		}
	}
}

// Counters, caches and lines are the same for any number of workers.
func TestCountersDoNotDependOnWorkers(t *testing.T) {
	run := func(workers int) *driver.Result {
		old := runtime.GOMAXPROCS(workers)
		defer runtime.GOMAXPROCS(old)
		d := openTest(t, testProfile())
		const n = 256
		a, b := upload(t, d, make([]float64, n*n)), upload(t, d, make([]float64, n*n))
		f := fn(t, loadModule(t, d, transposeF64), "transpose")
		launch(t, d, f, dim(n/32, n/32), dim(32, 32), a, b, int32(n))
		r := launch(t, d, f, dim(n/32, n/32), dim(32, 32), a, b, int32(n))
		r.Host = 0
		fromFirst(r)
		return r
	}
	want := run(1)
	for _, workers := range []int{2, 3, 8} {
		if got := run(workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers:\n%+v\nwant\n%+v", workers, got.Counts, want.Counts)
		}
	}
}

// fromFirst counts addresses from the first allocation that was touched: each device has addresses of its own.
func fromFirst(r *driver.Result) {
	for i := len(r.Touched) - 1; i >= 0; i-- {
		r.Touched[i].Base -= r.Touched[0].Base
	}
}

// A trace that grows long is replayed in parts; the counts are the same for any number of workers, and right.
func TestLongTrace(t *testing.T) {
	const text = header + `.visible .entry k(.param .u64 p, .param .u32 n) {
	.reg .pred %p; .reg .b64 %a, %b, %o; .reg .b32 %t, %n, %v, %i;
	ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 128; add.s64 %a, %a, %o; mov.u32 %i, 0;
LOOP:
	and.b32 %t, %i, 31; mul.wide.u32 %o, %t, 4096; add.s64 %b, %a, %o;
	ld.global.u32 %v, [%b];
	add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra LOOP;
	ret;
}
`
	var first *driver.Result
	for _, workers := range []int{1, 2} {
		old := runtime.GOMAXPROCS(workers)
		d := openTest(t, testProfile())
		p := upload(t, d, make([]byte, 32*4096))
		const n = 100_000 // 32 lines each: 3.2 M entries a CTA
		r := launch(t, d, fn(t, loadModule(t, d, text), "k"), dim(3), dim(32), p, uint32(n))
		runtime.GOMAXPROCS(old)
		// 1,024 lines fit L1: each CTA's SM misses them once. One sector of each is read; DRAM moves two.
		want := perf.CacheCounts{L1Lookups: 3 * 32 * n, L1Hits: 3*32*n - 3*1024, L2Lookups: 3 * 1024, L2Hits: 2 * 1024, DRAMReadSectors: 2 * 1024, DistinctRead: 1024}
		if r.Counts.Cache != want {
			t.Errorf("%d workers: %+v, want %+v", workers, r.Counts.Cache, want)
		}
		fromFirst(r)
		if r.Host = 0; first != nil && !reflect.DeepEqual(first, r) {
			t.Errorf("%d workers differ from one", workers)
		}
		first = r
	}
}

// Every k-th CTA gives 1/k of every counter of a regular grid.
func TestSampling(t *testing.T) {
	d := openTest(t, testProfile())
	const n = 256
	a, b := upload(t, d, make([]float64, n*n)), upload(t, d, make([]float64, n*n))
	f := fn(t, loadModule(t, d, transposeF64), "transpose")
	l := driver.Launch{Function: f, Grid: dim(n/32, n/32), CTA: dim(32, 32), Args: pack(t, f, a, b, int32(n)), Wait: true, Count: true}
	all, err := d.Launch(context.Background(), &l)
	if err != nil {
		t.Fatal(err)
	}
	l.Sample = 4
	part, err := d.Launch(context.Background(), &l)
	if err != nil {
		t.Fatal(err)
	}
	if part.Executed != 16 || part.Sampled != 4 || 4*part.Counts.GlobalLoad.Sectors != all.Counts.GlobalLoad.Sectors || 4*part.Counts.WarpInstructions != all.Counts.WarpInstructions {
		t.Errorf("sampled %+v", part.Counts)
	}
}

// Hand-sized caches: a line read twice hits L1 the second time; another SM's read hits L2; a warm launch keeps L2.
func TestCaches(t *testing.T) {
	const text = header + `.visible .entry k(.param .u64 p) {
	.reg .b64 %a, %o; .reg .b32 %t, %v;
	ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %a, %a, %o;
	ld.global.u32 %v, [%a];
	ld.global.u32 %v, [%a];
	ld.global.cg.u32 %v, [%a];
	ret;
}
`
	d := openTest(t, testProfile())
	p := upload(t, d, make([]uint32, 32))
	f := fn(t, loadModule(t, d, text), "k")
	l := driver.Launch{Function: f, Grid: dim(2), CTA: dim(32), Args: pack(t, f, p), Wait: true, Count: true}
	for _, c := range []struct {
		warm bool
		dram uint64
	}{{false, 4}, {true, 0}, {false, 4}} {
		l.Warm = c.warm
		r, err := d.Launch(context.Background(), &l)
		if err != nil {
			t.Fatal(err)
		}
		// Two CTAs on two SMs: each L1 sees 8 sectors and hits 4; L2 sees 2·4 misses and 2·4 that bypass L1.
		want := perf.CacheCounts{L1Lookups: 16, L1Hits: 8, L2Lookups: 16, L2Hits: 16 - c.dram, DRAMReadSectors: c.dram, DistinctRead: 4}
		if r.Counts.Cache != want {
			t.Errorf("warm %v: %+v, want %+v", c.warm, r.Counts.Cache, want)
		}
	}
}

// A warm launch finds what fits the L2 whole there, and of a stream that is larger than it nothing (the oldest lines leave
// before they are read again).
func TestWarmL2(t *testing.T) {
	p := testProfile()
	p.L2Bytes = 1 << 20
	d := openTest(t, p)
	f := fn(t, loadModule(t, d, accessKernelGrid), "k")
	for _, c := range []struct{ bytes, misses uint64 }{{800 << 10, 0}, {4 << 20, 4 << 20 / 32}} {
		a, err := d.Alloc(int64(c.bytes))
		if err != nil {
			t.Fatal(err)
		}
		l := driver.Launch{Function: f, Grid: dim(uint32(c.bytes / 512)), CTA: dim(128), Args: pack(t, f, a), Wait: true, Count: true}
		for i, want := range []uint64{c.bytes / 32, c.misses} {
			l.Warm = i > 0
			r, err := d.Launch(context.Background(), &l)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Counts.Cache; got.DRAMReadSectors != want || got.DistinctRead != c.bytes/32 {
				t.Errorf("%d B, launch %d: %+v, want %d sectors from DRAM", c.bytes, i, got, want)
			}
		}
	}
}

// accessKernelGrid reads one u32 a thread of the grid.
const accessKernelGrid = header + `.visible .entry k(.param .u64 p) {
	.reg .b64 %a, %o; .reg .b32 %t, %c, %v;
	ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %t, %c, 128, %t;
	mul.wide.u32 %o, %t, 4; add.s64 %a, %a, %o; ld.global.u32 %v, [%a];
	ret;
}
`

// Chains of loads: independent ones are one round, an index and what it points to are two, a list is as long as it is.
func TestLoadRounds(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		name, body string
		want       uint64
	}{
		{"independent", "ld.global.u64 %b, [%a]; ld.global.u64 %c, [%a+8];", 1},
		{"index", "ld.global.u64 %b, [%a]; add.s64 %c, %b, 8; ld.global.u64 %c, [%c];", 2},
		{"list of 5", "mov.u32 %i, 5; LOOP: ld.global.u64 %a, [%a]; add.s32 %i, %i, -1; setp.ne.s32 %p, %i, 0; @%p bra LOOP;", 5},
		{"none", "", 0},
	} {
		m := loadModule(t, d, header+".visible .entry k(.param .u64 p) {\n.reg .pred %p; .reg .b32 %i; .reg .b64 %a, %b, %c;\nld.param.u64 %a, [p];\n"+c.body+"\nret;\n}\n")
		p := upload(t, d, make([]uint64, 4))
		if err := d.CopyIn(p, fmt.Appendf(nil, "%s", []byte{byte(p), byte(p >> 8), byte(p >> 16), byte(p >> 24), byte(p >> 32), byte(p >> 40), 0, 0}), nil); err != nil {
			t.Fatal(err)
		}
		if r := launch(t, d, fn(t, m, "k"), dim(1), dim(1), p); r.Counts.LoadRounds != c.want {
			t.Errorf("%s: %d rounds, want %d", c.name, r.Counts.LoadRounds, c.want)
		}
	}
}
