package lanegen

import "strings"

// packedRows are the packed integers of sm_90, the packed f32 and mixed precision of sm_100, and forms of operations that
// stand elsewhere with fewer operands; a spelling that takes one source more than another of the same name ends in ".three".
func packedRows() {
	for _, t := range []string{"u16x2", "s16x2"} {
		add(op{[]string{"add." + t}, t, repeat(t, 2), "x + y", integer, "", 0, "9.7.1.1", ""})
		least(90)
		for _, m := range []struct{ name, section string }{{"min", "9.7.1.12"}, {"max", "9.7.1.13"}} {
			add(op{[]string{m.name + "." + t}, t, repeat(t, 2), m.name + "(x, y)", integer, "", 0, m.section, ""})
			least(90)
			if t == "s16x2" {
				add(op{[]string{m.name + "{.relu.s16x2,.s16x2.relu}"}, t, repeat(t, 2), "max(" + m.name + "(x, y), 0)", integer, "", 0, m.section, ""})
				least(90)
				add(op{[]string{m.name + "{.relu.s32,.s32.relu}"}, "s32", repeat("s32", 2), "max(" + m.name + "(x, y), 0)", integer, "", 0, m.section, ""})
				least(90)
			}
		}
	}
	add(op{[]string{"mad24.hi.sat.s32"}, "s32", repeat("s32", 3), "saturate32(int64(x<<8>>8)*int64(y<<8>>8)>>16 + int64(z))", integer, "", 0, "9.7.1.6", ""})
	add(op{[]string{"fns.b32"}, "u32", []string{"u32", "u32", "s32"}, "findNthSet(x, y, z)", integer, "", 0, "9.7.1.17", ""})
	for _, t := range []string{"f16", "f16x2", "bf16", "bf16x2"} {
		lanes := 1 + b2i(len(t) > 4)
		expr := "fmaOutOfBounds(x, y, z)"
		add(op{[]string{"fma.rn.oob." + t}, t, repeat(t, 3), expr, fp16, "FLOPF16", 2 * lanes, "9.7.4.4", ""})
		least(90)
		add(op{[]string{"fma.rn.oob.relu." + t}, t, repeat(t, 3), "relu(" + expr + ")", fp16, "FLOPF16", 2 * lanes, "9.7.4.4", ""})
		least(90)
	}
	pairRows()
	mixedRows()
	threeRows()
}

// least says which target the row added last needs.
func least(sm int) { ops[len(ops)-1].sm = sm }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pairRows are the arithmetic of f32x2: two f32 in a 64-bit register.
func pairRows() {
	for _, rounding := range []string{"rn", "rz", "rm", "rp"} {
		for _, ftz := range []string{"", ".ftz"} {
			for _, a := range []struct {
				name, expr string
				sources    int
				section    string
			}{{"add", "addRounded(x, y, MODE)", 2, "9.7.3.3"}, {"sub", "addRounded(x, -y, MODE)", 2, "9.7.3.4"}, {"mul", "mulRounded(x, y, MODE)", 2, "9.7.3.5"},
				{"fma", "fmaRounded(x, y, z, MODE)", 3, "9.7.3.6"}} {
				expr := strings.ReplaceAll(a.expr, "MODE", roundings[rounding])
				if ftz != "" {
					expr = "flush(" + withFlush(expr, a.sources) + ")"
				}
				low, high := "quiet("+expr+")", "quiet("+expr+")"
				for _, v := range []string{"x", "y", "z"}[:a.sources] {
					low, high = replaceWord(low, v, "lowFloat("+v+")"), replaceWord(high, v, "highFloat("+v+")")
				}
				name := a.name + "." + rounding + ftz + ".f32x2"
				if rounding == "rn" && a.name != "fma" {
					name = a.name + "{,.rn}" + ftz + ".f32x2"
				}
				flops := 2
				if a.name == "fma" {
					flops = 4
				}
				add(op{[]string{name}, "u64", repeat("u64", a.sources), "joinFloats(" + low + ", " + high + ")", fp32, "FLOPF32", flops, a.section, ""})
				least(100)
			}
		}
	}
}

// mixedRows are add, sub and fma of f16 or bf16 with f32.
func mixedRows() {
	for _, t := range []string{"f16", "bf16"} {
		for _, rounding := range []string{"rn", "rz", "rm", "rp"} {
			for _, sat := range []string{"", ".sat"} {
				finish := func(expr string) string {
					if sat != "" {
						return "saturate(" + expr + ")"
					}
					return "quiet(" + expr + ")"
				}
				mode := roundings[rounding]
				optional := "." + rounding
				if rounding == "rn" {
					optional = "{,.rn}"
				}
				add(op{[]string{"add" + optional + sat + ".f32." + t}, "f32", []string{t, "f32"}, finish("addRounded(x, y, " + mode + ")"), fp32, "FLOPF32", 1, "9.7.5.1", ""})
				least(100)
				add(op{[]string{"sub" + optional + sat + ".f32." + t}, "f32", []string{t, "f32"}, finish("addRounded(x, -y, " + mode + ")"), fp32, "FLOPF32", 1, "9.7.5.2", ""})
				least(100)
				add(op{[]string{"fma." + rounding + sat + ".f32." + t}, "f32", []string{t, t, "f32"}, finish("fmaRounded(x, y, z, " + mode + ")"), fp32, "FLOPF32", 2, "9.7.5.3", ""})
				least(100)
			}
		}
	}
}

// threeRows are min and max of three f32, and .NaN with .xorsign.abs of two.
func threeRows() {
	for _, m := range []struct{ name, fn, section string }{{"min", "minimum", "9.7.3.11"}, {"max", "maximum", "9.7.3.12"}} {
		for _, ftz := range []string{"", ".ftz"} {
			for _, nan := range []string{"", ".NaN"} {
				fn := m.fn
				if nan != "" {
					fn += "NaN"
				}
				for _, abs := range []string{"", ".abs"} {
					expr := fn + "(" + fn + "(x, y), z)"
					for _, v := range []string{"x", "y", "z"} {
						by := v
						if ftz != "" {
							by = "flush(" + by + ")"
						}
						if abs != "" {
							by = "abs32(" + by + ")"
						}
						expr = replaceWord(expr, v, by)
					}
					add(op{[]string{m.name + ftz + nan + abs + ".f32.three"}, "f32", repeat("f32", 3), expr, fp32, "", 0, m.section, ""})
					least(100)
				}
			}
			x, y := "abs32(x)", "abs32(y)"
			if ftz != "" {
				x, y = "abs32(flush(x))", "abs32(flush(y))"
			}
			add(op{[]string{m.name + ftz + ".NaN.xorsign.abs.f32"}, "f32", repeat("f32", 2), "xorSign(" + m.fn + "NaN(" + x + ", " + y + "), x, y)", fp32, "", 0, m.section, ""})
		}
		for _, t := range []string{"f16", "f16x2", "bf16", "bf16x2"} {
			for _, ftz := range []string{"", ".ftz"} {
				if ftz != "" && t[0] == 'b' {
					continue
				}
				x, y := "abs32(x)", "abs32(y)"
				if ftz != "" {
					x, y = "abs32(flushHalf(x))", "abs32(flushHalf(y))"
				}
				section := map[string]string{"min": "9.7.4.7", "max": "9.7.4.8"}[m.name]
				add(op{[]string{m.name + ftz + ".NaN.xorsign.abs." + t}, t, repeat(t, 2), "xorSign(" + m.fn + "NaN(" + x + ", " + y + "), x, y)", fp16, "", 0, section, ""})
			}
		}
	}
}
