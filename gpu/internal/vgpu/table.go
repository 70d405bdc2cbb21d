package vgpu

import (
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// row is one operation of the op table: how PTX spells it, what it counts as, and what executes it. Lane-by-lane
// operations are generated (lanes_gen.go); the others have a decoder of their own.
type row struct {
	patterns []string // spellings, {a,b} standing for each alternative; a bare opcode for decoders that read modifiers
	dst      string   // of lane ops: type of the destination, "pred" for a comparison
	src      []string
	class    perf.Class
	flop     perf.FLOPType
	flops    int    // a lane; of an mma a warp
	section  string // of the PTX ISA 8.8
	lane     opFunc
	sm       int // the least target, 0 for any
	decode   func(d *decoder, in *ptx.Instruction, r *row) (inst, error)
}

// handRows are the operations with a decoder of their own, by subject; set at start, since decoders ask the table too.
var handRows [][]row

func init() {
	handRows = [][]row{controlRows, callRows, hintRows, clusterRows, mbarrierRows, memoryRows, warpRows, matrixRows, wmmaRows, matrixMoveRows, wgmmaRows, tensorMapRows, mixedRows, videoRows, textureRows}
}

type opTable struct {
	spelled map[string]*row     // every spelling of the rows that list theirs
	opcodes map[string]*row     // rows that take any modifiers
	byCode  map[string][]string // the listed spellings by opcode, for hints
}

var table = sync.OnceValue(func() *opTable {
	t := &opTable{spelled: make(map[string]*row, 4096), opcodes: map[string]*row{}, byCode: map[string][]string{}}
	for _, rows := range append([][]row{laneRows}, handRows...) {
		for i := range rows {
			r := &rows[i]
			for _, p := range r.patterns {
				if !strings.ContainsAny(p, ".{") && r.decode != nil {
					t.opcodes[p] = r
					continue
				}
				for _, s := range expandPattern(p) {
					t.spelled[s] = r
					code, _, _ := strings.Cut(s, ".")
					t.byCode[code] = append(t.byCode[code], s)
				}
			}
		}
	}
	return t
})

// expandPattern gives every spelling of a pattern: each {a,b} once with each alternative.
func expandPattern(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	end := open + strings.IndexByte(pattern[open:], '}')
	var all []string
	for _, alternative := range strings.Split(pattern[open+1:end], ",") {
		all = append(all, expandPattern(pattern[:open]+alternative+pattern[end+1:])...)
	}
	return all
}

// find gives the row of a spelling, or nil.
func (t *opTable) find(spelling, opcode string) *row {
	if r := t.spelled[spelling]; r != nil {
		return r
	}
	return t.opcodes[opcode]
}

// hint says what comes nearest to a spelling that is not supported.
func (t *opTable) hint(spelling, opcode string) string {
	if later, ok := notYet[opcode]; ok {
		return "not yet: " + later
	}
	best, least := "", 1<<30
	for _, s := range t.byCode[opcode] {
		if d := modifierDistance(spelling, s); d < least || d == least && s < best {
			best, least = s, d
		}
	}
	if best != "" {
		return "nearest that works: " + best
	}
	if near := t.misspelt(opcode); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// misspelt is the opcode that a name with one letter wrong, missing, too many or swapped means; "" where there is none.
func (t *opTable) misspelt(name string) string {
	best := ""
	for _, opcodes := range []iter.Seq[string]{maps.Keys(t.byCode), maps.Keys(t.opcodes)} {
		for code := range opcodes {
			if oneApart(name, code) && (best == "" || code < best) {
				best = code
			}
		}
	}
	return best
}

// oneApart reports whether two names differ by one letter, or by two that are swapped.
func oneApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch a, b = a[i:], b[i:]; {
	case len(b) == 0 || len(a)+1 < len(b):
		return false
	case len(a) < len(b):
		return a == b[1:]
	case a[1:] == b[1:]:
		return true
	}
	return len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
}

// modifierDistance counts the modifiers that stand in only one of two spellings.
func modifierDistance(a, b string) int {
	left := strings.Split(a, ".")
	d := 0
	for _, m := range strings.Split(b, ".") {
		found := false
		for i, x := range left {
			if x == m {
				left = append(left[:i], left[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			d++
		}
	}
	return d + len(left)
}

// notYet names the families that the virtual GPU knows of and does not execute.
var notYet = map[string]string{
	"tex": "textures other than tex.1d.v4 by an integer, as tex1Dfetch makes them", "tld4": "textures; ld.global.nc works", "suld": "surfaces; ld.global works", "sust": "surfaces; st.global works",
	"multimem":             "multicast memory; on one GPU ld, st and red.global do the same",
	"clusterlaunchcontrol": "clusters", "redux": "this form of redux.sync", "tcgen05": "tensor memory of sm_100; wgmma.mma_async of sm_90a works",
}

// check gives the whole instruction's error for something that is not supported.
func unsupported(m *ptx.Module, in *ptx.Instruction) error {
	return m.ErrorAt(in, "not supported by the virtual GPU", table().hint(in.Spelling, in.Opcode))
}

func decodeError(m *ptx.Module, in *ptx.Instruction, format string, args ...any) error {
	return m.ErrorAt(in, fmt.Sprintf(format, args...), "")
}
