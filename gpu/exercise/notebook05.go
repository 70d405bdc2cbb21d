package exercise

import (
	"fmt"
	"math/rand/v2"
)

// The numbers of notebook 05: a format to work out, and where the outlier channel lies.
const (
	formatValues = 64.0 // a block of the format of 05.1
	formatCode   = 3.0  // bits a code
	formatScales = 32.0 // bits of scale and minimum
	outlierRow   = 37
	outlierRows  = 64
	outlierWidth = 256
)

// OutlierWeights are the weights of exercise 05.4, [64, 256]: all of one spread, but for one row.
func OutlierWeights() []float32 {
	r := rand.New(rand.NewPCG(5, 4))
	w := make([]float32, outlierRows*outlierWidth)
	for i := range w {
		v := r.NormFloat64()
		if i/outlierWidth == outlierRow {
			v *= 40
		}
		w[i] = float32(v)
	}
	return w
}

// fewerBits are the exercises of notebook 05.
var fewerBits = []exercise{
	{
		id: "05.1", unit: "bits", within: 0.005,
		question: "A format has blocks of 64 values: a scale and a minimum in f16, and 64 codes of 3 bits. How many bits is that a weight?",
		answer:   func() float64 { return formatCode + formatScales/formatValues },
		formula: func() string {
			return "2 · 16 bits for scale and minimum, 64 · 3 bits for the codes: 224 bits for 64 values, 3.5 a weight."
		},
		start: "Add up all bits of a block, scale and minimum too, and divide by the values that it holds.",
		mistakes: []mistake{
			{func() float64 { return formatCode }, "Those are the codes alone. The scale and the minimum are stored too."},
			{func() float64 { return formatCode + 16/formatValues }, "You counted one f16 number. The block has a scale and a minimum."},
			{func() float64 { return (formatCode*formatValues + formatScales) / 8 }, "Those are the bytes of a block. The question is for bits a weight."},
			{func() float64 { return formatCode*formatValues + formatScales }, "Those are the bits of a block. How many values share them?"},
			{func() float64 { return formatCode + formatScales/32 }, "That would be a block of 32 values. This one has 64 that share scale and minimum."},
		},
	},
	{
		id: "05.2", unit: "", within: 0.02,
		question: "By the bytes of the weights alone: how many times faster is decode with Q4_0 (4.5 bits a weight) than with f16?",
		answer:   func() float64 { return 16 / 4.5 },
		formula:  func() string { return "16 bits ÷ 4.5 bits = 3.56: a token reads 3.56 times fewer bytes." },
		start:    "How many bits does a weight take in f16, and how many in Q4_0?",
		mistakes: []mistake{
			{func() float64 { return 4 }, "16 ÷ 4 counts the codes alone; with its share of the scale a weight takes 4.5 bits."},
			{func() float64 { return 4.5 / 16 }, "That is the share of the bytes that is left. How many times fewer are they?"},
			{func() float64 { return 16 - 4.5 }, "That is the difference in bits. How many times does 4.5 go into 16?"},
			{func() float64 { return 8 / 4.5 }, "That compares with 8 bits. f16 has 16."},
		},
	},
	{
		id: "05.3", unit: "", within: 0.03,
		question: "Q8_0 divides the largest value of a block by 127 to get its step, Q4_0 by 8. How many times as large is Q4_0's step?",
		answer:   func() float64 { return 127.0 / 8 },
		formula: func() string {
			return "127 ÷ 8 = 15.9: four bits fewer, 2⁴ times the step, and so about 16 times the error."
		},
		start: "Write both steps as the largest value divided by something, and divide one by the other.",
		mistakes: []mistake{
			{func() float64 { return 2 }, "Half the bits, but each bit that goes doubles the step. Four go."},
			{func() float64 { return 8.0 / 127 }, "That is the other way round: the step of fewer bits is the larger one."},
			{func() float64 { return 4 }, "Each bit that goes doubles the step; four doublings are more than four times."},
		},
	},
	{
		id: "05.4", unit: "", within: 1e-9,
		question: "Which row of exercise.OutlierWeights() is the outlier channel? Rows count from 0.",
		answer:   func() float64 { return outlierRow },
		formula: func() string {
			return fmt.Sprintf("Row %d is forty times as large as the others. With one scale for the whole tensor the others are left with a few codes; with a scale a row they keep theirs.", outlierRow)
		},
		start: "For each row take the largest magnitude, or the error that per-tensor int8 leaves relative to the row. One row stands out.",
		mistakes: []mistake{
			{func() float64 { return outlierRow + 1 }, "One too many: rows count from 0."},
			{func() float64 { return outlierRow * outlierWidth }, "That is the place of its first element in the flat slice. Divide by the row's length."},
		},
	},
}
