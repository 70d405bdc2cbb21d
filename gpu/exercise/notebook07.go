package exercise

import (
	"fmt"
	"math"

	"memwall/gpu/perf"
)

// The model of notebook 07: eight billion weights in 16 bits, of which a decode step reads all but the embedding table, and
// grouped queries: 32 query heads on 8 heads of keys and values.
const (
	modelBytes   = 16.1e9 // in memory
	stepBytes    = 15.0e9 // read a step
	modelLayers  = 32
	queryHeads   = 32
	kvHeads      = 8
	headElements = 128
	longChat     = 8192
)

// tokenBytes is what keys and values of one token take, with so many heads of them and bytes an element.
func tokenBytes(heads, bytes float64) float64 {
	return 2 * modelLayers * heads * headElements * bytes
}

// chatsBeside is how many long chats fit into an H200's memory beside so many bytes of weights.
func chatsBeside(weights, heads, bytes float64) float64 {
	return math.Floor((float64(profile("h200").MemoryBytes) - weights) / (longChat * tokenBytes(heads, bytes)))
}

// kvCache are the exercises of notebook 07.
var kvCache = []exercise{
	{
		id: "07.1", unit: "B", within: 0.01,
		question: "A model has 32 layers and 8 heads of keys and values of 128 elements, in 16 bits. How many bytes does one token leave in the cache?",
		answer:   func() float64 { return tokenBytes(kvHeads, halfBytes) },
		formula: func() string {
			return "2 (keys and values) · 32 layers · 8 heads · 128 elements · 2 B = 131,072 B."
		},
		start: "Multiply: keys and values, layers, heads, elements a head, bytes an element.",
		mistakes: []mistake{
			{func() float64 { return tokenBytes(kvHeads, halfBytes) / 2 }, "Keys and values: both are kept. And an element of 16 bits is 2 B."},
			{func() float64 { return tokenBytes(kvHeads, halfBytes) / 4 }, "Keys and values are two things, and an element of 16 bits is 2 B."},
			{func() float64 { return tokenBytes(kvHeads, halfBytes) / modelLayers }, "That is one layer. Each of the 32 keeps its own."},
			{func() float64 { return tokenBytes(queryHeads, halfBytes) }, "Queries are not kept: the heads that count are the 8 of keys and values."},
		},
	},
	{
		id: "07.2", unit: "tokens", within: 0.02,
		question: "After how many tokens is the cache of one chat as large as the model's weights, 16.1 GB?",
		answer:   func() float64 { return modelBytes / tokenBytes(kvHeads, halfBytes) },
		formula: func() string {
			return fmt.Sprintf("16.1 GB ÷ 131,072 B = %.0f tokens: a novel.", modelBytes/tokenBytes(kvHeads, halfBytes))
		},
		start: "How many bytes does one token take (07.1)?",
		mistakes: []mistake{
			{func() float64 { return modelBytes / tokenBytes(queryHeads, halfBytes) }, "That would be so without grouped queries, with 32 heads of keys and values."},
			{func() float64 { return modelBytes / tokenBytes(kvHeads, halfBytes) * modelLayers }, "131,072 B are for all layers together: don't divide by 32 again."},
		},
	},
	{
		id: "07.3", unit: "", within: 0.02,
		question: "A step for 32 chats reads 15.0 GB of weights. How many times as long does it take when each chat has 8,192 tokens as when all are empty?",
		answer: func() float64 {
			return (stepBytes + 32*longChat*tokenBytes(kvHeads, halfBytes)) / stepBytes
		},
		formula: func() string {
			cache := 32 * longChat * tokenBytes(kvHeads, halfBytes)
			return fmt.Sprintf("32 · 8,192 · 131,072 B = %s of cache beside 15.0 GB of weights: (15.0 + %.1f) ÷ 15.0 = %s.", perf.Format(cache, "B"), cache/1e9, perf.Significant((stepBytes+cache)/stepBytes))
		},
		start: "Time is bytes ÷ bandwidth. Which bytes does a step read when the caches are empty, and which come on top for 32 chats?",
		mistakes: []mistake{
			{func() float64 { return (stepBytes + longChat*tokenBytes(kvHeads, halfBytes)) / stepBytes }, "That is one chat's cache. Each of the 32 has its own, and all are read."},
			{func() float64 { return 32 * longChat * tokenBytes(kvHeads, halfBytes) / stepBytes }, "That is the cache alone; the weights are read as well."},
		},
	},
	{
		id: "07.4", unit: "FLOP/B", within: 0.02,
		question: "32 query heads, 8 heads of keys and values, 16 bits, 64 chats in a batch. How many FLOPs does decode attention do for a byte of the cache?",
		answer:   func() float64 { return queryHeads / kvHeads },
		formula: func() string {
			return "4 · 32 · S · 128 FLOPs for 4 · 8 · S · 128 B: 32 ÷ 8 = 4 FLOP/B, whatever S and the batch are."
		},
		start: "An element of a key is multiplied and added once for each query head of its group, and it has 2 B. What does the batch change?",
		mistakes: []mistake{
			{func() float64 { return 64 * queryHeads / kvHeads }, "The 64 chats share weights, not caches: each multiplies with its own bytes."},
			{func() float64 { return 64 }, "That is so for weights, which all 64 chats share. Nobody shares a cache."},
			{func() float64 { return 1 }, "Four query heads use the same key: that is what grouping is for."},
			{func() float64 { return 2 * queryHeads / kvHeads }, "Two FLOPs an element, and two bytes: they cancel."},
			{func() float64 { return queryHeads }, "Only the query heads of one group meet a key: 32 ÷ 8 of them."},
		},
	},
	{
		id: "07.5", unit: "", within: 0.005,
		question: "An H200 has 141 GB. How many chats of 8,192 tokens fit beside 16.1 GB of weights?",
		answer:   func() float64 { return chatsBeside(modelBytes, kvHeads, halfBytes) },
		formula: func() string {
			return fmt.Sprintf("(141 − 16.1) GB ÷ (8,192 · 131,072 B) = 124.9 ÷ 1.074 = 116.3: %.0f chats.", chatsBeside(modelBytes, kvHeads, halfBytes))
		},
		start: "How many bytes are left beside the weights, and how many does one chat take?",
		mistakes: []mistake{
			{func() float64 { return chatsBeside(0, kvHeads, halfBytes) }, "The weights are in the way: 141 − 16.1 GB are left."},
			{func() float64 { return chatsBeside(modelBytes, queryHeads, halfBytes) }, "That would be so without grouped queries."},
			{func() float64 { return chatsBeside(modelBytes, kvHeads, 1) }, "That is with 8 bits an element; here it is 16."},
		},
	},
	{
		id: "07.6", unit: "", within: 0.005,
		question: "The same with keys and values in 8 bits (fp8), the weights as they are: how many chats?",
		answer:   func() float64 { return chatsBeside(modelBytes, kvHeads, 1) },
		formula: func() string {
			return fmt.Sprintf("65,536 B a token: 124.9 ÷ 0.537 = 232.6: %.0f chats, and half the bytes a step for each of them. (A scale for each token and head adds 3 %%.)", chatsBeside(modelBytes, kvHeads, 1))
		},
		start: "What does a token take when an element is one byte?",
		mistakes: []mistake{
			{func() float64 { return chatsBeside(modelBytes, kvHeads, halfBytes) }, "That is the answer for 16 bits."},
			{func() float64 { return chatsBeside(modelBytes/2, kvHeads, 1) }, "Here only the cache is in 8 bits; the weights stay at 16.1 GB."},
			{func() float64 { return chatsBeside(modelBytes, kvHeads, 0.5) }, "That would be 4 bits."},
		},
	},
}
