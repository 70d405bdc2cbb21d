package exercise

import (
	"fmt"

	"memwall/gpu/perf"
)

// The layer of notebook 01: 4096 × 4096 weights in f16.
const (
	layer     = 4096.0
	halfBytes = 2.0
)

// The 8B model of notebook 01, Llama 3.1 8B: its weights and the embedding table, of which a token reads one row. Source:
// the model's config.json (vocabulary 128,256, width 4,096) and its 8,030,261,248 parameters.
const (
	modelWeights     = 8_030_261_248.0
	embeddingWeights = 128_256.0 * 4096
)

// profile is a device's data; an unknown name is a fault of this table.
func profile(name string) *perf.Profile {
	p, err := perf.ProfileByName(name)
	if err != nil {
		panic(err)
	}
	return p
}

// intensityOf is FLOPs ÷ bytes of the layer over m tokens: 2·m·N·K over the weights, m inputs and m outputs, each once.
func intensityOf(m float64) float64 {
	flops := 2 * m * layer * layer
	bytes := halfBytes * (layer*layer + 2*m*layer)
	return flops / bytes
}

// knee is the number of tokens at which the layer's intensity reaches a ridge: m/(1 + m/2048) = ridge, solved for m.
func knee(ridge float64) float64 { return ridge / (1 - ridge/(layer/2)) }

func tensorRidge(device string) float64 { return profile(device).Ridge(perf.FLOPTensor) }
func floatRidge(device string) float64  { return profile(device).Ridge(perf.FLOPF32) }

// readBytes is what a token reads of the 8B model.
func readBytes() float64 { return halfBytes * (modelWeights - embeddingWeights) }

func tokensPerSecond(device string, bytes float64) float64 {
	return profile(device).DRAMBytesPerSecond / bytes
}

// theMemoryWall are the exercises of notebook 01.
var theMemoryWall = []exercise{
	{
		id: "01.1", unit: "B", within: 0.02,
		question: "One token goes through a layer of 4096 × 4096 weights in f16. How many bytes of weights must the GPU read?",
		answer:   func() float64 { return halfBytes * layer * layer },
		formula: func() string {
			return fmt.Sprintf("4096 · 4096 weights · 2 B = %s, all of them for one token.", perf.Format(halfBytes*layer*layer, "B"))
		},
		start: "Count the weights, 4096 · 4096, then the bytes of one f16 number.",
		mistakes: []mistake{
			{func() float64 { return layer * layer }, "That is the number of weights. An f16 weight takes two bytes."},
			{func() float64 { return 4 * layer * layer }, "That would be f32, four bytes a weight. f16 has two."},
			{func() float64 { return halfBytes * layer }, "That is the input vector. Every output needs a whole row of weights: 4096 rows of 4096."},
			{func() float64 { return layer * layer / 4 }, "That would be four bits a weight. f16 has sixteen, two bytes."},
		},
	},
	{
		id: "01.2", unit: "FLOP/B", within: 0.05,
		question: "How many floating-point operations does that token's product do for each byte it reads?",
		answer:   func() float64 { return intensityOf(1) },
		formula: func() string {
			return fmt.Sprintf("A multiplication and an addition a weight, 2 FLOP, for 2 B: %s with the vectors counted too.", perf.Format(intensityOf(1), "FLOP/B"))
		},
		start: "For each weight: how many operations (multiply, add), and how many bytes?",
		mistakes: []mistake{
			{func() float64 { return 2 }, "Two operations a weight is right, but a weight in f16 has two bytes: divide."},
			{func() float64 { return 0.5 }, "That is one operation for two bytes. Count the addition too."},
			{func() float64 { return layer }, "Each weight is used once, not 4096 times: the token has one value for each column."},
			{func() float64 { return tensorRidge("h200") }, "That is what the H200 could do in the time that it reads a byte. What does the product ask of it?"},
		},
	},
	{
		id: "01.3", unit: "tokens", within: 0.03,
		question: "From how many tokens at once does the H200's tensor roof limit the layer, not its DRAM?",
		answer:   func() float64 { return knee(tensorRidge("h200")) },
		formula: func() string {
			r := tensorRidge("h200")
			return fmt.Sprintf("M/(1 + M/2048) = %s, the ridge, gives M = %.0f/(1 − %.0f/2048) = %.0f.", perf.Format(r, "FLOP/B"), r, r, knee(r))
		},
		start: "Set the intensity M/(1 + M/2048) equal to the ridge of the tensor roof and solve for M.",
		mistakes: []mistake{
			{func() float64 { return tensorRidge("h200") }, "Close: with M tokens the intensity is a little below M, because inputs and outputs are bytes too. Solve M/(1 + M/2048) = ridge."},
			{func() float64 { return floatRidge("h200") }, "That is the ridge of the FP32 roof. Tensor cores have a higher one."},
			{func() float64 { return 2 * tensorRidge("h200") }, "Two FLOPs a weight, but two bytes a weight as well: they cancel."},
			{func() float64 { return 2 * knee(tensorRidge("h200")) }, "Twice the answer: the datasheet's big number is with sparsity. Dense arithmetic has half of it."},
		},
	},
	{
		id: "01.4", unit: "tokens", within: 0.03,
		question: "And on an RTX 4090, whose tensor roof is 165.2 TFLOP/s and whose DRAM gives 1,008 GB/s?",
		answer:   func() float64 { return knee(tensorRidge("rtx4090")) },
		formula: func() string {
			r := tensorRidge("rtx4090")
			return fmt.Sprintf("The ridge is 165.2 TFLOP/s ÷ 1,008 GB/s = %s; M = %.0f/(1 − %.0f/2048) = %.0f.", perf.Format(r, "FLOP/B"), r, r, knee(r))
		},
		start: "First the ridge: roof in FLOP/s ÷ bandwidth in B/s. Then solve M/(1 + M/2048) = ridge for M.",
		mistakes: []mistake{
			{func() float64 { return tensorRidge("rtx4090") }, "That is the ridge. The intensity of M tokens is a little below M: solve M/(1 + M/2048) = ridge."},
			{func() float64 { return knee(tensorRidge("h200")) }, "That is the H200's knee. The 4090 has less bandwidth, but its roof is lower still."},
			{func() float64 { return knee(floatRidge("rtx4090")) }, "That is the FP32 roof, 82.6 TFLOP/s. Tensor cores have 165.2."},
			{func() float64 { return floatRidge("rtx4090") }, "That is the ridge of the FP32 roof, 82.6 TFLOP/s. Tensor cores have 165.2."},
			{func() float64 { return knee(2 * tensorRidge("rtx4090")) }, "330 TFLOP/s is the roof with f16 accumulation or with sparsity; with f32 sums it is 165.2."},
			{func() float64 { return 2 * tensorRidge("rtx4090") }, "330 TFLOP/s is the roof with f16 accumulation or with sparsity; with f32 sums it is 165.2."},
		},
	},
	{
		id: "01.5", unit: "tokens/s", within: 0.03,
		question: "An 8B model in f16 reads 15.0 GB of weights for a token. How many tokens a second can one conversation get on an H200 at best?",
		answer:   func() float64 { return tokensPerSecond("h200", readBytes()) },
		formula: func() string {
			seconds := 1 / tokensPerSecond("h200", readBytes())
			return fmt.Sprintf("%s ÷ 4.80 TB/s = %s a token, so at most %.0f tokens a second; 16.1 GB less the embedding table, of which a token reads one row.",
				perf.Format(readBytes(), "B"), perf.Format(seconds, "s"), 1/seconds)
		},
		start: "How long does reading 15.0 GB take at 4.8 TB/s? One token needs at least that long.",
		mistakes: []mistake{
			{func() float64 { return tokensPerSecond("h200", halfBytes*modelWeights) }, "You read all 16.1 GB. The embedding table (1.05 GB) is looked up, one row a token: 15.0 GB are left."},
			{func() float64 { return 1e3 / tokensPerSecond("h200", readBytes()) }, "Those are milliseconds a token. Tokens a second is the inverse."},
			{func() float64 { return 1 / tokensPerSecond("h200", readBytes()) }, "Those are seconds a token. Tokens a second is the inverse."},
			{func() float64 { return tokensPerSecond("h200", readBytes()/2) }, "That would be one byte a weight, 8 bits. f16 has two."},
			{func() float64 { return tokensPerSecond("h200", 2*readBytes()) }, "That would be f32, four bytes a weight. f16 has two."},
			{func() float64 { return profile("h200").TensorFLOPs / (2 * modelWeights) }, "That is what the tensor cores could do. They wait for the weights: divide bytes by bandwidth."},
		},
	},
}
