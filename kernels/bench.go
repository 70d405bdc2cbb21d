package kernels

import (
	"context"

	"memwall/gpu"
)

// benchShipped are the kernels of the registry that `memwall bench vgpu` launches.
var benchShipped = []string{"gemv/3_vec16", "softmax/3_online"}

// BenchVirtual measures the virtual GPU with jobs whose name contains filter; "" is all. Peers are programs that do the same
// jobs. Each figure takes about half a second; ctx ends it between two launches.
func BenchVirtual(ctx context.Context, filter string, peers ...gpu.BenchPeer) (*gpu.BenchReport, error) {
	shipped := map[string]string{}
	for _, name := range benchShipped {
		shipped[name] = Get(name).PTX("sm_80")
	}
	return gpu.BenchVirtual(ctx, filter, shipped, peers...)
}
