package vgpu

import "testing"

// parts reads n fields of a word, extended or not.
func fields(x uint32, n int, signed bool) []int64 {
	list := make([]int64, n)
	width := 32 / n
	for k := range list {
		v := int64(x >> (k * width) & (1<<width - 1))
		if signed && v>>(width-1) != 0 {
			v -= 1 << width
		}
		list[k] = v
	}
	return list
}

// perField applies f to the fields of a and b and packs the results.
func perField(a, b uint32, n int, signed bool, f func(a, b int64) int64) uint32 {
	var r uint32
	x, y := fields(a, n, signed), fields(b, n, signed)
	for k := range x {
		r |= uint32(f(x[k], y[k])) & uint32(1<<(32/n)-1) << (k * 32 / n)
	}
	return r
}

func clampTo(v, low, high int64) int64 { return min(max(v, low), high) }

// The SIMD video instructions against what CUDA's intrinsics of the same name are documented to do, and the scalar ones
// against PTX ISA 9.7.17.
func TestVideoInstructions(t *testing.T) {
	d := openTest(t, testProfile())
	simd := func(body string, n int, signed bool, f func(a, b int64) int64) bodyCase {
		return bodyCase{body, func(x laneWords, _ int) laneWords { return laneWords{perField(x[0], x[1], n, signed, f)} }}
	}
	diff := func(a, b int64) int64 { return max(a-b, b-a) }
	sum := func(x laneWords, n int, f func(a, b int64) int64) uint32 {
		s := x[2]
		a, b := fields(x[0], n, false), fields(x[1], n, false)
		for k := range a {
			s += uint32(f(a[k], b[k]))
		}
		return s
	}
	word := func(f func(x laneWords) int64) func(laneWords, int) laneWords {
		return func(x laneWords, _ int) laneWords { return laneWords{uint32(f(x))} }
	}
	byteOf := func(x uint32, k int) int64 { return fields(x, 4, true)[k] }
	half := func(x uint32, k int) int64 { return fields(x, 2, false)[k] }
	runBodies(t, d, "sm_80", []bodyCase{
		simd("vadd4.u32.u32.u32 %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return a + b }),                            // __vadd4
		simd("vadd4.u32.u32.u32.sat %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return min(a+b, 255) }),                // __vaddus4
		simd("vadd4.s32.s32.s32.sat %z0, %x0, %x1, %z0;", 4, true, func(a, b int64) int64 { return clampTo(a+b, -128, 127) }),       // __vaddss4
		simd("vsub2.s32.s32.s32.sat %z0, %x0, %x1, %z0;", 2, true, func(a, b int64) int64 { return clampTo(a-b, -32768, 32767) }),   // __vsubss2
		simd("vsub4.u32.u32.u32.sat %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return max(a-b, 0) }),                  // __vsubus4
		simd("vavrg4.u32.u32.u32 %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return (a + b + 1) >> 1 }),                // __vavgu4
		simd("vavrg2.u32.u32.u32 %z0, %x0, %x1, %z0;", 2, false, func(a, b int64) int64 { return (a + b + 1) >> 1 }),                // __vavgu2
		simd("vabsdiff4.u32.u32.u32 %z0, %x0, %x1, %z0;", 4, false, diff),                                                           // __vabsdiffu4
		simd("vabsdiff2.s32.s32.s32.sat %z0, %x0, %x1, %z0;", 2, true, func(a, b int64) int64 { return min(diff(a, b), 32767) }),    // __vabsdiffs2 saturates
		simd("vmin2.s32.s32.s32 %z0, %x0, %x1, %z0;", 2, true, func(a, b int64) int64 { return min(a, b) }),                         // __vmins2
		simd("vmax4.u32.u32.u32 %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return max(a, b) }),                        // __vmaxu4
		simd("vset4.u32.u32.lt %z0, %x0, %x1, %z0;", 4, false, func(a, b int64) int64 { return int64(b2i(a < b)) }),                 // __vsetltu4
		simd("vset2.s32.s32.ge %z0, %x0, %x1, %z0;", 2, true, func(a, b int64) int64 { return int64(b2i(a >= b)) }),                 // __vsetges2
		{"vabsdiff4.u32.u32.u32.add %z0, %x0, %x1, %x2;", func(x laneWords, _ int) laneWords { return laneWords{sum(x, 4, diff)} }}, // __vsadu4
		{"vset2.u32.u32.ne.add %z0, %x0, %x1, %x2;", func(x laneWords, _ int) laneWords {
			return laneWords{sum(x, 2, func(a, b int64) int64 { return int64(b2i(a != b)) })}
		}},
		{"vadd4.u32.u32.u32 %z0.b20, %x0.b3210, %x1.b7654, %x2;", func(x laneWords, _ int) laneWords {
			return laneWords{perField(x[0], x[1], 4, false, func(a, b int64) int64 { return a + b })&0x00ff00ff | x[2]&0xff00ff00}
		}},
		{"vmax2.s32.s32.s32 %z0.h1, %x0.h01, %x1.h23, %x2;", func(x laneWords, _ int) laneWords {
			a, b := fields(x[0], 2, true), fields(x[1], 2, true)
			return laneWords{uint32(max(a[0], b[0]))<<16 | x[2]&0xffff}
		}},
		{"vadd.s32.s32.u32 %z0, %x0.b1, %x1.h0;", word(func(x laneWords) int64 { return byteOf(x[0], 1) + half(x[1], 0) })},
		{"vsub.u32.u32.u32.sat %z0, %x0, %x1;", word(func(x laneWords) int64 { return max(int64(x[0])-int64(x[1]), 0) })},
		{"vabsdiff.s32.s32.s32.add %z0, %x0.b3, %x1.b0, %x2;", word(func(x laneWords) int64 { return diff(byteOf(x[0], 3), byteOf(x[1], 0)) + int64(x[2]) })},
		{"vmin.s32.s32.s32.max %z0, %x0, %x1, %x2;", word(func(x laneWords) int64 { return max(min(int64(int32(x[0])), int64(int32(x[1]))), int64(int32(x[2]))) })},
		{"vadd.s32.s32.s32.sat %z0.h1, %x0, %x1, %x2;", word(func(x laneWords) int64 {
			return clampTo(int64(int32(x[0]))+int64(int32(x[1])), -32768, 32767)<<16 | int64(x[2]&0xffff)
		})},
		{"vshl.u32.u32.u32.wrap %z0, %x0, %x1;", word(func(x laneWords) int64 { return int64(x[0] << (x[1] & 31)) })},
		{"vshr.s32.s32.u32.clamp %z0, %x0, %x1;", word(func(x laneWords) int64 { return int64(int32(x[0])) >> min(x[1], 32) })},
		{"vshl.s32.s32.u32.sat.clamp.add %z0, %x0.h0, %x1.b0, %x2;", word(func(x laneWords) int64 {
			a := fields(x[0], 2, true)[0] << min(x[1]&0xff, 32)
			return clampTo(a, -1<<31, 1<<31-1) + int64(x[2])
		})},
		{"vset.s32.u32.lt %z0, %x0.b2, %x1.b2;", word(func(x laneWords) int64 { return int64(b2i(byteOf(x[0], 2) < fields(x[1], 4, false)[2])) })},
		{"vmad.u32.u32.u32 %z0, %x0.h1, %x1.b0, %x2;", word(func(x laneWords) int64 { return half(x[0], 1)*fields(x[1], 4, false)[0] + int64(x[2]) })},
		{"vmad.s32.s32.s32.sat.shr7 %z0, %x0.h0, %x1.h1, %x2;", word(func(x laneWords) int64 {
			return clampTo((fields(x[0], 2, true)[0]*fields(x[1], 2, true)[1]+int64(int32(x[2])))>>7, -1<<31, 1<<31-1)
		})},
		{"vmad.s32.s32.s32.sat %z0, -%x0.h0, %x1.h0, %x2;", word(func(x laneWords) int64 {
			return clampTo(int64(int32(x[2]))-fields(x[0], 2, true)[0]*fields(x[1], 2, true)[0], -1<<31, 1<<31-1)
		})},
		{"vmad.s32.s32.s32.sat %z0, %x0.h0, %x1.h0, -%x2;", word(func(x laneWords) int64 {
			return clampTo(fields(x[0], 2, true)[0]*fields(x[1], 2, true)[0]-int64(int32(x[2])), -1<<31, 1<<31-1)
		})},
		{"vmad.u32.u32.u32.po.sat %z0, %x0.h0, %x1.h0, %x2;", word(func(x laneWords) int64 { return clampTo(half(x[0], 0)*half(x[1], 0)+int64(x[2])+1, 0, 1<<32-1) })},
	})
	for body, want := range map[string]string{
		"vadd.s32.s32.s32 %z0, %x0.b4, %x1;":         "vadd.s32.s32.s32: %x0.b4 selects no part of this instruction",
		"vadd4.u32.u32.u32 %z0, %x0.h10, %x1, %x2;":  "vadd4.u32.u32.u32: %x0.h10 selects no part of this instruction",
		"vadd4.u32.u32.u32 %z0, %x0, %x1;":           "vadd4.u32.u32.u32: 3 operands, expected 4",
		"add.u32 %z0, %x0.b0, %x1;":                  "add.u32: operand %x0.b0: parts of a register stand only in video instructions",
		"vadd2.u32.u32.u32.shr7 %z0, %x0, %x1, %x2;": "modifier .shr7 is unknown here",
		"mov.u32 %z0, %tid;":                         "mov.u32: special register %tid is a vector",
	} {
		refuse(t, narrowKernel("sm_80", ".reg .b32 %x0, %x1, %x2, %z0;\n"+body), want)
	}
}

// Special registers that are the same for each thread, or told apart by it.
func TestSpecialRegisters(t *testing.T) {
	d := openTest(t, testProfile())
	runWhole(t, d, "sm_90", []bodyCase{
		{"mov.u32 %z0, %nwarpid; mov.u32 %z1, %warpid; mov.u32 %z2, %laneid; mov.u32 %z3, %nsmid;", func(_ laneWords, i int) laneWords {
			return laneWords{64, uint32(i / 32), uint32(i % 32), 132}
		}},
		{"mov.u32 %z0, %total_smem_size; mov.u32 %z1, %dynamic_smem_size; mov.u32 %z2, %aggr_smem_size; mov.u32 %z3, %envreg3;", func(laneWords, int) laneWords {
			return laneWords{8192, 0, 8192 + 1024, 0}
		}},
		{"mov.u32 %z0, %lanemask_lt; mov.u32 %z1, %lanemask_ge; mov.u32 %z2, %lanemask_eq; mov.u32 %z3, %pm0;", func(_ laneWords, i int) laneWords {
			one := uint32(1) << (i % 32)
			return laneWords{one - 1, -one, one, 0}
		}},
		{"mov.pred %p, %is_explicit_cluster; selp.u32 %z0, 1, 0, %p; mov.u32 %z1, %ntid.x; mov.u32 %z2, %nctaid.y; mov.u32 %z3, %ctaid.z;", func(laneWords, int) laneWords {
			return laneWords{0, 128, 1, 0}
		}},
		{"mov.u32 %z0, %reserved_smem_offset_end; mov.u32 %z1, %reserved_smem_offset_begin; mov.u32 %z2, %total_smem_size; sub.u32 %z3, %shared, %z0; mul.lo.u32 %u, %t, 64; setp.eq.u32 %p, %z3, %u; selp.u32 %z3, 1, 0, %p;", func(laneWords, int) laneWords {
			return laneWords{1024, 0, 8192, 1}
		}},
	})
}
