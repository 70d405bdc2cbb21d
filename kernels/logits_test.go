package kernels

import (
	"math"
	"testing"

	"memwall/gpu"
)

// TestLogitHeaders holds what the headers of the sources expect of the counters, on shapes where nothing is ragged.
func TestLogitHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const rows, columns = 4, 8192
	y, x := h.dev.Zeros(gpu.F32, rows, columns), h.dev.Randn(gpu.F32, rows, columns)
	warp, online := h.count(t, "logsoftmax/1_warp", y, x), h.count(t, "logsoftmax/2_online", y, x)
	near(t, "logsoftmax/1_warp: sectors a request", perRequest(warp), 4)
	near(t, "logsoftmax/2_online: two reads in place of three", ratio(online.GlobalLoad.Bytes, warp.GlobalLoad.Bytes), 2.0/3)
	near(t, "logsoftmax/2_online: a sixth of the requests", ratio(online.GlobalLoad.Requests, warp.GlobalLoad.Requests), 1.0/6)
	near(t, "logsoftmax/2_online: sectors a request", perRequest(online), 16)
	index := h.dev.Zeros(gpu.I32, rows)
	cta, split := h.count(t, "argmax/1_cta", index, x), h.count(t, "argmax/2_split", index, x)
	near(t, "argmax/1_cta: sectors a request", perRequest(cta), 4)
	near(t, "argmax/2_split: a CTA a stretch, and a join a row", float64(split.CTAs), 2*rows+rows)
	near(t, "argmax/2_split: 8 bytes a stretch more", float64(split.GlobalLoad.Bytes-cta.GlobalLoad.Bytes), 8*2*rows)
	token, seeds, positions := h.dev.Zeros(gpu.I32, rows), h.dev.Zeros(gpu.I32, rows), h.dev.Zeros(gpu.I32, rows)
	separate := h.count(t, "sample/1_separate", token, x, seeds, positions, 1.0, 40, 0.9, 0.05)
	fused := h.count(t, "sample/2_fused", token, x, seeds, positions, 1.0, 40, 0.9, 0.05)
	const thresholds = 2*512*4*rows + 4*rows // read from memory by each thread of two launches and one thread of a third
	near(t, "sample/2_fused: three lookups less", float64(separate.GlobalLoad.Bytes-fused.GlobalLoad.Bytes-thresholds)/(4*rows*columns), 3)
}

// TestPhilox compares with the known answers of the authors' library (Random123, kat_vectors).
func TestPhilox(t *testing.T) {
	const all = 0xffffffff
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{all, all, all, all}, [2]uint32{all, all}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox4x32(c.counter, c.key); got != c.want {
			t.Errorf("%x, %x: %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// TestDistribution draws 2,000 tokens at different positions and holds their counts against the probabilities: of χ² with n−1
// degrees of freedom 99.99 % lie below the bound. The same seed and position draw the same token, whatever the row.
func TestDistribution(t *testing.T) {
	dev := open(t, "virtual:h200")
	const draws, tokens = 2000, 12
	logits, positions := make([]float32, draws*tokens), make([]int, draws)
	row := []float64{0, 1, -1, 2, 0.5, -3, 1.5, 0, -0.5, 2.5, math.Inf(-1), 1}
	for i := range draws {
		positions[i] = i
		for c, x := range row {
			logits[i*tokens+c] = float32(x)
		}
	}
	x, token := dev.From(logits, draws, tokens), dev.Zeros(gpu.I32, draws)
	at, seeds := dev.From(positions), dev.Full(gpu.I32, 42, draws)
	for _, c := range []struct {
		name        string
		temperature float64
		k           int
		p, minp     float64
		kept        []int
		bound       float64 // χ², 99.99 %
	}{
		{"temperature 1", 1, 0, 1, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11}, 35.56}, // 10 degrees of freedom
		{"temperature 2, the 5 largest (1 twice)", 2, 4, 1, 0, []int{1, 3, 6, 9, 11}, 23.51},
		// e^(2.5, 2, 1.5, 1, 1) = 12.18, 7.39, 4.48, 2.72, 2.72 of 34.5: the first three are 0.697, with both ones 0.854.
		{"the nucleus of 0.6", 1, 0, 0.6, 0, []int{3, 6, 9}, 18.42},
		{"the nucleus of 0.75", 1, 0, 0.75, 0, []int{1, 3, 6, 9, 11}, 23.51},
		{"at least 0.3 of the largest", 1, 0, 1, 0.3, []int{3, 6, 9}, 18.42}, // e^−1 = 0.37, e^−1.5 = 0.22
	} {
		if err := Run("sample", token, x, seeds, at, c.temperature, c.k, c.p, c.minp); err != nil {
			t.Fatal(err)
		}
		total, seen := 0.0, make([]int, tokens)
		for _, k := range c.kept {
			total += math.Exp(row[k] / c.temperature)
		}
		first := token.Ints()
		for _, n := range first {
			seen[n]++
		}
		square, counted := 0.0, 0
		for _, k := range c.kept {
			want := draws * math.Exp(row[k]/c.temperature) / total
			square += (float64(seen[k]) - want) * (float64(seen[k]) - want) / want
			counted += seen[k]
		}
		if !(square <= c.bound) || counted != draws {
			t.Errorf("%s: χ² = %.1f, at most %.1f; %d of %d draws are candidates: %v", c.name, square, c.bound, counted, draws, seen)
		}
		for i, n := range first[:100] {
			one := dev.Zeros(gpu.I32, 1)
			if i%20 != 0 {
				continue
			}
			if err := Run("sample", one, x.Slice(7, 8), seeds.Slice(0, 1), at.Slice(i, i+1), c.temperature, c.k, c.p, c.minp); err != nil || one.Ints()[0] != n {
				t.Errorf("%s: position %d draws %d in the batch, %d alone (%v)", c.name, i, n, one.Ints()[0], err)
			}
		}
	}
}

// TestLogitRefusals: what a sampler cannot do is said before the launch.
func TestLogitRefusals(t *testing.T) {
	dev := open(t, "virtual:h200")
	one, x := dev.Zeros(gpu.I32, 1), dev.Zeros(gpu.F32, 1, 8)
	for _, c := range []struct {
		err  error
		want string
	}{
		{Run("sample", one, x, dev.Zeros(gpu.I32, 1), dev.Zeros(gpu.I32, 1), -1.0, 0, 1.0, 0.0), "sample/2_fused: argument 5 (temperature) is -1, it takes a number from 0 to 100"},
		{Run("sample", one, x, dev.Zeros(gpu.I32, 1), dev.Zeros(gpu.I32, 1), 1.0, -3, 1.0, 0.0), "sample/2_fused: argument 6 (k) is -3, it takes a whole number from 0 to 2147483647"},
		{Run("sample", one, x, dev.Zeros(gpu.I32, 1), dev.Zeros(gpu.I32, 1), 1.0, 0, math.NaN(), 0.0), "sample/2_fused: argument 7 (p) is NaN, it takes a number from 0 to 1"},
		{Run("penalty/1_repetition", x, dev.From([]int{0, 8}, 1, 2), 1.1, 0.0), "penalty/1_repetition: history[0][1] = 8, the vocabulary has 8 tokens\ngive tokens of the model, −1 for padding"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v\nwant %s", c.err, c.want)
		}
	}
}
