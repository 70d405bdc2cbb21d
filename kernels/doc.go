// Package kernels holds the CUDA kernels of memwall and their registry. A CUDA kernel is one source
// <family>/<n>_<idea>.cu, whose header says which bottleneck it removes, and one entry here with its arguments, launch
// geometry, float64 reference, closed forms and test cases; tests, lists, checks and cards range over the registry. row.go says
// what an entry can have.
//
// The PTX beside each source is made by `go generate ./kernels` on a machine with NVRTC and checked in. Where it is missing
// or older than its source the package still builds, and compiles the source when it is first launched.
//
// Weights are row-major [N, K] (a row an output feature), activations [K] or [M, K]; outputs come first in argument lists.
package kernels

import (
	"embed"
	"io/fs"
)

//go:generate go run memwall/gpu/internal/nvrtc/kernelgen .
//go:generate go run memwall/gpu/internal/nvrtc/kernelgen -ptx-only testdata

// embedded are the sources, their PTX and the assembler's facts. The pattern takes whatever is there, so that missing PTX is
// no build error.
//
//go:embed */*
var embedded embed.FS

// files is embedded; tests put others in its place.
var files fs.FS = embedded
