package gpu

import (
	"context"

	"memwall/gpu/internal/vgpu/bench"
	"memwall/gpu/perf"
)

// BenchReport is what BenchVirtual measured; its String is the tables.
type BenchReport = bench.Report

// BenchPeer is a program that does some of the jobs of BenchVirtual.
type BenchPeer = bench.Peer

// BenchVirtual measures the virtual GPU itself, as `memwall bench vgpu` prints it. Shipped is the PTX of the kernels of package
// kernels that it launches, by name.
func BenchVirtual(ctx context.Context, filter string, shipped map[string]string, peers ...BenchPeer) (*BenchReport, error) {
	profile, err := perf.ProfileByName("h200")
	if err != nil {
		return nil, err
	}
	return bench.Run(ctx, bench.Options{Filter: filter, Profile: profile, Shipped: shipped, Peers: peers})
}

// PoCLPeer is OpenCL on this CPU, by a Python interpreter that has pyopencl and PoCL.
func PoCLPeer(python func(ctx context.Context) (string, error)) BenchPeer { return bench.PoCL(python) }

// PtoxidePeer is ptoxide 0.1.0, another program that executes PTX on CPUs; build makes a binary from the files of a Rust program.
func PtoxidePeer(build func(ctx context.Context, name string, files map[string][]byte) (string, error)) BenchPeer {
	return bench.Ptoxide(build)
}
