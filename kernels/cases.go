package kernels

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"memwall/gpu"
)

// trial is one test case: extents and what the inputs are filled with.
type trial struct {
	dims      dims // extents, integers, and flags as 0 or 1
	inputs    inputs
	fractions map[string]float64
	without   []string                      // optional operands that are missing
	values    map[string]func(d dims) []int // of operands of integers of a shape that is timed, where they are not those of test data
	lazily    string                        // an operand whose contents are made as they are read; the reference does not get it
}

// inputs is a kind of test data.
type inputs int

const (
	normal   inputs = iota // N(0, 1)
	outliers               // N(0, 1), and one in a thousand from N(0, 100): what a model's activations look like
	special                // N(0, 1) with some NaN, +inf, −inf, −0 and the smallest numbers
	masked                 // N(0, 1) with −inf: whole rows, tails and single elements
)

func (i inputs) String() string { return [...]string{"normal", "outliers", "special", "masked"}[i] }

// String is "N=31 K=33" with the kind of input where it is not the usual one.
func (t trial) String() string {
	var parts []string
	for name, n := range t.dims {
		parts = append(parts, fmt.Sprintf("%s=%d", name, n))
	}
	sort.Strings(parts)
	for _, name := range slices.Sorted(maps.Keys(t.fractions)) {
		x := t.fractions[name]
		parts = append(parts, fmt.Sprintf("%s=%g", name, x))
	}
	for _, name := range t.without {
		parts = append(parts, "without "+name)
	}
	if t.inputs != normal {
		parts = append(parts, t.inputs.String())
	}
	return strings.Join(parts, " ")
}

// sanitizedWork is the most that a case may be to run under the sanitizer, which takes up to ninety times as long.
const sanitizedWork = 1 << 17

// work is the product of the extents.
func (t trial) work() int {
	product := 1
	for _, extent := range t.dims {
		product *= max(extent, 1)
	}
	return product
}

// fill makes n values of a kind; the last extent tells where rows end.
func (i inputs) fill(r *rand.Rand, n, columns int) []float64 {
	values := make([]float64, n)
	for j := range values {
		values[j] = r.NormFloat64()
		switch i {
		case outliers:
			if r.IntN(1000) == 0 {
				values[j] += 10 * r.NormFloat64() // variance 100
			}
		case special:
			if r.IntN(50) == 0 {
				values[j] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 6e-8, -6e-8}[r.IntN(6)]
			}
		case masked:
			row, column := j/max(columns, 1), j%max(columns, 1)
			if row%4 == 0 || row%4 == 1 && column > columns/3 || row%4 == 2 && r.IntN(3) == 0 {
				values[j] = math.Inf(-1)
			}
		}
	}
	return values
}

// of is a copy of the trial's extents with what follows from them, on a device of so many SMs.
func (t trial) of(k *Kernel, sms int) dims {
	d := maps.Clone(t.dims)
	for _, name := range t.without {
		d[absence+name] = 1
	}
	k.complete(d, sms)
	return d
}

// data are a case's arguments, the tensors among them and what the reference gets.
type data struct {
	args    []any
	tensors []*gpu.Tensor // in the operands' order; nil where one is missing
	in      map[string][]float64
}

// arguments makes those of a case: outputs filled with garbage, inputs with the case's kind of data or the operand's own, then
// the scalars. Making tensors panics with a *gpu.Error.
func (k *Kernel) arguments(dev *gpu.Device, t trial, random *rand.Rand) *data {
	d := t.of(k, dev.SMs())
	made := &data{in: map[string][]float64{}}
	for _, o := range k.operands {
		if slices.Contains(t.without, o.name) {
			made.args, made.tensors = append(made.args, nil), append(made.tensors, nil)
			continue
		}
		shape := d.extents(o.shape)
		n, columns := 1, 1
		for _, extent := range shape {
			n, columns = n*extent, extent
		}
		var tensor *gpu.Tensor
		switch {
		case o.name == t.lazily:
			tensor = dev.Procedural(o.dtype, random.Uint64(), shape...)
		case o.output && !o.inout:
			tensor = spoilt(dev, o.dtype, random, shape)
		case o.fill != nil:
			tensor = dev.FromAs(o.dtype, o.fill(d, random), shape...)
		default:
			tensor = t.inputs.tensor(dev, o.dtype, random, n, columns, shape)
		}
		if o.read() && o.name != t.lazily {
			made.in[o.name] = tensor.Float64s() // as rounded to the element type
		}
		made.args, made.tensors = append(made.args, tensor), append(made.tensors, tensor)
	}
	for _, s := range k.scalars {
		if s.kind == fraction {
			made.in[s.name] = []float64{float64(float32(t.fractions[s.name]))}
		}
		made.args = append(made.args, t.argument(s))
	}
	return made
}

// argument is the value of a scalar.
func (t trial) argument(s scalar) any {
	switch s.kind {
	case fraction:
		return t.fractions[s.name]
	case flag:
		return t.dims[s.name] != 0
	}
	return t.dims[s.name]
}

// ints are what an operand held before the launch.
func (d *data) ints(operand string) []int {
	out := make([]int, len(d.in[operand]))
	for i, v := range d.in[operand] {
		out[i] = int(v)
	}
	return out
}

// free releases tensors; nil ones are missing.
func free(tensors []*gpu.Tensor) {
	for _, t := range tensors {
		if t != nil {
			t.Free()
		}
	}
}
