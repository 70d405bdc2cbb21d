// Package quant holds the formats in which weights and KV caches are stored in fewer bits: one row a format (formats.go),
// with a reference encoder and decoder in Go that the CUDA kernels are compared with, and measures of what a format costs
// in accuracy.
//
// Block formats (Q8_0, Q4_0, the K-quants, MXFP4 …) have GGUF's bytes: a row of values is cut into blocks that carry their
// own scale. GPTQ and AWQ (packed.go) are layouts of safetensors files, with scales and zeros in tensors of their own.
// Small floats (small.go) are fp8, fp6, fp4 and e8m0.
package quant
