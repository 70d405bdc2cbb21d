package kernels

import (
	"maps"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// shape names a trial by its extents and what is not zero.
func (t trial) shape() string {
	plain := trial{dims: maps.Clone(t.dims)}
	maps.DeleteFunc(plain.dims, func(_ string, n int) bool { return n == 0 })
	return plain.String()
}

// large is a shape of many rows, which aims at the 80 % of the roof that facts name for what reads and writes tensors once.
func large(d dims, fractions map[string]float64) []benchShape {
	return []benchShape{{trial: trial{dims: d, fractions: fractions}, share: .8}}
}

// benchInts are the contents of an operand of integers, of a shape that is timed: the trial's, or those of test data. Nil for other
// operands.
func (k *Kernel) benchInts(t trial, d dims) func(name string) []int {
	return func(name string) []int {
		for _, o := range k.operands {
			switch {
			case o.name != name || o.dtype != gpu.I32 || slices.Contains(t.without, name):
			case t.values[name] != nil:
				return t.values[name](d)
			case o.fill != nil:
				var all []int
				for _, v := range o.fill(d, rand.New(rand.NewPCG(1, 0x62656e6368))) {
					all = append(all, int(v))
				}
				return all
			}
		}
		return nil
	}
}

// benchDims are the extents of a shape that is timed, those that contents say among them.
func (k *Kernel) benchDims(t trial, sms int) dims {
	d := t.of(k, sms)
	k.readContents(d, k.benchInts(t, d))
	return d
}

// benchArguments are those of arguments, but nothing large is made on the host: inputs are procedural but for integers, outputs zero.
func (k *Kernel) benchArguments(dev *gpu.Device, t trial) *data {
	d := t.of(k, dev.SMs())
	ints := k.benchInts(t, d)
	made := &data{}
	for i, o := range k.operands {
		shape := d.extents(o.shape)
		var tensor *gpu.Tensor
		switch {
		case slices.Contains(t.without, o.name):
			made.args, made.tensors = append(made.args, nil), append(made.tensors, nil)
			continue
		case o.written():
			tensor = dev.Zeros(o.dtype, shape...)
		default:
			if values := ints(o.name); values != nil {
				tensor = dev.FromAs(o.dtype, floats(values), shape...)
				break
			}
			tensor = dev.Procedural(o.dtype, uint64(i+1), shape...)
		}
		made.args, made.tensors = append(made.args, tensor), append(made.tensors, tensor)
	}
	for _, s := range k.scalars {
		made.args = append(made.args, t.argument(s))
	}
	return made
}
