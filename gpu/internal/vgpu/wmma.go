package vgpu

import (
	"fmt"
	"strings"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// wmmaRows are the matrix instructions with fragments of their own (PTX ISA 9.7.14.4). What a fragment's registers hold is
// left open by PTX. Here a fragment is a row of those of mma: of m16n16k16 A is one of 16 rows, B two of eight columns and
// C two of 16×8, which is also how GPUs since sm_75 lay the sums out; of m8n32k16 B is four and C four of 8×8; of m32n8k16
// A and C are two of 16 rows. An f16 A or B has more registers than elements: those behind repeat the first.
var wmmaRows = []row{{patterns: []string{"wmma"}, class: perf.ClassTensor, section: "9.7.14.4", decode: decodeWMMA}}

// wmmaTypes are the shapes of each type of A and B, and the oldest GPU that has it. The types of C and D follow.
var wmmaTypes = []struct {
	name, shapes, sums string
	sm                 int
}{
	{"f16", "m16n16k16 m8n32k16 m32n8k16", "f16 f32", 70},
	{"bf16", "m16n16k16 m8n32k16 m32n8k16", "f32", 80},
	{"tf32", "m16n16k8", "f32", 80},
	{"f64", "m8n8k4", "f64", 80},
	{"s8", "m16n16k16 m8n32k16 m32n8k16", "s32", 72},
	{"u8", "m16n16k16 m8n32k16 m32n8k16", "s32", 72},
	{"s4", "m8n8k32", "s32", 75},
	{"u4", "m8n8k32", "s32", 75},
	{"b1", "m8n8k128", "s32", 75},
}

// wmmaFragment is one of A, B, C and D of a wmma: blocks of the fragments of an mma.
type wmmaFragment struct {
	matrix  byte // 'a', 'b', 'c'
	element string
	shape   *mmaShape // of one block
	blocks  int       // below each other in A and m32n8k16's C, else side by side
	below   bool
	per     int // registers of a block
	regs    int // of the whole, repeated ones too
	rows    int
	columns int
}

// wmmaSizes reads a shape.
func wmmaSizes(shape string) (m, n, k int) {
	fmt.Sscanf(shape, "m%dn%dk%d", &m, &n, &k)
	return m, n, k
}

// wmmaBlock is the mma of which a wmma is made.
func wmmaBlock(shape, a, b, c, d string) *mmaShape {
	m, _, k := wmmaSizes(shape)
	return &mmaShape{m: min(m, 16), k: k, kept: k, a: elements[a], b: elements[b], c: c, d: d}
}

// newWMMAFragment describes a fragment; element is the type of its elements.
func newWMMAFragment(matrix byte, shape, element string) *wmmaFragment {
	m, n, k := wmmaSizes(shape)
	f := &wmmaFragment{matrix: matrix, element: element}
	block := func(a, c string) { f.shape = wmmaBlock(shape, a, a, c, c) }
	switch matrix {
	case 'a':
		block(element, "f32")
		f.per, _, _, _ = f.shape.regs()
		f.blocks, f.below, f.rows, f.columns = (m+15)/16, true, m, k
	case 'b':
		block(element, "f32")
		_, f.per, _, _ = f.shape.regs()
		f.blocks, f.rows, f.columns = n/8, k, n
	default:
		block("f16", element)
		f.shape.k, f.shape.kept = 16, 16
		_, _, f.per, _ = f.shape.regs()
		f.blocks, f.below, f.rows, f.columns = max(n/8, m/16), m == 32, m, n
	}
	f.regs = f.blocks * f.per
	if element == "f16" && matrix != 'c' {
		f.regs = 8
	}
	return f
}

// place gives row and column of element e of register reg of a lane, n elements a register.
func (f *wmmaFragment) place(l, reg, e, n int) (row, column int) {
	block, reg := reg/f.per, reg%f.per
	switch f.matrix {
	case 'a':
		row, column = f.shape.placeA(l, reg, e, n)
	case 'b':
		row, column = f.shape.placeB(l, reg, e, n)
	default:
		row, column = f.shape.placeC(f.element, l, reg)
		column += e
	}
	if f.below {
		return row + 16*block, column
	}
	return row, column + 8*block
}

// bits of an element in memory.
func (f *wmmaFragment) bits() int {
	if f.matrix == 'c' {
		return 8 * ptx.TypeSize(f.element)
	}
	return f.shape.a.bits
}

func decodeWMMA(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	switch {
	case in.Has("load"):
		return d.wmmaAccess(in, true)
	case in.Has("store"):
		return d.wmmaAccess(in, false)
	}
	return d.wmmaProduct(in)
}

// wmmaType checks a shape and type against the table.
func (d *decoder) wmmaType(in *ptx.Instruction, shape, element string, sum bool) error {
	var near []string
	least := 1 << 30
	for _, t := range wmmaTypes {
		names := t.name
		if sum {
			names = t.sums
		}
		if !slicesHas(names, element) {
			continue
		}
		if slicesHas(t.shapes, shape) {
			least = min(least, t.sm)
		}
		near = append(near, t.shapes)
	}
	switch {
	case least <= d.sm:
		return nil
	case least < 1<<30:
		return d.tooOld(in, least, "")
	case len(near) == 0:
		return d.m.ErrorAt(in, "not supported by the virtual GPU", "types of A and B are f16, bf16, tf32, f64, s8, u8, s4, u4, b1; of C and D f16, f32, s32, f64")
	}
	return d.m.ErrorAt(in, "not supported by the virtual GPU", "shapes of ."+element+": "+strings.Join(strings.Fields(near[0]), ", "))
}

func slicesHas(list, name string) bool {
	for _, s := range strings.Fields(list) {
		if s == name {
			return true
		}
	}
	return false
}

const (
	wmmaShapeNames = "m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128"
	wmmaTypeNames  = "f16 bf16 tf32 f32 f64 s8 u8 s4 u4 b1 s32"
)

// wmmaMove is a wmma.load or wmma.store.
type wmmaMove struct {
	f       *wmmaFragment
	columns bool   // .col
	stride  uint32 // slot; meaningless where leading > 0
	leading uint64 // elements from row to row where there is no stride operand
	units   []wmmaUnit
	load    bool
}

// wmmaUnit is one access of a wmma.load or wmma.store: neighbours in memory, of one or two registers.
type wmmaUnit struct {
	reg, regs int
	e         int // first element in the register, where a register holds more than the unit
	bytes     int
}

// wmmaAccess decodes wmma.load.{a,b,c} and wmma.store.d.
func (d *decoder) wmmaAccess(in *ptx.Instruction, load bool) (inst, error) {
	x := inst{fn: opWMMAMove, flags: flagSelf, pattern: -1, n: 1}
	kind, matrices := "store", "d"
	if load {
		kind, matrices = "load", "a b c"
	}
	picks, err := d.grammar(in, kind, matrices, "sync", "aligned", "row col", wmmaShapeNames, "- global shared shared::cta", wmmaTypeNames)
	if err != nil {
		return x, err
	}
	matrix, shape, space, element := picks[1][0], picks[5], strings.TrimSuffix(picks[6], "::cta"), picks[7]
	if matrix == 'd' {
		matrix = 'c'
	}
	if err := d.wmmaType(in, shape, element, matrix == 'c'); err != nil {
		return x, err
	}
	m := &wmmaMove{f: newWMMAFragment(matrix, shape, element), columns: picks[4] == "col", load: load}
	if bits := m.f.bits(); bits < 8 && m.columns != (matrix == 'b') {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "A of ."+element+" is read by rows and B by columns")
	}
	if err := d.operands(in, 2, 3); err != nil {
		return x, err
	}
	data, address := 0, 1
	if !load {
		data, address = 1, 0
		x.flags |= flagStore
	}
	x.ext = &extra{second: -1, wmma: m}
	if x.ext.regs, err = d.wmmaRegisters(in, data, m.f, load); err != nil {
		return x, err
	}
	if len(in.Operands) == 3 {
		if m.stride, err = d.source(&in.Operands[2], "u32"); err != nil {
			return x, err
		}
	} else if m.leading = uint64(m.f.columns); m.columns {
		m.leading = uint64(m.f.rows)
	}
	m.units = m.f.units(m.columns)
	for _, u := range m.units {
		x.size = max(x.size, uint8(u.bytes))
	}
	switch {
	case space == "shared":
		d.inf.class, d.inf.kind = perf.ClassShared, sharedLoad
	default:
		d.inf.class, d.inf.kind, d.inf.global = perf.ClassGlobal, globalLoad, load
	}
	if !load {
		d.inf.kind += globalStore - globalLoad
	}
	if space == "" {
		x.flags |= flagGeneric
	} else if space == "shared" {
		x.flags |= flagShared
	}
	return x, d.address(&x, &in.Operands[address], space, true)
}

// wmmaRegisters gives the slots of a fragment.
func (d *decoder) wmmaRegisters(in *ptx.Instruction, i int, f *wmmaFragment, write bool) ([]uint32, error) {
	o := &in.Operands[i]
	list := o.Elements
	if o.Kind == ptx.OperandRegister {
		list = []ptx.Operand{*o}
	}
	if len(list) != f.regs {
		return nil, decodeError(d.m, in, "operand %d has %d registers, expected %d", i+1, len(list), f.regs)
	}
	t := "b32"
	if f.element == "f64" {
		t = "f64"
	}
	slots := make([]uint32, f.regs)
	for j := range list {
		var err error
		if write {
			slots[j], err = d.destination(&list[j], t)
		} else {
			slots[j], err = d.source(&list[j], t)
		}
		if err != nil {
			return nil, err
		}
	}
	return slots, nil
}

// units says in which accesses a lane moves its part of a fragment: a register at once where its elements are neighbours
// in memory, two where those of the next are too; else an element at a time.
func (f *wmmaFragment) units(columns bool) []wmmaUnit {
	var list []wmmaUnit
	distinct := f.blocks * f.per
	n := max(32/f.bits(), 1)
	width := max(f.bits()/8, 4)
	along := columns == (f.matrix == 'b') // elements of a register follow each other in memory
	for reg := 0; reg < distinct; reg++ {
		switch {
		case f.matrix == 'c' && n == 1 && along:
			list = append(list, wmmaUnit{reg: reg, regs: 2, bytes: 2 * width})
			reg++
		case n == 1 || along:
			list = append(list, wmmaUnit{reg: reg, regs: 1, bytes: width})
		default:
			for e := range n {
				list = append(list, wmmaUnit{reg: reg, regs: 1, e: e, bytes: f.bits() / 8})
			}
		}
	}
	return list
}

// opWMMAMove is wmma.load and wmma.store: element (row, column) lies at address + row·stride + column, by columns at
// address + column·stride + row, in elements. Address and stride are the same in all lanes. What counts is what the lanes
// here access: a register at a time, or an element where a register's elements are not neighbours.
func opWMMAMove(w *warp, in *inst) {
	w.whole(in)
	m := in.ext.wmma
	base := *w.addresses(in)
	stride := m.leading
	if stride == 0 {
		stride = uint64(w.u32(m.stride)[0])
	}
	for l := range base {
		if base[l] != base[0] || m.leading == 0 && uint64(w.u32(m.stride)[l]) != stride {
			w.fault(in, l, &driver.Fault{Kind: driver.Illegal, Detail: "address and stride of a wmma must be the same in all lanes", Mend: "compute them from what is the same in the whole warp"})
		}
	}
	start, shared := base[0], in.flags&flagShared != 0
	if in.flags&flagGeneric != 0 && start-sharedWindow < windowBytes {
		start, shared = start-sharedWindow, true
	}
	f, bits := m.f, uint64(m.f.bits())
	n := max(32/f.bits(), 1)
	var a [32]uint64
	for _, u := range m.units {
		for l := range a {
			row, column := f.place(l, u.reg, u.e, n)
			at := uint64(row)*stride + uint64(column)
			if m.columns {
				at = uint64(column)*stride + uint64(row)
			}
			a[l] = start + at*bits/8
		}
		w.wmmaUnit(in, &u, &a, shared, int(bits))
	}
	if m.load {
		for reg := f.blocks * f.per; reg < f.regs; reg++ { // repeated
			*w.u32(in.ext.regs[reg]) = *w.u32(in.ext.regs[reg%(f.blocks*f.per)])
		}
	}
}

// wmmaUnit makes one access.
func (w *warp) wmmaUnit(in *inst, u *wmmaUnit, a *[32]uint64, shared bool, bits int) {
	s := w.site(in)
	if shared {
		w.touchShared(in, s, a, uint64(u.bytes))
	} else {
		w.touch(in, s, a, uint64(u.bytes))
	}
	each := u.bytes / u.regs
	for lanes := w.mask; lanes != 0; lanes &= lanes - 1 {
		l := lowest(lanes)
		for k := range u.regs {
			p := w.at(a[l]+uint64(k*each), shared)
			at := in.ext.regs[u.reg+k]
			switch {
			case each == 8 && in.ext.wmma.load:
				w.u64(at)[l] = load(p, 8, false)
			case each == 8:
				store(p, 8, w.u64(at)[l])
			case in.ext.wmma.load && each == 4:
				w.u32(at)[l] = uint32(load(p, 4, false))
			case in.ext.wmma.load:
				v, shift := &w.u32(at)[l], bits*u.e
				*v = *v&^((1<<bits-1)<<shift) | uint32(load(p, uint8(each), false))<<shift
			default:
				store(p, uint8(each), uint64(w.u32(at)[l]>>(bits*u.e)))
			}
		}
	}
	w.mask = allLanes
}

// wmmaProduct decodes wmma.mma: an mma for each block of D.
func (d *decoder) wmmaProduct(in *ptx.Instruction) (inst, error) {
	x := inst{fn: opWMMAProduct, flags: flagSelf, pattern: -1}
	picks, err := d.grammar(in, "mma", "- xor and", "- popc", "sync", "aligned", "row col", "row col", wmmaShapeNames, "- rn", "f16 f32 f64 s32",
		"- f16 bf16 tf32 s8 u8 s4 u4 b1 f64", "- bf16 tf32 s8 u8 s4 u4 b1 f64", "- f16 f32 s32 f64", "- satfinite rn")
	if err != nil {
		return x, err
	}
	shape, dt, a, b, c := picks[7], picks[9], picks[10], picks[11], picks[12]
	if b == "" && c == "" && a == "f16" { // .dtype.ctype: A and B are f16
		c, a, b = "f16", "f16", "f16"
	} else if a == "" {
		a, b = "f16", "f16"
	}
	if err := d.wmmaType(in, shape, a, false); err != nil {
		return x, err
	}
	if err := d.wmmaType(in, shape, c, true); err != nil {
		return x, err
	}
	ok := a == b || strings.Contains("s8 u8 s8", a+" "+b) || strings.Contains("s4 u4 s4", a+" "+b)
	for _, t := range wmmaTypes {
		ok = ok && (t.name != a || slicesHas(t.sums, c) && slicesHas(t.sums, dt))
	}
	bit := a == "b1"
	ok = ok && bit == (picks[1] != "") && bit == (picks[2] != "") && (a == "f64" || picks[8] == "" && picks[13] != "rn")
	if bit || a == "s4" || a == "u4" {
		ok = ok && picks[5] == "row" && picks[6] == "col"
	}
	if sat := picks[13] == "satfinite"; !ok || sat && (dt != "s32" || bit) {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "nearest that works: wmma.mma.sync.aligned.row.col."+shape+"."+wmmaExample(a))
	}
	if err := d.operands(in, 4, 4); err != nil {
		return x, err
	}
	fd, fa, fb, fc := newWMMAFragment('c', shape, dt), newWMMAFragment('a', shape, a), newWMMAFragment('b', shape, b), newWMMAFragment('c', shape, c)
	var slots [4][]uint32
	for i, f := range []*wmmaFragment{fd, fa, fb, fc} {
		if slots[i], err = d.wmmaRegisters(in, i, f, i == 0); err != nil {
			return x, err
		}
	}
	s := wmmaBlock(shape, a, b, c, dt)
	s.sat, s.and = picks[13] == "satfinite", picks[1] == "and"
	x.ext = &extra{second: -1, mma: s}
	for block := range fd.blocks {
		part := inst{flags: flagSelf, pattern: -1, fn: s.execute(), ext: &extra{second: -1, mma: s}}
		fragment := func(f *wmmaFragment, slots []uint32) []uint32 {
			at := 0
			if f.blocks > 1 {
				at = block * f.per
			}
			return slots[at : at+f.per]
		}
		part.ext.regs = fragment(fd, slots[0])
		for i, f := range []*wmmaFragment{fa, fb, fc} {
			part.ext.sources = append(part.ext.sources, fragment(f, slots[i+1])...)
		}
		x.ext.parts = append(x.ext.parts, part)
	}
	for _, slot := range slots[0] {
		for _, other := range append(append([]uint32(nil), slots[1]...), slots[2]...) {
			if slot == other && len(x.ext.parts) > 1 && slot != scratch {
				return x, d.m.ErrorAt(in, "not supported by the virtual GPU", "a register of D is one of A or B: use another")
			}
		}
	}
	m, n, k := wmmaSizes(shape)
	d.inf.flop, d.inf.flops, d.inf.warp = perf.FLOPTensor, 2*m*n*k, true
	return x, nil
}

// wmmaExample gives the types of a wmma.mma whose A is of a type.
func wmmaExample(a string) string {
	switch a {
	case "f16":
		return "f32.f32"
	case "bf16", "tf32":
		return "f32." + a + "." + a + ".f32"
	case "f64":
		return "f64.f64.f64.f64"
	}
	return "s32." + a + "." + a + ".s32"
}

// opWMMAProduct is wmma.mma: D = A·B + C, block after block; sums as for mma.
func opWMMAProduct(w *warp, in *inst) {
	for i := range in.ext.parts {
		p := &in.ext.parts[i]
		p.fn(w, p)
	}
}
