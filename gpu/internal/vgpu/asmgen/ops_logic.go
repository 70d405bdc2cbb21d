package asmgen

import "fmt"

func (s *set) logic() {
	s.lanes32("laneMovB32", 1, func(b *block) {}).also("laneCvtU32U32")
	s.define("laneMovB64", func(b *block) {
		b.slots(1)
		b.load(0, "BX", 8)
		b.store(0, 8)
	}).also("laneCvtU64U64")
	s.lanes32("laneNotB32", 1, func(b *block) {
		b.fill(4, 0xffffffff)
		b.each(4, "VPXOR Y%d, Y4, Y%d", 0, 0)
	})
	s.define("laneNotB64", func(b *block) {
		b.slots(1)
		b.fill(8, 0xffffffff)
		for k := range 8 {
			b.i("VPXOR %s, Y8, Y%d", at("BX", k), k)
		}
		b.store(0, 8)
	})
	s.lanes32("laneCnotB32", 1, func(b *block) {
		b.fill(4, 0)
		b.each(4, "VPCMPEQD Y%d, Y4, Y%d", 0, 0)
		b.each(4, "VPSRLD $31, Y%d, Y%d", 0, 0)
	})
	s.lop3()
}

// formula is a way to compute a look-up table of lop3: an operand, a constant, or an instruction on two formulas.
type formula struct {
	cost        int
	instruction string // "" for an operand or constant
	operand     int    // 0, 1, 2: a, b, c; 3, 4: zeros, ones
	x, y        uint8
}

// lop3Formulas finds a cheapest formula over and, or, xor, and-not for each of the 256 tables.
func lop3Formulas() [256]*formula {
	var best [256]*formula
	best[0xf0], best[0xcc], best[0xaa] = &formula{operand: 0}, &formula{operand: 1}, &formula{operand: 2}
	best[0], best[255] = &formula{cost: 1, operand: 3}, &formula{cost: 1, operand: 4}
	for cost := 1; cost < 12; cost++ {
		var known []uint8
		for v, f := range best {
			if f != nil && f.cost < cost {
				known = append(known, uint8(v))
			}
		}
		for _, x := range known {
			for _, y := range known {
				if best[x].cost+best[y].cost+1 != cost {
					continue
				}
				for _, o := range []struct {
					instruction string
					value       uint8
				}{{"VPAND", x & y}, {"VPOR", x | y}, {"VPXOR", x ^ y}, {"VPANDN", ^x & y}} {
					if f := best[o.value]; f == nil || f.cost > cost {
						best[o.value] = &formula{cost: cost, instruction: o.instruction, x: x, y: y}
					}
				}
			}
		}
	}
	return best
}

func (s *set) lop3() {
	best := lop3Formulas()
	for table := range 256 {
		s.variant("laneLop3", table, func(b *block) {
			b.slots(3)
			for k := range 4 {
				b.i("VMOVDQU %s, Y0", at("BX", k))
				b.i("VMOVDQU %s, Y1", at("CX", k))
				b.i("VMOVDQU %s, Y2", at("SI", k))
				free := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
				r := b.formula(&best, uint8(table), &free)
				b.i("VMOVDQU Y%d, %s", r, at("DX", k))
			}
			b.next()
		}).name = fmt.Sprintf("doLop3_%02x", table)
	}
}

// formula emits a formula and gives the register of its value.
func (b *block) formula(best *[256]*formula, v uint8, free *[]int) int {
	f := best[v]
	if f.instruction == "" && f.operand < 3 {
		return f.operand
	}
	take := func() int {
		r := (*free)[0]
		*free = (*free)[1:]
		return r
	}
	if f.instruction == "" {
		r := take()
		b.fill(r, map[int]uint32{3: 0, 4: 0xffffffff}[f.operand])
		return r
	}
	x := b.formula(best, f.x, free)
	y := b.formula(best, f.y, free)
	r := take()
	b.i("%s Y%d, Y%d, Y%d", f.instruction, y, x, r) // VPANDN y, x, r: r = ^x & y
	for _, used := range []int{x, y} {
		if used > 2 {
			*free = append(*free, used)
		}
	}
	return r
}
