// Package asmgen writes the threaded AVX2 assembly of the virtual GPU (asm_amd64.s) and the table that ties each op to its
// portable twin (asm_table_amd64.go).
//
// An op is a frameless TEXT that is entered and left by a jump: it executes one decoded instruction for the 32 lanes of a
// warp and jumps to the address in the first word of the next one. What it cannot do it leaves to Go before it changed
// anything (bail). The registers, the context and the rules are those of threads_amd64.go.
//
// The text is written directly, in the manner of lanegen. github.com/mmcloughlin/avo, the usual generator, cannot express
// it: its pass.CFG demands a label of every branch ("no label for branch instruction"), and each op here ends in a jump
// through a register.
//
//	go generate ./gpu/internal/vgpu
package asmgen

import (
	"fmt"
	"go/format"
	"sort"
	"strings"
)

// op is one TEXT.
type op struct {
	name    string   // of the TEXT
	twins   []string // portable Go functions that compute the same
	variant int      // which form of the twin this is: threads_amd64.go, variantOf
	masks   bool     // looks at the mask of active lanes itself
	text    []string
}

// set is what the generator has collected.
type set struct {
	ops  []*op
	data map[string][]uint32 // read-only tables, in words
}

// block collects the instructions of one op.
type block struct {
	lines  []string
	labels int
}

// i adds an instruction.
func (b *block) i(format string, args ...any) {
	b.lines = append(b.lines, "\t"+fmt.Sprintf(format, args...))
}

func (b *block) label(name string) { b.lines = append(b.lines, name+":") }

// unique gives a label that is new in this op.
func (b *block) unique(name string) string {
	b.labels++
	return fmt.Sprintf("%s%d", name, b.labels)
}

// next leaves the op for the next instruction.
func (b *block) next() {
	b.i("ADDQ $%d, R9", instBytes)
	b.i("MOVQ (R9), AX")
	b.i("JMP AX")
}

// leave goes back to Go, with R9 at the instruction that Go is to execute.
func (b *block) leave() {
	b.i("VZEROUPPER")
	b.i("MOVQ R9, 40(SP)")
	b.i("RET")
}

// Offsets of inst, asmContext and asmMemo; threads_amd64.go checks them at compile time.
const (
	instBytes   = 64
	instD       = 16
	instA       = 20
	instB       = 24
	instC       = 28
	instImm     = 32
	instExt     = 40
	instID      = 48
	instSite    = 52
	instE       = 56
	extraGuard  = 64
	extraNot    = 68
	extraSecond = 72

	contextHost      = 0
	contextShared    = 8
	contextSharedLen = 16
	contextMemos     = 24
	contextLog       = 32
	contextLogEnd    = 40
	contextParams    = 48
	contextMask      = 56
	contextGuarded   = 64
	contextFuel      = 80
	contextSelect    = 88
	contextCounts    = 96
	contextRounds    = 104
	contextBlock     = 112
	contextPending   = 120
	contextOther     = 128
	contextAfter     = 136
	contextJoin      = 144
	contextScratch   = 192
	contextBig       = 448

	jumpTaken = 0
	jumpNext  = 8
	jumpSides = 16
	jumpJoin  = 32
	jumpCost  = 40
	jumpWays  = 48

	landingMasked = 16
	landingCounts = 24
	landingCost   = 32
	landingChase  = 40
	landingNumber = 48

	countsWarps      = 0
	countsLanes      = 8
	countsTaken      = 16
	countsTakenLanes = 24
	countsBranches   = 32
	countsDivergent  = 40

	memoBytes   = 704
	memoHits    = 256
	memoKind    = 264
	memoAlign   = 268
	memoMin     = 272
	memoMax     = 280
	memoLow     = 288
	memoHigh    = 296
	memoLines   = 304 // their number
	memoEntries = 312
	memoSpan    = 688
)

// define adds an op whose body falls through to the next instruction.
func (s *set) define(twin string, body func(b *block)) *op {
	return s.variant(twin, 0, func(b *block) {
		body(b)
		b.next()
	})
}

// variant adds an op that leaves by itself.
func (s *set) variant(twin string, n int, body func(b *block)) *op {
	b := &block{}
	body(b)
	name := strings.TrimPrefix(strings.TrimPrefix(twin, "lane"), "op")
	if n != 0 {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	o := &op{name: "do" + name, twins: []string{twin}, variant: n, text: b.lines}
	s.ops = append(s.ops, o)
	return o
}

// also names more portable functions that an op stands for.
func (o *op) also(twins ...string) *op {
	o.twins = append(o.twins, twins...)
	return o
}

// table keeps words for a read-only table and gives its symbol.
func (s *set) table(name string, words []uint32) string {
	s.data[name] = words
	return name + "<>"
}

// Generate gives the texts of asm_amd64.s and asm_table_amd64.go.
func Generate() (assembly, table []byte, err error) {
	s := &set{data: map[string][]uint32{}}
	s.tables()
	s.integer()
	s.fields()
	s.logic()
	s.floats()
	s.halves()
	s.doubles()
	s.conversions()
	s.comparisons()
	s.mixed()
	s.warp()
	s.memory()
	s.matrix()
	s.jumps()
	seen := map[string]bool{}
	for _, o := range s.ops {
		for _, t := range o.twins {
			key := fmt.Sprintf("%s/%d", t, o.variant)
			if seen[key] {
				return nil, nil, fmt.Errorf("two ops stand for %s", key)
			}
			seen[key] = true
		}
	}
	table, err = s.goTable()
	return s.assembly(), table, err
}

const header = "// Code generated by memwall/gpu/internal/vgpu/asmgen. DO NOT EDIT.\n\n"

func (s *set) assembly() []byte {
	var b strings.Builder
	b.WriteString(header + "#include \"textflag.h\"\n\n")
	b.WriteString("// func enterThreads(base, code, context, predicates unsafe.Pointer) unsafe.Pointer\n")
	b.WriteString("TEXT ·enterThreads(SB), NOSPLIT|NOFRAME, $0-40\n\tMOVQ base+0(FP), R8\n\tMOVQ code+8(FP), R9\n\tMOVQ context+16(FP), R11\n\tMOVQ predicates+24(FP), R10\n\tMOVQ (R9), AX\n\tJMP AX\n\n")
	b.WriteString("// leaveThreads goes back to Go: where an instruction has no assembly, and at the end of a block.\n")
	b.WriteString("TEXT leaveThreads<>(SB), NOSPLIT|NOFRAME, $0-0\n\tVZEROUPPER\n\tMOVQ R9, 40(SP)\n\tRET\n\n")
	for _, o := range s.ops {
		fmt.Fprintf(&b, "// %s\nTEXT %s<>(SB), NOSPLIT|NOFRAME, $0-0\n%s\n\n", strings.Join(o.twins, ", "), o.name, strings.Join(o.text, "\n"))
	}
	b.WriteString("// func asmAddresses(to *uintptr)\nTEXT ·asmAddresses(SB), NOSPLIT, $0-8\n\tMOVQ to+0(FP), DI\n\tLEAQ leaveThreads<>(SB), AX\n\tMOVQ AX, (DI)\n")
	for i, o := range s.ops {
		fmt.Fprintf(&b, "\tLEAQ %s<>(SB), AX\n\tMOVQ AX, %d(DI)\n", o.name, 8*(i+1))
	}
	b.WriteString("\tRET\n\n")
	var names []string
	for n := range s.data {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		words := s.data[n]
		for i, w := range words {
			fmt.Fprintf(&b, "DATA %s<>+%d(SB)/4, $0x%08x\n", n, 4*i, w)
		}
		fmt.Fprintf(&b, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n\n", n, 4*len(words))
	}
	return []byte(b.String())
}

func (s *set) goTable() ([]byte, error) {
	var b strings.Builder
	b.WriteString(header + "package vgpu\n\n// asmOps are the ops in the order of asmAddresses, whose first address is that of leaveThreads.\nvar asmOps = [...]asmOp{\n")
	for _, o := range s.ops {
		fmt.Fprintf(&b, "\t{name: %q, twins: []opFunc{%s}, variant: %d, masks: %t},\n", o.name, strings.Join(o.twins, ", "), o.variant, o.masks)
	}
	b.WriteString("}\n")
	return format.Source([]byte(b.String()))
}
