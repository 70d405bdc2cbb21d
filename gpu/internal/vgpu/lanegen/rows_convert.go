package lanegen

import "fmt"

// convertRows are the conversions that compilers emit most; every other legal cvt runs through convert.go's general lane.
func convertRows() {
	row := func(pattern, dst, src, expr string) {
		add(op{[]string{"cvt" + pattern}, dst, []string{src}, expr, convert, "", 0, "9.7.9.21", ""})
	}
	row("{.u64.u32,.s64.u32}", "u64", "u32", "uint64(x)")
	row("{.s64.s32,.u64.s32}", "s64", "s32", "int64(x)")
	row("{.u32.u64,.s32.u64,.u32.s64,.s32.s64}", "u32", "u64", "uint32(x)")
	// A 16-bit result may go to a wider register, which it then fills by its sign.
	row("{.u16.u32,.u16.s32}", "u32", "u32", "x & 0xffff")
	row("{.s16.u32,.s16.s32}", "u32", "u32", "uint32(int32(int16(x)))")
	row("{.u16.u64,.u16.s64}", "u32", "u64", "uint32(x & 0xffff)")
	row("{.s16.u64,.s16.s64}", "u32", "u64", "uint32(int32(int16(x)))")
	row("{.u32.u16,.s32.u16}", "u32", "u16", "uint32(x)")
	row("{.s32.s16,.u32.s16}", "s32", "s16", "int32(x)")
	row("{.u64.u16,.s64.u16}", "u64", "u16", "uint64(x)")
	row("{.s64.s16,.u64.s16}", "s64", "s16", "int64(x)")
	row("{.u32.u8,.s32.u8,.u16.u8,.s16.u8}", "u32", "u8", "uint32(x)")
	row("{.s32.s8,.u32.s8,.s16.s8,.u16.s8}", "s32", "s8", "int32(x)")
	row("{.u32.u32,.s32.s32,.u32.s32,.s32.u32}", "u32", "u32", "x")
	row("{.u64.u64,.s64.s64,.u64.s64,.s64.u64}", "u64", "u64", "x")
	// The half's bits, shifted to where a float has them, are 2^112 times too small; the product mends that for subnormals
	// too. Infinities and NaN, whose exponent carries into bit 28, take the exact way.
	add(op{[]string{"cvt.f32.f16"}, "f32", []string{"f16"}, "quiet(x)", convert, "", 0, "9.7.9.21",
		`h := uint32(int32(a[i]<<16)>>3) & 0x8fffe000
		if (h+1<<23)&(1<<28) != 0 {
			odd = true
		}
		v := math.Float32frombits(h) * 0x1p112`})
	row(".f32.bf16", "f32", "bf16", "quiet(x)")
	row(".rn.f16.f32", "f16", "f32", "x")
	row(".rn.bf16.f32", "bf16", "f32", "x")
	row(".rn.f32.s32", "f32", "s32", "float32(x)")
	row(".rn.f32.u32", "f32", "u32", "float32(x)")
	row(".rn.f32.s64", "f32", "s64", "float32(x)")
	row(".rn.f32.u64", "f32", "u64", "float32(x)")
	row(".rn.f64.s32", "f64", "s32", "float64(x)")
	row(".rn.f64.u32", "f64", "u32", "float64(x)")
	row(".rn.f64.s64", "f64", "s64", "float64(x)")
	row(".rn.f64.u64", "f64", "u64", "float64(x)")
	row(".f64.f32", "f64", "f32", "float64(x)")
	row(".rn.f32.f64", "f32", "f64", "quiet(float32(x))")
	row(".sat.f32.f32", "f32", "f32", "saturate(x)")
	row(".ftz.sat.f32.f32", "f32", "f32", "saturate(flush(x))")
	for _, r := range []struct{ name, fn string }{{"rzi", "math.Trunc"}, {"rni", "math.RoundToEven"}, {"rmi", "math.Floor"}, {"rpi", "math.Ceil"}} {
		for _, ftz := range []string{"", ".ftz"} {
			x := "float64(x)"
			if ftz != "" {
				x = "float64(flush(x))"
			}
			row("."+r.name+ftz+".s32.f32", "s32", "f32", "int32(clampSigned("+r.fn+"("+x+"), 32))")
			row("."+r.name+ftz+".u32.f32", "u32", "f32", "uint32(clampUnsigned("+r.fn+"("+x+"), 32))")
			row("."+r.name+ftz+".f32.f32", "f32", "f32", "quiet(float32("+r.fn+"("+x+")))")
		}
	}
	for _, t := range []struct{ name, fn, directed string }{{"f16x2", "floatToHalf", "roundHalf"}, {"bf16x2", "floatToBfloat", "roundBfloat"}} {
		zero := "uint32(" + t.directed + "(x, toZero))<<16 | uint32(" + t.directed + "(y, toZero))"
		add(op{[]string{"cvt.rz." + t.name + ".f32"}, "u32", []string{"f32", "f32"}, zero, convert, "", 0, "9.7.9.21", ""})
		pack := "uint32(" + t.fn + "(x))<<16 | uint32(" + t.fn + "(y))"
		relu := "uint32(" + t.fn + "(relu(x)))<<16 | uint32(" + t.fn + "(relu(y)))"
		add(op{[]string{"cvt.rn." + t.name + ".f32"}, "u32", []string{"f32", "f32"}, pack, convert, "", 0, "9.7.9.21", ""})
		add(op{[]string{"cvt.rn.relu." + t.name + ".f32"}, "u32", []string{"f32", "f32"}, relu, convert, "", 0, "9.7.9.21", ""})
	}
	add(op{[]string{"cvt.rna.tf32.f32"}, "u32", []string{"f32"}, "roundTF32Away(x)", convert, "", 0, "9.7.9.21", ""})
	add(op{[]string{"cvt.rn.tf32.f32"}, "u32", []string{"f32"}, "roundTF32Even(x)", convert, "", 0, "9.7.9.21", ""})
	for _, n := range []int{16, 8, 4, 2} {
		for _, sign := range []string{"u", "s"} {
			low, high := 0, 1<<n-1
			if sign == "s" {
				low, high = -1<<(n-1), 1<<(n-1)-1
			}
			part := func(v string) string {
				return fmt.Sprintf("uint32(min(max(%s, %d), %d))&%#x", v, low, high, 1<<n-1)
			}
			expr := fmt.Sprintf("%s<<%d | %s", part("x"), n, part("y"))
			if n == 16 {
				add(op{[]string{"cvt.pack.sat." + sign + "16.s32"}, "u32", []string{"s32", "s32"}, expr, convert, "", 0, "9.7.9.22", ""})
				continue
			}
			add(op{[]string{fmt.Sprintf("cvt.pack.sat.%s%d.s32.b32", sign, n)}, "u32", []string{"s32", "s32", "u32"}, fmt.Sprintf("z<<%d | %s", 2*n, expr), convert, "", 0, "9.7.9.22", ""})
		}
	}
}
