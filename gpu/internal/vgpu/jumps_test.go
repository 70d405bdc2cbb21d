package vgpu

import (
	"reflect"
	"testing"
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
