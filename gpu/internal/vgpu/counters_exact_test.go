package vgpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// countBody launches one CTA of n threads over instructions that see %t, the thread, and %a, 1 MiB of zeros, and gives what was
// counted.
func countBody(t *testing.T, d *Device, n uint32, body string) *driver.Result {
	t.Helper()
	text := ".version 8.8\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n.visible .entry k(.param .u64 p) {\n.reg .pred %p, %q; .reg .b16 %h<4>; .reg .b32 %t, %r<9>; .reg .f32 %f<9>; .reg .f64 %d<4>; .reg .b64 %a, %o, %l;\n" +
		".shared .align 128 .b8 tile[8192];\n.local .align 16 .b8 frame[256];\n" +
		"ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u64 %l, frame; mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f3F800000;\n" + body + "\nret;\n}\n"
	m := loadModule(t, d, text)
	defer m.Unload()
	p, err := d.Alloc(1 << 20)
	if err == nil {
		err = d.Fill(p, []byte{0}, 1<<20, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(p)
	return launch(t, d, fn(t, m, "k"), dim(1), dim(n), p)
}

// A stride of s floats touches 4·s sectors until each lane has one of its own, and s lines.
func TestStridedCounts(t *testing.T) {
	d := openTest(t, testProfile())
	for s := uint64(1); s <= 32; s++ {
		for name, body := range map[string]string{
			"load":   "mul.lo.u32 %%r0, %%t, %d; mul.wide.u32 %%o, %%r0, 4; add.s64 %%a, %%a, %%o; ld.global.f32 %%f0, [%%a];",
			"atomic": "mul.lo.u32 %%r0, %%t, %d; mul.wide.u32 %%o, %%r0, 4; add.s64 %%a, %%a, %%o; red.global.add.u32 [%%a], 1;",
		} {
			c := countBody(t, d, 32, fmt.Sprintf(body, s)).Counts
			// The lanes' words span 4·s·31 + 4 bytes; below a stride of 8 every sector between is touched.
			sectors := min(32, (4*s*31+4+31)/32)
			want := perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: sectors, IdealSectors: 4, Lines: (4*s*31 + 4 + 127) / 128}
			have := map[string]perf.Access{"load": c.GlobalLoad, "atomic": c.GlobalAtomic}[name]
			if have != want {
				t.Errorf("%s, stride %d: %+v, want %+v", name, s, have, want)
			}
		}
	}
}

// Tiles in shared memory, written by rows and read by columns: bank conflicts of plain, padded and swizzled ones, for 4, 8 and
// 16 bytes a lane.
func TestTileConflicts(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		name        string
		address     string // %r0 becomes the offset that lane %t reads
		load        string
		waves, best uint64
	}{
		{"column of [32][32] floats", "mul.lo.u32 %r0, %t, 128;", "ld.shared.b32 %r1, [%r0];", 32, 1},
		{"column of [32][33] floats", "mul.lo.u32 %r0, %t, 132;", "ld.shared.b32 %r1, [%r0];", 1, 1},
		{"column of [32][34] floats", "mul.lo.u32 %r0, %t, 136;", "ld.shared.b32 %r1, [%r0];", 2, 1},
		{"column 5 of [32][32] floats, column xor row", "xor.b32 %r0, %t, 5; shl.b32 %r0, %r0, 2; mad.lo.u32 %r0, %t, 128, %r0;", "ld.shared.b32 %r1, [%r0];", 1, 1},
		{"every second column", "shl.b32 %r0, %t, 3;", "ld.shared.b32 %r1, [%r0];", 2, 1},
		{"column of [32][16] doubles", "mul.lo.u32 %r0, %t, 128;", "ld.shared.f64 %d0, [%r0];", 32, 2},
		{"column of [32][17] doubles", "mul.lo.u32 %r0, %t, 136;", "ld.shared.f64 %d0, [%r0];", 2, 2},
		{"8 bytes a lane in a row", "shl.b32 %r0, %t, 3;", "ld.shared.v2.b32 {%r1, %r2}, [%r0];", 2, 2},
		{"16 bytes a lane in a row", "shl.b32 %r0, %t, 4;", "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r0];", 4, 4},
		{"one 16-byte chunk of each of 32 rows of 128 bytes", "mul.lo.u32 %r0, %t, 128;", "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r0];", 32, 4},
		{"the same, chunk xor row mod 8", "and.b32 %r0, %t, 7; shl.b32 %r0, %r0, 4; mad.lo.u32 %r0, %t, 128, %r0;", "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r0];", 4, 4},
		{"one word for all", "mov.u32 %r0, 64;", "ld.shared.b32 %r1, [%r0];", 1, 1},
		{"two words of one bank", "and.b32 %r0, %t, 1; shl.b32 %r0, %r0, 7;", "ld.shared.b32 %r1, [%r0];", 2, 1},
		{"halves of the same words", "shl.b32 %r0, %t, 1;", "ld.shared.u16 %h0, [%r0];", 1, 1},
	} {
		s := countBody(t, d, 32, c.address+" mov.u32 %r5, tile; add.u32 %r0, %r0, %r5; "+c.load).Counts.SharedLoad
		if s.Requests != 1 || s.Lanes != 32 || s.Wavefronts != c.waves || s.IdealWavefronts != c.best {
			t.Errorf("%s: %+v, want %d wavefronts, at best %d", c.name, s, c.waves, c.best)
		}
	}
}

// Local memory is interleaved by lanes: a word at one offset in every lane is one line; offsets that differ are lines apart.
func TestLocalCounts(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		body string
		want perf.Access
	}{
		{"st.local.b32 [%l+8], %t;", perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 4, IdealSectors: 4, Lines: 1}},
		{"st.local.v4.b32 [%l+16], {%t, %t, %t, %t};", perf.Access{Requests: 1, Lanes: 32, Bytes: 512, Sectors: 16, IdealSectors: 16, Lines: 4}},
		{"mul.wide.u32 %o, %t, 4; add.s64 %l, %l, %o; st.local.b32 [%l], %t;", perf.Access{Requests: 1, Lanes: 32, Bytes: 128, Sectors: 32, IdealSectors: 4, Lines: 32}},
		{"cvta.local.u64 %l, %l; st.b32 [%l], %t; setp.lt.u32 %p, %t, 8; @%p st.b32 [%l+4], %t;", perf.Access{Requests: 2, Lanes: 40, Bytes: 160, Sectors: 5, IdealSectors: 5, Lines: 2}},
	} {
		r := countBody(t, d, 32, c.body)
		if r.Counts.LocalStore != c.want {
			t.Errorf("%s %+v, want %+v", c.body, r.Counts.LocalStore, c.want)
		}
		var lines perf.Access
		for _, l := range r.Lines {
			lines.Add(l.Local)
		}
		if lines != c.want {
			t.Errorf("%s by line %+v, want %+v", c.body, lines, c.want)
		}
	}
}

// Lanes that share an atomic's address wait for each other: passes are the most lanes at one address.
func TestContention(t *testing.T) {
	d := openTest(t, testProfile())
	for _, c := range []struct {
		key             string // of lane %t, in %r0
		lanes           uint32
		addresses, pass uint64
	}{
		{"mov.u32 %r0, 0;", 32, 1, 32}, {"mov.u32 %r0, %t;", 32, 32, 1}, {"and.b32 %r0, %t, 3;", 32, 4, 8}, {"shr.u32 %r0, %t, 1;", 32, 16, 2},
		{"min.u32 %r0, %t, 5;", 32, 6, 27}, {"rem.u32 %r0, %t, 7;", 20, 7, 3},
	} {
		want := perf.Contention{Requests: 1, Addresses: c.addresses, Passes: c.pass}
		g := countBody(t, d, c.lanes, c.key+" mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o; red.global.add.u32 [%a], 1;").Counts
		s := countBody(t, d, c.lanes, c.key+" mov.u32 %r1, tile; mad.lo.u32 %r0, %r0, 4, %r1; atom.shared.add.u32 %r2, [%r0], 1;").Counts
		if g.GlobalContention != want || s.SharedContention != want || g.SharedContention != (perf.Contention{}) {
			t.Errorf("%s %d lanes: global %+v, shared %+v, want %+v", c.key, c.lanes, g.GlobalContention, s.SharedContention, want)
		}
	}
}

// What atomics of a whole launch want most: of a line the requests and lanes of all CTAs, of an address the compare-and-swaps.
func TestHottest(t *testing.T) {
	d := openTest(t, testProfile())
	kernel := func(body string) string {
		return header + `.visible .entry k(.param .u64 p) {
	.reg .b32 %t, %c, %n, %r<4>; .reg .b64 %a, %o;
	ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;
	` + body + `
	ret;
}
`
	}
	p := allocate(t, d, 1<<20)
	for _, c := range []struct {
		what, body string
		want       perf.Hottest
	}{
		{"all on one address", "red.global.add.u32 [%a], 1;", perf.Hottest{Packets: 8, Updates: 256, Shared: true}},
		{"a word a thread, the same in each CTA", "mul.wide.u32 %o, %t, 4; add.s64 %a, %a, %o; red.global.add.u32 [%a], 1;", perf.Hottest{Packets: 4, Updates: 128, Shared: true}},
		{"a word a thread of the grid", "mad.lo.u32 %r0, %c, %n, %t; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o; red.global.add.u32 [%a], 1;", perf.Hottest{Packets: 1, Updates: 32}},
		{"an address a CTA", "mul.wide.u32 %o, %c, 4096; add.s64 %a, %a, %o; red.global.add.u32 [%a], 1;", perf.Hottest{Packets: 2, Updates: 64}},
		{"a swap each on one address", "atom.global.cas.b32 %r1, [%a], 7, 8;", perf.Hottest{Packets: 8, Updates: 256, Compares: 256, Shared: true}},
		{"a swap each on four words", "and.b32 %r0, %t, 3; mul.wide.u32 %o, %r0, 4; add.s64 %a, %a, %o; atom.global.cas.b32 %r1, [%a], 7, 8;", perf.Hottest{Packets: 8, Updates: 256, Compares: 64, Shared: true}},
		{"shared memory", "mov.u32 %r0, s; red.shared.add.u32 [%r0], 1;", perf.Hottest{}},
	} {
		f := fn(t, loadModule(t, d, strings.Replace(kernel(c.body), ".reg .b32", ".shared .b32 s; .reg .b32", 1)), "k")
		r := launch(t, d, f, dim(4), dim(64), p)
		if r.Counts.Hottest != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, r.Counts.Hottest, c.want)
		}
	}
}

// FLOPs by type, waits and active lanes by line and by source line; 64 threads, of which 48 pass the guard.
func TestCountsByLine(t *testing.T) {
	d := openTest(t, testProfile())
	r := countBody(t, d, 64, `.loc 1 10 3
	fma.rn.f32 %f2, %f0, %f1, %f0; add.f32 %f3, %f2, %f0;
	.loc 1 11 3
	setp.lt.u32 %p, %t, 48;
	@%p ex2.approx.f32 %f4, %f0;
	.loc 1 10 9
	mul.f32 %f5, %f0, %f0;
	.loc 1 12 1
	mov.u32 %r0, 0; fma.rn.f16x2 %r1, %r0, %r0, %r0; mul.bf16 %h1, %h0, %h0; cvt.f64.f32 %d0, %f0; fma.rn.f64 %d1, %d0, %d0, %d0; @%p sqrt.rn.f64 %d2, %d0;
	.loc 1 13 1
	mov.u32 %r5, tile; mad.lo.u32 %r5, %t, 16, %r5; cp.async.cg.shared.global [%r5], [%a], 16; cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
	.loc 1 14 1
	@%p bra DONE;
	ld.global.u8 %h2, [%a];
DONE:`)
	c := &r.Counts
	if want := [perf.NumFLOPTypes]uint64{perf.FLOPF32: 64 * (2 + 1 + 1), perf.FLOPF16: 64 * (4 + 1), perf.FLOPF64: 64*2 + 48, perf.FLOPSFU: 48}; c.FLOPs != want {
		t.Errorf("FLOPs %v, want %v", c.FLOPs, want)
	}
	if c.Waits != 4 { // two waits a warp
		t.Errorf("%d waits", c.Waits)
	}
	if c.Branches != 2 || c.DivergentBranches != 1 { // the second warp's lanes part at 48
		t.Errorf("%d branches, %d divergent", c.Branches, c.DivergentBranches)
	}
	if want := (perf.Access{Requests: 2 + 1, Lanes: 64 + 16, Bytes: 64*16 + 16, Sectors: 3, IdealSectors: 2*16 + 1, Lines: 3}); c.GlobalLoad != want {
		t.Errorf("global loads %+v, want %+v", c.GlobalLoad, want)
	}
	type sums struct {
		warps, threads, f32, sfu, f16, f64, branches, divergent uint64
	}
	want := map[int]sums{
		10: {warps: 6, threads: 3 * 64, f32: 64 * 4}, 11: {warps: 4, threads: 64 + 48, sfu: 48}, 12: {warps: 12, threads: 5*64 + 48, f16: 64 * 5, f64: 64*2 + 48},
		13: {warps: 12, threads: 6 * 64}, 14: {warps: 2 + 1 + 2, threads: 48 + 16 + 64, branches: 2, divergent: 1},
	}
	lines := perf.SourceLines(r.Lines)
	if len(lines) != len(want) {
		t.Errorf("%d source lines, want %d", len(lines), len(want))
	}
	for _, l := range lines {
		have := sums{l.WarpInstructions, l.ThreadInstructions, l.FLOPs[perf.FLOPF32], l.FLOPs[perf.FLOPSFU], l.FLOPs[perf.FLOPF16], l.FLOPs[perf.FLOPF64], l.Branches, l.DivergentBranches}
		if l.File != "k.cu" || have != want[l.SourceLine] {
			t.Errorf("%s:%d: %+v, want %+v", l.File, l.SourceLine, have, want[l.SourceLine])
		}
	}
	var flops [perf.NumFLOPTypes]uint64
	for _, l := range r.Lines {
		for k, n := range l.FLOPs {
			flops[k] += n
		}
	}
	if flops != c.FLOPs {
		t.Errorf("lines have %v FLOPs, the launch %v", flops, c.FLOPs)
	}
}

// Kernels of real compilers with atomics, barriers, divergence and copies count the same on any number of workers.
func TestCorpusCountsDoNotDependOnWorkers(t *testing.T) {
	cases := map[string][]string{"triton": {"softmax_sm80", "atomics_sm80", "matmul_f16_sm80", "histogram_sm90"}, "nvrtc": {"atomics_shared_sm75", "atomics_sm90", "groups_sm80", "sgemm_sm70", "async_copy_sm80"}, "numba": {"histogram_sm80", "matmul_sm75"},
		"programs": {"radix_sort_sm90a", "csr_sm75", "fft_sm90a", "interpreter_sm90a", "spread_sm90a", "bulk_sm90a", "volumes_sm75"}}
	for producer, names := range cases {
		all, found := readCorpus(t, producer), 0
		for i := range all.Cases {
			c := &all.Cases[i]
			for _, name := range names {
				if c.Name == name {
					sameCounts(t, all, c)
					found++
				}
			}
		}
		if found != len(names) {
			t.Errorf("%s: %d of %d cases are there", producer, found, len(names))
		}
	}
}

func sameCounts(t *testing.T, all *corpus, c *corpusCase) {
	run := func(workers int) *driver.Result {
		old := runtime.GOMAXPROCS(workers)
		defer runtime.GOMAXPROCS(old)
		d := openTest(t, testProfile())
		m := loadModule(t, d, string(gunzip(t, all.dir+"/"+c.PTX+".ptx.gz")))
		f := fn(t, m, c.Entry)
		var args []byte
		for k, a := range c.Args {
			value := all.Blobs[a.Value]
			if a.Type != "" {
				data := make([]byte, max(a.N*elementSize(a.Type), 1))
				copy(data, all.Blobs[a.Data])
				value = binary.LittleEndian.AppendUint64(nil, uint64(upload(t, d, data)))
			}
			args = append(append(args, make([]byte, f.Params()[k].Offset-len(args))...), value...)
		}
		r, err := d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(c.Grid[:]...), CTA: dim(c.Block[:]...), Shared: c.Shared, Args: args, Wait: true, Count: true})
		if err != nil {
			t.Fatal(err)
		}
		r.Host = 0
		fromFirst(r)
		return r
	}
	want := run(1)
	for _, workers := range []int{2, 8} {
		if got := run(workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %d workers:\n%+v\nwant\n%+v", c.Name, workers, got.Counts, want.Counts)
		}
	}
}
