package exercise

import (
	"fmt"
	"slices"

	"memwall/gpu/perf"
)

// The answers of notebook 04: how many tokens sixteen requests write, the first eight of which arrive first.
var answerLengths = []int{12, 80, 33, 200, 51, 7, 120, 64, 150, 20, 95, 40, 180, 10, 60, 30}

const batchSlots = 8

// staticSteps is how many decode steps batches of so many slots take when each waits for its longest answer.
func staticSteps(lengths []int, slots int) int {
	steps := 0
	for batch := range slices.Chunk(lengths, slots) {
		steps += slices.Max(batch)
	}
	return steps
}

// continuousSteps is the same when a finished answer's slot goes to the next request at once.
func continuousSteps(lengths []int, slots int) int {
	ends := make([]int, slots) // the step at which each slot is free
	for _, n := range lengths {
		first := slices.Index(ends, slices.Min(ends))
		ends[first] += n
	}
	return slices.Max(ends)
}

func total(lengths []int) int {
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	return sum
}

// doubledBatch is the batch whose step takes twice as long as that of one sequence, by the roofline: the tensor roof is
// reached before the DRAM's bytes have doubled.
func doubledBatch(device string) float64 {
	p := profile(device)
	one := halfBytes * (layer*layer + 2*layer) / p.DRAMBytesPerSecond
	return 2 * one * p.TensorFLOPs / (2 * layer * layer)
}

// sharing are the exercises of notebook 04.
var sharing = []exercise{
	{
		id: "04.1", unit: "", within: 0.02,
		question: "Eight sequences decode one token each, in eight launches. How many times as many bytes come from DRAM as in one launch for all eight?",
		answer: func() float64 {
			return 8 * (layer*layer + 2*layer) / (layer*layer + 2*8*layer)
		},
		formula: func() string {
			return "The weights come eight times in place of once; inputs and outputs, which everybody has to himself, are next to nothing: 8 times."
		},
		start: "Which bytes are the same for all eight sequences, and how often does each way read them?",
		mistakes: []mistake{
			{func() float64 { return 1 }, "Each launch begins with the weights in DRAM: nothing is left over from the one before."},
			{func() float64 { return 64 }, "Each of the eight launches reads the weights once, not eight times."},
			{func() float64 { return 2 }, "Count the weights: how often are they read in eight launches, and how often in one?"},
		},
	},
	{
		id: "04.2", unit: "tokens", within: 0.03,
		question: "By the roofline alone: for how many sequences at once does a step of the layer take twice as long as for one, on an H200?",
		answer:   func() float64 { return doubledBatch("h200") },
		formula: func() string {
			p := profile("h200")
			one := halfBytes * (layer*layer + 2*layer) / p.DRAMBytesPerSecond
			return fmt.Sprintf("One sequence: 33.6 MB ÷ 4.80 TB/s = %s. In twice that the tensor cores do %s, 2 · 4096² for each sequence: %.0f.",
				perf.Format(one, "s"), perf.Format(2*one*p.TensorFLOPs, "FLOP"), doubledBatch("h200"))
		},
		start: "How long does one sequence take (bytes ÷ bandwidth)? How many sequences can the tensor cores serve in twice that time?",
		mistakes: []mistake{
			{func() float64 { return tensorRidge("h200") }, "That is the ridge: there both roofs take equally long, and the time has not grown yet. When has it doubled?"},
			{func() float64 { return knee(tensorRidge("h200")) }, "That is the knee, where the time begins to grow. When has it doubled?"},
			{func() float64 { return 2 }, "That would be so if each sequence read the weights for itself. They share them."},
			{func() float64 { return 2 * doubledBatch("h200") }, "Two FLOPs a weight: a multiplication and an addition."},
		},
	},
	{
		id: "04.3", unit: "", within: 0.02,
		question: "A batch of eight waits for its longest answer. What share of its slots' steps is idle, in percent?",
		answer: func() float64 {
			first := answerLengths[:batchSlots]
			return 100 * (1 - float64(total(first))/float64(batchSlots*slices.Max(first)))
		},
		formula: func() string {
			first := answerLengths[:batchSlots]
			return fmt.Sprintf("8 slots · %d steps = %d; %d of them write a token, the other %.3g %% are idle.", slices.Max(first), batchSlots*slices.Max(first), total(first),
				100*(1-float64(total(first))/float64(batchSlots*slices.Max(first))))
		},
		start: "How many steps does the batch run, and for how many slots? How many tokens are written in all?",
		mistakes: []mistake{
			{func() float64 {
				first := answerLengths[:batchSlots]
				return 100 * float64(total(first)) / float64(batchSlots*slices.Max(first))
			}, "That is the share that works. The question is for the rest."},
			{func() float64 {
				first := answerLengths[:batchSlots]
				return 1 - float64(total(first))/float64(batchSlots*slices.Max(first))
			}, "Right as a fraction; in percent it is a hundred times that."},
		},
	},
	{
		id: "04.4", unit: "", within: 0.01,
		question: "All sixteen requests through eight slots, a freed slot going to the next request at once: how many steps until the last token?",
		answer:   func() float64 { return float64(continuousSteps(answerLengths, batchSlots)) },
		formula: func() string {
			return fmt.Sprintf("%d steps in place of %d: no slot waits while there is a request.", continuousSteps(answerLengths, batchSlots), staticSteps(answerLengths, batchSlots))
		},
		start: "Write down when each of the eight slots becomes free; the ninth request takes the first of them, and so on.",
		mistakes: []mistake{
			{func() float64 { return float64(staticSteps(answerLengths, batchSlots)) }, "Those are two batches after each other, each waiting for its longest answer."},
			{func() float64 { return float64(total(answerLengths)) / batchSlots }, "That would be so if answers could be cut and shared between slots. The last ones leave slots empty."},
			{func() float64 { return float64(slices.Max(answerLengths)) }, "That is the longest answer alone. Does it start at once, and does another one come after it?"},
		},
	},
}
