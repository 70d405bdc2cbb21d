package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"memwall/gpu"
)

// A row of the registry is a Kernel: name, function, operands, geometry, closed forms, reference and cases. What most rows
// need is their name, their tensors and a reference with one result; the rest has sensible zero values.
//
//	several outputs            operands with output (written), inout (read and written); results instead of reference gives
//	                           want and scale of each by name; exact on an operand wants equality, for packed bytes and integers
//	test data of its own       fill on an operand: indices, block tables, packed bytes; integers need it
//	scalars                    integers by default; kind fraction (a range, passed as f32) or flag (a bool, passed as 0 or 1)
//	several launches           stages, with workspaces that Run allocates and frees; their counts are added up
//	an operand may be missing  optional: nil, or left out at the end; d.has("bias") in closed forms; trial.without in cases
//	an extent from others      derived: name and function of the extents; a number in a shape is itself
//	an extent from contents    contents: the tokens that block tables and lengths describe, read on the host before the launch
//	what shapes do not say     multiples, limits, precondition; on the host, from contents: validate
//	TMA                        maps: an argument name, the operand and its box
//	speed                      bench: shapes for memwall bench kernels, with what the ladder aims at
//	ladders by shape           the step that takes the call, whose prefer does not refuse it and whose estimate is least; without
//	                           estimates the highest
//
// The entry's parameters are the operands in order, the workspaces, the maps, then what pass names; args, of the row or of a
// stage, gives another order or a part.

// operand is a tensor argument. Shape names its extents; the same name means the same extent. "*R" stands for all leading
// extents multiplied, so that a tensor of any rank can be taken as rows; a number stands for itself.
type operand struct {
	name     string
	output   bool // written, not read
	inout    bool // read and written
	optional bool // may be nil: the entry gets a null pointer
	exact    bool // results equal the reference, without tolerance
	partial  bool // not all of it is touched in every call: its distinct sectors are compared only where counts gives them
	dtype    gpu.DType
	shape    []string
	align    int // bytes that its address must be a multiple of, 0 where its elements are enough
	// fill makes test data in place of a trial's kind: what must be indices, lengths or packed bytes. Fractions are rounded to
	// the element type.
	fill func(d dims, r *rand.Rand) []float64
}

func (o operand) written() bool { return o.output || o.inout }
func (o operand) read() bool    { return !o.output || o.inout }

// workspace is memory that Run allocates for the launches of one call and frees afterwards. Checks fill it with NaN first.
type workspace struct {
	name  string
	dtype gpu.DType
	shape []string
	zero  bool // it begins as zeros: counters, sums; its distinct sectors are not compared
}

// scalar is an argument after the tensors.
type scalar struct {
	name        string
	kind        scalarKind
	least, most int     // of a whole number
	low, high   float64 // of a fraction
}

type scalarKind int

const (
	whole    scalarKind = iota // an integer; closed forms read it as an extent
	fraction                   // a float64, passed as f32; the reference finds it, rounded, as in["scale"][0]
	flag                       // a bool, passed as 0 or 1 and read so by closed forms
)

func (s scalar) kindText() string { return [...]string{"int", "float", "bool"}[s.kind] }

// limit is the largest value of an extent that a kernel takes, and what to do with more.
type limit struct {
	most int
	how  string
}

// derivedExtent is an extent that follows from others: the bytes of a row of packed weights. Later ones may use earlier ones.
type derivedExtent struct {
	name string
	of   func(d dims) int
}

// contentExtent is a number that the contents of operands say, for geometry and closed forms: the sum of lengths. ints copies
// an operand to the host, nil where it is missing.
type contentExtent struct {
	name string
	of   func(d dims, ints func(operand string) []int) int
}

// tensorMap is a TMA descriptor of an operand or workspace, an argument by value under its own name.
type tensorMap struct {
	name, of string
	config   func(d dims) gpu.TensorMapConfig
}

// stage is one launch of a step that needs several.
type stage struct {
	idea     string // what it does, in a word or two; the card says "attention/1_naive: softmax"
	function string
	config   func(d dims) gpu.Config
	choose   func(d dims) (function string, config gpu.Config) // in place of both
	args     []string                                          // nil: all, in the row's order
	when     func(d dims) bool                                 // nil: always
	// flops is its part of the row's flops; the stage with main, else the last one, does what no other claims.
	flops func(d dims) float64
	main  bool
}

// entry is the function and the geometry of a launch.
func (s *stage) entry(d dims) (string, gpu.Config) {
	if s.choose != nil {
		return s.choose(d)
	}
	return s.function, s.config(d)
}

// result is what a reference says of one output: values, and the magnitude that rounding errors are measured by; no scale
// means that only the rounding to the element type is allowed.
type result struct{ want, scale []float64 }

// dims are extents and whole scalars by name, and the number of SMs of the device.
type dims map[string]int

// multiprocessors is the name in dims of the number of SMs.
const multiprocessors = "SMs"

func (d dims) f(name string) float64 { return float64(d[name]) }

// absence is the prefix of the names in dims that mark optional operands that a call leaves out.
const absence = "no "

// has says whether a call gives an optional operand.
func (d dims) has(operand string) bool { return d[absence+operand] == 0 }

// of is an extent by its name in a shape, where a number stands for itself.
func (d dims) of(name string) int {
	name = trimFold(name)
	if n, is := fixedExtent(name); is {
		return n
	}
	return d[name]
}

// elements is the product of a shape.
func (d dims) elements(shape []string) float64 {
	n := 1.0
	for _, name := range shape {
		n *= float64(d.of(name))
	}
	return n
}

// extents are the numbers of a shape.
func (d dims) extents(shape []string) []int {
	out := make([]int, len(shape))
	for i, name := range shape {
		out[i] = d.of(name)
	}
	return out
}

// fixedExtent is the value of a number in a shape.
func fixedExtent(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil
}

func trimFold(name string) string { return strings.TrimPrefix(name, "*") }

// formula is a closed form over the extents, with its text.
type formula struct {
	text string
	of   func(d dims) float64
}

// counters are closed forms of what a step executes, all its launches together, by the names of the table in counters.go.
type counters map[string]float64

// launches are the stages of a step; a step of one launch is one stage.
func (k *Kernel) launches() []stage {
	if len(k.stages) > 0 {
		return k.stages
	}
	return []stage{{function: k.function, config: k.config, choose: k.choose, args: k.args}}
}

// argumentOrder are the names of a stage's arguments.
func (k *Kernel) argumentOrder(s *stage) []string {
	if s.args != nil {
		return s.args
	}
	var all []string
	for _, o := range k.operands {
		all = append(all, o.name)
	}
	for _, w := range k.workspaces {
		all = append(all, w.name)
	}
	for _, m := range k.maps {
		all = append(all, m.name)
	}
	return append(all, k.pass...)
}

// memory is a tensor among the arguments of a launch, an operand or a workspace.
type memory struct {
	name                              string
	dtype                             gpu.DType
	shape                             []string
	read, written, partial, workspace bool
}

// touched are the operands and workspaces that a launch takes, each once; a map stands for what it describes.
func (k *Kernel) touched(s *stage, d dims) []memory {
	var all []memory
	for _, argument := range k.argumentOrder(s) {
		for _, m := range k.maps {
			if m.name == argument {
				argument = m.of
			}
		}
		m, is := k.memoryOf(argument)
		if is && d.has(argument) && !slices.ContainsFunc(all, func(other memory) bool { return other.name == argument }) {
			all = append(all, m)
		}
	}
	return all
}

func (k *Kernel) memoryOf(name string) (memory, bool) {
	for _, o := range k.operands {
		if o.name == name {
			return memory{name: name, dtype: o.dtype, shape: o.shape, read: o.read(), written: o.written(), partial: o.partial}, true
		}
	}
	for _, w := range k.workspaces {
		if w.name == name {
			return memory{name: name, dtype: w.dtype, shape: w.shape, partial: w.zero, workspace: true}, true
		}
	}
	return memory{}, false
}

// bytes is the size of a tensor.
func (m memory) bytes(d dims) float64 { return float64(m.dtype.Size(int(d.elements(m.shape)))) }

// traffic is the bytes of a tensor that a launch moves at least.
func (m memory) traffic(d dims) float64 {
	bytes := m.bytes(d)
	if m.read && m.written {
		bytes *= 2
	}
	return bytes
}

// isDerived says whether an extent follows from others.
func (k *Kernel) isDerived(extent string) bool {
	for _, x := range k.derived {
		if x.name == extent {
			return true
		}
	}
	return false
}

// complete adds to the extents of a call what follows from them and from the device.
func (k *Kernel) complete(d dims, sms int) {
	d[multiprocessors] = sms
	for _, x := range k.derived {
		d[x.name] = x.of(d)
	}
}

// refuses says why a row cannot take extents, or nil: multiples, limits, then the precondition. Another step of the ladder
// may take them.
func (k *Kernel) refuses(d dims) error {
	for _, o := range k.operands { // in the operands' order, so that the message does not depend on the map's
		for _, name := range o.shape {
			name = trimFold(name)
			if m := k.multiples[name]; m > 1 && d[name]%m != 0 {
				fewer := ""
				if d[name] > m {
					fewer = fmt.Sprintf("%d or ", d[name]/m*m)
				}
				return &gpu.Error{What: fmt.Sprintf("%s: %s = %d, it takes multiples of %d", k.name, name, d[name], m),
					How: fmt.Sprintf("use %s = %s%d, or fill up with zeros", name, fewer, over(d[name], m)*m)}
			}
			if l, ok := k.limits[name]; ok && d[name] > l.most {
				return &gpu.Error{What: fmt.Sprintf("%s: %s = %d, it takes up to %d", k.name, name, d[name], l.most), How: l.how}
			}
		}
	}
	if k.precondition == nil {
		return nil
	}
	err := k.precondition(d)
	if err == nil {
		return nil
	}
	return k.named(err)
}

// named puts the kernel's name before an error of a row's own check.
func (k *Kernel) named(err error) error {
	if e, is := err.(*gpu.Error); is {
		named := *e
		named.What = k.name + ": " + e.What
		return &named
	}
	return &gpu.Error{What: k.name + ": " + err.Error(), Cause: err}
}
