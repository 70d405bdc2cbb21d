package kernels

import (
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestDecodeHeaders holds what the headers of the sources expect of the counters.
func TestDecodeHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const hq, hkv, s, d = 8, 2, 512, 64
	o, q := h.dev.Zeros(gpu.F16, 1, hq, d), h.dev.Randn(gpu.F16, 1, hq, d)
	k, v := h.dev.Randn(gpu.F16, 1, hkv, s, d), h.dev.Randn(gpu.F16, 1, hkv, s, d)
	count := func(name string) *perf.Counts { return h.count(t, name, o, q, k, v, nil, 0.0, 0, 0.0) }
	const cache, queries = 2 * 2 * hkv * s * d, 2 * hq * d // bytes of K and V, of q
	head, packed, split := count("decode/1_head"), count("decode/2_packed"), count("decode/3_split")
	near(t, "1_head: K and V for each query head, q for each warp", float64(head.GlobalLoad.Bytes), hq/hkv*cache+4*queries)
	near(t, "1_head: requests", float64(head.GlobalLoad.Requests), 2*hq*s*d/32+4*hq*d/32)
	near(t, "1_head: sectors a request", perRequest(head), 2)
	near(t, "2_packed: K and V once, q for each warp", float64(packed.GlobalLoad.Bytes), cache+4*queries)
	near(t, "2_packed: tensor FLOPs, 16 rows a KV head", float64(packed.FLOPs[perf.FLOPTensor]), 4*16*s*d*hkv)
	near(t, "2_packed: two barriers a warp", ratio(packed.Barriers, packed.Warps), 2)
	if dev := h.dev; splits(hkv, slotsAnSM*dev.SMs(), s/64) != 8 {
		t.Fatalf("%d parts, want 8", splits(hkv, slotsAnSM*dev.SMs(), s/64))
	}
	near(t, "3_split: as many times the CTAs as parts, and a CTA a head", float64(split.CTAs), 8*float64(packed.CTAs)+hq)
	near(t, "3_split: the same FLOPs on tensor cores", ratio(split.FLOPs[perf.FLOPTensor], packed.FLOPs[perf.FLOPTensor]), 1)
	near(t, "3_split: half of 8·parts·Hq·(D + 1) is written", float64(split.GlobalStore.Bytes-packed.GlobalStore.Bytes), 4*8*hq*(d+1))
}

// TestSplits holds the occupancy rule against examples worked out by hand.
func TestSplits(t *testing.T) {
	for _, c := range []struct{ ctas, slots, steps, want int }{
		{264, 264, 100, 1}, // full
		{212, 264, 100, 1}, // 0.8 of the slots
		{211, 264, 100, 5}, // 80 % for 1 to 4 parts; five fill 1055 of 1056
		{128, 264, 64, 2},  // 256 of 264
		{1, 264, 128, 128}, // as many as there are steps, and no more than 128
		{1, 264, 5, 5}, {8, 264, 1000, 29}, {1, 264, 0, 1},
	} {
		if got := splits(c.ctas, c.slots, c.steps); got != c.want {
			t.Errorf("splits(%d, %d, %d) = %d, want %d", c.ctas, c.slots, c.steps, got, c.want)
		}
	}
}

// TestDecodeRefuses checks the whole text of what is refused before a launch.
func TestDecodeRefuses(t *testing.T) {
	dev := open(t, "virtual:h200")
	o, cache := dev.Zeros(gpu.F16, 2, 4, 64), dev.Zeros(gpu.F16, 2, 2, 16, 64)
	lengths := func(values ...float64) *gpu.Tensor { return dev.FromAs(gpu.I32, values, len(values)) }
	for _, c := range []struct {
		lengths *gpu.Tensor
		want    string
	}{
		{lengths(3, 17), "decode/3_split: lengths[1] = 17\na length is from 0 up, and the tensors k and v have S = 16 tokens"},
		{lengths(-1, 3), "decode/3_split: lengths[0] = -1\na length is from 0 up, and the tensors k and v have S = 16 tokens"},
	} {
		if err := Run("decode", o, dev.Zeros(gpu.F16, 2, 4, 64), cache, dev.Zeros(gpu.F16, 2, 2, 16, 64), c.lengths, 0, 0, 0); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	three := dev.Zeros(gpu.F16, 2, 3, 64)
	want := "decode/3_split: Hq = 3 is no multiple of Hkv = 2\nevery KV head serves the same number of query heads"
	if err := Run("decode", three, dev.Zeros(gpu.F16, 2, 3, 64), cache, cache, nil, 0, 0, 0); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
