package quant

import (
	"fmt"
	"math"
)

// Int8 is a matrix of signed 8-bit codes with one f32 scale for the whole (per tensor), for each row (per channel), or for
// each group of a row: value ≈ code·scale. Codes lie in −127…127, so that the format is symmetric.
type Int8 struct {
	Rows, Columns int
	Group         int // columns that share a scale; 0: the whole row
	PerTensor     bool
	Codes         []int8    // [Rows, Columns]
	Scales        []float32 // 1, [Rows], or [Rows, Columns/Group]
}

// EncodeInt8 rounds a matrix [rows, columns] half to even. perTensor takes one scale; else group columns share one, 0 for
// whole rows.
func EncodeInt8(x []float32, rows, columns, group int, perTensor bool) (*Int8, error) {
	switch {
	case rows <= 0 || columns <= 0 || len(x) != rows*columns:
		return nil, fmt.Errorf("quant: int8 of [%d, %d]: %d values", rows, columns, len(x))
	case perTensor && group != 0:
		return nil, fmt.Errorf("quant: int8 with one scale for the tensor has no groups, and %d were asked for", group)
	case group < 0 || group > 0 && columns%group != 0:
		return nil, fmt.Errorf("quant: int8 with groups of %d: they do not divide %d columns", group, columns)
	}
	for i, v := range x {
		if v-v != 0 {
			return nil, fmt.Errorf("quant: value [%d, %d] is %v: int8 has no code for it", i/columns, i%columns, v)
		}
	}
	q := &Int8{Rows: rows, Columns: columns, Group: group, PerTensor: perTensor, Codes: make([]int8, len(x))}
	span := q.span()
	for from := 0; from < len(x); from += span {
		part := x[from : from+span]
		scale := abs32(largest(part)) / 127
		id := inverse(scale)
		if math.IsInf(float64(id), 0) { // a subnormal scale has no inverse
			scale, id = 0, 0
		}
		q.Scales = append(q.Scales, scale)
		for i, v := range part {
			q.Codes[from+i] = int8(clamp(nearest(v*id), -127, 127))
		}
	}
	return q, nil
}

// span is how many values in a row share a scale.
func (q *Int8) span() int {
	switch {
	case q.PerTensor:
		return q.Rows * q.Columns
	case q.Group > 0:
		return q.Group
	}
	return q.Columns
}

// Decode gives the values, [Rows, Columns].
func (q *Int8) Decode() []float32 {
	out := make([]float32, len(q.Codes))
	span := q.span()
	for i, c := range q.Codes {
		out[i] = float32(c) * q.Scales[i/span]
	}
	return out
}

// Bytes is what codes and scales take.
func (q *Int8) Bytes() int { return len(q.Codes) + 4*len(q.Scales) }
