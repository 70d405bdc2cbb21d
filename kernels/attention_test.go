package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// TestAttentionHeaders holds what the headers of the sources expect of the counters.
func TestAttentionHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const heads, n, d = 2, 128, 64
	var args []any
	for range 4 {
		args = append(args, h.dev.Randn(gpu.F16, 1, heads, n, d))
	}
	count := func(name string, causal bool) *perf.Counts {
		return h.count(t, name, append(args[:4:4], 0.0, causal, 0, 0.0)...)
	}
	const tensor, matrix, scores = 2 * heads * n * d, 2 * heads * n * n, heads * n * n
	naive := count("attention/1_naive", false)
	near(t, "1_naive: both matrices and the result are written", float64(naive.GlobalStore.Bytes), 2*matrix+tensor)
	near(t, "1_naive: and read, beside Q, K and V", float64(naive.Cache.DistinctRead), (2*matrix+3*tensor)/32)
	near(t, "1_naive: causal makes no difference", ratio(count("attention/1_naive", true).GlobalLoad.Bytes, naive.GlobalLoad.Bytes), 1)
	tiled, half := count("attention/2_tiled", false), count("attention/2_tiled", true)
	near(t, "2_tiled: stores nothing but the result", float64(tiled.GlobalStore.Bytes), tensor)
	near(t, "2_tiled: Q once, K and V for each 32 queries", float64(tiled.GlobalLoad.Bytes), tensor+n/32*2*tensor)
	near(t, "2_tiled: causal, the tiles up to the diagonal", float64(half.GlobalLoad.Bytes), tensor+(1+2+3+4)*2*tensor/4)
	near(t, "2_tiled: sectors a request", perRequest(tiled), 16)
	if per := float64(tiled.FLOPs[perf.FLOPF32]) / (4 * scores * d); per < 1 || per > 1.1 {
		t.Errorf("2_tiled: %g times 4·Sq·Sk·D FLOPs a head", per)
	}
	if per := float64(tiled.FLOPs[perf.FLOPSFU]) / scores; per < 1 || per > 2 { // one a score; one a row and tile, in each of 16 lanes, is half of that
		t.Errorf("2_tiled: %g exponentials a score", per)
	}
	mma := count("attention/3_mma", false)
	near(t, "3_mma: 4·Sq·Sk·D FLOPs a head on tensor cores", float64(mma.FLOPs[perf.FLOPTensor]), 4*scores*d)
	near(t, "3_mma: K and V for each 64 queries, half as often", float64(mma.GlobalLoad.Bytes-tensor), float64(tiled.GlobalLoad.Bytes-tensor)/2)
	near(t, "3_mma: ldmatrix of a 16 × 16 piece of K or V for two mma, of Q once", float64(mma.SharedLoad.Requests), float64(mma.FLOPs[perf.FLOPTensor]/(2*16*8*16))/2+heads*n/16*d/16)
	if per := float64(mma.FLOPs[perf.FLOPF32]) / scores; per > 8 {
		t.Errorf("3_mma: %g FP32 FLOPs a score", per)
	}
	async := count("attention/4_cp_async", false)
	near(t, "4_cp_async: K and V for each 128 queries, half as often", float64(async.GlobalLoad.Bytes-tensor), float64(mma.GlobalLoad.Bytes-tensor)/2)
	near(t, "4_cp_async: the same FLOPs", ratio(async.FLOPs[perf.FLOPTensor], mma.FLOPs[perf.FLOPTensor]), 1)
	near(t, "4_cp_async: a barrier a tile of 64 keys and warp, and one at the end", float64(async.Barriers), heads*n/128*4*(n/64+1))
	near(t, "4_cp_async: 32 lanes store 16 bytes each", float64(async.GlobalStore.Bytes)/float64(async.GlobalStore.Requests), 512)
	near(t, "no bank conflicts", conflictsOf(tiled)+conflictsOf(mma)+conflictsOf(async), 0)
}

// TestAttentionErrors holds every fused step against the rule of a naive implementation of the same type: at most twice its
// largest error, plus a step of the element type.
func TestAttentionErrors(t *testing.T) {
	dev := open(t, "virtual:h200")
	worst := func(k *Kernel, c trial) float64 {
		random := rand.New(rand.NewPCG(7, 7))
		made := k.arguments(dev, c, random)
		defer free(made.tensors)
		if _, err := measured(k.name, random, made.args); err != nil {
			t.Fatal(err)
		}
		want, _ := prefillReference(c.of(k, dev.SMs()), made.in, k.operands[0].dtype, false)
		most := 0.0
		for i, got := range made.tensors[0].Float64s() {
			if off := math.Abs(got - want[i]); !(off <= most) {
				most = off // NaN too
			}
		}
		return most
	}
	for _, c := range []trial{prefillCase("1 2 1 113 203 64", 1, 0, 0, 0), outlierCase(prefillCase("1 1 1 33 1023 128", 0, 0, 0, 0)), prefillCase("1 1 1 40 1024 80", 1, 0, 20, 0.3)} {
		for i, naive := range Get("attention/1_naive").variants() {
			limit := 2*worst(naive, c) + step(naive.operands[0].dtype, 1)/2
			for _, k := range steps("attention")[1:] {
				if got := worst(k.variants()[i], c); !(got <= limit) {
					t.Errorf("%s %s, %s: error %g, more than %g", k.name, k.operands[0].dtype, c, got, limit)
				}
			}
		}
	}
}

// TestAttentionRefuses checks the whole text of what is refused before a launch.
func TestAttentionRefuses(t *testing.T) {
	dev := open(t, "virtual:h200")
	half := func(shape ...int) *gpu.Tensor { return dev.Zeros(gpu.F16, shape...) }
	starts := func(values ...float64) *gpu.Tensor { return dev.FromAs(gpu.I32, values, len(values)) }
	o, q, k := half(1, 3, 8, 64), half(1, 3, 8, 64), half(1, 3, 8, 64)
	packed := "it begins with 0, never falls and ends with the number of tokens, 8"
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{o, q, half(1, 2, 8, 64), half(1, 2, 8, 64), 0, true, 0, 0}, "attention/3_mma: Hq = 3 is no multiple of Hkv = 2\nevery KV head serves the same number of query heads"},
		{[]any{o, q, half(1, 0, 8, 64), half(1, 0, 8, 64), 0, true, 0, 0}, "attention/3_mma: Hq = 3, Hkv = 0\nthere is at least one head of each"},
		{[]any{half(1, 3, 8, 257), half(1, 3, 8, 257), half(1, 3, 8, 257), half(1, 3, 8, 257), 0, true, 0, 0}, "attention/3_mma: D = 257, it takes up to 256\nsplit the head"},
		{[]any{half(1, 3, 8, 0), half(1, 3, 8, 0), half(1, 3, 8, 0), half(1, 3, 8, 0), 0, true, 0, 0}, "attention/3_mma: o is f16 [1, 3, 8, 0]: there is nothing to compute\ngive it at least one element"},
		{[]any{o, q, k, k, 0, false, 4, 0}, "attention/3_mma: window = 4 without causal\na window counts the last keys up to the query's own: pass causal true, or window 0"},
		{[]any{o, q, k, k, -1, false, 0, 0}, "attention/3_mma: argument 7 (scale) is -1, it takes a number from 0 to 1e+06"},
		{[]any{o, q, k, k, math.NaN(), false, 0, 0}, "attention/3_mma: argument 7 (scale) is NaN, it takes a number from 0 to 1e+06"},
		{[]any{o, q, k, k, starts(0, 8), nil, 0, false, 0, 0}, "attention/3_mma: cuQ and cuK belong together, and one is nil\ngive both, or neither where all sequences of a batch have the same length"},
		{[]any{o, q, k, k, starts(0, 5), starts(0, 8), 0, false, 0, 0}, "attention/3_mma: cuQ[1] = 5\n" + packed},
		{[]any{o, q, k, k, starts(0, 8), starts(1, 8), 0, false, 0, 0}, "attention/3_mma: cuK[0] = 1\n" + packed},
		{[]any{o, q, k, k, starts(0, 5, 3, 8), starts(0, 5, 6, 8), 0, false, 0, 0}, "attention/3_mma: cuQ[2] = 3 after 5\n" + packed},
		{[]any{o, q, k, k, starts(0), starts(0), 0, false, 0, 0}, "attention/3_mma: cuQ has 1 elements\nit has one more than there are sequences: [0, length, …]"},
		{[]any{half(2, 3, 8, 64), half(2, 3, 8, 64), half(2, 3, 8, 64), half(2, 3, 8, 64), starts(0, 8), starts(0, 8), 0, false, 0, 0},
			"attention/3_mma: B = 2 together with cuQ\nwith cuQ and cuK all sequences lie one after the other in a batch of 1: q is [1, Hq, sum of lengths, D]"},
	} {
		if err := Run("attention/3_mma", c.args...); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// TestRaggedHeads holds that heads whose rows do not start on 16 bytes, or not on 4, cost what their smaller loads cost, and not
// a queue of single loads: that was four to five times the time of whole pieces.
func TestRaggedHeads(t *testing.T) {
	dev := open(t, "virtual:h200")
	seconds := func(name string, width int) float64 {
		tensor := func(heads, tokens int) *gpu.Tensor { return dev.Randn(gpu.F16, 1, heads, tokens, width) }
		args := []any{tensor(8, 512), tensor(8, 512), tensor(8, 512), tensor(8, 512), 0.0, false, 0, 0.0}
		if name == "decode/3_split" {
			row := func() *gpu.Tensor { return dev.Randn(gpu.F16, 1, 32, width) }
			args = []any{row(), row(), tensor(8, 4096), tensor(8, 4096), nil, 0.0, 0, 0.0}
		}
		r := gpu.Measure(func() {
			if err := Run(name, args...); err != nil {
				t.Fatal(err)
			}
		})
		return r.Seconds()
	}
	for name, most := range map[string]float64{"attention/3_mma": 2.5, "decode/3_split": 2.5} {
		whole := seconds(name, 112)
		for _, width := range []int{110, 111} {
			if times := seconds(name, width) / whole; !(times <= most) || times < 0.9 {
				t.Errorf("%s: D = %d takes %.2f times as long as 112, want 0.9 to %g", name, width, times, most)
			}
		}
	}
}
