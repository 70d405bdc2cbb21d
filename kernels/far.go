package kernels

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// farCase is a case with an operand larger than 4 GiB, whose rows are made when they are read. A few CTAs run; results of a
// row of the operand depend on that row and on the other operands alone.
type farCase struct {
	dims    dims
	operand string // [rows, …]
	rows    string // the extent of its rows, and one of the output's
	sample  int    // every so many CTAs run, the first and one beyond 4 GiB among them
}

// farBytes is where offsets need more than 32 bits.
const farBytes = 1 << 32

// checkFar runs the far case of a row: results of the rows that were computed against the reference of each alone.
func (k *Kernel) checkFar(dev *gpu.Device, seed uint64) (result CaseResult, err error) {
	defer caught(&err)
	f, random := k.far, rand.New(rand.NewPCG(seed, 0x666172))
	t := trial{dims: f.dims, lazily: f.operand}
	made := k.arguments(dev, t, random)
	defer free(made.tensors)
	launch := func() { err = run(k.name, random, made.args) }
	sampled := dev.Supports("sampling") == ""
	if sampled {
		gpu.Sample(f.sample, launch)
	} else {
		gpu.Measure(launch)
	}
	if err != nil {
		return result, err
	}
	big := slices.IndexFunc(k.operands, func(o operand) bool { return o.name == f.operand })
	out := slices.IndexFunc(k.operands, func(o operand) bool { return o.written() })
	shape := k.operands[out].shape
	at := slices.IndexFunc(shape, func(name string) bool { return trimFold(name) == f.rows })
	got := made.tensors[out].Incomplete()
	d := t.of(k, dev.SMs())
	lead, inner := int(d.elements(shape[:at])), int(d.elements(shape[at+1:]))
	of := func(row int) (values []float64) {
		for i := range lead {
			first := (i*d[f.rows] + row) * inner
			values = append(values, got[first:first+inner]...)
		}
		return values
	}
	rows, farthest, step := 0, 0, 1
	if !sampled { // all rows were computed: look at some
		step = max(1, d[f.rows]/64)
	}
	for row := 0; row < d[f.rows]; row += step {
		values := of(row)
		if !slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) }) {
			continue // of a CTA that did not run
		}
		alone := maps.Clone(f.dims)
		alone[f.rows] = 1
		k.complete(alone, dev.SMs())
		in := maps.Clone(made.in)
		in[f.operand] = made.tensors[big].Slice(row, row+1).Float64s()
		want, scale := k.reference(alone, in)
		one := compareResults(k.operands[out].dtype, values, want, scale, k.terms(d))
		result.add(one, fmt.Sprintf("row %d: ", row))
		rows, farthest = rows+1, row
	}
	end := made.tensors[big].Bytes() / int64(d[f.rows]) * int64(farthest+1)
	result.Case = fmt.Sprintf("%s, %s of %.2f GB, %d rows up to %d", trial{dims: f.dims}, f.operand, float64(made.tensors[big].Bytes())/1e9, rows, farthest)
	if end <= farBytes {
		result.Wrong = append(result.Wrong, fmt.Sprintf("no row beyond 4 GiB was computed, the last ends at byte %d", end))
	}
	return result, nil
}
