package kernels

import (
	"context"
	"math"
	"testing"

	"memwall/gpu"
)

// choiceCase is a shape at which a ladder's name must mean a step that is hardly slower than the best one.
type choiceCase struct {
	ladder, types string
	dims          dims
}

const (
	mostSlower = 1.15 // the chosen step may be predicted than the best one
	hopeless   = 6    // times the least estimate: no step is predicted that is said to take so long
)

// choiceCases are small, ragged and large.
var choiceCases = []choiceCase{
	{"gemv", "f16", dims{"N": 1, "K": 1}}, {"gemv", "f16", dims{"N": 127, "K": 4095}}, {"gemv", "f16", dims{"N": 512, "K": 16384}},
	{"gemv", "f16", dims{"N": 4096, "K": 4097}}, {"gemv", "bf16", dims{"N": 14337, "K": 7169}}, {"gemv", "f32", dims{"N": 14336, "K": 7168}},
	{"gemm", "f16", dims{"M": 1, "N": 1, "K": 1}}, {"gemm", "f16", dims{"M": 33, "N": 77, "K": 130}}, {"gemm", "f16", dims{"M": 64, "N": 512, "K": 510}},
	{"gemm", "bf16", dims{"M": 200, "N": 300, "K": 100}}, {"gemm", "f16", dims{"M": 128, "N": 128, "K": 128}}, {"gemm", "f16", dims{"M": 512, "N": 512, "K": 512}},
	{"gemm", "f16", dims{"M": 300, "N": 1000, "K": 511}}, {"gemm", "f16", dims{"M": 1, "N": 4096, "K": 4096}}, {"gemm", "f16", dims{"M": 128, "N": 4096, "K": 4096}},
	{"gemm", "f16", dims{"M": 64, "N": 64, "K": 16384}}, {"gemm", "bf16", dims{"M": 2048, "N": 2048, "K": 2048}}, {"gemm", "f16", dims{"M": 2048, "N": 8192, "K": 2048}},
	{"gemm", "f32", dims{"M": 33, "N": 77, "K": 130}}, {"gemm", "f32", dims{"M": 200, "N": 300, "K": 100}}, {"gemm", "f32", dims{"M": 256, "N": 256, "K": 256}},
	{"gemm", "f32", dims{"M": 16, "N": 4096, "K": 4096}}, {"gemm", "f32", dims{"M": 1023, "N": 1025, "K": 511}}, {"gemm", "f32", dims{"M": 1024, "N": 1024, "K": 1024}},
	{"gemm", "f16", dims{"M": 1024, "N": 4096, "K": 4096}}, {"gemm", "f16", dims{"M": 4096, "N": 4096, "K": 512}}, {"gemm", "f16", dims{"M": 256, "N": 8448, "K": 4096}},
	{"gemm", "f16", dims{"M": 128, "N": 16896, "K": 1024}}, {"gemm", "f16", dims{"M": 384, "N": 1024, "K": 2048}},
	{"gemm", "f16", dims{"M": 64, "N": 512, "K": 16384}}, {"gemm", "f16", dims{"M": 512, "N": 512, "K": 4096}}, {"gemm", "f16", dims{"M": 256, "N": 512, "K": 510}},
	{"gemm", "f16", dims{"M": 64, "N": 4096, "K": 4096}}, {"gemm", "f16", dims{"M": 100, "N": 128, "K": 4095}},
	{"batch", "f16", dims{"M": 1, "N": 4096, "K": 4096}}, {"batch", "f16", dims{"M": 8, "N": 4096, "K": 4097}}, {"batch", "bf16", dims{"M": 64, "N": 1000, "K": 1001}},
	{"linear", "f16", dims{"M": 256, "N": 256, "K": 256}}, {"linear", "f16", dims{"M": 100, "N": 300, "K": 500}}, {"linear", "bf16", dims{"M": 2048, "N": 4096, "K": 1024}},
	{"gated", "f16", dims{"M": 256, "N": 256, "K": 256}}, {"gated", "f16", dims{"M": 100, "N": 300, "K": 500}}, {"gated", "bf16", dims{"M": 1, "N": 4096, "K": 4096}},
}

// TestChoice predicts every step of a ladder at each shape.
func TestChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts every step at every shape")
	}
	for _, c := range choiceCases {
		checkChoice(t, c)
	}
}

// checkChoice compares the step that a ladder's name means with the best one.
func checkChoice(t *testing.T, c choiceCase) {
	b := bencher{ctx: context.Background(), dev: open(t, "virtual:h200"), times: map[string]benchTime{}}
	var rows []*Kernel
	least := math.Inf(1)
	estimate := func(v *Kernel) float64 {
		if v.estimate == nil {
			return 0
		}
		return v.estimate(trial{dims: c.dims}.of(v, b.dev.SMs()))
	}
	for _, k := range steps(c.ladder) {
		if v := lookUpRow(k.name, c.types); v != nil && v.refuses(trial{dims: c.dims}.of(v, b.dev.SMs())) == nil {
			rows, least = append(rows, v), min(least, estimate(v))
		}
	}
	times, picked := map[string]float64{}, ""
	for _, v := range rows {
		if estimate(v) > hopeless*least {
			continue
		}
		r := b.time(v, trial{dims: c.dims})
		if r.err != nil {
			t.Fatal(r.err)
		}
		times[v.name], picked = r.total.Duration.Value, r.pick
	}
	best := picked
	for name, seconds := range times {
		if seconds < times[best] {
			best = name
		}
	}
	if ratio := times[picked] / times[best]; !(ratio <= mostSlower) {
		t.Errorf("%s %s %v: %s takes %.3g s, %.2f times %s, want at most %g times", c.ladder, c.types, c.dims, picked, times[picked], ratio, best, mostSlower)
	}
	t.Logf("%s %s %v: %s, %.2f times the best", c.ladder, c.types, c.dims, picked, times[picked]/times[best])
}

// TestChoiceRemembered: what was chosen for a call holds for that call alone.
func TestChoiceRemembered(t *testing.T) {
	large, small := open(t, "virtual:h200"), open(t, "virtual:t4")
	type call struct {
		dev      *gpu.Device
		dtype    gpu.DType
		n, start int
		want     string
	}
	calls := []call{{large, gpu.F16, 14336, 0, "gemv/5_split_k"}, {small, gpu.F16, 14336, 0, "gemv/4_rows"}, {large, gpu.F16, 57344, 0, "gemv/4_rows"},
		{large, gpu.F32, 14336, 0, "gemv/5_split_k"}, {large, gpu.F16, 14336, 1, "gemv/5_split_k"}}
	for range 2 {
		for _, c := range calls {
			x := c.dev.Zeros(c.dtype, 9)
			args := []any{c.dev.Zeros(c.dtype, c.n), c.dev.Zeros(c.dtype, c.n, 8), x.Slice(c.start, c.start+8)}
			k, bound, err := best("gemv", c.dev, args)
			if err != nil || k.name != c.want || k.operands[0].dtype != c.dtype || bound.dims["N"] != c.n || bound.dev != c.dev {
				t.Errorf("%+v: %v %v", c, k, err)
			}
		}
	}
	// A call of remembered shapes whose arguments overlap is refused as ever.
	both := large.Zeros(gpu.F16, 64)
	w := large.Zeros(gpu.F16, 8, 8)
	if err := Run("gemv", both.Slice(0, 8), w, both.Slice(32, 40)); err != nil {
		t.Fatal(err)
	}
	want := "gemv/5_split_k: y and x share memory, and the kernel writes one while it reads the other\ngive y a tensor of its own"
	if err := Run("gemv", both.Slice(0, 8), w, both.Slice(0, 8)); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// BenchmarkChoose is what it costs to find the step for a call whose like was seen before; under 5 µs.
func BenchmarkChoose(b *testing.B) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		family string
		args   []any
	}{
		{"gemv", []any{dev.Zeros(gpu.F16, 64), dev.Zeros(gpu.F16, 64, 64), dev.Zeros(gpu.F16, 64)}},
		{"gemm", []any{dev.Zeros(gpu.F16, 64, 64), dev.Zeros(gpu.F16, 64, 64), dev.Zeros(gpu.F16, 64, 64)}},
	} {
		for _, how := range []struct {
			name string
			find func(string, *gpu.Device, []any) (*Kernel, *call, error)
		}{{"remembered", best}, {"searched", search}} {
			b.Run(c.family+"/"+how.name, func(b *testing.B) {
				for b.Loop() {
					if _, _, err := how.find(c.family, dev, c.args); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
