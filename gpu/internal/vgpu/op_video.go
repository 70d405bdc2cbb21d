package vgpu

import (
	"strings"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// videoRows are the scalar and SIMD video instructions (PTX ISA 9.7.17, 9.7.18), all of them integer arithmetic on bytes,
// halves and words; CUDA's __vadd4 and its like come down to some of them.
var videoRows = []row{
	{patterns: []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"}, class: perf.ClassInteger, section: "9.7.17", decode: decodeVideo},
	{patterns: []string{"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2"}, class: perf.ClassInteger, section: "9.7.18", decode: decodeVideo},
	{patterns: []string{"vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4"}, class: perf.ClassInteger, section: "9.7.18", decode: decodeVideo},
}

// video is a decoded video instruction.
type video struct {
	op                  string // vadd, without the number of parts
	parts               int    // of a SIMD instruction: 2 or 4; else 1
	compare             string
	signed              [3]bool // of d, a, b
	sat, wrap           bool
	second              string // secondary operation on the result and c: add, min, max
	scale               uint
	plusOne             bool // .po
	selectA, selectB    []int
	negateA, negateB, c bool  // negated factors and addend of vmad
	width               uint  // bits of a selected part; 32 where nothing is selected
	into                []int // parts of d that are written; the others come from c
	intoWidth           uint
	three               bool // there is an operand c
}

// decodeVideo decodes both kinds.
func decodeVideo(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opVideo, flags: flagSelf, pattern: -1}
	v := &video{op: strings.TrimRight(in.Opcode, "24"), parts: 1}
	if n := in.Opcode[len(in.Opcode)-1]; n == '2' || n == '4' {
		v.parts = int(n - '0')
	}
	picks, err := d.grammar(in, v.places()...)
	if err != nil {
		return x, err
	}
	v.read(picks)
	ops := in.Operands
	v.three = len(ops) == 4
	if needs := v.parts > 1 || v.op == "vmad" || v.second != "" || len(ops) > 0 && ops[0].Select != ""; needs != v.three || len(ops) < 3 {
		return x, decodeError(d.m, in, "%d operands, expected %d", len(ops), 3+b2i(needs))
	}
	if err := v.selections(d, in); err != nil {
		return x, err
	}
	if x.d, err = d.destination(&ops[0], "b32"); err != nil {
		return x, err
	}
	for k, into := range []*uint32{&x.a, &x.b, &x.c}[:len(ops)-1] {
		if *into, err = d.source(&ops[k+1], "b32"); err != nil {
			return x, err
		}
	}
	x.ext = &extra{second: -1, scalar: func(a, b, c uint64) uint64 { return uint64(v.apply(uint32(a), uint32(b), uint32(c))) }}
	return x, nil
}

// places is the order of an instruction's modifiers.
func (v *video) places() []string {
	types := "u32 s32"
	switch {
	case v.op == "vset" && v.parts == 1:
		return []string{types, types, "eq ne lt le gt ge", "- add min max"}
	case v.op == "vset":
		return []string{types, types, "eq ne lt le gt ge", "- add"}
	case v.op == "vmad":
		return []string{types, types, types, "- po", "- sat", "- shr7 shr15"}
	case v.op == "vshl" || v.op == "vshr":
		return []string{types, types, "u32", "- sat", "clamp wrap", "- add min max"}
	case v.parts > 1:
		return []string{types, types, types, "- sat add"}
	}
	return []string{types, types, types, "- sat", "- add min max"}
}

func (v *video) read(picks []string) {
	types := picks[:3]
	if v.op == "vset" {
		types = []string{"u32", picks[0], picks[1]}
		v.compare = picks[2]
	}
	for k, t := range types {
		v.signed[k] = t == "s32"
	}
	for _, p := range picks[2:] {
		switch p {
		case "sat":
			v.sat = true
		case "wrap":
			v.wrap = true
		case "po":
			v.plusOne = true
		case "shr7":
			v.scale = 7
		case "shr15":
			v.scale = 15
		case "add", "min", "max":
			v.second = p
		}
	}
}

// selections reads which parts of the operands take part. A SIMD instruction selects among the parts of a and b together;
// its default is a's parts for a and b's for b.
func (v *video) selections(d *decoder, in *ptx.Instruction) error {
	letter, width := "bh", uint(32)
	if v.parts > 1 {
		width = uint(32 / v.parts)
		letter = map[int]string{2: "h", 4: "b"}[v.parts]
	}
	v.width, v.intoWidth = width, width
	read := func(o *ptx.Operand, most, count int) ([]int, error) {
		if o.Select == "" {
			return nil, nil
		}
		digits := o.Select[1:]
		limit := most
		if v.parts == 1 {
			limit = map[byte]int{'b': 4, 'h': 2}[o.Select[0]]
		}
		if !strings.Contains(letter, o.Select[:1]) || len(digits) > count || v.parts > 1 && most > v.parts && len(digits) != count {
			return nil, decodeError(d.m, in, "%s selects no part of this instruction", o.Name)
		}
		var list []int
		for k := len(digits) - 1; k >= 0; k-- {
			n := int(digits[k] - '0')
			if n >= limit {
				return nil, decodeError(d.m, in, "%s selects no part of this instruction", o.Name)
			}
			list = append(list, n)
		}
		return list, nil
	}
	var err error
	if v.into, err = read(&in.Operands[0], v.parts, v.parts); err != nil {
		return err
	}
	if v.selectA, err = read(&in.Operands[1], 2*v.parts, v.parts); err != nil {
		return err
	}
	if v.selectB, err = read(&in.Operands[2], 2*v.parts, v.parts); err != nil {
		return err
	}
	v.negateA, v.negateB = in.Operands[1].Negative, in.Operands[2].Negative
	v.c = v.three && in.Operands[3].Negative
	if v.parts == 1 {
		return v.scalarSelections(in)
	}
	for k := range v.parts {
		if in.Operands[1].Select == "" {
			v.selectA = append(v.selectA, k)
		}
		if in.Operands[2].Select == "" {
			v.selectB = append(v.selectB, k+v.parts)
		}
		if in.Operands[0].Select == "" {
			v.into = append(v.into, k)
		}
	}
	return nil
}

// scalarSelections encodes a scalar's selection as its part and width: [part, bits].
func (v *video) scalarSelections(in *ptx.Instruction) error {
	bits := func(s string) int { return map[byte]int{'b': 8, 'h': 16}[s[0]] }
	for k, list := range []*[]int{&v.into, &v.selectA, &v.selectB} {
		if s := in.Operands[k].Select; s != "" {
			*list = append(*list, bits(s))
		} else {
			*list = []int{0, 32}
		}
	}
	v.intoWidth = uint(v.into[1])
	return nil
}

// part reads n bits from a position on, extended.
func part(x uint64, position int, n uint, signed bool) int64 {
	v := int64(x>>(uint(position)*n)) << (64 - n)
	if signed {
		return v >> (64 - n)
	}
	return int64(uint64(v) >> (64 - n))
}

// apply computes one lane.
func (v *video) apply(a, b, c uint32) uint32 {
	if v.parts == 1 {
		ta := part(uint64(a), v.selectA[0], uint(v.selectA[1]), v.signed[1])
		tb := part(uint64(b), v.selectB[0], uint(v.selectB[1]), v.signed[2])
		if v.op == "vmad" {
			return v.mad(ta, tb, c)
		}
		t := v.limit(v.one(ta, tb))
		switch {
		case v.second != "":
			return v.secondary(t, c)
		case v.intoWidth < 32:
			return v.insert(c, v.into[0], t)
		}
		return uint32(t)
	}
	pair := uint64(b)<<32 | uint64(a)
	d := c
	for _, k := range v.into {
		t := v.one(part(pair, v.selectA[k], v.width, v.signed[1]), part(pair, v.selectB[k], v.width, v.signed[2]))
		if v.second != "" {
			d += uint32(t)
		} else {
			d = v.insert(d, k, v.limit(t))
		}
	}
	return d
}

// one is the primary operation, exact.
func (v *video) one(a, b int64) int64 {
	switch v.op {
	case "vadd":
		return a + b
	case "vsub":
		return a - b
	case "vabsdiff":
		return max(a-b, b-a)
	case "vmin":
		return min(a, b)
	case "vmax":
		return max(a, b)
	case "vavrg": // rounded away from zero
		s := a + b
		if s >= 0 {
			s++
		}
		return s >> 1
	case "vset":
		return int64(b2i(compareIntegers(v.compare, "s64", uint64(a), uint64(b))))
	}
	n := uint64(min(b, 32))
	if v.wrap {
		n = uint64(b) & 31
	}
	if v.op == "vshl" {
		return a << n
	}
	return a >> n
}

// limit is .sat to the part that is written, signed or not as d is.
func (v *video) limit(t int64) int64 {
	switch {
	case !v.sat:
		return t
	case v.signed[0]:
		return min(max(t, -1<<(v.intoWidth-1)), 1<<(v.intoWidth-1)-1)
	}
	return min(max(t, 0), 1<<v.intoWidth-1)
}

func (v *video) secondary(t int64, c uint32) uint32 {
	switch {
	case v.second == "add":
		return uint32(t) + c
	case v.signed[0] && v.second == "min":
		return uint32(min(int32(t), int32(c)))
	case v.signed[0]:
		return uint32(max(int32(t), int32(c)))
	case v.second == "min":
		return min(uint32(t), c)
	}
	return max(uint32(t), c)
}

// insert puts the lower bits of t into a part of d.
func (v *video) insert(d uint32, position int, t int64) uint32 {
	shift, mask := uint(position)*v.intoWidth, uint32(1)<<v.intoWidth-1
	return d&^(mask<<shift) | uint32(t)&mask<<shift
}

// mad is vmad: a·b + c with signs, scaled and saturated (PTX ISA 9.7.17.3). The exact sum has 66 bits at most: two words.
func (v *video) mad(a, b int64, c uint32) uint32 {
	signed := v.signed[1] || v.signed[2] || v.negateA != v.negateB || v.c
	// |a|, |b| < 2³², so that the product of unsigned ones may need 64 bits.
	high, low := mulHighSigned(a, b), uint64(a*b)
	add := func(h int64, l uint64) {
		sum := low + l
		high += h + int64(b2i(sum < low))
		low = sum
	}
	addend := c
	switch {
	case v.plusOne:
		add(0, 1)
	case v.negateA != v.negateB:
		high, low = ^high, ^low
		add(0, 1)
	case v.c:
		addend = ^c
		add(0, 1)
	}
	if signed {
		add(int64(int32(addend))>>63, uint64(int64(int32(addend))))
	} else {
		add(0, uint64(addend))
	}
	if v.scale > 0 {
		low = low>>v.scale | uint64(high)<<(64-v.scale)
		high >>= v.scale
	}
	if !v.sat {
		return uint32(low)
	}
	if signed {
		switch {
		case high < 0 && !(high == -1 && int64(low) >= -1<<31 && int64(low) < 0):
			return 1 << 31
		case high >= 0 && (high > 0 || low > 1<<31-1):
			return 1<<31 - 1
		}
		return uint32(low)
	}
	if high != 0 || low > 1<<32-1 {
		return 1<<32 - 1
	}
	return uint32(low)
}

// opVideo is d = scalar(a, b, c), lane by lane.
func opVideo(w *warp, in *inst) {
	f, a, b, c, d := in.ext.scalar, w.u32(in.a), w.u32(in.b), w.u32(in.c), w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		d[i] = uint32(f(uint64(a[i]), uint64(b[i]), uint64(c[i])))
	}
}
