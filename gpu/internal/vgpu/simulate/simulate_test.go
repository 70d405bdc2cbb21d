package simulate

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// straight parses a body without branches and gives the program of its single basic block.
func straight(t *testing.T, body string) *Program {
	t.Helper()
	return parse(t, body, func(n int) []Block { return []Block{{From: 0, To: n, Next: []int{1}}} })
}

func parse(t *testing.T, body string, blocks func(n int) []Block) *Program {
	t.Helper()
	text := ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 s[4096];\n.visible .entry k(.param .u64 p) {\n" +
		".reg .pred %p<8>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<16>;\n" + body + "\n}\n"
	m, err := ptx.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Functions[0]
	return NewProgram(f, blocks(len(f.Body)))
}

func profile(t *testing.T, name string) *perf.Profile {
	t.Helper()
	p, err := perf.ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// simulated runs CTAs of so many warps that execute block 0 so many times, all accesses alike.
func simulated(t *testing.T, p *Program, gpu string, ctas, warps, times int, access Access, lines []uint64, dram float64) Result {
	t.Helper()
	in := inputOf(t, p, gpu, ctas, warps, times, access, lines)
	in.Mean = dram
	r, ok := Run(in)
	if !ok {
		t.Fatal("stopped")
	}
	return r
}

func inputOf(t *testing.T, p *Program, gpu string, ctas, warps, times int, access Access, lines []uint64) *Input {
	t.Helper()
	in := &Input{Profile: profile(t, gpu), Program: p, Resident: 1, Grid: float64(ctas), L1Bytes: 64 << 10}
	for range ctas {
		c := CTA{}
		for range warps {
			w := Warp{Lines: lines}
			for range times {
				w.Blocks = append(w.Blocks, 0)
				for range p.Memory(0) {
					w.Accesses = append(w.Accesses, access)
				}
			}
			c.Warps = append(c.Warps, w)
			c.Recorded += float64(times * p.Instructions(0))
		}
		c.Executed = c.Recorded
		in.CTAs = append(in.CTAs, c)
	}
	return in
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= share) {
		t.Errorf("%s: %.1f, want %.1f ± %.0f %%", what, got, want, 100*share)
	}
}

// A warp that chases pointers waits for the latency of where they lie (hardware.md, "Latency").
func TestChase(t *testing.T) {
	const n = 64
	p := straight(t, strings.Repeat("ld.global.u64 %rd1, [%rd1];\n", n)+"ret;")
	one := Access{Lanes: 1, Width: 8, Waves: 1, Lines: 1}
	for _, c := range []struct {
		gpu           string
		l1, l2, dram2 float64
	}{{"a100", 40, 250, 550}, {"h100", 40, 275, 650}, {"rtx5090", 40, 355, 900}} {
		// Every load is to the same line: the first misses, the others hit.
		r := simulated(t, p, c.gpu, 1, 1, 1, one, []uint64{5<<5 | 1}, 0)
		within(t, c.gpu+", L1", (r.Cycles-c.l2)/(n-1), c.l1, .1)
		far := parse(t, strings.Repeat("ld.global.cv.u64 %rd1, [%rd1];\n", n)+"ret;", func(n int) []Block { return []Block{{From: 0, To: n, Next: []int{1}}} })
		r = simulated(t, far, c.gpu, 1, 1, 1, one, []uint64{5<<5 | 1}, 0)
		within(t, c.gpu+", L2", r.Cycles/n, c.l2, .05)
		r = simulated(t, far, c.gpu, 1, 1, 1, one, []uint64{5<<5 | 1}, 1)
		within(t, c.gpu+", DRAM", r.Cycles/n, c.dram2, .05)
	}
}

// The schedulers' cycles without an instruction go to what the warp waits for that can go on first; where atomics of the grid
// want one place, that takes its time beside the rest.
func TestWaits(t *testing.T) {
	one := Access{Lanes: 1, Width: 8, Waves: 1, Lines: 1}
	for _, c := range []struct {
		what, body string
		access     Access
		warps      int
		want       perf.Wait
		least      float64
	}{
		{"pointers", "ld.global.u64 %rd1, [%rd1];\n", one, 1, perf.WaitMemory, .9},
		{"pointers in shared memory", "ld.shared.u32 %r1, [%r1];\n", Access{Lanes: 32, Width: 4, Waves: 1}, 1, perf.WaitShared, .9},
		{"a chain of sums", "fma.rn.f32 %f1, %f1, %f2, %f1;\n", Access{}, 1, perf.WaitArithmetic, .6},
		{"a chain of products", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};\n", Access{}, 1, perf.WaitTensor, .9},
		{"old values", "atom.global.add.u32 %r1, [%rd1], %r1;\n", one, 1, perf.WaitAtomics, .6},
		{"independent sums of many warps", "fma.rn.f32 %f1, %f1, %f2, %f1;\n", Access{}, 64, perf.WaitPipe, .05},
	} {
		r := simulated(t, straight(t, strings.Repeat(c.body, 64)+"ret;"), "a100", 1, c.warps, 1, c.access, []uint64{5<<5 | 1}, 0)
		s := r.Simulation()
		sum := 0.0
		for _, x := range s.Waits {
			sum += x
		}
		if wait, share := s.Longest(); wait != c.want || share < c.least || sum > 1 {
			t.Errorf("%s: %v %.2f, want %v, at least %.2f; %v", c.what, wait, share, c.want, c.least, s.Waits)
		}
	}
	in := inputOf(t, straight(t, "red.global.add.u32 [%rd1], %r1;\nret;"), "h100", 1, 1, 1, one, []uint64{5<<5 | 1})
	in.Contention = 1755
	if r, _ := Run(in); r.Contention != 1e-6 || r.Seconds > 1e-6 {
		t.Errorf("%g s of contention, %g s in all, want 1 µs of contention alone", r.Contention, r.Seconds)
	}
}

// Independent FMAs run at the rate of the pipe: 16 lanes a quarter up to 8.0 take two cycles, 32 lanes since one, of which
// 1.12 are reached.
func TestFMARate(t *testing.T) {
	var b strings.Builder
	const n = 240
	for i := range n {
		fmt.Fprintf(&b, "fma.rn.f32 %%f%d, %%f60, %%f61, %%f%d;\n", i%24, i%24)
	}
	p := straight(t, b.String()+"ret;")
	for gpu, interval := range map[string]float64{"t4": 2, "a100": 2, "h100": 1.12, "rtx4090": 1.12} {
		r := simulated(t, p, gpu, 1, 16, 4, Access{}, nil, 0)
		within(t, gpu, r.Cycles, 16*4*n*interval/4, .05)
		if r.ByClass[fp32] != 16*4*n {
			t.Errorf("%s: %v FMAs issued", gpu, r.ByClass[fp32])
		}
	}
}

// Shared loads with k-way conflicts keep the load/store unit k cycles each.
func TestSharedConflicts(t *testing.T) {
	var b strings.Builder
	for i := range 32 {
		fmt.Fprintf(&b, "ld.shared.f32 %%f%d, [%%r1+%d];\n", i%32, 8*i)
	}
	p := straight(t, b.String()+"ret;")
	for _, ways := range []uint64{1, 2, 8, 32} {
		var at [32]uint64
		for i := range at {
			at[i] = uint64(i) * 4 * ways
		}
		var a Access
		a.SetShared(&at, ^uint32(0), 4)
		if uint64(a.Waves) != ways {
			t.Fatalf("%d ways: %d passes", ways, a.Waves)
		}
		r := simulated(t, p, "h100", 1, 8, 4, a, nil, 0)
		if want := float64(8 * 4 * 32 * max(ways, 1)); r.LSU != want {
			t.Errorf("%d ways: %v cycles of the load/store unit, want %v", ways, r.LSU, want)
		}
		within(t, fmt.Sprint(ways, " ways"), r.Cycles, float64(8*4*32*ways), .15)
	}
}

// Sixteen bytes a lane, all different, take four passes; a broadcast of sixteen bytes takes one.
func TestWideShared(t *testing.T) {
	var apart, same [32]uint64
	for i := range apart {
		apart[i] = uint64(i) * 16
	}
	var a, b Access
	a.SetShared(&apart, ^uint32(0), 16)
	b.SetShared(&same, ^uint32(0), 16)
	if a.Waves != 4 || b.Waves != 1 {
		t.Errorf("%d and %d passes, want 4 and 1", a.Waves, b.Waves)
	}
}

// Four neighbouring scalar loads become one of sixteen bytes where their address is a multiple of that; a store between them
// keeps them apart.
func TestMerging(t *testing.T) {
	const four = "ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\nld.shared.f32 %f3, [%r1+8];\nld.shared.f32 %f4, [%r1+12];\n"
	accesses := func(first ...uint32) (list []Access) {
		for _, at := range first {
			list = append(list, Access{Lanes: 32, Width: 4, Waves: 1, Wide: [2]uint16{1, 1}, First: at})
		}
		return list
	}
	m := machineOf(profile(t, "h100"), 1, 0)
	for _, c := range []struct {
		name, body string
		accesses   []Access
		items      int
	}{
		{"aligned", four, accesses(64, 68, 72, 76), 1},
		{"aligned to 8", four, accesses(72, 76, 80, 84), 2},
		{"not aligned", four, accesses(68, 72, 76, 80), 3}, // the middle two lie together
		{"a store between", strings.Replace(four, "ld.shared.f32 %f3", "st.shared.f32 [%r2], %f1;\nld.shared.f32 %f3", 1), accesses(64, 68, 0, 72, 76), 3},
	} {
		p := straight(t, c.body+"ret;")
		r := p.compile(m, []int32{0}, c.accesses)
		if got := len(r.items) - 1; got != c.items { // without ret
			t.Errorf("%s: %d instructions, want %d", c.name, got, c.items)
		}
	}
}

// loop is a block that counts to a bound.
const loop = `mov.u32 %r1, 0;
L: ld.shared.f32 %f1, [%r2];
fma.rn.f32 %f2, %f1, %f1, %f2;
add.s32 %r2, %r2, 4;
add.s32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, BOUND;
@%p1 bra L;
ret;`

func loopProgram(t *testing.T, bound string) *Program {
	return parse(t, strings.Replace(loop, "BOUND", bound, 1), func(int) []Block {
		return []Block{{0, 1, []int{1}}, {1, 7, []int{1, 2}}, {7, 8, []int{3}}}
	})
}

// Loops are unrolled: whole where the count is a constant of at most 16, else four times; counting and addresses fold away.
func TestUnrolling(t *testing.T) {
	for _, c := range []struct {
		bound string
		trips int
		want  float64 // issued by the warp: mov is free; per iteration one fma; loads merge by four; the last copy counts
	}{
		{"8", 8, 8 + 2 + 4 + 1},         // 8 fma, 2 wide loads, the last copy's two adds, setp and branch, ret
		{"%r9", 8, 8 + 2 + 2*4 + 1},     // twice four copies
		{"%r9", 7, 7 + 1 + 3 + 4*4 + 1}, // four copies, then one at a time
		{"32", 32, 32 + 8 + 5*4 + 1},    // four at a time, the last sixteen whole
	} {
		p := loopProgram(t, c.bound)
		w := Warp{Blocks: []int32{0}}
		for i := range c.trips {
			w.Blocks = append(w.Blocks, 1)
			w.Accesses = append(w.Accesses, Access{Lanes: 32, Width: 4, Waves: 1, Wide: [2]uint16{1, 1}, First: uint32(4 * i)})
		}
		w.Blocks = append(w.Blocks, 2)
		n := float64(2 + 6*c.trips)
		r, ok := Run(&Input{Profile: profile(t, "h100"), Program: p, Resident: 1, Grid: 1, L1Bytes: 64 << 10, CTAs: []CTA{{Warps: []Warp{w}, Recorded: n, Executed: n}}})
		if !ok || r.Issued != c.want {
			t.Errorf("bound %s, %d trips: %v instructions issued, want %v", c.bound, c.trips, r.Issued, c.want)
		}
	}
}

// The same input gives the same result, and Stop ends a simulation.
func TestDeterminismAndStop(t *testing.T) {
	p := straight(t, strings.Repeat("ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, %f1, %f2;\n", 50)+"ret;")
	a := Access{Lanes: 32, Width: 4, Waves: 1, Lines: 1}
	first := simulated(t, p, "h200", 4, 8, 3, a, []uint64{7<<5 | 15}, .5)
	if again := simulated(t, p, "h200", 4, 8, 3, a, []uint64{7<<5 | 15}, .5); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, then %+v", first, again)
	}
	in := inputOf(t, p, "h200", 4, 32, 40, a, []uint64{7<<5 | 15})
	in.Stop = func() bool { return true }
	if _, ok := Run(in); ok {
		t.Error("Stop did not stop it")
	}
}

// A DRAM stream takes bytes over what DRAM gives the SM, and twice the grid takes twice as long.
func TestDRAMStream(t *testing.T) {
	var b strings.Builder
	for i := range 16 {
		fmt.Fprintf(&b, "ld.global.cv.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd1+%d];\n", 4*(i%8), 4*(i%8)+1, 4*(i%8)+2, 4*(i%8)+3, 512*i)
	}
	p := straight(t, b.String()+"ret;")
	a := Access{Lanes: 32, Width: 16, Waves: 4, Lines: 4}
	lines := []uint64{1<<5 | 15, 2<<5 | 15, 3<<5 | 15, 4<<5 | 15}
	in := inputOf(t, p, "h200", 7, 16, 4, a, lines)
	in.Resident, in.Mean, in.Grid = 2, 1, 132*1000
	r, _ := Run(in)
	bytes := 132 * 1000.0 * 16 * 4 * 16 * 512
	within(t, "time", r.Seconds, bytes/(4.8e12*.92), .05)
	in.Grid *= 2
	twice, _ := Run(in)
	within(t, "twice", twice.Seconds, 2*r.Seconds, .01)
}
