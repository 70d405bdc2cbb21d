package lanegen

import "strings"

const (
	fp32 = "ClassFP32"
	fp16 = "ClassFP16"
	fp64 = "ClassFP64"
	sfu  = "ClassSFU"
)

var roundings = map[string]string{"rn": "toNearest", "rz": "toZero", "rm": "toMinus", "rp": "toPlus"}

// fmaQuick rounds the exact product's sum twice, which is wrong only for ties of f32 and for very small results; NaN must
// become the canonical one (float.go, fma32).
const fmaQuick = `s := float64(x)*float64(y) + float64(z)
		bits := math.Float64bits(s)
		if (bits<<35 == 1<<63 || bits>>52&0x7ff-897 >= 1150) && s != 0 {
			odd = true
		}
		v := float32(s)`

// withFlush wraps the sources of an expression in flushes of denormals.
func withFlush(expr string, sources int) string {
	for _, v := range []string{"x", "y", "z"}[:sources] {
		expr = replaceWord(expr, v, "flush("+v+")")
	}
	return expr
}

func replaceWord(s, word, by string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i:i+1] == word && (i == 0 || !letter(s[i-1])) && (i+1 == len(s) || !letter(s[i+1])) {
			b.WriteString(by)
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '.'
}

func repeat(t string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = t
	}
	return all
}

func floatRows() {
	arithmetic := []struct {
		name, expr, directed string
		sources, flops       int
		section              string
	}{
		{"add", "x + y", "addRounded(x, y, %s)", 2, 1, "9.7.3.3"},
		{"sub", "x - y", "addRounded(x, -y, %s)", 2, 1, "9.7.3.4"},
		{"mul", "x * y", "mulRounded(x, y, %s)", 2, 1, "9.7.3.5"},
		{"fma", "", "fmaRounded(x, y, z, %s)", 3, 2, "9.7.3.6"},
	}
	for _, a := range arithmetic {
		for _, rounding := range []string{"rn", "rz", "rm", "rp"} {
			directed := strings.ReplaceAll(a.directed, "%s", roundings[rounding])
			for _, ftz := range []string{"", ".ftz"} {
				for _, sat := range []string{"", ".sat"} {
					expr := "quiet(" + a.expr + ")"
					if a.name == "fma" {
						expr = "fma32(x, y, z)"
					}
					if rounding != "rn" {
						expr = "quiet(" + directed + ")"
					}
					if ftz != "" {
						expr = "flush(" + withFlush(expr, a.sources) + ")"
					}
					if sat != "" {
						expr = "saturate(" + expr + ")"
					}
					spellings := []string{a.name + "." + rounding + ftz + sat + ".f32"}
					if a.name == "fma" {
						spellings = append(spellings, "mad."+rounding+ftz+sat+".f32")
					} else if rounding == "rn" {
						spellings = []string{a.name + "{,.rn}" + ftz + sat + ".f32"}
					}
					quick := ""
					if a.name == "fma" && rounding == "rn" && ftz == "" && sat == "" {
						quick = fmaQuick
					}
					add(op{spellings, "f32", repeat("f32", a.sources), expr, fp32, "FLOPF32", a.flops, a.section, quick})
				}
			}
			expr := a.expr
			if a.name == "fma" {
				expr = "math.FMA(x, y, z)"
			}
			if rounding != "rn" {
				expr = strings.ReplaceAll(strings.ReplaceAll(directed, "Rounded(", "Rounded64("), "32(", "64(")
			}
			spellings := []string{a.name + "." + rounding + ".f64"}
			if a.name == "fma" {
				spellings = append(spellings, "mad."+rounding+".f64")
			} else if rounding == "rn" {
				spellings = []string{a.name + "{,.rn}.f64"}
			}
			add(op{spellings, "f64", repeat("f64", a.sources), expr, fp64, "FLOPF64", a.flops, a.section, ""})
		}
	}
	divisionRows()
	specialRows()
	for _, t := range []string{"f32", "f64"} {
		class := map[string]string{"f32": fp32, "f64": fp64}[t]
		mask := map[string]string{"f32": "math.Float32frombits(math.Float32bits(x) & 0x7fffffff)", "f64": "math.Abs(x)"}[t]
		add(op{[]string{"abs." + t}, t, []string{t}, mask, class, "", 0, "9.7.3.9", ""})
		add(op{[]string{"neg." + t}, t, []string{t}, "-x", class, "", 0, "9.7.3.10", ""})
		add(op{[]string{"min." + t}, t, []string{t, t}, "minimum(x, y)", class, "", 0, "9.7.3.11", ""})
		add(op{[]string{"max." + t}, t, []string{t, t}, "maximum(x, y)", class, "", 0, "9.7.3.12", ""})
		sign := map[string]string{"f32": "copySign32", "f64": "math.Copysign"}[t]
		add(op{[]string{"copysign." + t}, t, []string{t, t}, sign + "(y, x)", class, "", 0, "9.7.3.2", ""})
		for _, property := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
			add(op{[]string{"testp." + property + "." + t}, "pred", []string{t}, "is" + strings.ToUpper(property[:1]) + property[1:] + "(x)", class, "", 0, "9.7.3.1", ""})
		}
	}
	add(op{[]string{"abs.ftz.f32"}, "f32", []string{"f32"}, "math.Float32frombits(math.Float32bits(flush(x)) & 0x7fffffff)", fp32, "", 0, "9.7.3.9", ""})
	add(op{[]string{"neg.ftz.f32"}, "f32", []string{"f32"}, "-flush(x)", fp32, "", 0, "9.7.3.10", ""})
	for _, m := range []struct{ name, fn, section string }{{"min", "minimum", "9.7.3.11"}, {"max", "maximum", "9.7.3.12"}} {
		two := []string{"f32", "f32"}
		add(op{[]string{m.name + ".ftz.f32"}, "f32", two, m.fn + "(flush(x), flush(y))", fp32, "", 0, m.section, ""})
		add(op{[]string{m.name + ".NaN.f32"}, "f32", two, m.fn + "NaN(x, y)", fp32, "", 0, m.section, ""})
		add(op{[]string{m.name + ".ftz.NaN.f32"}, "f32", two, m.fn + "NaN(flush(x), flush(y))", fp32, "", 0, m.section, ""})
		add(op{[]string{m.name + ".xorsign.abs.f32"}, "f32", two, "xorSign(" + m.fn + "(abs32(x), abs32(y)), x, y)", fp32, "", 0, m.section, ""})
		add(op{[]string{m.name + ".ftz.xorsign.abs.f32"}, "f32", two, "xorSign(" + m.fn + "(abs32(flush(x)), abs32(flush(y))), x, y)", fp32, "", 0, m.section, ""})
	}
}

func divisionRows() {
	for _, ftz := range []string{"", ".ftz"} {
		wrap := func(expr string, n int) string {
			if ftz == "" {
				return expr
			}
			return "flush(" + withFlush(expr, n) + ")"
		}
		add(op{[]string{"div{.approx,.full}" + ftz + ".f32"}, "f32", repeat("f32", 2), wrap("quiet(x / y)", 2), sfu, "FLOPSFU", 1, "9.7.3.8", ""})
		add(op{[]string{"rcp.approx" + ftz + ".f32"}, "f32", repeat("f32", 1), wrap("quiet(1 / x)", 1), sfu, "FLOPSFU", 1, "9.7.3.13", ""})
		add(op{[]string{"sqrt.approx" + ftz + ".f32"}, "f32", repeat("f32", 1), wrap("quiet(sqrt32(x))", 1), sfu, "FLOPSFU", 1, "9.7.3.15", ""})
		add(op{[]string{"rsqrt.approx" + ftz + ".f32"}, "f32", repeat("f32", 1), wrap("quiet(reciprocalSqrt(x))", 1), sfu, "FLOPSFU", 1, "9.7.3.16", ""})
		for _, f := range []struct{ name, fn, section string }{{"sin", "sine", "9.7.3.18"}, {"cos", "cosine", "9.7.3.19"}, {"lg2", "log2", "9.7.3.20"}, {"ex2", "exp2", "9.7.3.21"}} {
			add(op{[]string{f.name + ".approx" + ftz + ".f32"}, "f32", repeat("f32", 1), wrap("quiet("+f.fn+"(x))", 1), sfu, "FLOPSFU", 1, f.section, ""})
		}
		for _, r := range []string{"rn", "rz", "rm", "rp"} {
			div, rcp, root := "quiet(x / y)", "quiet(1 / x)", "quiet(sqrt32(x))"
			if r != "rn" {
				m := roundings[r]
				div, rcp, root = "quiet(divRounded(x, y, "+m+"))", "quiet(divRounded(1, x, "+m+"))", "quiet(sqrtRounded(x, "+m+"))"
			}
			add(op{[]string{"div." + r + ftz + ".f32"}, "f32", repeat("f32", 2), wrap(div, 2), sfu, "FLOPSFU", 1, "9.7.3.8", ""})
			add(op{[]string{"rcp." + r + ftz + ".f32"}, "f32", repeat("f32", 1), wrap(rcp, 1), sfu, "FLOPSFU", 1, "9.7.3.13", ""})
			add(op{[]string{"sqrt." + r + ftz + ".f32"}, "f32", repeat("f32", 1), wrap(root, 1), sfu, "FLOPSFU", 1, "9.7.3.15", ""})
		}
	}
	for _, r := range []string{"rn", "rz", "rm", "rp"} {
		div, rcp, root := "x / y", "1 / x", "math.Sqrt(x)"
		if r != "rn" {
			m := roundings[r]
			div, rcp, root = "divRounded64(x, y, "+m+")", "divRounded64(1, x, "+m+")", "sqrtRounded64(x, "+m+")"
		}
		add(op{[]string{"div." + r + ".f64"}, "f64", repeat("f64", 2), div, fp64, "FLOPF64", 1, "9.7.3.8", ""})
		add(op{[]string{"rcp." + r + ".f64"}, "f64", repeat("f64", 1), rcp, fp64, "FLOPF64", 1, "9.7.3.13", ""})
		add(op{[]string{"sqrt." + r + ".f64"}, "f64", repeat("f64", 1), root, fp64, "FLOPF64", 1, "9.7.3.15", ""})
	}
}

func specialRows() {
	add(op{[]string{"rcp.approx.ftz.f64"}, "f64", repeat("f64", 1), "approximate64(1 / flush64(x))", sfu, "FLOPSFU", 1, "9.7.3.14", ""})
	add(op{[]string{"rsqrt.approx.f64"}, "f64", repeat("f64", 1), "1 / math.Sqrt(x)", sfu, "FLOPSFU", 1, "9.7.3.16", ""})
	add(op{[]string{"rsqrt.approx.ftz.f64"}, "f64", repeat("f64", 1), "approximate64(1 / math.Sqrt(flush64(x)))", sfu, "FLOPSFU", 1, "9.7.3.17", ""})
	add(op{[]string{"tanh.approx.f32"}, "f32", repeat("f32", 1), "quiet(tanh32(x))", sfu, "FLOPSFU", 1, "9.7.3.22", ""})
}

func halfRows() {
	arithmetic := []struct {
		name, expr string
		sources    int
		flops      int
		section    string
	}{
		{"add", "x + y", 2, 1, "9.7.4.1"}, {"sub", "x - y", 2, 1, "9.7.4.2"}, {"mul", "x * y", 2, 1, "9.7.4.3"},
	}
	for _, base := range []string{"f16", "bf16"} {
		for _, packed := range []string{"", "x2"} {
			t := base + packed
			lanes := 1
			if packed != "" {
				lanes = 2
			}
			flushes := []string{"", ".ftz"}
			saturations := []string{"", ".sat"}
			if base == "bf16" {
				flushes, saturations = []string{""}, []string{""}
			}
			flushName := "flushHalf"
			for _, ftz := range flushes {
				for _, sat := range saturations {
					finish := func(expr string, sources int) string {
						if ftz != "" {
							for _, v := range []string{"x", "y", "z"}[:sources] {
								expr = replaceWord(expr, v, flushName+"("+v+")")
							}
							expr = flushName + "Result(" + expr + ")"
						}
						if sat != "" {
							expr = "saturate(" + expr + ")"
						}
						return expr
					}
					for _, a := range arithmetic {
						add(op{[]string{a.name + "{,.rn}" + ftz + sat + "." + t}, t, repeat(t, a.sources), finish(a.expr, a.sources), fp16, "FLOPF16", a.flops * lanes, a.section, ""})
					}
					fma := finish("fmaOdd(x, y, z)", 3)
					add(op{[]string{"fma.rn" + ftz + sat + "." + t}, t, repeat(t, 3), fma, fp16, "FLOPF16", 2 * lanes, "9.7.4.4", ""})
					if sat == "" {
						add(op{[]string{"fma.rn" + ftz + ".relu." + t}, t, repeat(t, 3), "relu(" + fma + ")", fp16, "FLOPF16", 2 * lanes, "9.7.4.4", ""})
					}
				}
				wrap := func(expr string, sources int) string {
					if ftz == "" {
						return expr
					}
					for _, v := range []string{"x", "y"}[:sources] {
						expr = replaceWord(expr, v, flushName+"("+v+")")
					}
					return expr
				}
				for _, m := range []struct{ name, fn, section string }{{"min", "minimum", "9.7.4.7"}, {"max", "maximum", "9.7.4.8"}} {
					add(op{[]string{m.name + ftz + "." + t}, t, repeat(t, 2), wrap(m.fn+"(x, y)", 2), fp16, "", 0, m.section, ""})
					add(op{[]string{m.name + ftz + ".NaN." + t}, t, repeat(t, 2), wrap(m.fn+"NaN(x, y)", 2), fp16, "", 0, m.section, ""})
					add(op{[]string{m.name + ftz + ".xorsign.abs." + t}, t, repeat(t, 2), wrap("xorSign("+m.fn+"(abs32(x), abs32(y)), x, y)", 2), fp16, "", 0, m.section, ""})
				}
				h := "h16" + packed
				value := "x"
				if ftz != "" {
					value = "flushHalfBits(x)"
				}
				add(op{[]string{"neg" + ftz + "." + t}, h, repeat(h, 1), value + " ^ 0x8000", fp16, "", 0, "9.7.4.5", ""})
				add(op{[]string{"abs" + ftz + "." + t}, h, repeat(h, 1), value + " & 0x7fff", fp16, "", 0, "9.7.4.6", ""})
			}
			ex2 := "ex2.approx." + t
			if base == "bf16" {
				ex2 = "ex2.approx.ftz." + t
			}
			add(op{[]string{ex2}, t, repeat(t, 1), "exp2(x)", sfu, "FLOPSFU", lanes, "9.7.4.10", ""})
			add(op{[]string{"tanh.approx." + t}, t, repeat(t, 1), "tanh32(x)", sfu, "FLOPSFU", lanes, "9.7.4.9", ""})
		}
	}
}
