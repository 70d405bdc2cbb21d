// Package quant converts between float32 and the narrow number formats that tensors hold: one pair of functions a format,
// each the reference that CUDA kernels are compared with.
package quant
