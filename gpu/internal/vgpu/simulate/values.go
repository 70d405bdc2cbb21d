package simulate

import "sort"

// value is what a register holds, as an expression's number plus a constant; number 0 is a constant alone.
type value struct {
	number uint64
	offset int64
}

func (a value) plus(b value) value {
	switch {
	case a.number == 0:
		return value{b.number, a.offset + b.offset}
	case b.number == 0:
		return value{a.number, a.offset + b.offset}
	}
	return value{hashOf(11, a.number, b.number), a.offset + b.offset}
}

func (a value) times(n int64) value {
	if a.number == 0 {
		return value{0, a.offset * n}
	}
	return value{hashOf(13, a.number, uint64(n)), a.offset * n}
}

// sharedLoad is one scalar load that may become part of a wide one.
type sharedLoad struct {
	at    int // occurrence
	first uint32
}

// base is what shared loads have in common that may merge: the expression of their address, and no store between them.
type base struct {
	number uint64
	epoch  int
}

// numberer walks a path and numbers the values in registers.
type numberer struct {
	b      *builder
	values map[int32]value
	fresh  uint64
	seen   map[uint64]int
	groups map[base][]sharedLoad
	keys   []base // of groups, in order
	epoch  int
}

// numberValues finds what later copies of a block compute again apart from a constant, which then goes into an offset, and
// scalar shared loads that lie side by side.
func (b *builder) numberValues(accesses []Access) {
	n := &numberer{b: b, values: map[int32]value{}, fresh: 1000, seen: map[uint64]int{}, groups: map[base][]sharedLoad{}}
	memory := 0
	for c, k := range b.path {
		x := &b.p.blocks[k]
		for i := x.from; i < x.to; i++ {
			code := &b.p.code[i]
			if code.class == loadShared && code.opcode == "ld" && code.bytes == 4 && code.guard < 0 && memory < len(accesses) {
				g := base{0, n.epoch}
				if code.address >= 0 {
					g.number = n.register(code.address).number
				}
				if n.groups[g] == nil {
					n.keys = append(n.keys, g)
				}
				n.groups[g] = append(n.groups[g], sharedLoad{occurrence(c, i), accesses[memory].First})
			}
			switch code.class {
			case storeShared, atomicShared, barrier, copyAsync, bulkCopy:
				n.epoch++
			}
			if code.memory {
				memory++
			}
			if len(code.dst) > 0 {
				n.define(code, c, i)
			}
		}
	}
	for _, g := range n.keys {
		b.mergeLoads(n.groups[g])
	}
}

func (n *numberer) register(r int32) value {
	if v, ok := n.values[r]; ok {
		return v
	}
	v := value{hashOf(uint64(r), 7), 0}
	n.values[r] = v
	return v
}

func (n *numberer) operand(o operand) value {
	if o.register >= 0 {
		return n.register(o.register)
	}
	return value{o.symbol, o.value}
}

// define numbers what an instruction writes.
func (n *numberer) define(code *instruction, c int, i int32) {
	if !code.pure {
		for _, d := range code.dst {
			n.fresh++
			n.values[d] = value{hashOf(n.fresh, 3), 0}
		}
		return
	}
	var a [3]value
	for k := range min(len(code.args), 3) {
		a[k] = n.operand(code.args[k])
	}
	constant := len(code.args) > 1 && a[1].number == 0
	var v value
	switch {
	case code.kind == same && len(code.args) == 1:
		v = a[0]
	case code.kind == widened && len(code.args) == 1:
		if v = a[0]; v.number != 0 {
			v.number = hashOf(17, v.number)
		}
	case code.kind == sum:
		v = a[0].plus(a[1])
	case code.kind == shifted && constant && a[1].offset >= 0 && a[1].offset < 64:
		v = a[0].times(1 << uint(a[1].offset))
	case code.kind == product && constant:
		v = a[0].times(a[1].offset)
	case code.kind == multiply && constant:
		v = a[0].times(a[1].offset).plus(a[2])
	default:
		parts := []uint64{19, code.spelling}
		for _, o := range code.args {
			x := n.operand(o)
			parts = append(parts, x.number, uint64(x.offset))
		}
		v = value{hashOf(parts...), 0}
	}
	n.values[code.dst[0]] = v
	if v.number == 0 || code.class == free {
		return
	}
	at := occurrence(c, i)
	if from, ok := n.seen[v.number]; !ok {
		n.seen[v.number] = at
	} else if from>>20 != c {
		n.b.fold[at] = from
	}
}

// mergeLoads joins scalar loads of neighbouring words into loads of 8 and 16 bytes where their address is a multiple of that.
func (b *builder) mergeLoads(loads []sharedLoad) {
	sort.SliceStable(loads, func(i, j int) bool { return loads[i].first < loads[j].first })
	for i := 0; i < len(loads); {
		n := 1
		for i+n < len(loads) && n < 4 && loads[i+n].first == loads[i].first+uint32(4*n) {
			n++
		}
		wide := uint8(0)
		switch {
		case n >= 4 && loads[i].first%16 == 0:
			n, wide = 4, 2
		case n >= 2 && loads[i].first%8 == 0:
			n, wide = 2, 1
		default:
			n = 1
		}
		leader := loads[i].at
		for _, l := range loads[i : i+n] {
			leader = min(leader, l.at)
		}
		for _, l := range loads[i : i+n] {
			if l.at != leader {
				b.lead[l.at] = leader
			}
		}
		if wide > 0 {
			b.merged[leader] = wide
		}
		i += n
	}
}
