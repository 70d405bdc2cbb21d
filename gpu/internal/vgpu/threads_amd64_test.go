package vgpu

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"memwall/gpu/internal/vgpu/asmgen"
)

// asm_amd64.s and its table are what the generator writes.
func TestGeneratedAssemblyIsCurrent(t *testing.T) {
	assembly, table, err := asmgen.Generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"asm_amd64.s": assembly, "asm_table_amd64.go": table} {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is stale: run go generate ./gpu/internal/vgpu", name)
		}
	}
}

// What this CPU cannot run is said; the other tests of this file then have nothing to do.
func threadsCanRun(t *testing.T) bool {
	if missing := missingFeatures(); len(missing) > 0 {
		t.Logf("this CPU lacks %s: assembly not run", strings.Join(missing, ", "))
		return false
	}
	return true
}

const (
	trialSlots = 8 // wide slots of a trial's register file
	trialPreds = 8
)

// trial is a warp without a launch around it.
type trial struct {
	file    []byte
	w       warp
	context asmContext
}

func newTrial() *trial {
	x := &trial{file: make([]byte, 256*(trialSlots+1)+64)}
	at := alignUp(int(uintptr(unsafe.Pointer(&x.file[0]))&63), 64) - int(uintptr(unsafe.Pointer(&x.file[0]))&63)
	x.w.base = unsafe.Pointer(&x.file[at])
	x.w.pred = make([]uint32, trialPreds)
	return x
}

func (x *trial) copyFrom(o *trial) {
	copy(unsafe.Slice((*byte)(x.w.base), 256*(trialSlots+1)), unsafe.Slice((*byte)(o.w.base), 256*(trialSlots+1)))
	copy(x.w.pred, o.w.pred)
	x.w.mask = o.w.mask
}

func slotAt(k int) uint32 { return uint32(256 * k) }

// fillSlot draws the lanes of a slot.
func (x *trial) fillSlot(r *rand.Rand, at uint32, t string) {
	if isWideType(t) {
		for i := range x.w.u64(at) {
			x.w.u64(at)[i] = draw(r, t)
		}
		return
	}
	for i := range x.w.u32(at) {
		v := draw(r, strings.TrimSuffix(t, "x2"))
		switch {
		case strings.HasSuffix(t, "x2"):
			v = v&0xffff | draw(r, strings.TrimSuffix(t, "x2"))<<16
		case typeBytes(t) == 2 && r.IntN(2) == 0: // what lies above 16 bits does not matter
			v = v&0xffff | r.Uint64()<<16
		}
		x.w.u32(at)[i] = uint32(v)
	}
}

// run executes one instruction by assembly; it reports whether the assembly left it to Go, which then executed it.
func (x *trial) run(in inst, o *asmOp) (left bool) {
	in.code = o.address
	code := []inst{in, {code: asmLeave}}
	x.context.mask = uint64(x.w.mask)
	at := enterThreads(x.w.base, unsafe.Pointer(&code[0]), unsafe.Pointer(&x.context), unsafe.Pointer(&x.w.pred[0]))
	if at == unsafe.Pointer(&code[0]) {
		in.fn(&x.w, &in)
		left = true
	} else if at != unsafe.Pointer(&code[1]) {
		panic(fmt.Sprintf("%s left at a wrong place", o.name))
	}
	runtime.KeepAlive(code)
	return left
}

// asmShape says how a trial of an op is made where no row of the lane table does.
type asmShape struct {
	dst  string // type of the destination; "pred", "" for none
	src  []string
	more func(x *trial, r *rand.Rand, in *inst)
}

func withPredicate(x *trial, r *rand.Rand, in *inst) {
	in.c, in.imm = 2, uint64(-uint32(r.IntN(2)))
}

func twoPredicates(x *trial, r *rand.Rand, in *inst) {
	in.d, in.a, in.b, in.imm = 4, 2, 3, uint64(-uint32(r.IntN(2)))|uint64(-uint32(r.IntN(2)))<<32
}

// lists gives an instruction two or four registers.
func lists(n int) func(x *trial, r *rand.Rand, in *inst) {
	return func(x *trial, r *rand.Rand, in *inst) {
		in.ext = &extra{second: -1}
		for k := range n {
			in.ext.regs = append(in.ext.regs, slotAt(4+k))
		}
	}
}

func shuffleTrial(second bool) func(x *trial, r *rand.Rand, in *inst) {
	return func(x *trial, r *rand.Rand, in *inst) {
		in.ext = &extra{second: -1}
		if second {
			in.ext.second = 3
		}
		width := uint32(32) >> r.IntN(4)
		for i := range 32 {
			if r.IntN(2) == 0 {
				x.w.u32(in.b)[i] = r.Uint32()
			}
			x.w.u32(in.c)[i] = (32-width)<<8 | uint32(r.IntN(32))
			x.w.u32(in.e)[i] = 1<<i | r.Uint32()
		}
	}
}

// matrixTrial draws A, B and C of an mma and lays D apart from them or on them.
func matrixTrial(t string) func(x *trial, r *rand.Rand, in *inst) {
	return func(x *trial, r *rand.Rand, in *inst) {
		in.ext = &extra{second: -1}
		at := func(k int) uint32 { return slotAt(1) + uint32(unit*k) }
		special := r.IntN(3) == 0
		for k := range 10 {
			in.ext.sources = append(in.ext.sources, at(k))
			switch {
			case k < 6 && special:
				x.fillSlot(r, at(k), t+"x2")
			case k < 6:
				x.fillGently(r, at(k), t)
			default:
				x.fillSlot(r, at(k), "f32")
			}
		}
		first := []int{10, 0, 6, 2}[r.IntN(4)]
		for k := range 4 {
			in.ext.regs = append(in.ext.regs, at(first+k))
		}
	}
}

var asmShapes = map[string]asmShape{
	"lanePack16":        {"u32", []string{"u32", "u32"}, nil},
	"lanePack32":        {"u64", []string{"u32", "u32"}, nil},
	"laneSelect32":      {"u32", []string{"u32", "u32"}, withPredicate},
	"laneSelect64":      {"u64", []string{"u64", "u64"}, withPredicate},
	"laneSelectSign32":  {"u32", []string{"u32", "u32", "s32"}, nil},
	"laneLop3":          {"u32", []string{"u32", "u32", "u32"}, nil},
	"laneCvtF32F16High": {"f32", []string{"f16x2"}, nil},
	"laneFmaHalves":     {"f32", []string{"f32", "f32", "f32"}, convertedHalves},
	"opHalves":          {"f32", []string{"f16x2"}, func(x *trial, r *rand.Rand, in *inst) { in.e = slotAt(7) }},
	"opUnpack16":        {"", []string{"u32"}, lists(2)},
	"opBlend32":         {"u32", []string{"u32"}, nil},
	"opBlend64":         {"u64", []string{"u64"}, nil},
	"opMovePredicate":   {"pred", nil, twoPredicates},
	"opSetPredicate":    {"pred", nil, twoPredicates},
	"opAndPredicate":    {"pred", nil, twoPredicates},
	"opOrPredicate":     {"pred", nil, twoPredicates},
	"opXorPredicate":    {"pred", nil, twoPredicates},
	"opButterfly":       {"u32", []string{"u32"}, func(x *trial, r *rand.Rand, in *inst) { in.imm = uint64(r.IntN(32)) }},
	"opActive":          {"u32", nil, nil},
	"opShuffle":         {"u32", []string{"u32", "u32", "u32", "u32"}, nil},
	"opVote":            {"u32", nil, nil},
	"opMatrixHalf16":    {"", nil, matrixTrial("f16")},
	"opMatrixBfloat16":  {"", nil, matrixTrial("bf16")},
}

// convertedHalves makes the factors what the twin is used for.
func convertedHalves(x *trial, r *rand.Rand, in *inst) {
	for i := range 32 {
		x.w.f32(in.a)[i] = halfToFloat(uint16(draw(r, "f16")))
		x.w.f32(in.b)[i] = halfToFloat(uint16(draw(r, "f16")))
	}
}

// gentle are the twins whose ops leave extreme values to Go.
var gentle = map[string]bool{"laneFmaRnBf16": true, "laneFmaRnReluBf16": true, "laneFmaRnBf16x2": true, "laneFmaRnReluBf16x2": true, "opHalves": true}

// fillGently draws numbers of moderate size.
func (x *trial) fillGently(r *rand.Rand, at uint32, t string) {
	for i := range x.w.u32(at) {
		a, b := float32(r.NormFloat64()*100), float32(r.NormFloat64())
		if strings.HasPrefix(t, "bf16") {
			x.w.u32(at)[i] = uint32(floatToBfloat(a)) | uint32(floatToBfloat(b))<<16
		} else {
			x.w.u32(at)[i] = uint32(floatToHalf(a)) | uint32(floatToHalf(b))<<16
		}
	}
}

// byMemory are the ops whose trials are whole kernels (threads_memory_amd64_test.go).
var byMemory = []string{"opLoad", "opStore", "opGuarded"}

func nameOf(fn opFunc) string {
	name := runtime.FuncForPC(codeOf(fn)).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// Every op of the assembly gives what each of its portable twins gives, on random and special values, with the
// destination apart and on a source, and where it looks at the mask for some of the lanes.
func TestAssemblyMatchesPortable(t *testing.T) {
	if !threadsCanRun(t) {
		return
	}
	rows := map[uintptr]*row{}
	for i := range laneRows {
		rows[codeOf(laneRows[i].lane)] = &laneRows[i]
	}
	for i := range asmOps {
		o := &asmOps[i]
		for _, fn := range o.twins {
			name := nameOf(fn)
			s, ok := asmShapes[name]
			if r := rows[codeOf(fn)]; !ok && r != nil {
				s, ok = asmShape{dst: r.dst, src: r.src}, true
			}
			if slices.Contains([]uintptr{asmJump, asmBranch, asmMaskedJump, asmMaskedBranch}, o.address) {
				continue // TestJumps
			}
			for _, prefix := range byMemory {
				if strings.HasPrefix(name, prefix) {
					ok, s.src = true, []string{"memory"}
				}
			}
			if !ok {
				t.Errorf("%s: no trial for its twin %s", o.name, name)
			} else if len(s.src) != 1 || s.src[0] != "memory" {
				compareTwin(t, o, fn, name, s)
			}
		}
	}
}

func compareTwin(t *testing.T, o *asmOp, fn opFunc, name string, s asmShape) {
	r := rand.New(rand.NewPCG(7, uint64(len(o.name))))
	start, portable, assembly := newTrial(), newTrial(), newTrial()
	const trials = 24
	left := 0
	for n := range trials {
		in := inst{fn: fn, d: slotAt(5), pattern: -1}
		for k, into := range []*uint32{&in.a, &in.b, &in.c, &in.e}[:len(s.src)] {
			*into = slotAt(1 + k)
			start.fillSlot(r, *into, s.src[k])
			if gentle[name] && n%3 != 0 {
				start.fillGently(r, *into, s.src[k])
			}
		}
		for k := range start.w.pred {
			start.w.pred[k] = r.Uint32()
		}
		start.fillSlot(r, slotAt(5), "u64")
		if n%3 == 1 && len(s.src) > 0 && s.dst != "pred" && s.dst != "" { // the destination is a source
			if k := r.IntN(len(s.src)); isWideType(s.src[k]) == isWideType(s.dst) { // slots of the two widths lie apart
				in.d = slotAt(1 + k)
			}
		}
		if s.dst == "pred" {
			in.d = 4
		}
		switch {
		case name == "laneLop3":
			in.imm = uint64(o.variant)
		case name == "opShuffle":
			in.imm = uint64(o.variant & 3)
			shuffleTrial(o.variant > 3)(start, r, &in)
		case name == "opVote":
			in.n, in.a, in.imm, in.e = uint8(o.variant), 2, uint64(-uint32(r.IntN(2))), slotAt(6)
			fill(start.w.u32(in.e), []uint32{allLanes, allLanes &^ 2}[n&1])
			start.w.pred[2] = []uint32{0, allLanes, r.Uint32()}[n%3]
			if o.variant != voteBallot {
				in.d = 4
			}
		}
		if s.more != nil {
			s.more(start, r, &in)
		}
		start.w.mask = allLanes
		if o.masks && n&1 != 0 {
			start.w.mask = r.Uint32() | 1
		}
		if name == "opVote" && n&1 != 0 { // a lane outside of its member mask is a fault: only lanes in it are active
			start.w.u32(in.e)[1] = allLanes
			continue
		}
		portable.copyFrom(start)
		assembly.copyFrom(start)
		fn(&portable.w, &in)
		if assembly.run(in, o) {
			left++
		}
		if bad := differ(portable, assembly, s.dst, in.d); bad != "" {
			operands := ""
			for k := range s.src {
				operands += fmt.Sprintf(" %x", start.w.u64(slotAt(1 + k))[:4])
			}
			t.Errorf("%s as %s, trial %d: %s; sources%s", o.name, name, n, bad, operands)
			return
		}
	}
	if left > trials/2 {
		t.Errorf("%s as %s: left to Go in %d of %d trials", o.name, name, left, trials)
	}
}

// differ compares all registers; of two NaN of f64 the payloads do not matter.
func differ(p, a *trial, dst string, d uint32) string {
	for k := range p.w.pred {
		if p.w.pred[k] != a.w.pred[k] {
			return fmt.Sprintf("predicate %d is %#x, portable %#x", k, a.w.pred[k], p.w.pred[k])
		}
	}
	for slot := range trialSlots + 1 {
		at := slotAt(slot)
		if at == d && dst == "f64" {
			for i, v := range p.w.f64(at) {
				if w := a.w.f64(at)[i]; math.Float64bits(v) != math.Float64bits(w) && !(v != v && w != w) {
					return fmt.Sprintf("lane %d is %x, portable %x", i, math.Float64bits(w), math.Float64bits(v))
				}
			}
			continue
		}
		for i := range 64 {
			v, w := *(*uint32)(unsafe.Add(p.w.base, int(at)+4*i)), *(*uint32)(unsafe.Add(a.w.base, int(at)+4*i))
			if v != w {
				return fmt.Sprintf("slot %d word %d is %#x, portable %#x", slot, i, w, v)
			}
		}
	}
	return ""
}
