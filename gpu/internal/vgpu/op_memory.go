package vgpu

import (
	"strings"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// memoryRows are loads, stores, atomics, copies and hints.
var memoryRows = []row{
	{patterns: []string{"ld", "ldu"}, class: perf.ClassGlobal, section: "9.7.9.8", decode: decodeLoad},
	{patterns: []string{"st"}, class: perf.ClassGlobal, section: "9.7.9.11", decode: decodeStore},
	{patterns: []string{"atom", "red"}, class: perf.ClassGlobal, section: "9.7.13.5", decode: decodeAtomic},
	{patterns: []string{"cp"}, class: perf.ClassAsync, section: "9.7.9.25", decode: decodeAsync},
	{patterns: []string{"prefetch", "prefetchu", "discard", "applypriority", "createpolicy"}, class: perf.ClassGlobal, section: "9.7.9.14", decode: decodeHint},
}

const (
	memoryTypes = "b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 f16x2 bf16x2 b64 u64 s64 f64 b128"
	spaces      = "- global shared shared::cta shared::cluster local const param param::entry param::func"
	evictions   = "- L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
	evictionsL2 = "- L2::evict_normal L2::evict_first L2::evict_last"
	prefetches  = "- L2::64B L2::128B L2::256B"
)

// decodeLoad decodes ld: weak, volatile, relaxed and acquire loads of every space, vectors and cache hints (the hints
// that bypass L1 are kept for the cache model).
func decodeLoad(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{pattern: -1}
	picks, err := d.anyOrder(in, "- weak volatile relaxed acquire", "- cta cluster gpu sys", spaces, "- ca cg cs lu cv", "- nc",
		evictions, evictionsL2, "- L2::cache_hint", prefetches, "- v2 v4 v8", memoryTypes, "- mmio")
	if err != nil {
		return x, err
	}
	space, t := picks[2], picks[10]
	if err := d.ordering(in, picks[0], picks[1], picks[11]); err != nil {
		return x, err
	}
	most := 2
	if picks[7] != "" {
		most = 3
	}
	if err := d.operands(in, most, most); err != nil {
		return x, err
	}
	if picks[3] == "cg" || picks[3] == "cv" || picks[5] == "L1::no_allocate" || picks[0] != "" && picks[0] != "weak" {
		x.flags |= flagBypass
	}
	if t[0] == 's' {
		x.flags |= flagSigned
	}
	if err := d.data(&x, in, &in.Operands[0], t, picks[9], true); err != nil {
		return x, err
	}
	if space == "param" || space == "param::entry" || space == "param::func" {
		if v := in.Operands[1].Variable; v != nil && v.Space == "param" && !d.isParameter(v) {
			x.fn, x.flags, d.inf.class = opLoadArgument, x.flags|flagSelf, perf.ClassMove
			return x, d.address(&x, &in.Operands[1], "param", true)
		}
		return d.loadParam(x, in)
	}
	if err := d.address(&x, &in.Operands[1], space, true); err != nil {
		return x, err
	}
	x.flags |= flagSelf
	switch space {
	case "global":
		x.fn, d.inf.kind, d.inf.global = opLoadGlobal, globalLoad, true
	case "const":
		x.fn, d.inf.class = opLoadConst, perf.ClassMove
	case "shared", "shared::cta":
		x.fn, d.inf.kind, d.inf.class = opLoadShared, sharedLoad, perf.ClassShared
	case "shared::cluster":
		x.fn, d.inf.kind, d.inf.class = opLoadCluster, sharedLoad, perf.ClassShared
	case "local":
		x.fn, d.inf.kind, d.inf.class = opLoadLocal, localLoad, perf.ClassLocal
	default:
		x.fn, d.inf.kind, d.inf.global = opLoadGeneric, globalLoad, true
	}
	return x, nil
}

// decodeStore decodes st.
func decodeStore(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{pattern: -1, flags: flagStore}
	if in.Has("async") {
		return decodeStoreAsync(d, in)
	}
	picks, err := d.anyOrder(in, "- weak volatile relaxed release", "- cta cluster gpu sys", "- global shared shared::cta shared::cluster local param param::func", "- wb cg cs wt",
		evictions, evictionsL2, "- L2::cache_hint", "- v2 v4 v8", memoryTypes, "- mmio")
	if err != nil {
		return x, err
	}
	space, t := picks[2], picks[8]
	if err := d.ordering(in, picks[0], picks[1], picks[9]); err != nil {
		return x, err
	}
	most := 2
	if picks[6] != "" {
		most = 3
	}
	if err := d.operands(in, most, most); err != nil {
		return x, err
	}
	if err := d.data(&x, in, &in.Operands[1], t, picks[7], false); err != nil {
		return x, err
	}
	if space == "param::func" {
		space = "param"
	}
	if err := d.address(&x, &in.Operands[0], space, true); err != nil {
		return x, err
	}
	x.flags |= flagSelf
	switch space {
	case "global":
		x.fn, d.inf.kind = opStoreGlobal, globalStore
	case "shared", "shared::cta":
		x.fn, d.inf.kind, d.inf.class = opStoreShared, sharedStore, perf.ClassShared
	case "shared::cluster":
		x.fn, d.inf.kind, d.inf.class = opStoreCluster, sharedStore, perf.ClassShared
	case "local":
		x.fn, d.inf.kind, d.inf.class = opStoreLocal, localStore, perf.ClassLocal
	case "param":
		if v := in.Operands[0].Variable; v == nil || d.isParameter(v) {
			return x, decodeError(d.m, in, "only the arguments of a call can be stored to")
		}
		x.fn, d.inf.class = opStoreArgument, perf.ClassMove
	default:
		x.fn, d.inf.kind = opStoreGeneric, globalStore
	}
	return x, nil
}

// spaceless reports whether an access names no state space.
func (d *decoder) spaceless(in *ptx.Instruction) bool {
	for _, m := range in.Modifiers {
		if strings.Contains(" "+spaces+" shared::cluster ", " "+m+" ") {
			return false
		}
	}
	return true
}

// ordering checks that a scope stands with .relaxed, .acquire and .release, and only there (PTX ISA 9.7.9.8).
func (d *decoder) ordering(in *ptx.Instruction, order, scope, mmio string) error {
	strong := order == "relaxed" || order == "acquire" || order == "release"
	switch {
	case strong && scope == "":
		return decodeError(d.m, in, ".%s needs a scope: .cta, .cluster, .gpu or .sys", order)
	case !strong && scope != "":
		return decodeError(d.m, in, "a scope stands only with .relaxed, .acquire or .release")
	case mmio != "" && (order != "relaxed" || scope != "sys"):
		return decodeError(d.m, in, ".mmio needs .relaxed.sys")
	}
	return nil
}

// data decodes what a load writes or a store reads: a register or a vector of them.
func (d *decoder) data(x *inst, in *ptx.Instruction, o *ptx.Operand, t, vector string, load bool) error {
	if t == "b128" {
		if vector != "" {
			return d.m.ErrorAt(in, "not supported by the virtual GPU", "nearest that works: "+in.Opcode+".b128, or .v2.b64")
		}
		halves, err := d.quadHalves(o, load)
		if err != nil {
			return err
		}
		if o.Kind == ptx.OperandVector {
			return decodeError(d.m, in, ".b128 takes one register")
		}
		x.size, x.n, x.flags, x.ext, x.d = 8, 2, x.flags|flagWide, &extra{regs: halves, second: -1}, halves[0]
		return d.least(in, 70)
	}
	list := []ptx.Operand{*o}
	if o.Kind == ptx.OperandVector {
		list = o.Elements
	}
	want := map[string]int{"": 1, "v2": 2, "v4": 4, "v8": 8}[vector]
	if len(list) != want {
		return decodeError(d.m, in, "%d registers, expected %d", len(list), want)
	}
	switch bytes := want * ptx.TypeSize(t); {
	case want == 8 && ptx.TypeSize(t) != 4:
		return decodeError(d.m, in, ".v8 is only for 32-bit types")
	case bytes > 16 && !(in.Has("global") || d.spaceless(in)):
		return decodeError(d.m, in, "an access of 32 bytes is only for global memory")
	case bytes > 16:
		if err := d.least(in, 100); err != nil {
			return err
		}
	}
	x.size, x.n = uint8(ptx.TypeSize(t)), uint8(want)
	wide := false
	regs := make([]uint32, want)
	for i := range list {
		e := &list[i]
		et := d.slotType(e, t)
		wide = wide || isWideType(et)
		var err error
		if load {
			regs[i], err = d.destination(e, et)
		} else {
			regs[i], err = d.source(e, et)
		}
		if err != nil {
			return err
		}
	}
	if wide {
		x.flags |= flagWide
		for i := range list {
			if et := d.slotType(&list[i], t); !isWideType(et) && list[i].Kind == ptx.OperandRegister {
				return decodeError(d.m, in, "registers of a vector differ in size")
			}
		}
	}
	x.d = regs[0]
	if want > 1 {
		x.ext = &extra{regs: regs, second: -1}
	}
	return nil
}

// address decodes [base + offset]; memo asks for a site of its own.
func (d *decoder) address(x *inst, o *ptx.Operand, space string, memo bool) error {
	if o.Kind != ptx.OperandAddress || len(o.Elements) > 0 {
		return decodeError(d.m, d.in, "operand %s is no address", o.Name)
	}
	x.imm = uint64(o.Offset)
	switch {
	case o.Register >= 0:
		r := &d.f.Registers[o.Register]
		x.a = d.s.at[o.Register]
		switch {
		case isWide(r):
			x.flags |= flagWide64
		case ptx.TypeSize(r.Type) != 4 || isPredicate(r):
			return decodeError(d.m, d.in, "address %s is of type .%s", r.Name, r.Type)
		case space == "global" || space == "const" || space == "":
			return d.m.ErrorAt(d.in, "address "+r.Name+" has 32 bits, and global addresses have 64", "widen it with cvt.u64.u32")
		}
	case o.Variable != nil:
		v := o.Variable
		if space == "" {
			space = v.Space
		}
		if short := map[string]string{"shared::cta": "shared", "shared::cluster": "shared"}[space]; short != "" {
			space = short
		}
		if v.Space != space {
			return decodeError(d.m, d.in, "variable %s lies in .%s, not in .%s", v.Name, v.Space, space)
		}
		base, ok := d.symbols[v]
		if !ok {
			return decodeError(d.m, d.in, "variable %s is .extern and nothing defines it", v.Name)
		}
		x.imm += base
		x.flags |= flagFixed
		if d.in.Opcode != "cp" && !d.in.Has(v.Space) && !d.in.Has("shared::cta") && !d.in.Has("shared::cluster") { // a generic access by name
			switch v.Space {
			case "shared":
				x.imm += sharedWindow
			case "local":
				x.imm += localWindow
			}
		}
	default:
		x.flags |= flagFixed
	}
	if memo {
		x.pattern = int32(d.p.patterns)
		d.p.patterns++
	}
	return nil
}

// loadParam decodes ld.param: the same value in every lane.
func (d *decoder) loadParam(x inst, in *ptx.Instruction) (inst, error) {
	d.inf.class = perf.ClassMove
	o := &in.Operands[1]
	if o.Kind == ptx.OperandAddress && o.Register >= 0 {
		x.fn, x.flags = opLoadParamLanes, x.flags|flagSelf
		return x, d.address(&x, o, "param", false)
	}
	if o.Kind != ptx.OperandAddress || o.Variable == nil || o.Variable.Space != "param" {
		return x, decodeError(d.m, in, "a parameter is read by its name, [name+offset], or by its address in a register")
	}
	base, ok := d.symbols[o.Variable]
	if !ok {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU: "+o.Variable.Name+" is no parameter of this entry", table().hint("call", "call"))
	}
	bytes := int64(x.size) * int64(x.n)
	if o.Offset < 0 || o.Offset+bytes > o.Variable.Size {
		return x, decodeError(d.m, in, "%d B at offset %d do not lie in parameter %s of %d B", bytes, o.Offset, o.Variable.Name, o.Variable.Size)
	}
	x.imm = base + uint64(o.Offset)
	x.fn, x.flags = opLoadParam, x.flags|flagSelf
	return x, nil
}

// vectorRegs gives the registers of a load or store.
func (in *inst) vectorRegs(one *[1]uint32) []uint32 {
	if in.n > 1 {
		return in.ext.regs
	}
	one[0] = in.d
	return one[:]
}

// opLoadParam is ld.param d, [offset]: d = the argument's bytes.
func opLoadParam(w *warp, in *inst) {
	var one [1]uint32
	for k, at := range in.vectorRegs(&one) {
		v := load(unsafe.Pointer(&w.w.args[in.imm+uint64(k)*uint64(in.size)]), in.size, in.flags&flagSigned != 0)
		if in.flags&flagWide != 0 {
			d := w.u64(at)
			for m := w.mask; m != 0; m &= m - 1 {
				d[lowest(m)] = v
			}
			continue
		}
		d := w.u32(at)
		if w.mask == allLanes {
			for i := range d {
				d[i] = uint32(v)
			}
			continue
		}
		for m := w.mask; m != 0; m &= m - 1 {
			d[lowest(m)] = uint32(v)
		}
	}
}

// opLoadParamLanes is ld.param by an address in a register: compilers index arrays in parameters so.
func opLoadParamLanes(w *warp, in *inst) { w.loadParameters(in, w.addresses(in)) }

// loadParameters loads from the entry's parameters, lane by lane.
func (w *warp) loadParameters(in *inst, a *[32]uint64) {
	size, n := uint64(in.size)*uint64(in.n), uint64(len(w.w.args))
	w.checkAligned(in, a, size, "param")
	for m := w.mask; m != 0; m &= m - 1 {
		if i := lowest(m); a[i] > n || a[i]+size > n {
			w.fault(in, int(i), &driver.Fault{Kind: driver.OutOfBounds, Space: "param", Address: a[i], Bytes: int(size), Allocation: "the parameters have " + byteCount(n)})
		}
	}
	w.loadLanes(in, a, unsafe.Pointer(unsafe.SliceData(w.w.args)), 0)
}

// load reads an element of 1, 2, 4 or 8 bytes.
func load(p unsafe.Pointer, size uint8, signed bool) uint64 {
	switch size {
	case 1:
		if signed {
			return uint64(int64(*(*int8)(p)))
		}
		return uint64(*(*uint8)(p))
	case 2:
		if signed {
			return uint64(int64(*(*int16)(p)))
		}
		return uint64(*(*uint16)(p))
	case 4:
		if signed {
			return uint64(int64(*(*int32)(p)))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(p unsafe.Pointer, size uint8, v uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

func (w *warp) site(in *inst) *site { return &w.w.sites[in.pattern] }

// host gives the host's pointer to device memory.
func (w *warp) host(address uint64) unsafe.Pointer {
	return unsafe.Add(w.w.memory, address-w.w.base)
}

// opLoadGlobal is ld.global d, [a]: for each lane, d[i] = memory[a[i]].
func opLoadGlobal(w *warp, in *inst) {
	a, s, size := w.addresses(in), w.site(in), uint64(in.size)*uint64(in.n)
	if w.row(a, size) {
		w.touchRow(in, s, a[0], size)
		w.loadRow(in, w.host(a[0]))
		return
	}
	w.touch(in, s, a, size)
	w.loadLanes(in, a, w.w.memory, w.w.base)
}

// opLoadConst is ld.const: as ld.global, through the constant cache, which no counter shows.
func opLoadConst(w *warp, in *inst) {
	counted := w.w.count
	w.w.count = false
	a, s, size := w.addresses(in), w.site(in), uint64(in.size)*uint64(in.n)
	w.touch(in, s, a, size)
	w.w.count = counted
	w.loadLanes(in, a, w.w.memory, w.w.base)
}

// loadRow loads 32·n elements that lie in a row.
func (w *warp) loadRow(in *inst, p unsafe.Pointer) {
	if in.flags&(flagSigned|flagWide) == 0 || in.size == 4 && in.flags&flagWide == 0 {
		switch {
		case in.size == 4 && in.n == 1:
			*w.u32(in.d) = *(*[32]uint32)(p)
			return
		case in.size == 4 && in.n == 2:
			s, d0, d1 := (*[64]uint32)(p), w.u32(in.ext.regs[0]), w.u32(in.ext.regs[1])
			for i := range d0 {
				d0[i], d1[i] = s[2*i], s[2*i+1]
			}
			return
		case in.size == 4 && in.n == 4:
			r := in.ext.regs[:4]
			s, d0, d1, d2, d3 := (*[128]uint32)(p), w.u32(r[0]), w.u32(r[1]), w.u32(r[2]), w.u32(r[3])
			for i := range d0 {
				d0[i], d1[i], d2[i], d3[i] = s[4*i], s[4*i+1], s[4*i+2], s[4*i+3]
			}
			return
		case in.size == 2 && in.n == 1:
			s, d := (*[32]uint16)(p), w.u32(in.d)
			for i := range d {
				d[i] = uint32(s[i])
			}
			return
		}
	}
	if in.size == 8 && in.n == 1 {
		*w.u64(in.d) = *(*[32]uint64)(p)
		return
	}
	var one [1]uint32
	regs, signed := in.vectorRegs(&one), in.flags&flagSigned != 0
	for i := range 32 {
		for k, at := range regs {
			v := load(unsafe.Add(p, (i*len(regs)+k)*int(in.size)), in.size, signed)
			if in.flags&flagWide != 0 {
				w.u64(at)[i] = v
			} else {
				w.u32(at)[i] = uint32(v)
			}
		}
	}
}

// loadLanes loads lane by lane from base + a[i] − bias.
func (w *warp) loadLanes(in *inst, a *[32]uint64, base unsafe.Pointer, bias uint64) {
	m := w.mask
	if in.flags&flagWide == 0 {
		switch {
		case in.size == 4 && in.n == 1:
			d := w.u32(in.d)
			if m == allLanes {
				for i := range d {
					d[i] = *(*uint32)(unsafe.Add(base, a[i]-bias))
				}
				return
			}
			for ; m != 0; m &= m - 1 {
				i := lowest(m)
				d[i] = *(*uint32)(unsafe.Add(base, a[i]-bias))
			}
			return
		case in.size == 4 && in.n == 4:
			r := in.ext.regs[:4]
			d0, d1, d2, d3 := w.u32(r[0]), w.u32(r[1]), w.u32(r[2]), w.u32(r[3])
			for ; m != 0; m &= m - 1 {
				i := lowest(m)
				s := (*[4]uint32)(unsafe.Add(base, a[i]-bias))
				d0[i], d1[i], d2[i], d3[i] = s[0], s[1], s[2], s[3]
			}
			return
		case in.size == 2 && in.n == 1 && in.flags&flagSigned == 0:
			d := w.u32(in.d)
			for ; m != 0; m &= m - 1 {
				i := lowest(m)
				d[i] = uint32(*(*uint16)(unsafe.Add(base, a[i]-bias)))
			}
			return
		}
	}
	var one [1]uint32
	regs, signed := in.vectorRegs(&one), in.flags&flagSigned != 0
	for ; m != 0; m &= m - 1 {
		i := lowest(m)
		p := unsafe.Add(base, a[i]-bias)
		for k, at := range regs {
			v := load(unsafe.Add(p, k*int(in.size)), in.size, signed)
			if in.flags&flagWide != 0 {
				w.u64(at)[i] = v
			} else {
				w.u32(at)[i] = uint32(v)
			}
		}
	}
}

// opStoreGlobal is st.global [a], b: for each lane in order, memory[a[i]] = b[i].
func opStoreGlobal(w *warp, in *inst) {
	a, s, size := w.addresses(in), w.site(in), uint64(in.size)*uint64(in.n)
	if w.row(a, size) {
		w.touchRow(in, s, a[0], size)
		w.storeRow(in, a, w.host(a[0]))
		return
	}
	w.touch(in, s, a, size)
	w.storeLanes(in, a, w.w.memory, w.w.base)
}

func (w *warp) storeRow(in *inst, a *[32]uint64, p unsafe.Pointer) {
	switch {
	case in.flags&flagWide != 0 || in.size != 4:
	case in.n == 1:
		*(*[32]uint32)(p) = *w.u32(in.d)
		return
	case in.n == 2:
		s, d0, d1 := (*[64]uint32)(p), w.u32(in.ext.regs[0]), w.u32(in.ext.regs[1])
		for i := range d0 {
			s[2*i], s[2*i+1] = d0[i], d1[i]
		}
		return
	case in.n == 4:
		r := in.ext.regs[:4]
		s, d0, d1, d2, d3 := (*[128]uint32)(p), w.u32(r[0]), w.u32(r[1]), w.u32(r[2]), w.u32(r[3])
		for i := range d0 {
			s[4*i], s[4*i+1], s[4*i+2], s[4*i+3] = d0[i], d1[i], d2[i], d3[i]
		}
		return
	}
	w.storeLanes(in, a, p, a[0])
}

func (w *warp) storeLanes(in *inst, a *[32]uint64, base unsafe.Pointer, bias uint64) {
	m := w.mask
	if in.size == 4 && in.n == 1 && in.flags&flagWide == 0 {
		d := w.u32(in.d)
		for ; m != 0; m &= m - 1 {
			i := lowest(m)
			*(*uint32)(unsafe.Add(base, a[i]-bias)) = d[i]
		}
		return
	}
	var one [1]uint32
	regs := in.vectorRegs(&one)
	for ; m != 0; m &= m - 1 {
		i := lowest(m)
		p := unsafe.Add(base, a[i]-bias)
		for k, at := range regs {
			var v uint64
			if in.flags&flagWide != 0 {
				v = w.u64(at)[i]
			} else {
				v = uint64(w.u32(at)[i])
			}
			store(unsafe.Add(p, k*int(in.size)), in.size, v)
		}
	}
}

// opLoadShared is ld.shared d, [a].
func opLoadShared(w *warp, in *inst) {
	w.loadShared(in, w.addresses(in))
}

func (w *warp) loadShared(in *inst, a *[32]uint64) {
	s, size := w.site(in), uint64(in.size)*uint64(in.n)
	if size >= 4 && w.row(a, size) {
		w.touchSharedRow(in, s, a[0], size)
		w.loadRow(in, unsafe.Pointer(&w.cta.shared[a[0]]))
		return
	}
	w.touchShared(in, s, a, size)
	w.loadLanes(in, a, unsafe.Pointer(unsafe.SliceData(w.cta.shared)), 0)
}

// opStoreShared is st.shared [a], b.
func opStoreShared(w *warp, in *inst) {
	w.storeShared(in, w.addresses(in))
}

func (w *warp) storeShared(in *inst, a *[32]uint64) {
	s, size := w.site(in), uint64(in.size)*uint64(in.n)
	if size >= 4 && w.row(a, size) {
		w.touchSharedRow(in, s, a[0], size)
		w.storeRow(in, a, unsafe.Pointer(&w.cta.shared[a[0]]))
		return
	}
	w.touchShared(in, s, a, size)
	w.storeLanes(in, a, unsafe.Pointer(unsafe.SliceData(w.cta.shared)), 0)
}

// opLoadLocal is ld.local d, [a]; lane i's frame begins at i·local.
func opLoadLocal(w *warp, in *inst) {
	w.loadLanes(in, w.localAddresses(in, w.addresses(in)), unsafe.Pointer(unsafe.SliceData(w.local)), 0)
}

// opStoreLocal is st.local [a], b.
func opStoreLocal(w *warp, in *inst) {
	w.storeLanes(in, w.localAddresses(in, w.addresses(in)), unsafe.Pointer(unsafe.SliceData(w.local)), 0)
}

// opLoadArgument is ld.param of a call's argument or result, which lies in the lane's frame and is not counted: the
// hardware passes it in registers.
func opLoadArgument(w *warp, in *inst) {
	counted := w.w.count
	w.w.count = false
	opLoadLocal(w, in)
	w.w.count = counted
}

// opStoreArgument is st.param.
func opStoreArgument(w *warp, in *inst) {
	counted := w.w.count
	w.w.count = false
	opStoreLocal(w, in)
	w.w.count = counted
}

// isParameter reports whether a variable is a parameter of the entry.
func (d *decoder) isParameter(v *ptx.Variable) bool {
	for _, p := range d.f.Params {
		if p == v {
			return true
		}
	}
	return false
}

// localAddresses checks and counts an access to local memory and gives the places in the warp's local memory.
func (w *warp) localAddresses(in *inst, a *[32]uint64) *[32]uint64 {
	w.touchLocal(in, w.site(in), a, uint64(in.size)*uint64(in.n))
	place := &w.w.address2
	for i := range place {
		place[i] = a[i] + uint64(i*w.w.p.local)
	}
	return place
}

// splitGeneric runs part for the lanes of each space that generic addresses point to.
func (w *warp) splitGeneric(in *inst, shared, local func(a *[32]uint64), global func()) {
	a := *w.addresses(in)
	old := w.mask
	var inShared, inLocal, inParam uint32
	for m := old; m != 0; m &= m - 1 {
		i := lowest(m)
		switch {
		case a[i]-sharedWindow < windowBytes:
			inShared |= 1 << i
			a[i] -= sharedWindow
		case a[i]-localWindow < windowBytes:
			inLocal |= 1 << i
			a[i] -= localWindow
		case a[i]-paramWindow < windowBytes:
			inParam |= 1 << i
			a[i] -= paramWindow
		}
	}
	if w.mask = inParam; inParam != 0 {
		if in.flags&(flagStore|flagAtomic) != 0 {
			w.fault(in, int(lowest(inParam)), &driver.Fault{Kind: driver.Illegal, Detail: "a parameter of an entry can only be read", Mend: "copy the parameter to a local variable before changing it"})
		}
		w.loadParameters(in, &a)
	}
	if w.mask = inShared; inShared != 0 {
		w.inCluster(in, &a, shared)
	}
	if w.mask = inLocal; inLocal != 0 {
		local(&a)
	}
	if w.mask = old &^ inShared &^ inLocal &^ inParam; w.mask != 0 {
		global()
	}
	w.mask = old
}

// opLoadGeneric is ld without a space: each lane's address says in which it lies.
func opLoadGeneric(w *warp, in *inst) {
	w.splitGeneric(in, func(a *[32]uint64) { w.loadShared(in, a) }, func(a *[32]uint64) {
		w.loadLanes(in, w.localAddresses(in, a), unsafe.Pointer(unsafe.SliceData(w.local)), 0)
	}, func() { opLoadGlobal(w, in) })
}

// opStoreGeneric is st without a space.
func opStoreGeneric(w *warp, in *inst) {
	w.splitGeneric(in, func(a *[32]uint64) { w.storeShared(in, a) }, func(a *[32]uint64) {
		w.storeLanes(in, w.localAddresses(in, a), unsafe.Pointer(unsafe.SliceData(w.local)), 0)
	}, func() { opStoreGlobal(w, in) })
}

// decodeHint drops prefetches and other hints: they change no value.
func decodeHint(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	if in.Opcode == "createpolicy" {
		x := inst{fn: laneMovB64, flags: flagWide, a: d.constant(0, true), pattern: -1}
		if len(in.Operands) < 1 {
			return x, decodeError(d.m, in, "expected a destination")
		}
		var err error
		x.d, err = d.destination(&in.Operands[0], "b64")
		return x, err
	}
	return inst{}, nil
}
