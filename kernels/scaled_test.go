package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestScaledHeaders holds what the headers of the sources expect of the counters.
func TestScaledHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const rows, columns = 64, 2048
	y, scale, x := h.dev.Zeros(gpu.I8, rows, columns), h.dev.Zeros(gpu.F32, rows, 1), h.dev.Randn(gpu.F16, rows, columns)
	passes, spans := h.count(t, "scaled/1_passes", y, scale, x), h.count(t, "scaled/2_rows", y, scale, x)
	near(t, "1_passes: x twice, and each thread's look at the largest", float64(passes.GlobalLoad.Bytes), 2*2*rows*columns+4*256*rows)
	near(t, "1_passes: a request for each 32 values, stores", ratio(rows*columns, passes.GlobalStore.Requests-rows), 32)
	near(t, "2_rows: x twice", float64(spans.GlobalLoad.Bytes), 2*2*rows*columns)
	near(t, "2_rows: an eighth of the requests", ratio(rows*columns, spans.GlobalLoad.Requests), 32*8/2)
	near(t, "2_rows: x once from DRAM", float64(spans.Cache.DRAMReadSectors)*32, 2*rows*columns)
	near(t, "2_rows: 8 codes a lane", ratio(spans.GlobalStore.Bytes-4*rows, spans.GlobalStore.Requests-rows), 8*32)
}

// TestScaledRefusals: scales that do not divide x are named before the launch.
func TestScaledRefusals(t *testing.T) {
	dev := open(t, "virtual:h200")
	y, x := dev.Zeros(gpu.E4M3, 6, 40), dev.Zeros(gpu.F32, 6, 40)
	const how = "\none for the tensor is [1, 1], one a row [6, 1], G groups a row [6, G]"
	for _, c := range []struct {
		scale *gpu.Tensor
		want  string
	}{
		{dev.Zeros(gpu.F32, 3, 1), "scaled/2_rows: scale is [3, 1], and x [6, 40]" + how},
		{dev.Zeros(gpu.F32, 1, 4), "scaled/2_rows: scale is [1, 4], and x [6, 40]" + how},
		{dev.Zeros(gpu.F32, 6, 7), "scaled/2_rows: scale is [6, 7], and 7 groups do not divide K = 40" + how},
	} {
		if err := Run("scaled", y, c.scale, x); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}
