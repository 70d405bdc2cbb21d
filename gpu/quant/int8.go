package quant

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
	q := &Int8{Rows: rows, Columns: columns, Group: group, PerTensor: perTensor, Codes: make([]int8, len(x))}
	var err error
	q.Scales, err = encodeScaled("int8", x, rows, columns, group, perTensor, 127, func(i int, v float32) { q.Codes[i] = int8(clamp(nearest(v), -127, 127)) })
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Decode gives the values, [Rows, Columns].
func (q *Int8) Decode() []float32 {
	out := make([]float32, len(q.Codes))
	span := spanOf(q.Rows, q.Columns, q.Group, q.PerTensor)
	for i, c := range q.Codes {
		out[i] = float32(c) * q.Scales[i/span]
	}
	return out
}

// Bytes is what codes and scales take.
func (q *Int8) Bytes() int { return len(q.Codes) + 4*len(q.Scales) }
