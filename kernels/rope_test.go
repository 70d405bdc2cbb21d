package kernels

import (
	"math"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestRopeHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestRopeHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const tokens, heads, dim = 4, 16, 128
	table, _, err := RoPE{Base: 10000, Dim: dim}.Frequencies()
	if err != nil {
		t.Fatal(err)
	}
	x, positions, frequencies := h.dev.Randn(gpu.F16, tokens, heads, dim), h.dev.From([]int{5, 6, 7, 8}), h.dev.From(table)
	pairs, vec := h.count(t, "rope/1_pairs", x, positions, frequencies, 1.0, false), h.count(t, "rope/2_vec", x, positions, frequencies, 1.0, false)
	near(t, "1_pairs: every element written once", float64(pairs.GlobalStore.Bytes), 2*tokens*heads*dim)
	near(t, "1_pairs: a sine and a cosine a pair of each head", float64(pairs.FLOPs[perf.FLOPSFU]), 2*tokens*heads*dim/2)
	near(t, "2_vec: sines fall by the heads of a CTA, here 16", ratio(pairs.FLOPs[perf.FLOPSFU], vec.FLOPs[perf.FLOPSFU]), 16)
	near(t, "2_vec: an eighth of the stores", ratio(vec.GlobalStore.Requests, pairs.GlobalStore.Requests), 1.0/8)

	const kv, pageSize, pages = 4, 16, 2
	q, k, v := h.dev.Randn(gpu.F16, tokens, heads, dim), h.dev.Randn(gpu.F16, tokens, kv, dim), h.dev.Randn(gpu.F16, tokens, kv, dim)
	keys, values := h.dev.Zeros(gpu.F16, pages, pageSize, kv, dim), h.dev.Zeros(gpu.F16, pages, pageSize, kv, dim)
	slots := h.dev.From([]int{3, 17, 18, 0})
	separate := h.count(t, "append/1_separate", q, keys, values, k, v, slots, positions, frequencies, 1.0, false)
	fused := h.count(t, "append/2_fused", q, keys, values, k, v, slots, positions, frequencies, 1.0, false)
	near(t, "append/2_fused: k is written once, not twice", float64(separate.GlobalStore.Bytes-fused.GlobalStore.Bytes), 2*tokens*kv*dim)
}

// TestFrequencies compares with the definitions of the models that use them.
func TestFrequencies(t *testing.T) {
	plain := func(base float64, i, dim int) float64 { return math.Pow(base, -2*float64(i)/float64(dim)) }
	for _, c := range []struct {
		name      string
		r         RoPE
		magnitude float64
		want      map[int]float64 // of some pairs
	}{
		{"SmolLM2", RoPE{Base: 100_000, Dim: 64}, 1, map[int]float64{0: 1, 31: plain(100_000, 31, 64)}},
		{"linear", RoPE{Base: 10_000, Dim: 128, Scaling: "linear", Factor: 4}, 1, map[int]float64{0: 0.25, 63: plain(10_000, 63, 128) / 4}},
		// Llama 3.1: waves shorter than 8192/4 stay, longer than 8192 are 8 times as long. 2π/f is 2,037 for pair 28, 8,518 for
		// pair 35; pair 30's is 3,069: 8192/3069 = 2.67 turns, so (2.67−1)/3 of it stays.
		{"Llama 3.1", RoPE{Base: 500_000, Dim: 128, Scaling: "llama3", Factor: 8, Original: 8192}, 1, map[int]float64{
			0: 1, 28: plain(500_000, 28, 128), 35: plain(500_000, 35, 128) / 8, 63: plain(500_000, 63, 128) / 8,
			30: plain(500_000, 30, 128) * (1.0/8 + 7.0/8*(8192*plain(500_000, 30, 128)/(2*math.Pi)-1)/3)}},
		// Qwen 2.5 at 131,072 tokens: dimensions 23.6 and 39.7 turn 32 times and once in 32,768, so pairs 23 to 40 are blended.
		{"Qwen 2.5", RoPE{Base: 1_000_000, Dim: 128, Scaling: "yarn", Factor: 4, Original: 32768}, 0.1*math.Log(4) + 1, map[int]float64{
			0: 1, 23: plain(1e6, 23, 128), 40: plain(1e6, 40, 128) / 4, 63: plain(1e6, 63, 128) / 4, 30: plain(1e6, 30, 128) * (1 - 0.75*7.0/17)}},
	} {
		got, magnitude, err := c.r.Frequencies()
		if err != nil || len(got) != c.r.Dim/2 || math.Abs(magnitude-c.magnitude) > 1e-12 {
			t.Errorf("%s: %d frequencies, magnitude %v, %v", c.name, len(got), magnitude, err)
			continue
		}
		for i, want := range c.want {
			if diff := math.Abs(float64(got[i]) - want); !(diff <= 1e-7*want) {
				t.Errorf("%s: pair %d turns %g a position, want %g", c.name, i, got[i], want)
			}
		}
	}
	for _, c := range []struct {
		r    RoPE
		want string
	}{
		{RoPE{Base: 10_000, Dim: 7}, "RoPE: Dim = 7 elements cannot be turned in pairs\ngive the even number of a head's elements that are turned: 128"},
		{RoPE{Dim: 64}, "RoPE: Base = 0\ngive a number above 1: 10000, or what the model's rope_theta says"},
		{RoPE{Base: math.NaN(), Dim: 64}, "RoPE: Base = NaN\ngive a number above 1: 10000, or what the model's rope_theta says"},
		{RoPE{Base: 10_000, Dim: 64, Scaling: "ntk", Factor: 2, Original: 1}, "RoPE: Scaling \"ntk\"\nthere are \"\", \"linear\", \"llama3\" and \"yarn\""},
		{RoPE{Base: 10_000, Dim: 64, Scaling: "linear"}, "RoPE: Factor = 0 with Scaling \"linear\"\ngive how many times longer the context becomes: 8"},
		{RoPE{Base: 10_000, Dim: 64, Scaling: "yarn", Factor: 4}, "RoPE: Original = 0 with Scaling \"yarn\"\ngive the context that the model was trained on (original_max_position_embeddings): 8192"},
		{RoPE{Base: 10_000, Dim: 64, Scaling: "llama3", Factor: 4, Original: 8, LowFactor: 4, HighFactor: 1}, "RoPE: LowFactor = 4, HighFactor = 1\ngive 0 < LowFactor < HighFactor; Llama 3 has 1 and 4"},
		{RoPE{Base: 10_000, Dim: 64, Scaling: "yarn", Factor: 4, Original: 8, BetaFast: 1, BetaSlow: 2}, "RoPE: BetaFast = 1, BetaSlow = 2\ngive 0 < BetaSlow < BetaFast; usual are 32 and 1"},
	} {
		if _, _, err := c.r.Frequencies(); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v\nwant %s", c.r, err, c.want)
		}
	}
}
