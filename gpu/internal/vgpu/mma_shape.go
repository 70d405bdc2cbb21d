package vgpu

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"memwall/gpu/internal/ptx"
)

// mmaRow is one line of the table of mma.sync: a shape with the types of D, A, B and C, {a,b} standing for each
// alternative, and the oldest GPU that has it.
type mmaRow struct {
	pattern string
	sm      int
	// feature is a target's suffix without which PTX refuses it: "a" where it runs on that GPU alone.
	feature string
}

// denseRows are the shapes of mma.sync (PTX ISA 8.8, 9.7.14.5.14). D and C are of the same type but in m8n8k4.
var denseRows = []mmaRow{
	{pattern: "m8n8k4{.f16.f16.f16.f16,.f32.f16.f16.f16,.f32.f16.f16.f32}", sm: 70},
	{pattern: "m16n8k8{.f16.f16.f16.f16,.f32.f16.f16.f32}", sm: 75},
	{pattern: "m16n8k16{.f16.f16.f16.f16,.f32.f16.f16.f32}", sm: 80},
	{pattern: "m16n8{k8,k16}.f32.bf16.bf16.f32", sm: 80},
	{pattern: "m16n8{k4,k8}.f32.tf32.tf32.f32", sm: 80},
	{pattern: "m16n8{k16,k32}.f32{.e4m3,.e5m2}{.e4m3,.e5m2}.f32", sm: 89},
	{pattern: "m16n8{k16,k32}.f16{.e4m3,.e5m2}{.e4m3,.e5m2}.f16", sm: 89},
	{pattern: "m16n8k32.kind::f8f6f4.f32{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}.f32", sm: 120, feature: "a"},
	{pattern: "m16n8k32.kind::f8f6f4.f16{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}.f16", sm: 120, feature: "a"},
	{pattern: "m8n8k4.f64.f64.f64.f64", sm: 80},
	{pattern: "m16n8{k4,k8,k16}.f64.f64.f64.f64", sm: 90},
	{pattern: "m8n8k16.s32{.s8,.u8}{.s8,.u8}.s32", sm: 75},
	{pattern: "m16n8{k16,k32}.s32{.s8,.u8}{.s8,.u8}.s32", sm: 80},
	{pattern: "m8n8k32.s32{.s4,.u4}{.s4,.u4}.s32", sm: 75},
	{pattern: "m16n8{k32,k64}.s32{.s4,.u4}{.s4,.u4}.s32", sm: 80},
	{pattern: "m8n8k128.s32.b1.b1.s32.xor.popc", sm: 75},
	{pattern: "m16n8{k128,k256}.s32.b1.b1.s32.xor.popc", sm: 80},
	{pattern: "{m8n8k128,m16n8k128,m16n8k256}.s32.b1.b1.s32.and.popc", sm: 80},
}

// sparseRows are the shapes of mma.sp and mma.sp::ordered_metadata (9.7.14.6.3).
var sparseRows = []mmaRow{
	{pattern: "m16n8{k16,k32}{.f16.f16.f16.f16,.f32.f16.f16.f32}", sm: 80},
	{pattern: "m16n8{k16,k32}.f32.bf16.bf16.f32", sm: 80},
	{pattern: "m16n8{k8,k16}.f32.tf32.tf32.f32", sm: 80},
	{pattern: "m16n8{k32,k64}.s32{.s8,.u8}{.s8,.u8}.s32", sm: 80},
	{pattern: "m16n8{k64,k128}.s32{.s4,.u4}{.s4,.u4}.s32", sm: 80},
	{pattern: "m16n8k64.f32{.e4m3,.e5m2}{.e4m3,.e5m2}.f32", sm: 89},
	{pattern: "m16n8k64.kind::f8f6f4.f32{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}.f32", sm: 120, feature: "a"},
	{pattern: "m16n8k64.kind::f8f6f4.f16{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}{.e4m3,.e5m2,.e3m2,.e2m3,.e2m1}.f16", sm: 120, feature: "a"},
}

// mmaShape is one D = A·B + C of a warp: A is m×k, B is k×8, C and D are m×8.
type mmaShape struct {
	m, k    int
	a, b    *element // of A and B
	d, c    string   // types of D and C: f32, f16, s32, f64
	kept    int      // elements of a row of A that are stored: k, of a sparse one k/2
	and     bool     // of b1: and instead of xor
	sat     bool     // .satfinite
	ordered bool     // .sp::ordered_metadata
	colA    bool     // m8n8k4 of f16 only: A by columns
	rowB    bool     // m8n8k4 of f16 only: B by rows
	sm      int
	feature string
}

func (s *mmaShape) sparse() bool { return s.kept != s.k }

// macs are the products of one execution: of the whole matrix, so that a sparse mma counts as the dense one whose zeros
// it leaves out, and m8n8k4 of f16 as the four that a warp executes at once.
func (s *mmaShape) macs() int {
	if s.quadPairs() {
		return 4 * s.m * 8 * s.k
	}
	return s.m * 8 * s.k
}

// quadPairs reports whether it is the m8n8k4 of f16, of which each quarter of a warp computes one.
func (s *mmaShape) quadPairs() bool { return s.m == 8 && s.k == 4 && s.a.name == "f16" }

// regs gives the numbers of registers of A, B, C and D.
func (s *mmaShape) regs() (a, b, c, d int) {
	sums := func(t string) int {
		n := s.m * 8 / warpSize
		if s.quadPairs() {
			n = 8
		}
		if t == "f16" {
			n /= 2
		}
		return n
	}
	if s.quadPairs() {
		return 2, 2, sums(s.c), sums(s.d)
	}
	per := max(32/s.a.bits, 1)
	return s.m * s.kept / warpSize / per, 8 * s.k / warpSize / per, sums(s.c), sums(s.d)
}

// element is a type of the elements of A and B.
type element struct {
	name   string
	bits   int // that it takes in a register
	float  func(bits uint32) float32
	signed bool
}

var elements = map[string]*element{
	"f16":  {name: "f16", bits: 16, float: func(v uint32) float32 { return halfToFloat(uint16(v)) }},
	"bf16": {name: "bf16", bits: 16, float: func(v uint32) float32 { return bfloatToFloat(uint16(v)) }},
	"tf32": {name: "tf32", bits: 32, float: tf32ToFloat},
	"f64":  {name: "f64", bits: 64},
	"e4m3": {name: "e4m3", bits: 8, float: smallFloat(4, 3, 0)},
	"e5m2": {name: "e5m2", bits: 8, float: smallFloat(5, 2, 0)},
	"e3m2": {name: "e3m2", bits: 8, float: smallFloat(3, 2, 0)},
	"e2m3": {name: "e2m3", bits: 8, float: smallFloat(2, 3, 0)},
	"e2m1": {name: "e2m1", bits: 8, float: smallFloat(2, 1, 2)}, // the middle four bits of its byte
	"s8":   {name: "s8", bits: 8, signed: true},
	"u8":   {name: "u8", bits: 8},
	"s4":   {name: "s4", bits: 4, signed: true},
	"u4":   {name: "u4", bits: 4},
	"b1":   {name: "b1", bits: 1},
}

// tables of shapes by their spelling without layouts and .satfinite.
var mmaTables = sync.OnceValue(func() [2]map[string]*mmaShape {
	var tables [2]map[string]*mmaShape
	for i, rows := range [][]mmaRow{denseRows, sparseRows} {
		tables[i] = map[string]*mmaShape{}
		for _, r := range rows {
			for _, spelling := range expandPattern(r.pattern) {
				tables[i][spelling] = newShape(spelling, r, i == 1)
			}
		}
	}
	return tables
})

func newShape(spelling string, r mmaRow, sparse bool) *mmaShape {
	s := &mmaShape{sm: r.sm, feature: r.feature, and: strings.Contains(spelling, ".and.")}
	parts := strings.Split(strings.Replace(spelling, ".kind::f8f6f4", "", 1), ".")
	size, rest, _ := strings.Cut(parts[0][1:], "n8k")
	s.m, _ = strconv.Atoi(size)
	s.k, _ = strconv.Atoi(rest)
	s.d, s.a, s.b, s.c = parts[1], elements[parts[2]], elements[parts[3]], parts[4]
	s.kept = s.k
	if sparse {
		s.kept = s.k / 2
	}
	return s
}

// findShape reads the modifiers of an mma and finds its shape.
func (d *decoder) findShape(in *ptx.Instruction) (*mmaShape, error) {
	var left []string
	sparse, ordered, sat := false, false, false
	layouts := []string{}
	for i, m := range in.Modifiers {
		switch {
		case m == "sp" && i == 0:
			sparse = true
		case m == "sp::ordered_metadata" && i == 0:
			sparse, ordered = true, true
		case m == "satfinite":
			sat = true
		case m == "row" || m == "col":
			layouts = append(layouts, m)
		case m == "sync" || m == "aligned":
		default:
			left = append(left, m)
		}
	}
	if !in.Has("sync") || !in.Has("aligned") || len(layouts) != 2 {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "an mma is written mma.sync.aligned, its shape, the layouts of A and B, and the types of D, A, B and C")
	}
	if in.Has("block_scale") {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "block scaling is not executed; nearest that works: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32")
	}
	spelling := strings.Join(left, ".")
	all := mmaTables()[b2i(sparse)]
	found := all[spelling]
	if found == nil {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "nearest that works: "+d.nearestShape(spelling, sparse))
	}
	s := *found
	s.sat, s.ordered = sat, ordered
	s.colA, s.rowB = layouts[0] == "col", layouts[1] == "row"
	if (s.colA || s.rowB) && !s.quadPairs() {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", "only m8n8k4 of f16 takes other layouts than .row.col")
	}
	if sat && (s.d != "s32" || s.a.bits == 1) {
		return nil, d.m.ErrorAt(in, "not supported by the virtual GPU", ".satfinite stands only with s8, u8, s4 and u4")
	}
	if ordered && s.feature == "" && d.sm < 80 {
		return nil, d.tooOld(in, s.sm, "")
	}
	if d.sm < s.sm || s.feature != "" && !strings.HasSuffix(d.m.Target, s.feature) {
		return nil, d.tooOld(in, s.sm, s.feature)
	}
	return &s, nil
}

// tooOld is the error of an instruction that the device is too old for.
func (d *decoder) tooOld(in *ptx.Instruction, sm int, feature string) error {
	if d.sm >= sm && feature != "" {
		return d.m.ErrorAt(in, fmt.Sprintf("needs .target sm_%d%s, and the PTX is for %s", sm, feature, d.m.Target), fmt.Sprintf("compile it for sm_%d%s", sm, feature))
	}
	hint := fmt.Sprintf("open a device of sm_%d or newer", sm)
	if in.Opcode == "mma" {
		if near := d.nearestShape(strings.Join(in.Modifiers, "."), in.Has("sp") || in.Has("sp::ordered_metadata")); near != "" {
			hint += "; nearest that works: " + near
		}
	}
	return d.m.ErrorAt(in, fmt.Sprintf("needs sm_%d%s, and the device is sm_%d", sm, feature, d.sm), hint)
}

// nearestShape is the shape of this device that is most like a spelling.
func (d *decoder) nearestShape(spelling string, sparse bool) string {
	best, least := "", 1<<30
	for name, s := range mmaTables()[b2i(sparse)] {
		if s.sm > d.sm || s.feature != "" && !strings.HasSuffix(d.m.Target, s.feature) {
			continue
		}
		if n := modifierDistance(spelling, name); n < least || n == least && name < best {
			best, least = name, n
		}
	}
	if best == "" {
		return ""
	}
	shape, types, _ := strings.Cut(best, ".")
	prefix := "mma.sync.aligned."
	if sparse {
		prefix = "mma.sp.sync.aligned."
	}
	return prefix + shape + ".row.col." + types
}
