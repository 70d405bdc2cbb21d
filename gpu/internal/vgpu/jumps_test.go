package vgpu

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// Blocks that all lanes enter, one of which is left and entered by some, and one that reads the clock: out[tid] = sum, and
// out[32·warps + tid] = clock at the end.
const jumping = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	and.b32 %r3, %r2, 31;
	shr.u32 %r4, %r2, 5;
	mov.u32 %r5, 0;
	mov.u32 %r6, 0;
LOOP:
	and.b32 %r7, %r5, 1;
	setp.eq.u32 %p1, %r7, 0;
	@%p1 bra EVEN;
	add.u32 %r6, %r6, 3;
	bra.uni NEXT;
EVEN:
	add.u32 %r6, %r6, 5;
NEXT:
	and.b32 %r8, %r5, 7;
	setp.ne.u32 %p2, %r8, 7;
	@%p2 bra JOIN;
	setp.lt.u32 %p3, %r3, 8;
	@%p3 bra LOW;
	add.u32 %r6, %r6, 100;
	bra.uni JOIN;
LOW:
	add.u32 %r6, %r6, 1000;
JOIN:
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p4, %r5, %r1;
	@%p4 bra LOOP;
	bar.sync 0;
	mov.u32 %r9, %clock;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r6;
	mov.u32 %r10, %ntid.x;
	mul.wide.u32 %rd4, %r10, 4;
	add.s64 %rd5, %rd3, %rd4;
	st.global.u32 [%rd5], %r9;
	ret;
}
`

// TestJumps: however assembly goes from block to block, what is executed and counted is what stands in the PTX.
func TestJumps(t *testing.T) {
	const threads, n = 96, 4000 // more than one slice of fuel
	const warps, rare = threads / 32, n / 8
	var clocks []uint32
	for path := PortableLanes; path <= BestLanes(); path++ {
		d := openTest(t, testProfile())
		d.SetLanes(path)
		f := fn(t, loadModule(t, d, jumping), "k")
		for range 2 { // the second with compiled runs from the start
			out := upload(t, d, make([]uint32, 2*threads))
			r := launch(t, d, f, dim(1), dim(threads), out, int32(n))
			got := download[uint32](t, d, out, 2*threads)
			for i, v := range got[:threads] {
				want := uint32(n/2*3 + n/2*5 + rare*100)
				if i%32 < 8 {
					want += rare * 900
				}
				if v != want {
					t.Fatalf("%s: thread %d: %d, want %d", path, i, v, want)
				}
			}
			if clocks == nil {
				clocks = got[threads:]
			}
			if !reflect.DeepEqual(got[threads:], clocks) {
				t.Errorf("%s: clocks %v, portable %v", path, got[threads:], clocks)
			}
			c := &r.Counts
			if want := uint64(warps * (n + n + rare + n)); c.Branches != want || c.DivergentBranches != warps*rare {
				t.Errorf("%s: %d branches, %d divergent, want %d, %d", path, c.Branches, c.DivergentBranches, want, warps*rare)
			}
			// A loop: 3, 2 or 1, 3, 3; every eighth time 2 more, 2 and 1. Around them 7 and 10.
			if want := uint64(warps * (7 + n*(3+3+3) + n/2*2 + n/2 + rare*5 + 10)); c.WarpInstructions != want {
				t.Errorf("%s: %d warp instructions, want %d", path, c.WarpInstructions, want)
			}
			// A branch counts the lanes that take it.
			want := uint64(warps * (7*32 + n*(2+2+2)*32 + n/2*32 + n/2*3*32 + (n-rare)*32 + (n-1)*32 + rare*(32+8+24*2+8) + 10*32))
			if c.ThreadInstructions != want {
				t.Errorf("%s: %d thread instructions, want %d", path, c.ThreadInstructions, want)
			}
		}
	}
}

// A fault of lanes that went a way of their own leaves nothing behind: the next launch is right.
func TestFaultOnAWay(t *testing.T) {
	const text = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 off)
{
	.reg .pred %p, %q;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [off];
	mov.u32 %r1, %tid.x;
	setp.eq.s64 %q, %rd2, 0;
	setp.eq.and.u32 %p, %r1, 31, %q;
	@%p ret;
	and.b32 %r2, %r1, 7;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd4, %rd2;
	setp.lt.u32 %p, %r2, 3;
	@%p bra LOW;
	add.u32 %r3, %r1, 100;
	st.global.u32 [%rd5], %r3;
	bra.uni JOIN;
LOW:
	add.u32 %r4, %r1, 200;
	st.global.u32 [%rd5], %r4;
JOIN:
	ld.global.u32 %r5, [%rd4];
	add.u32 %r6, %r5, 1000;
	st.global.u32 [%rd4], %r6;
	ret;
}
`
	const threads = 32
	for path := PortableLanes; path <= BestLanes(); path++ {
		d := openTest(t, testProfile())
		d.SetLanes(path)
		f := fn(t, loadModule(t, d, text), "k")
		out := upload(t, d, make([]uint32, 64))
		for range 2 {
			_, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(threads), Args: pack(t, f, out, uint64(1)<<40), Wait: true, Count: true})
			if err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Fatalf("%s lanes: %v", path, err)
			}
			launch(t, d, f, dim(1), dim(threads), out, uint64(0))
			got := download[uint32](t, d, out, 64)
			for i, v := range got {
				want := uint32(0)
				if i < threads && i != 31 { // which has left: no split of that launch has all lanes
					if want = uint32(i + 1100); i%8 < 3 {
						want += 100
					}
				}
				if v != want {
					t.Errorf("%s lanes: thread %d: %d, want %d", path, i, v, want)
				}
			}
		}
	}
}

// randomWays writes structured control flow: branches on what lanes hold, one way or two, within each other and in loops, with
// temporaries of the blocks' own, loads, votes and clocks on the ways.
type randomWays struct {
	rnd    *rand.Rand
	body   strings.Builder
	labels int
	temps  int
}

func (g *randomWays) line(format string, args ...any) {
	fmt.Fprintf(&g.body, "\t"+format+"\n", args...)
}
func (g *randomWays) r() string { return fmt.Sprintf("%%r%d", g.rnd.IntN(6)) }
func (g *randomWays) temp() string {
	g.temps++
	return fmt.Sprintf("%%t%d", g.temps)
}

func (g *randomWays) straight() {
	for range g.rnd.IntN(5) {
		a, b := g.temp(), g.temp()
		switch g.rnd.IntN(12) {
		case 0:
			g.line("and.b32 %s, %s, 31;", a, g.r())
			g.line("shl.b32 %s, %s, 2;", b, a)
			g.line("cvt.u64.u32 %%rd3, %s;", b)
			g.line("add.s64 %%rd4, %%rd1, %%rd3;")
			g.line("ld.global.u32 %s, [%%rd4];", g.r())
		case 1:
			g.line("activemask.b32 %s;", a)
			g.line("xor.b32 %s, %s, %s;", g.r(), g.r(), a)
		case 2:
			g.line("mov.u32 %s, %%clock;", a)
			g.line("xor.b32 %s, %s, %s;", g.r(), g.r(), a)
		case 3:
			g.line("setp.gt.s32 %%q1, %s, %s;", g.r(), g.r())
			g.line("@%%q1 add.s32 %s, %s, 1;", g.r(), g.r())
		default:
			g.line("mul.lo.s32 %s, %s, %d;", a, g.r(), g.rnd.IntN(99))
			g.line("shr.u32 %s, %s, %d;", b, g.r(), g.rnd.IntN(9))
			g.line("xor.b32 %s, %s, %s;", g.r(), a, b)
		}
	}
}

// part is a branch whose lanes part or do not, or a loop.
func (g *randomWays) part(depth int) {
	g.straight()
	if depth == 0 {
		return
	}
	g.labels++
	n := g.labels
	p := fmt.Sprintf("%%p%d", n)
	switch g.rnd.IntN(3) {
	case 0: // of the whole warp, mostly
		g.line("setp.ne.u32 %s, %%warp, %d;", p, g.rnd.IntN(2))
	default:
		g.line("setp.lt.u32 %s, %s, %s;", p, g.r(), g.r())
	}
	switch g.rnd.IntN(4) {
	case 0: // one way
		g.line("@%s bra J%d;", p, n)
		g.part(depth - 1)
	case 1:
		g.line("@!%s bra J%d;", p, n)
		g.part(depth - 1)
	case 2: // as nvcc writes it where inline assembly stands in the way
		g.line("@%s bra E%d;", p, n)
		g.line("bra.uni T%d;", n)
		fmt.Fprintf(&g.body, "E%d:\n", n)
		g.part(depth - 1)
		g.line("bra.uni J%d;", n)
		fmt.Fprintf(&g.body, "T%d:\n", n)
		g.part(depth - 1)
	default:
		g.line("@%s bra E%d;", p, n)
		g.part(depth - 1)
		g.line("bra.uni J%d;", n)
		fmt.Fprintf(&g.body, "E%d:\n", n)
		g.part(depth - 1)
	}
	fmt.Fprintf(&g.body, "J%d:\n", n)
	g.straight()
}

func (g *randomWays) program() string {
	for range 4 {
		g.part(1 + g.rnd.IntN(3))
	}
	body := g.body.String()
	return fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %%p<%d>, %%q<2>;
	.reg .b32 %%r<6>, %%t<%d>, %%tid, %%warp, %%i, %%n;
	.reg .b64 %%rd<6>;
	ld.param.u64 %%rd1, [out];
	ld.param.u32 %%n, [n];
	mov.u32 %%tid, %%tid.x;
	shr.u32 %%warp, %%tid, 5;
	mov.u32 %%i, 0;
	mov.u32 %%r0, %%tid;
	mul.lo.s32 %%r1, %%tid, 40503;
	and.b32 %%r2, %%tid, 7;
	mov.u32 %%r3, 100;
	xor.b32 %%r4, %%tid, 21;
	mov.u32 %%r5, 3;
LOOP:
%s	add.u32 %%i, %%i, 1;
	add.u32 %%r0, %%r0, %%i;
	setp.lt.u32 %%q0, %%i, %%n;
	@%%q0 bra LOOP;
	xor.b32 %%r0, %%r0, %%r1;
	xor.b32 %%r2, %%r2, %%r3;
	xor.b32 %%r4, %%r4, %%r5;
	xor.b32 %%r0, %%r0, %%r2;
	xor.b32 %%r0, %%r0, %%r4;
	mul.wide.u32 %%rd2, %%tid, 4;
	add.s64 %%rd5, %%rd1, %%rd2;
	st.global.u32 [%%rd5+128], %%r0;
	ret;
}
`, g.labels+1, g.temps+1, body)
}

// TestRandomWays: results, counters, lines and clocks of random control flow are those of portable lanes on every path.
func TestRandomWays(t *testing.T) {
	const programs, threads = 120, 72 // the third warp has eight lanes
	for seed := range uint64(programs) {
		g := &randomWays{rnd: rand.New(rand.NewPCG(seed, 11))}
		text := g.program()
		var first *driver.Result
		var want []uint32
		for path := PortableLanes; path <= BestLanes(); path++ {
			d := openTest(t, testProfile())
			d.SetLanes(path)
			f := fn(t, loadModule(t, d, text), "k")
			out := upload(t, d, make([]uint32, 32+threads))
			r := launch(t, d, f, dim(2), dim(threads), out, int32(150))
			r.Host = 0
			got := download[uint32](t, d, out, 32+threads)
			if first == nil {
				first, want = r, got
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(r.Counts, first.Counts) || !reflect.DeepEqual(r.Lines, first.Lines) {
				t.Fatalf("seed %d, %s lanes: results or counters differ from portable ones\n%v\n%v\n%+v\n%+v\n%s", seed, path, got, want, r.Counts, first.Counts, text)
			}
			d.Close()
		}
	}
}
