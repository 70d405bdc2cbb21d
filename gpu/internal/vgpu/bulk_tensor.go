package vgpu

import (
	"fmt"
	"strings"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// tensorMapRows change tensor maps in memory (PTX ISA 9.7.9.27 and 9.7.13.13).
var tensorMapRows = []row{{patterns: []string{"tensormap"}, class: perf.ClassAsync, section: "9.7.9.27", decode: decodeTensorMap}}

// TakesTensorMaps tells why the device has no tensor copies; nil where it has.
func (d *Device) TakesTensorMaps() error {
	if d.profile.Major < 9 {
		return fmt.Errorf("tensor copies need sm_90, %s is sm_%d%d", d.properties.Name, d.profile.Major, d.profile.Minor)
	}
	return nil
}

// EncodeTensorMap gives the bytes of a map.
func (d *Device) EncodeTensorMap(m *driver.TensorMap) ([driver.TensorMapBytes]byte, error) {
	return m.Encode()
}

// tensorCopy reads the map and the coordinates of one lane's tensor copy and finds its runs.
func (w *warp) tensorCopy(in *inst, c *bulkCopy) {
	op := in.ext.bulk
	operand := op.src
	if op.kind == bulkStore {
		operand = op.dst
	}
	m := w.readTensorMap(in, c.lane, w.laneAddress(operand, uint(c.lane)))
	fail := func(mend, format string, args ...any) {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf(format, args...), Mend: mend})
	}
	if err := m.Check(); err != nil {
		fail("make the map with dev.TensorMap, and pass it as a __grid_constant__ const CUtensorMap parameter", "%v", err)
	}
	if m.Rank != op.tensor || m.Im2col != op.im2col {
		kind := map[bool]string{false: "tiled", true: "im2col"}
		fail("use the copy of the map's dimensions and mode", "a copy of %d dimensions, %s, with a map of %d, %s", op.tensor, kind[op.im2col], m.Rank, kind[m.Im2col])
	}
	c.m, c.swizzle, c.bytes = m, m.Swizzle, boxBytes(m)
	if op.kind == bulkPrefetch {
		return
	}
	if n := uint64(len(w.cta.shared)); c.bytes > n {
		fail("make the box smaller, or ask for more shared memory: gpu.Config{Shared: bytes}", "the box has %s: the CTA's shared memory has %s", byteCount(c.bytes), byteCount(n))
	}
	var at [5]int64
	for i, slot := range op.coords {
		at[i] = int64(w.s32(slot)[c.lane])
	}
	if !m.Im2col {
		c.runs = tiledRuns(m, &at)
		return
	}
	var offsets [3]int64
	for i, slot := range op.offsets {
		offsets[i] = int64(uint16(w.u32(slot)[c.lane]))
	}
	c.runs = im2colRuns(m, &at, &offsets)
}

// readTensorMap reads the 128 bytes at a generic address: in global memory or among the parameters.
func (w *warp) readTensorMap(in *inst, lane int, address uint64) *driver.TensorMap {
	if address%64 != 0 && address-paramWindow >= windowBytes {
		w.misaligned(in, lane, address, 64, "global")
	}
	if at := address - paramWindow; at < windowBytes {
		if at+driver.TensorMapBytes > uint64(len(w.w.args)) {
			w.fault(in, lane, &driver.Fault{Kind: driver.OutOfBounds, Space: "param", Address: at, Bytes: driver.TensorMapBytes, Allocation: fmt.Sprintf("the parameters have %d B", len(w.w.args))})
		}
		return driver.DecodeTensorMap(w.w.args[at : at+driver.TensorMapBytes])
	}
	if address-sharedWindow < windowBytes || address-localWindow < windowBytes {
		w.fault(in, lane, &driver.Fault{Kind: driver.Illegal, Detail: "a tensor map must lie in global memory, in constants or among the parameters", Mend: "pass it as a __grid_constant__ const CUtensorMap parameter"})
	}
	return driver.DecodeTensorMap(w.globalBytes(in, lane, address, driver.TensorMapBytes))
}

// globalBytes gives the host's view of a few bytes of global memory, which no counter shows.
func (w *warp) globalBytes(in *inst, lane int, address, n uint64) []byte {
	a := findIn(w.w.allocations, address)
	if a == nil || address+n > a.high {
		w.outOfBounds(in, lane, address, n)
	}
	w.w.settleLoose()
	w.visit(in, a, address, address+n, lane)
	return unsafe.Slice((*byte)(w.host(address)), n)
}

// tensorReduction gives the operation of a reduction on a tensor, typed by its map.
func (w *warp) tensorReduction(in *inst, c *bulkCopy) *atomicExtra {
	op := in.ext.bulk
	e := &atomicExtra{op: op.reduce.op, t: elementType(c.m.Type), drop: true}
	types := bulkReductions[op.spelling][1]
	if strings.HasPrefix(types, "b") && !c.m.Type.Float() && c.m.Type.Bytes() >= 4 {
		e.t = map[int]string{4: "b32", 8: "b64"}[c.m.Type.Bytes()]
	}
	e.integer = !isFloatType(e.t)
	if !slicesHas(types, e.t) {
		w.fault(in, c.lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("a reduction by .%s of a tensor of %s: it takes %s", op.spelling, e.t, strings.Join(strings.Fields(types), ", ")), Mend: "choose an operation that the tensor's type has"})
	}
	return e
}

// mapEdit is a tensormap.replace or tensormap.cp_fenceproxy.
type mapEdit struct {
	field string
	ord   int
	value uint32 // slot
	wide  bool
	from  *inst // of cp_fenceproxy: its source
}

// decodeTensorMap decodes tensormap.replace.tile and tensormap.cp_fenceproxy.
func decodeTensorMap(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{flags: flagSelf | flagStore, pattern: -1}
	e := &mapEdit{}
	x.ext = &extra{second: -1, edit: e}
	if len(in.Modifiers) > 0 && in.Modifiers[0] == "cp_fenceproxy" {
		if err := d.least(in, 90); err != nil {
			return x, err
		}
		if _, err := d.grammar(in, "cp_fenceproxy", "global", "shared::cta", "tensormap::generic", "release", "cta cluster gpu sys", "sync", "aligned"); err != nil {
			return x, err
		}
		if err := d.operands(in, 3, 3); err != nil {
			return x, err
		}
		if o := &in.Operands[2]; o.Kind != ptx.OperandImmediate || o.Bits != driver.TensorMapBytes {
			return x, decodeError(d.m, in, "the size must be 128")
		}
		x.fn, e.from = opTensorMapCopy, &inst{pattern: -1}
		if err := d.address(e.from, &in.Operands[1], "shared", false); err != nil {
			return x, err
		}
		return x, d.address(&x, &in.Operands[0], "global", false)
	}
	x.fn = opTensorMapReplace
	if d.sm < 90 || !strings.HasSuffix(d.m.Target, "a") && !strings.HasSuffix(d.m.Target, "f") {
		return x, d.tooOld(in, 90, "a")
	}
	picks, err := d.grammar(in, "replace", "tile", "global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode fill_mode",
		"- global shared::cta", "b1024", "b32 b64")
	if err != nil {
		return x, err
	}
	e.field = picks[2]
	n := 2
	switch e.field {
	case "box_dim", "global_dim", "global_stride", "element_stride":
		n = 3
	}
	if err := d.operands(in, n, n); err != nil {
		return x, err
	}
	if n == 3 {
		most := uint64(4)
		if e.field == "global_stride" {
			most = 3
		}
		if o := &in.Operands[1]; o.Kind != ptx.OperandImmediate || o.Bits > most {
			return x, decodeError(d.m, in, "the dimension must be a constant from 0 to %d", most)
		}
		e.ord = int(in.Operands[1].Bits)
	}
	e.wide = picks[5] == "b64"
	if e.wide != (e.field == "global_address" || e.field == "global_stride") {
		return x, decodeError(d.m, in, ".global_address and .global_stride take .b64, the other fields .b32")
	}
	if e.value, err = d.source(&in.Operands[n-1], picks[5]); err != nil {
		return x, err
	}
	space := picks[3]
	if space == "shared::cta" {
		space = "shared"
		x.flags |= flagShared
	}
	if space == "" {
		x.flags |= flagGeneric
	}
	return x, d.address(&x, &in.Operands[0], space, false)
}

// opTensorMapReplace is tensormap.replace: one field of the map at an address. Rank is given less one.
func opTensorMapReplace(w *warp, in *inst) {
	e := in.ext.edit
	for lanes := w.mask; lanes != 0; lanes &= lanes - 1 {
		i := lowest(lanes)
		b := w.mapBytes(in, in, int(i))
		m := driver.DecodeTensorMap(b)
		var v uint64
		if e.wide {
			v = w.u64(e.value)[i]
		} else {
			v = uint64(w.u32(e.value)[i])
		}
		switch e.field {
		case "global_address":
			m.Address = driver.Address(v)
		case "rank":
			m.Rank = int(v) + 1
		case "box_dim":
			m.Box[e.ord] = uint32(v)
		case "global_dim":
			m.Dims[e.ord] = v
		case "global_stride":
			m.Strides[e.ord] = v
		case "element_stride":
			m.ElementStrides[e.ord] = uint32(v)
		case "elemtype":
			m.Type = replacedType(v)
		case "interleave_layout":
			m.Interleave = uint8(v)
		case "swizzle_mode":
			m.Swizzle = driver.TensorMapSwizzle(v)
		case "fill_mode":
			m.FillNaN = v == 1
		}
		bytes := m.Bytes()
		copy(b, bytes[:])
	}
}

// replacedType gives the type that tensormap.replace.elemtype numbers differently from CUtensorMapDataType: 8 f32.ftz,
// 9 f64, 10 bf16.
func replacedType(v uint64) driver.TensorMapType {
	switch v {
	case 8:
		return driver.TensorF32FTZ
	case 9:
		return driver.TensorF64
	case 10:
		return driver.TensorBF16
	}
	return driver.TensorMapType(min(v, 255))
}

// mapBytes gives the host's view of a tensor map in global or shared memory.
func (w *warp) mapBytes(in, operand *inst, lane int) []byte {
	a := w.laneAddress(operand, uint(lane))
	shared := operand.flags&flagShared != 0
	if operand.flags&flagWide64 != 0 && a-sharedWindow < windowBytes {
		a, shared = a-sharedWindow, true
	}
	if a%64 != 0 {
		w.misaligned(in, lane, a, 64, map[bool]string{false: "global", true: "shared"}[shared])
	}
	if !shared {
		return w.globalBytes(in, lane, a, driver.TensorMapBytes)
	}
	if a+driver.TensorMapBytes > uint64(len(w.cta.shared)) {
		w.sharedOutOfBounds(in, lane, a, driver.TensorMapBytes)
	}
	return w.cta.shared[a : a+driver.TensorMapBytes]
}

// opTensorMapCopy is tensormap.cp_fenceproxy: the warp copies a map from shared to global memory, and later tensor copies
// see it.
func opTensorMapCopy(w *warp, in *inst) {
	w.whole(in)
	source := *in.ext.edit.from
	source.flags |= flagShared
	from := w.mapBytes(in, &source, 0)
	copy(w.mapBytes(in, in, 0), from)
}
