package asmgen

import "strings"

// compare adds a setp: body leaves all-ones or zero lanes in Y0…3, inverted where the comparison was the opposite one.
func (s *set) compare(twin string, sources int, inverted bool, body func(b *block)) {
	s.define(twin, func(b *block) {
		b.slots(sources)
		body(b)
		b.maskOf(0)
		if inverted {
			b.i("NOTL AX")
		}
		b.setPredicate()
	}).masks = true
}

func (s *set) comparisons() {
	for _, c := range []string{"Eq", "Ne", "Lt", "Le", "Gt", "Ge"} {
		for _, t := range []string{"U16", "S16", "U32", "S32", "U64", "S64"} {
			s.compareIntegers(c, t)
		}
	}
	// Predicates of VCMPPS, ordered and unordered.
	for _, c := range []struct {
		name string
		code int
	}{{"Eq", 0}, {"Equ", 8}, {"Ne", 12}, {"Neu", 4}, {"Lt", 1}, {"Ltu", 9}, {"Le", 2}, {"Leu", 10}, {"Gt", 14}, {"Gtu", 6}, {"Ge", 13}, {"Geu", 5}, {"Num", 7}, {"Nan", 3}} {
		s.compare("laneSetp"+c.name+"F32", 2, false, func(b *block) {
			b.load(0, "BX", 4)
			for k := range 4 {
				b.i("VCMPPS $%d, %s, Y%d, Y%d", c.code, at("CX", k), k, k)
			}
		})
		s.compare("laneSetp"+c.name+"FtzF32", 2, false, func(b *block) {
			b.load(0, "BX", 4)
			b.load(4, "CX", 4)
			b.flush(0, 8)
			for k := range 4 {
				b.i("VCMPPS $%d, Y%d, Y%d, Y%d", c.code, 4+k, k, k)
			}
		})
		s.compare("laneSetp"+c.name+"F64", 2, false, func(b *block) {
			b.load(0, "BX", 8)
			for k := range 8 {
				b.i("VCMPPD $%d, %s, Y%d, Y%d", c.code, at("CX", k), k, k)
			}
			b.narrow(0, 0)
		})
		for _, h := range []half{{"F16", false, false}, {"FtzF16", false, false}, {"Bf16", true, false}} {
			s.compare("laneSetp"+c.name+h.name, 2, false, func(b *block) {
				b.halfConstants(h)
				for k := range 4 {
					h.load(b, "BX", k, k)
					h.load(b, "CX", k, 4)
					if h.name == "FtzF16" {
						b.flushHalf(k)
						b.flushHalf(4)
					}
					b.i("VCMPPS $%d, Y4, Y%d, Y%d", c.code, k, k)
				}
			})
		}
	}
}

func (s *set) compareIntegers(c, t string) {
	signed, wide, narrow := t[0] == 'S', t[1:] == "64", t[1:] == "16"
	n, suffix := 4, "D"
	if wide {
		n, suffix = 8, "Q"
	}
	// AVX2 knows = and signed >: a < b is b > a, and the others are their opposites.
	swap := c == "Lt" || c == "Ge"
	inverted := c == "Ne" || c == "Le" || c == "Ge"
	instruction := "VPCMPGT" + suffix
	if c == "Eq" || c == "Ne" {
		instruction = "VPCMPEQ" + suffix
	}
	s.compare("laneSetp"+c+t, 2, inverted, func(b *block) {
		x, y := "BX", "CX"
		if swap {
			x, y = y, x
		}
		if narrow {
			b.extend16(0, x, signed)
			b.extend16(4, y, signed)
			b.each(4, instruction+" Y%d, Y%d, Y%d", 4, 0, 0)
			return
		}
		b.load(0, x, n)
		if !signed && strings.HasPrefix(instruction, "VPCMPGT") {
			if wide {
				b.fill64(14, 1<<63)
			} else {
				b.fill(14, 1<<31)
			}
			for k := range n {
				b.i("VPXOR Y14, Y%d, Y%d", k, k)
				b.i("VPXOR %s, Y14, Y13", at(y, k))
				b.i("%s Y13, Y%d, Y%d", instruction, k, k)
			}
		} else {
			for k := range n {
				b.i("%s %s, Y%d, Y%d", instruction, at(y, k), k, k)
			}
		}
		if wide {
			b.narrow(0, 0)
		}
	})
}
