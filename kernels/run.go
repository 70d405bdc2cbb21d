package kernels

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"memwall/gpu"
)

// Run launches a kernel and waits for its end. The name is a step ("gemv/1_naive") or a ladder ("gemv": the best step that
// the device can run; the card says which). Arguments are as Kernel.Arguments lists them, outputs first. Shapes, element
// types, devices, alignment and overlap are checked before the launch.
func Run(step string, args ...any) error {
	k, err := lookUp(step)
	if err != nil {
		return gpu.Failed(err)
	}
	k = k.variantFor(args)
	call, err := k.bind(args)
	if err == nil && k.name != step {
		k, call, err = best(k, call, args)
	}
	if err != nil {
		return gpu.Failed(err)
	}
	module, err := k.load(call.dev)
	if err != nil {
		return gpu.Failed(err)
	}
	name, config := k.entry(call)
	function, err := module.Function(name)
	if err != nil {
		return gpu.Failed(err)
	}
	return function.LaunchWith(gpu.LaunchSpec{Name: k.name, Config: config, MinimumBytes: k.bytes.of(call.dims), FormulaFLOPs: k.flops.of(call.dims)},
		call.values...)
}

// best is the highest step of the ladder that the device of the call can run.
func best(last *Kernel, c *call, args []any) (*Kernel, *call, error) {
	all := steps(last.Family())
	var cannot error
	for i := len(all) - 1; i >= 0; i-- {
		if _, err := all[i].targetFor(c.dev); err != nil {
			if cannot == nil {
				cannot = err
			}
			continue
		}
		if all[i].name == last.name {
			return last, c, nil
		}
		v := all[i].variantFor(args)
		bound, err := v.bind(args)
		return v, bound, err
	}
	return nil, nil, cannot
}

// call is a kernel's arguments, checked.
type call struct {
	dev    *gpu.Device
	dims   dims
	values []any // as the entry takes them
}

// bind checks the arguments of a call and finds the extents.
func (k *Kernel) bind(args []any) (*call, error) {
	want := len(k.operands) + len(k.scalars)
	if len(args) != want {
		return nil, &gpu.Error{What: fmt.Sprintf("%s: %d arguments, it takes %d", k.name, len(args), want), How: "write kernels.Run(" + strconv.Quote(k.name) +
			", " + strings.Join(k.argumentNames(), ", ") + ") with " + k.Arguments()}
	}
	c := &call{dims: dims{}}
	tensors := make([]*gpu.Tensor, len(k.operands))
	from := map[string]string{} // extent → the argument that set it
	for i, o := range k.operands {
		t, ok := args[i].(*gpu.Tensor)
		if !ok || t == nil {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: argument %d (%s) is %s, it takes a tensor %s", k.name, i+1, o.name, kindOf(args[i]), k.describe(i)),
				How: "make one with dev.Randn, dev.Zeros or dev.From"}
		}
		tensors[i] = t
		if err := k.bindShape(i, t, c.dims, from); err != nil {
			return nil, err
		}
		if c.dev == nil {
			c.dev = t.Device()
		} else if t.Device() != c.dev {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: %s is on %s, %s on %s", k.name, o.name, t.Device().Name(), k.operands[0].name, c.dev.Name()),
				How: "tensors stay on the device that made them: make all of them on one"}
		}
		c.values = append(c.values, t)
	}
	c.dims[multiprocessors] = c.dev.SMs()
	if err := k.checkMemory(tensors); err != nil {
		return nil, err
	}
	for i, s := range k.scalars {
		n, ok := integer(args[len(k.operands)+i])
		if !ok || n < s.least || n > s.most {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: argument %d (%s) is %v, it takes a whole number from %d to %d", k.name, len(k.operands)+i+1, s.name,
				args[len(k.operands)+i], s.least, s.most)}
		}
		c.dims[s.name] = n
	}
	for _, name := range k.pass {
		n := c.dims[name]
		if !k.wide && n > math.MaxInt32 {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: %s = %d, more than the %d that an int of CUDA C++ holds", k.name, name, n, math.MaxInt32), How: "split the call"}
		}
		c.values = append(c.values, n)
	}
	for name, l := range k.limits {
		if c.dims[name] > l.most {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: %s = %d, it takes up to %d", k.name, name, c.dims[name], l.most), How: l.how}
		}
	}
	return c, nil
}

// bindShape checks one tensor's type and shape and sets the extents that it is the first to have.
func (k *Kernel) bindShape(at int, t *gpu.Tensor, d dims, from map[string]string) error {
	o, shape := k.operands[at], t.Shape()
	if t.DType() != o.dtype {
		extents := strings.Trim(shapeText(shape), "[]")
		alternatives := ""
		if len(k.variants()) > 1 {
			alternatives = "; it takes " + k.Arguments()
		}
		return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s, it takes %s", k.name, o.name, t.DType(), shapeText(shape), o.describe()),
			How: fmt.Sprintf("convert it: dev.FromAs(gpu.%s, %s.Float64s(), %s)", strings.ToUpper(o.dtype.String()), o.name, extents) + alternatives}
	}
	folds := len(o.shape) > 0 && strings.HasPrefix(o.shape[0], "*")
	if folds {
		rest := len(o.shape) - 1
		if len(shape) < rest {
			return k.wrongRank(at, shape)
		}
		lead := 1
		for _, n := range shape[:len(shape)-rest] {
			lead *= n
		}
		shape = append([]int{lead}, shape[len(shape)-rest:]...)
	} else if len(shape) != len(o.shape) {
		return k.wrongRank(at, shape)
	}
	for i, name := range o.shape {
		name = strings.TrimPrefix(name, "*")
		first, known := from[name]
		if !known {
			d[name], from[name] = shape[i], o.name
			continue
		}
		if d[name] != shape[i] {
			return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s, but %s says %s = %d", k.name, o.name, t.DType(), shapeText(t.Shape()), first, name, d[name]),
				How: "it takes " + k.Arguments()}
		}
	}
	if o.output && t.Len() == 0 {
		return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s: there is nothing to compute", k.name, o.name, t.DType(), shapeText(t.Shape())),
			How: "give it at least one element"}
	}
	return nil
}

func (k *Kernel) wrongRank(at int, shape []int) error {
	o := k.operands[at]
	how := fmt.Sprintf("reshape it: %s.Reshape(%s)", o.name, strings.ReplaceAll(strings.Join(o.shape, ", "), "*", ""))
	switch k.Family() {
	case "gemv":
		how += "; several columns at once are kernels.Run(\"gemm\", y, w, x)"
	case "gemm":
		how += "; for a single vector use kernels.Run(\"gemv\", y, w, x)"
	}
	return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s, it takes %s", k.name, o.name, o.dtype, shapeText(shape), k.describe(at)), How: how}
}

// checkMemory refuses misaligned tensors and outputs that overlap anything else: the kernels promise the compiler that
// they don't (__restrict__).
func (k *Kernel) checkMemory(tensors []*gpu.Tensor) error {
	for i, o := range k.operands {
		t := tensors[i]
		if over := t.Address() % uint64(max(o.align, 1)); over != 0 {
			return &gpu.Error{What: fmt.Sprintf("%s: %s starts %d B behind a multiple of %d B, and the kernel reads %d B at a time", k.name, o.name, over, o.align, o.align),
				How: fmt.Sprintf("use a slice that starts on a multiple of %d elements, or a tensor of its own", o.align/o.dtype.Bytes())}
		}
		if !o.output {
			continue
		}
		for j, other := range tensors {
			if i != j && t.Address() < other.Address()+uint64(other.Bytes()) && other.Address() < t.Address()+uint64(t.Bytes()) {
				return &gpu.Error{What: fmt.Sprintf("%s: %s and %s share memory, and the kernel writes one while it reads the other", k.name, o.name, k.operands[j].name),
					How: "give " + o.name + " a tensor of its own"}
			}
		}
	}
	return nil
}

func (k *Kernel) argumentNames() []string {
	var all []string
	for _, o := range k.operands {
		all = append(all, o.name)
	}
	for _, s := range k.scalars {
		all = append(all, s.name)
	}
	return all
}

// integer takes what Go code naturally gives for a count.
func integer(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int32:
		return int(n), true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) <= 1<<53
	}
	return 0, false
}

func kindOf(v any) string {
	switch t := v.(type) {
	case nil:
		return "nil"
	case *gpu.Tensor:
		if t == nil {
			return "nil"
		}
	}
	return fmt.Sprintf("of type %T", v)
}

func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
