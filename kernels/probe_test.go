package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestProbeHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestProbeHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const n = 1 << 16
	y, x := h.dev.Zeros(gpu.F32, n), h.dev.Randn(gpu.F32, n)
	copied := h.count(t, "probe/1_copy", y, x)
	near(t, "1_copy: bytes a request", ratio(copied.GlobalLoad.Bytes, copied.GlobalLoad.Requests), 512)
	near(t, "1_copy: sectors a request", perRequest(copied), 16)
	near(t, "1_copy: no FLOPs", float64(copied.FLOPs[perf.FLOPF32]), 0)
	read := h.count(t, "probe/2_read", h.dev.Zeros(gpu.F32, 8), x)
	near(t, "2_read: sectors a request", perRequest(read), 16)
	near(t, "2_read: 4 bytes written a CTA", ratio(read.GlobalStore.Bytes, read.CTAs), 4)
	fma := h.count(t, "probe/3_fma", y, x, 100)
	near(t, "3_fma: 16·iterations + 16 FLOPs a thread", float64(fma.FLOPs[perf.FLOPF32])/n, 16*100+16)
	near(t, "3_fma: 2·iterations + 2 FLOP/B", ratio(fma.FLOPs[perf.FLOPF32], fma.GlobalLoad.Bytes+fma.GlobalStore.Bytes), 2*100+2)
	written := h.count(t, "probe/4_write", y, 1.5)
	near(t, "4_write: bytes a request", ratio(written.GlobalStore.Bytes, written.GlobalStore.Requests), 512)
	near(t, "4_write: nothing is read", float64(written.GlobalLoad.Requests), 0)
	cached := h.count(t, "probe/5_l2_read", h.dev.Zeros(gpu.F32, 8), x)
	near(t, "5_l2_read: n·p floats of L2", float64(cached.Cache.L2Lookups), 8*n/8+8)
	near(t, "5_l2_read: DRAM delivers each once", float64(cached.Cache.DRAMReadSectors), n/8)
	mma := h.count(t, "probe/6_mma", h.dev.Zeros(gpu.F32, 16, 16, 8), h.dev.Randn(gpu.F16, 16, 16), h.dev.Randn(gpu.F16, 8, 16), 100)
	near(t, "6_mma: tensor FLOPs", float64(mma.FLOPs[perf.FLOPTensor]), 2*16*8*16*8*100*16)
	wgmma := h.count(t, "probe/9_wgmma", h.dev.Zeros(gpu.F32, 3, 64, 256), h.dev.Randn(gpu.F16, 64, 64), h.dev.Randn(gpu.F16, 256, 64), 10)
	near(t, "9_wgmma: tensor FLOPs", float64(wgmma.FLOPs[perf.FLOPTensor]), 4*2*64*256*16*10*3)
	near(t, "9_wgmma: two copies a CTA", float64(wgmma.GlobalLoad.Requests), 2*3)
	near(t, "9_wgmma: 64 stores a warp", float64(wgmma.GlobalStore.Requests), 64*4*3)
	near(t, "9_wgmma: no FP32 FLOPs", float64(wgmma.FLOPs[perf.FLOPF32]), 0)
	shared := h.count(t, "probe/7_shared", h.dev.Zeros(gpu.F32, 4, 256), h.dev.Randn(gpu.F32, 1024), 100)
	near(t, "7_shared: wavefronts a request", ratio(shared.SharedLoad.Wavefronts, shared.SharedLoad.Requests), 4)
	near(t, "7_shared: no bank conflicts", conflictsOf(shared), 0)
	one := h.count(t, "probe/8_launch", h.dev.Zeros(gpu.I32, 1), 5)
	near(t, "8_launch: one store", float64(one.GlobalStore.Requests+one.GlobalLoad.Requests), 1)
}
