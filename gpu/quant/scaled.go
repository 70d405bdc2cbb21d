package quant

import (
	"fmt"
	"math"
)

// FP8 is a matrix of codes of a small float with one f32 scale for the whole (per tensor), for each row (per channel), or for each
// group of a row: value ≈ decoded code·scale. The largest of those that share a scale becomes the format's largest value.
type FP8 struct {
	Format        *SmallFloat
	Rows, Columns int
	Group         int // columns that share a scale; 0: the whole row
	PerTensor     bool
	Codes         []byte    // [Rows, Columns]
	Scales        []float32 // 1, [Rows], or [Rows, Columns/Group]
}

// EncodeFP8 rounds a matrix [rows, columns] half to even. perTensor takes one scale; else group columns share one, 0 for whole rows.
func EncodeFP8(format *SmallFloat, x []float32, rows, columns, group int, perTensor bool) (*FP8, error) {
	q := &FP8{Format: format, Rows: rows, Columns: columns, Group: group, PerTensor: perTensor, Codes: make([]byte, len(x))}
	var err error
	q.Scales, err = encodeScaled(format.Name, x, rows, columns, group, perTensor, format.Max, func(i int, v float32) { q.Codes[i] = format.EncodeSaturating(v) })
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Decode gives the values, [Rows, Columns].
func (q *FP8) Decode() []float32 {
	out := make([]float32, len(q.Codes))
	span := spanOf(q.Rows, q.Columns, q.Group, q.PerTensor)
	for i, c := range q.Codes {
		out[i] = q.Format.Decode(c) * q.Scales[i/span]
	}
	return out
}

// Bytes is what codes and scales take.
func (q *FP8) Bytes() int { return len(q.Codes) + 4*len(q.Scales) }

// encodeScaled checks a matrix, gives the scales with which its largest values become most, and calls put with each value in units of
// its scale.
func encodeScaled(name string, x []float32, rows, columns, group int, perTensor bool, most float32, put func(i int, v float32)) ([]float32, error) {
	switch {
	case rows <= 0 || columns <= 0 || len(x) != rows*columns:
		return nil, fmt.Errorf("quant: %s of [%d, %d]: %d values", name, rows, columns, len(x))
	case perTensor && group != 0:
		return nil, fmt.Errorf("quant: %s with one scale for the tensor has no groups, and %d were asked for", name, group)
	case group < 0 || group > 0 && columns%group != 0:
		return nil, fmt.Errorf("quant: %s with groups of %d: they do not divide %d columns", name, group, columns)
	}
	for i, v := range x {
		if v-v != 0 {
			return nil, fmt.Errorf("quant: value [%d, %d] is %v: with a scale, %s has no code for it", i/columns, i%columns, v, name)
		}
	}
	var scales []float32
	span := spanOf(rows, columns, group, perTensor)
	for from := 0; from < len(x); from += span {
		part := x[from : from+span]
		scale := abs32(largest(part)) / most
		id := inverse(scale)
		if math.IsInf(float64(id), 0) { // a subnormal scale has no inverse
			scale, id = 0, 0
		}
		scales = append(scales, scale)
		for i, v := range part {
			put(from+i, v*id)
		}
	}
	return scales, nil
}

// spanOf is how many values in a row share a scale.
func spanOf(rows, columns, group int, perTensor bool) int {
	switch {
	case perTensor:
		return rows * columns
	case group > 0:
		return group
	}
	return columns
}
