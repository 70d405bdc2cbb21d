package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// Kernel is one CUDA kernel of the registry; row.go says how to write one.
type Kernel struct {
	name       string // "gemv/1_naive"
	function   string // the entry in the PTX
	operands   []operand
	scalars    []scalar // what the caller gives after the tensors
	derived    []derivedExtent
	contents   []contentExtent
	workspaces []workspace
	maps       []tensorMap
	pass       []string // extents and scalars that follow the tensors in the entry's parameters
	args       []string // the entry's parameters by name, where they are not operands, workspaces, maps, pass
	wide       bool     // pass holds 64-bit parameters; otherwise they are C's int
	least      int      // compute capability that this entry needs, 80, where others of its source need less; 0: that of the PTX
	multiples  map[string]int
	limits     map[string]limit
	// precondition says what shapes alone do not, without the kernel's name: "Hq = 5 is no multiple of Hkv = 2".
	precondition func(d dims) error
	// validate looks at contents whose faults the device would only meet as wild addresses; ints copies an operand to the host.
	validate func(d dims, ints func(operand string) []int) error
	// prefer is false where a lower step of the ladder is better for these extents; nil: never.
	prefer func(d dims) bool
	// estimate is about how long a call takes, in units that only the steps of a ladder share: it takes the step with the least of
	// those that it prefers; nil: the highest of them.
	estimate func(d dims) float64
	config   func(d dims) gpu.Config
	// choose replaces function and config where both depend on the extents and the device's SMs.
	choose    func(d dims) (function string, config gpu.Config)
	stages    []stage // of a step of several launches, in place of function and config
	bytes     formula // least DRAM traffic: every input once, every output once
	flops     formula // the work of the operation, however a step does it
	reference func(d dims, in map[string][]float64) (want, scale []float64)
	// results replaces reference where there are several outputs: one for each, by name. Operands that are read and written
	// are in the inputs as they were before.
	results func(d dims, in map[string][]float64) map[string]result
	terms   func(d dims) float64 // rounding errors that add up in one result, in units of 2⁻²⁴·scale; nil: none
	counts  func(d dims) counters
	// countsIn adds closed forms that depend on contents: how far each sequence of a batch reaches.
	countsIn func(d dims, in map[string][]float64) counters
	cases    []trial
	far      *farCase // nil: none
	bench    []benchShape
	ceiling  *ceiling // of a probe: the limit of a device that it shows

	// draw makes a case by chance where extents of any size, all independent, would not do; nil: they would.
	draw func(r *rand.Rand) trial
}

// Name is "gemv/1_naive".
func (k *Kernel) Name() string { return k.name }

// Family is the part of the name before the slash: the operation.
func (k *Kernel) Family() string { return familyOf(k.name) }

// Function is the entry's name in the PTX; where a kernel has several, for different sizes, the one for large ones, and where
// it launches several, the first.
func (k *Kernel) Function() string {
	if k.function == "" && len(k.stages) > 0 {
		return k.stages[0].function
	}
	return k.function
}

// Doc is the header of the source: what it computes, the bottleneck of the step before, the idea, and what the counters
// should then show.
func (k *Kernel) Doc() string {
	var lines []string
	for _, line := range strings.Split(k.source(), "\n") {
		text, is := strings.CutPrefix(line, "//")
		if !is {
			break
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	return strings.Join(lines, "\n")
}

// summary is the first sentence of the header without the name.
func (k *Kernel) summary() string {
	first, _, _ := strings.Cut(k.Doc(), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(first, k.name+": "), ".")
}

// Source is the CUDA C++ text.
func (k *Kernel) Source() *Code { return &Code{Language: "cpp", Text: k.source()} }

// PTX is the text for one target, "sm_75" or "sm_80". It panics with a *gpu.Error when there is none for it.
func (k *Kernel) PTX(target string) string {
	text, ok := k.ptx(target)
	if !ok {
		panic(&gpu.Error{What: fmt.Sprintf("%s: no PTX for %q", k.name, target), How: "there is " + strings.Join(k.targets(), ", ") +
			"; a device runs the highest that is not above its own"})
	}
	return text
}

// Targets are the architectures for which there is PTX, lowest first.
func (k *Kernel) Targets() []string { return k.targets() }

// Arguments describes what Run takes: "y f16 [N], w f16 [N, K], x f16 [K]"; "f16|bf16" where it has an entry for each.
func (k *Kernel) Arguments() string {
	var parts []string
	for i, o := range k.operands {
		text := o.name + " " + k.describe(i)
		if o.optional {
			text += " or nil"
		}
		parts = append(parts, text)
	}
	for _, s := range k.scalars {
		parts = append(parts, s.name+" "+s.kindText())
	}
	return strings.Join(parts, ", ")
}

// describe is an operand's element types and extents: "f16 [N, K]".
func (k *Kernel) describe(i int) string { return k.types(i) + k.operands[i].extents() }

// describe is what this entry takes.
func (o operand) describe() string { return o.dtype.String() + o.extents() }

func (o operand) extents() string {
	names := make([]string, len(o.shape))
	for i, s := range o.shape {
		names[i] = strings.TrimPrefix(s, "*")
		if s != names[i] {
			names[i] = "…"
		}
	}
	return " [" + strings.Join(names, ", ") + "]"
}

// Bytes is the least traffic of a call, by formula: every input read once, every output written once. It panics with a
// *gpu.Error when Run would refuse the arguments.
func (k *Kernel) Bytes(args ...any) perf.Figure {
	return k.figure(func(v *Kernel) formula { return v.bytes }, "B", args)
}

// FLOPs is the work of a call, by formula. It panics with a *gpu.Error when Run would refuse the arguments.
func (k *Kernel) FLOPs(args ...any) perf.Figure {
	return k.figure(func(v *Kernel) formula { return v.flops }, "FLOP", args)
}

func (k *Kernel) figure(which func(*Kernel) formula, unit string, args []any) perf.Figure {
	k = k.variantFor(args)
	call, err := k.bind(args)
	if err == nil {
		err = k.suits(call)
	}
	if err == nil {
		err = k.validated(call)
	}
	if err != nil {
		panic(err)
	}
	f := which(k)
	return perf.Figure{Value: f.of(call.dims), Unit: unit, Tag: perf.Formula, Source: f.text}
}

// String names the kernel and its arguments.
func (k *Kernel) String() string {
	return fmt.Sprintf("%s(%s)\n%s", k.name, k.Arguments(), k.summary())
}

// MIMEBundle shows name, arguments and the header.
func (k *Kernel) MIMEBundle() map[string]any {
	return map[string]any{"text/plain": k.String() + "\n\n" + k.Doc()}
}

// Code is program text that a notebook shows highlighted.
type Code struct {
	Language string // as Markdown names it: "cpp"
	Text     string
}

// String is the text.
func (c *Code) String() string { return c.Text }

// MIMEBundle is the text as fenced Markdown, which every notebook client highlights.
func (c *Code) MIMEBundle() map[string]any {
	return map[string]any{"text/plain": c.Text, "text/markdown": "```" + c.Language + "\n" + strings.TrimRight(c.Text, "\n") + "\n```"}
}

func familyOf(name string) string {
	family, _, _ := strings.Cut(name, "/")
	return family
}
