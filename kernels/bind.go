package kernels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"memwall/gpu"
)

// call is a kernel's arguments, checked.
type call struct {
	dev     *gpu.Device
	dims    dims
	tensors []*gpu.Tensor  // in the operands' order; nil where an optional one is missing
	values  map[string]any // what the entry takes, by name
}

// bind checks the arguments of a call and finds the extents. What another step of the ladder could take is left to suits.
func (k *Kernel) bind(args []any) (*call, error) {
	args = k.withMissing(args)
	if want := len(k.operands) + len(k.scalars); len(args) != want {
		return nil, &gpu.Error{What: fmt.Sprintf("%s: %d arguments, it takes %d", k.name, len(args), want), How: "write kernels.Run(" + strconv.Quote(k.name) +
			", " + strings.Join(k.argumentNames(), ", ") + ") with " + k.Arguments()}
	}
	c := &call{dims: dims{}, tensors: make([]*gpu.Tensor, len(k.operands)), values: map[string]any{}}
	from := map[string]string{} // extent → the argument that set it
	first := ""                 // the operand that says which device it is
	for i, o := range k.operands {
		t, ok := args[i].(*gpu.Tensor)
		if missing := args[i] == nil || ok && t == nil; missing && o.optional {
			c.dims[absence+o.name] = 1
			c.values[o.name] = nil
			continue
		} else if !ok || missing {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: argument %d (%s) is %s, it takes a tensor %s", k.name, i+1, o.name, kindOf(args[i]), k.describe(i)),
				How: "make one with dev.Randn, dev.Zeros or dev.From"}
		}
		c.tensors[i], c.values[o.name] = t, t
		if t.DType() != o.dtype {
			return nil, k.wrongType(i, args)
		}
		if err := k.bindShape(i, t, c.dims, from); err != nil {
			return nil, err
		}
		if c.dev == nil {
			c.dev, first = t.Device(), o.name
		} else if t.Device() != c.dev {
			return nil, &gpu.Error{What: fmt.Sprintf("%s: %s is on %s, %s on %s", k.name, o.name, t.Device().Name(), first, c.dev.Name()),
				How: "tensors stay on the device that made them: make all of them on one"}
		}
	}
	if err := k.checkOverlap(c.tensors); err != nil {
		return nil, err
	}
	for i, s := range k.scalars {
		if err := k.bindScalar(len(k.operands)+i, s, args, c); err != nil {
			return nil, err
		}
	}
	return c, k.bindDerived(c)
}

// withMissing gives the arguments with nil for optional operands that were left out at the end of the tensors.
func (k *Kernel) withMissing(args []any) []any {
	tensors := 0
	for tensors < len(args) {
		if _, is := args[tensors].(*gpu.Tensor); !is && args[tensors] != nil {
			break
		}
		tensors++
	}
	missing := len(k.operands) - tensors
	if missing <= 0 || len(args)+missing != len(k.operands)+len(k.scalars) {
		return args
	}
	for _, o := range k.operands[tensors:] {
		if !o.optional {
			return args
		}
	}
	return slices.Concat(args[:tensors], make([]any, missing), args[tensors:])
}

// bindScalar checks the argument at a place and notes it.
func (k *Kernel) bindScalar(at int, s scalar, args []any, c *call) error {
	wrong := func(takes string) error {
		return &gpu.Error{What: fmt.Sprintf("%s: argument %d (%s) is %v, it takes %s", k.name, at+1, s.name, args[at], takes)}
	}
	switch s.kind {
	case flag:
		b, ok := args[at].(bool)
		if !ok {
			return wrong("true or false")
		}
		c.dims[s.name] = 0
		if b {
			c.dims[s.name] = 1
		}
		c.values[s.name] = c.dims[s.name]
	case fraction:
		x, ok := real64(args[at])
		if !ok || !(x >= s.low && x <= s.high) {
			return wrong(fmt.Sprintf("a number from %g to %g", s.low, s.high))
		}
		c.values[s.name] = float32(x)
	default:
		n, ok := integer(args[at])
		if !ok || n < s.least || n > s.most {
			return wrong(fmt.Sprintf("a whole number from %d to %d", s.least, s.most))
		}
		c.dims[s.name] = n
		c.values[s.name] = n
	}
	return nil
}

// bindDerived works out the extents that follow from others, and holds the tensors against them.
func (k *Kernel) bindDerived(c *call) error {
	k.complete(c.dims, c.dev.SMs())
	for name, n := range c.dims {
		if _, known := c.values[name]; !known {
			c.values[name] = n
		}
	}
	for i, o := range k.operands {
		t := c.tensors[i]
		if t == nil {
			continue
		}
		shape, lead := t.Shape(), 0
		if len(o.shape) > 0 && strings.HasPrefix(o.shape[0], "*") {
			lead = len(shape) - len(o.shape)
		}
		for j, name := range o.shape {
			if !k.isDerived(name) || shape[j+lead] == c.dims[name] {
				continue
			}
			if err := k.refuses(c.dims); err != nil {
				return err
			}
			return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s, but %s = %d follows from %s", k.name, o.name, t.DType(), shapeText(shape), name, c.dims[name], c.dims.sources(k)),
				How: "it takes " + k.Arguments()}
		}
	}
	return nil
}

// sources are the extents that tensors have set, "K = 64, N = 8".
func (d dims) sources(k *Kernel) string {
	var all []string
	for _, o := range k.operands {
		for _, name := range o.shape {
			name = trimFold(name)
			if _, fixed := fixedExtent(name); fixed || k.isDerived(name) {
				continue
			}
			if text := fmt.Sprintf("%s = %d", name, d[name]); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// suits says why this step cannot take a call that bind has found in order, or nil.
func (k *Kernel) suits(c *call) error {
	for i, o := range k.operands {
		if t := c.tensors[i]; t != nil {
			if over := t.Address() % uint64(max(o.align, 1)); over != 0 {
				return &gpu.Error{What: fmt.Sprintf("%s: %s starts %d B behind a multiple of %d B, and the kernel reads %d B at a time", k.name, o.name, over, o.align, o.align),
					How: fmt.Sprintf("use a slice that starts on a multiple of %d elements, or a tensor of its own", o.align/max(o.dtype.Bytes(), 1))}
			}
		}
	}
	for _, s := range k.launches() {
		for _, name := range k.argumentOrder(&s) {
			if n, is := c.values[name].(int); is && !k.wide && n > math.MaxInt32 {
				return &gpu.Error{What: fmt.Sprintf("%s: %s = %d, more than the %d that an int of CUDA C++ holds", k.name, name, n, math.MaxInt32), How: "split the call"}
			}
		}
	}
	return k.refuses(c.dims)
}

// validated looks at the contents that the row wants looked at, and takes the extents that they say.
func (k *Kernel) validated(c *call) (err error) {
	if k.validate == nil && len(k.contents) == 0 {
		return nil
	}
	defer caught(&err) // reading a freed or incomplete tensor panics
	known := map[string][]int{}
	ints := func(operand string) []int {
		t, is := c.values[operand].(*gpu.Tensor)
		if _, read := known[operand]; is && !read {
			known[operand] = t.Ints()
		}
		return known[operand]
	}
	if k.validate != nil {
		if err := k.validate(c.dims, ints); err != nil {
			return k.named(err)
		}
	}
	k.readContents(c.dims, ints)
	for _, x := range k.contents {
		c.values[x.name] = c.dims[x.name]
	}
	return nil
}

func (k *Kernel) readContents(d dims, ints func(operand string) []int) {
	for _, x := range k.contents {
		d[x.name] = x.of(d, ints)
	}
}

// caught turns a panic with a *gpu.Error, as making and reading tensors may raise it, into an error.
func caught(err *error) {
	if r := recover(); r != nil {
		e, is := r.(*gpu.Error)
		if !is {
			panic(r)
		}
		*err = e
	}
}

// wrongType says what the type of a tensor should be. Where a row of the step would take it, but not beside the others, it names
// one of those.
func (k *Kernel) wrongType(at int, args []any) error {
	o, t := k.operands[at], args[at].(*gpu.Tensor)
	takes, beside := k.describe(at), ""
	if slices.ContainsFunc(k.variants(), func(v *Kernel) bool { return v.operands[at].dtype == t.DType() }) {
		takes = o.describe()
		for i, other := range k.operands {
			if x, is := args[i].(*gpu.Tensor); is && x != nil && i != at && x.DType() == other.dtype && strings.Contains(k.types(i), "|") {
				beside = fmt.Sprintf(" beside %s %s", other.name, other.dtype)
				break
			}
		}
	}
	alternatives := ""
	if len(k.variants()) > 1 {
		alternatives = "; it takes " + k.Arguments()
	}
	return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s%s, it takes %s", k.name, o.name, t.DType(), shapeText(t.Shape()), beside, takes),
		How: fmt.Sprintf("convert it: dev.FromAs(gpu.%s, %s.Float64s(), %s)", strings.ToUpper(o.dtype.String()), o.name, strings.Trim(shapeText(t.Shape()), "[]")) + alternatives}
}

// bindShape checks one tensor's shape and sets the extents that it is the first to have.
func (k *Kernel) bindShape(at int, t *gpu.Tensor, d dims, from map[string]string) error {
	o, shape := k.operands[at], t.Shape()
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
		name = trimFold(name)
		if n, fixed := fixedExtent(name); fixed && n != shape[i] {
			return &gpu.Error{What: fmt.Sprintf("%s: %s is %s %s, it takes %s", k.name, o.name, t.DType(), shapeText(t.Shape()), k.describe(at))}
		} else if fixed || k.isDerived(name) {
			continue
		}
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

// checkOverlap refuses outputs that overlap anything else: the kernels promise the compiler that they don't (__restrict__).
func (k *Kernel) checkOverlap(tensors []*gpu.Tensor) error {
	for i, o := range k.operands {
		t := tensors[i]
		if t == nil || !o.written() {
			continue
		}
		for j, other := range tensors {
			if i != j && other != nil && t.Address() < other.Address()+uint64(other.Bytes()) && other.Address() < t.Address()+uint64(t.Bytes()) {
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

// real64 takes what Go code naturally gives for a number.
func real64(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	}
	n, ok := integer(v)
	return float64(n), ok
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
