package lanegen

import "strings"

const (
	integer = "ClassInteger"
	move    = "ClassMove"
	convert = "ClassConvert"
)

func goType(t string) string {
	switch t[0] {
	case 's':
		return "int" + t[1:]
	case 'u':
		return "uint" + t[1:]
	}
	return "float" + t[1:]
}

func wider(t string) string {
	return map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[t]
}

func integerRows() {
	for _, n := range []string{"16", "32", "64"} {
		u, both := "u"+n, "{.s"+n+",.u"+n+"}"
		add(op{[]string{"add" + both}, u, []string{u, u}, "x + y", integer, "", 0, "9.7.1.1", ""})
		add(op{[]string{"sub" + both}, u, []string{u, u}, "x - y", integer, "", 0, "9.7.1.2", ""})
		add(op{[]string{"mul.lo" + both}, u, []string{u, u}, "x * y", integer, "", 0, "9.7.1.3", ""})
		add(op{[]string{"mad.lo" + both}, u, []string{u, u, u}, "x*y + z", integer, "", 0, "9.7.1.4", ""})
		for _, t := range []string{"u" + n, "s" + n} {
			one := []string{t, t}
			add(op{[]string{"min." + t}, t, one, "min(x, y)", integer, "", 0, "9.7.1.12", ""})
			add(op{[]string{"max." + t}, t, one, "max(x, y)", integer, "", 0, "9.7.1.13", ""})
			add(op{[]string{"div." + t}, t, one, "divide(x, y)", integer, "", 0, "9.7.1.8", ""})
			add(op{[]string{"rem." + t}, t, one, "remainder(x, y)", integer, "", 0, "9.7.1.9", ""})
			add(op{[]string{"sad." + t}, t, []string{t, t, t}, "z + max(x, y) - min(x, y)", integer, "", 0, "9.7.1.7", ""})
			high := goType(t) + "((" + goType(maxType(t)) + "(x) * " + goType(maxType(t)) + "(y)) >> " + n + ")"
			if n == "64" {
				high = map[string]string{"u64": "mulHighUnsigned(x, y)", "s64": "mulHighSigned(x, y)"}[t]
			} else {
				w := wider(t)
				wide := goType(w) + "(x) * " + goType(w) + "(y)"
				add(op{[]string{"mul.wide." + t}, w, one, wide, integer, "", 0, "9.7.1.3", ""})
				add(op{[]string{"mad.wide." + t}, w, []string{t, t, w}, wide + " + z", integer, "", 0, "9.7.1.4", ""})
			}
			add(op{[]string{"mul.hi." + t}, t, one, high, integer, "", 0, "9.7.1.3", ""})
			add(op{[]string{"mad.hi." + t}, t, []string{t, t, t}, high + " + z", integer, "", 0, "9.7.1.4", ""})
		}
		s := "s" + n
		add(op{[]string{"abs." + s}, s, []string{s}, "max(x, -x)", integer, "", 0, "9.7.1.10", ""})
		add(op{[]string{"neg." + s}, s, []string{s}, "-x", integer, "", 0, "9.7.1.11", ""})
	}
	add(op{[]string{"add.sat.s32"}, "s32", []string{"s32", "s32"}, "saturate32(int64(x) + int64(y))", integer, "", 0, "9.7.1.1", ""})
	add(op{[]string{"sub.sat.s32"}, "s32", []string{"s32", "s32"}, "saturate32(int64(x) - int64(y))", integer, "", 0, "9.7.1.2", ""})
	add(op{[]string{"mad.hi.sat.s32"}, "s32", []string{"s32", "s32", "s32"}, "saturate32(int64(x)*int64(y)>>32 + int64(z))", integer, "", 0, "9.7.1.4", ""})
	for _, t := range []string{"u32", "s32"} {
		product := map[string]string{"u32": "uint64(x&0xffffff)*uint64(y&0xffffff)", "s32": "int64(x<<8>>8)*int64(y<<8>>8)"}[t]
		add(op{[]string{"mul24.lo." + t}, t, []string{t, t}, goType(t) + "(" + product + ")", integer, "", 0, "9.7.1.5", ""})
		add(op{[]string{"mul24.hi." + t}, t, []string{t, t}, goType(t) + "(" + product + ">>16)", integer, "", 0, "9.7.1.5", ""})
		add(op{[]string{"mad24.lo." + t}, t, []string{t, t, t}, goType(t) + "(" + product + ") + z", integer, "", 0, "9.7.1.6", ""})
		add(op{[]string{"mad24.hi." + t}, t, []string{t, t, t}, goType(t) + "(" + product + ">>16) + z", integer, "", 0, "9.7.1.6", ""})
		for _, v := range []string{"u32", "s32"} {
			d := "s32"
			if t == "u32" && v == "u32" {
				d = "u32"
			}
			sign := map[string]string{"u32": "false", "s32": "true"}
			call := "uint32(x), uint32(y), uint32(z), " + sign[t] + ", " + sign[v]
			add(op{[]string{"dp4a." + t + "." + v}, d, []string{t, v, d}, goType(d) + "(dot4(" + call + "))", integer, "", 0, "9.7.1.23", ""})
			add(op{[]string{"dp2a.lo." + t + "." + v}, d, []string{t, v, d}, goType(d) + "(dot2(" + call + ", 0))", integer, "", 0, "9.7.1.24", ""})
			add(op{[]string{"dp2a.hi." + t + "." + v}, d, []string{t, v, d}, goType(d) + "(dot2(" + call + ", 2))", integer, "", 0, "9.7.1.24", ""})
		}
	}
	for _, n := range []string{"32", "64"} {
		u, b := "u"+n, ".b"+n
		add(op{[]string{"popc" + b}, "u32", []string{u}, "uint32(bits.OnesCount" + n + "(x))", integer, "", 0, "9.7.1.14", ""})
		add(op{[]string{"clz" + b}, "u32", []string{u}, "uint32(bits.LeadingZeros" + n + "(x))", integer, "", 0, "9.7.1.15", ""})
		add(op{[]string{"brev" + b}, u, []string{u}, "bits.Reverse" + n + "(x)", integer, "", 0, "9.7.1.18", ""})
		add(op{[]string{"bfi" + b}, u, []string{u, u, "u32", "u32"}, "insertField" + n + "(x, y, z, t)", integer, "", 0, "9.7.1.20", ""})
		for _, sign := range []string{"u", "s"} {
			t := sign + n
			add(op{[]string{"bfe." + t}, t, []string{t, "u32", "u32"}, goType(t) + "(extractField(uint64(x), y, z, " + n + ", " + isSigned(t) + "))", integer, "", 0, "9.7.1.19", ""})
			value := "uint64(x)"
			if sign == "s" {
				value = "uint64(x ^ x>>" + map[string]string{"32": "31", "64": "63"}[n] + ")"
				if n == "32" {
					value = "uint64(uint32(x ^ x>>31))"
				}
			}
			add(op{[]string{"bfind." + t}, "u32", []string{t}, "findTop(" + value + ")", integer, "", 0, "9.7.1.16", ""})
			add(op{[]string{"bfind.shiftamt." + t}, "u32", []string{t}, "topShift(" + value + ", " + n + ")", integer, "", 0, "9.7.1.16", ""})
		}
	}
	for _, t := range []string{"u32", "s32"} {
		for _, mode := range []string{"clamp", "wrap"} {
			add(op{[]string{"szext." + mode + "." + t}, t, []string{t, "u32"}, goType(t) + "(extendSign(uint32(x), " + bound("y", mode) + ", " + isSigned(t) + "))", integer, "", 0, "9.7.1.21", ""})
		}
	}
	for _, mode := range []string{"clamp", "wrap"} {
		add(op{[]string{"bmsk." + mode + ".b32"}, "u32", []string{"u32", "u32"}, "bitMask(" + bound("x", mode) + ", " + bound("y", mode) + ")", integer, "", 0, "9.7.1.22", ""})
	}
}

func bound(v, mode string) string {
	if mode == "clamp" {
		return "min(" + v + ", 32)"
	}
	return v + "&31"
}

func isSigned(t string) string {
	if t[0] == 's' {
		return "true"
	}
	return "false"
}

func maxType(t string) string { return t[:1] + "64" }

func logicRows() {
	for _, n := range []string{"16", "32", "64"} {
		u, b := "u"+n, ".b"+n
		two := []string{u, u}
		add(op{[]string{"and" + b}, u, two, "x & y", integer, "", 0, "9.7.8.1", ""})
		add(op{[]string{"or" + b}, u, two, "x | y", integer, "", 0, "9.7.8.2", ""})
		add(op{[]string{"xor" + b}, u, two, "x ^ y", integer, "", 0, "9.7.8.3", ""})
		add(op{[]string{"not" + b}, u, []string{u}, "^x", integer, "", 0, "9.7.8.4", ""})
		add(op{[]string{"cnot" + b}, u, []string{u}, "isZero(x)", integer, "", 0, "9.7.8.5", ""})
		add(op{[]string{"shl" + b}, u, []string{u, "u32"}, "x << y", integer, "", 0, "9.7.8.8", ""})
		add(op{[]string{"shr{.u" + n + ",.b" + n + "}"}, u, []string{u, "u32"}, "x >> y", integer, "", 0, "9.7.8.9", ""})
		add(op{[]string{"shr.s" + n}, "s" + n, []string{"s" + n, "u32"}, "x >> y", integer, "", 0, "9.7.8.9", ""})
		moves := "mov{.b" + n + ",.u" + n + ",.s" + n + ",.f" + n + "}"
		if n == "16" {
			moves = "mov{.b16,.u16,.s16,.f16,.bf16}"
		}
		add(op{[]string{moves}, u, []string{u}, "x", move, "", 0, "9.7.9.3", ""})
	}
	three := []string{"u32", "u32", "u32"}
	add(op{[]string{"shf.l.wrap.b32"}, "u32", three, "uint32((uint64(y)<<32 | uint64(x)) << (z & 31) >> 32)", integer, "", 0, "9.7.8.7", ""})
	add(op{[]string{"shf.r.wrap.b32"}, "u32", three, "uint32((uint64(y)<<32 | uint64(x)) >> (z & 31))", integer, "", 0, "9.7.8.7", ""})
	add(op{[]string{"shf.l.clamp.b32"}, "u32", three, "uint32((uint64(y)<<32 | uint64(x)) << min(z, 32) >> 32)", integer, "", 0, "9.7.8.7", ""})
	add(op{[]string{"shf.r.clamp.b32"}, "u32", three, "uint32((uint64(y)<<32 | uint64(x)) >> min(z, 32))", integer, "", 0, "9.7.8.7", ""})
	add(op{[]string{"prmt.b32"}, "u32", three, "permute(x, y, z)", integer, "", 0, "9.7.9.7", ""})
	for _, mode := range []string{"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"} {
		add(op{[]string{"prmt.b32." + mode}, "u32", three, "permute" + strings.ToUpper(mode[:1]) + mode[1:] + "(x, y, z)", integer, "", 0, "9.7.9.7", ""})
	}
}
