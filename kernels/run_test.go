package kernels

import (
	"strings"
	"testing"

	"memwall/gpu"
)

// TestBadCalls compares the whole text of every message that Run has before it launches.
func TestBadCalls(t *testing.T) {
	dev, other, old := open(t, "virtual:h200"), open(t, "virtual:t4"), open(t, "virtual:v100")
	y, w, x := dev.Zeros(gpu.F16, 8), dev.Zeros(gpu.F16, 8, 16), dev.Zeros(gpu.F16, 16)
	long := dev.Zeros(gpu.F32, 64)
	f := dev.Zeros(gpu.F32, 32)
	both := dev.Zeros(gpu.F16, 24)
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"gemv/1_naive", []any{y, w}, "gemv/1_naive: 2 arguments, it takes 3\nwrite kernels.Run(\"gemv/1_naive\", y, w, x) with y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv/1_naive", nil, "gemv/1_naive: 0 arguments, it takes 3\nwrite kernels.Run(\"gemv/1_naive\", y, w, x) with y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv/1_naive", []any{y, 3.5, x}, "gemv/1_naive: argument 2 (w) is of type float64, it takes a tensor f16|bf16|f32 [N, K]\nmake one with dev.Randn, dev.Zeros or dev.From"},
		{"gemv/1_naive", []any{nil, w, x}, "gemv/1_naive: argument 1 (y) is nil, it takes a tensor f16|bf16|f32 [N]\nmake one with dev.Randn, dev.Zeros or dev.From"},
		{"gemv/1_naive", []any{(*gpu.Tensor)(nil), w, x}, "gemv/1_naive: argument 1 (y) is nil, it takes a tensor f16|bf16|f32 [N]\nmake one with dev.Randn, dev.Zeros or dev.From"},
		{"gemv/1_naive", []any{y, dev.Zeros(gpu.F32, 8, 16), x}, "gemv/1_naive: w is f32 [8, 16] beside y f16, it takes f16 [N, K]\nconvert it: dev.FromAs(gpu.F16, w.Float64s(), 8, 16); it takes y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv/1_naive", []any{dev.Zeros(gpu.F32, 8), w, x}, "gemv/1_naive: y is f32 [8] beside w f16, it takes f16 [N]\nconvert it: dev.FromAs(gpu.F16, y.Float64s(), 8); it takes y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv/1_naive", []any{y, w, dev.Zeros(gpu.I32, 16)}, "gemv/1_naive: x is i32 [16], it takes f16|bf16|f32 [K]\nconvert it: dev.FromAs(gpu.F16, x.Float64s(), 16); it takes y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemm/8_swizzle", []any{dev.Zeros(gpu.F32, 8, 8), dev.Zeros(gpu.F32, 8, 16), dev.Zeros(gpu.F32, 8, 16)}, "gemm/8_swizzle: y is f32 [8, 8], it takes f16|bf16 [M, N]\nconvert it: dev.FromAs(gpu.F16, y.Float64s(), 8, 8); it takes y f16|bf16 [M, N], w f16|bf16 [N, K], x f16|bf16 [M, K]"},
		{"gemm/11_warp_specialised", []any{dev.Zeros(gpu.F16, 8, 8), dev.Zeros(gpu.F16, 8, 7), dev.Zeros(gpu.F16, 8, 7)}, "gemm/11_warp_specialised: K = 7, it takes multiples of 8\nuse K = 8, or fill up with zeros"},
		{"gemm/11_warp_specialised", []any{dev.Zeros(gpu.F16, 8, 8), dev.Zeros(gpu.F16, 8, 17), dev.Zeros(gpu.F16, 8, 17)}, "gemm/11_warp_specialised: K = 17, it takes multiples of 8\nuse K = 16 or 24, or fill up with zeros"},
		{"gemv/1_naive", []any{y, w, dev.Zeros(gpu.F16, 15)}, "gemv/1_naive: x is f16 [15], but w says K = 16\nit takes y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv/1_naive", []any{dev.Zeros(gpu.F16, 9), w, x}, "gemv/1_naive: w is f16 [8, 16], but y says N = 9\nit takes y f16|bf16|f32 [N], w f16|bf16|f32 [N, K], x f16|bf16|f32 [K]"},
		{"gemv", []any{y, w, dev.Zeros(gpu.F16, 1, 16)}, "gemv/5_split_k: x is f16 [1, 16], it takes f16|bf16|f32 [K]\nreshape it: x.Reshape(K); several columns at once are kernels.Run(\"gemm\", y, w, x)"},
		{"gemm/8_swizzle", []any{y, w, x}, "gemm/8_swizzle: y is f16 [8], it takes f16|bf16 [M, N]\nreshape it: y.Reshape(M, N); for a single vector use kernels.Run(\"gemv\", y, w, x)"},
		{"gemv/1_naive", []any{y, w, other.Zeros(gpu.F16, 16)}, "gemv/1_naive: x is on virtual:t4, y on virtual:h200\ntensors stay on the device that made them: make all of them on one"},
		{"gemv/1_naive", []any{dev.Empty(gpu.F16, 0), dev.Empty(gpu.F16, 0, 16), x}, "gemv/1_naive: y is f16 [0]: there is nothing to compute\ngive it at least one element"},
		{"gemv/1_naive", []any{both.Slice(0, 8), w, both.Slice(4, 20)}, "gemv/1_naive: y and x share memory, and the kernel writes one while it reads the other\ngive y a tensor of its own"},
		{"softmax/2_warp", []any{f.Reshape(4, 8), f.Reshape(4, 8)}, "softmax/2_warp: y and x share memory, and the kernel writes one while it reads the other\ngive y a tensor of its own"},
		{"softmax/2_warp", []any{dev.Empty(gpu.F32, 4, 0), dev.Empty(gpu.F32, 4, 0)}, "softmax/2_warp: y is f32 [4, 0]: there is nothing to compute\ngive it at least one element"},
		{"probe/1_copy", []any{f, long.Slice(1, 33)}, "probe/1_copy: src starts 4 B behind a multiple of 16 B, and the kernel reads 16 B at a time\nuse a slice that starts on a multiple of 4 elements, or a tensor of its own"},
		{"probe/1_copy", []any{f, dev.Zeros(gpu.F32, 31)}, "probe/1_copy: src is f32 [31], but dst says n = 32\nit takes dst f32 […], src f32 […]"},
		{"probe/3_fma", []any{f, dev.Zeros(gpu.F32, 32), 0}, "probe/3_fma: argument 3 (iterations) is 0, it takes a whole number from 1 to 1048576"},
		{"probe/3_fma", []any{f, dev.Zeros(gpu.F32, 32), 2.5}, "probe/3_fma: argument 3 (iterations) is 2.5, it takes a whole number from 1 to 1048576"},
		{"probe/3_fma", []any{f, dev.Zeros(gpu.F32, 32), "7"}, "probe/3_fma: argument 3 (iterations) is 7, it takes a whole number from 1 to 1048576"},
		{"gemm/2_coalesced", []any{dev.Empty(gpu.F16, 1, 524288), dev.Zeros(gpu.F16, 524288, 8), dev.Zeros(gpu.F16, 1, 8)},
			"gemm/2_coalesced: N = 524288, it takes up to 262140\nsplit w and y by rows of w"},
		{"gemm/9_cp_async", []any{other.Zeros(gpu.F16, 2, 8), other.Zeros(gpu.F16, 8, 16), other.Zeros(gpu.F16, 2, 16)},
			"launch gemm/9_cp_async: needs sm_80, device \"t4\" is sm_75\nuse gemm/8_swizzle, or gpu.Open(\"virtual:a100\")"},
		{"gemv", []any{old.Zeros(gpu.F16, 8), old.Zeros(gpu.F16, 8, 16), old.Zeros(gpu.F16, 16)},
			"launch gemv/5_split_k: needs sm_75, device \"v100\" is sm_70\nuse gpu.Open(\"virtual:t4\")"},
	} {
		err := Run(c.name, c.args...)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
	freed := dev.Zeros(gpu.F16, 16)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	if err := Run("gemv", y, w, freed); err == nil || !strings.Contains(err.Error(), "free") {
		t.Errorf("a freed tensor: %v", err)
	}
}

// TestBest picks a step that a device runs, that has the element type and that is good for the shape, and says which.
func TestBest(t *testing.T) {
	for _, c := range []struct {
		device  string
		dtype   gpu.DType
		m, n, k int
		want    string
	}{
		{"virtual:h200", gpu.F16, 128 * 132, 512, 64, "gemm/12_multicast"},
		{"virtual:h200", gpu.F16, 512, 512, 512, "gemm/10_wgmma"}, {"virtual:h200", gpu.BF16, 512, 512, 512, "gemm/10_wgmma"},
		{"virtual:h200", gpu.F16, 16, 2048, 1024, "gemm/9_cp_async"}, {"virtual:h200", gpu.F16, 256, 512, 510, "gemm/13_split_k: slices"},
		{"virtual:h200", gpu.F16, 100, 512, 0, "gemm/1_naive"}, {"virtual:h200", gpu.F32, 1024, 1024, 64, "gemm/6_vectorised"},
		{"virtual:h200", gpu.F16, 33, 77, 130, "gemm/2_coalesced"}, {"virtual:h200", gpu.F32, 33, 77, 130, "gemm/2_coalesced"},
		{"virtual:b200", gpu.BF16, 512, 512, 512, "gemm/9_cp_async"}, {"virtual:l4", gpu.F16, 512, 512, 512, "gemm/9_cp_async"},
		{"virtual:t4", gpu.F16, 512, 512, 512, "gemm/8_swizzle"}, {"virtual:t4", gpu.BF16, 512, 512, 512, "gemm/6_vectorised"},
	} {
		dev := open(t, c.device)
		y, w, x := dev.Zeros(c.dtype, c.m, c.n), dev.Full(c.dtype, 2, c.n, c.k), dev.Full(c.dtype, 3, c.m, c.k)
		var err error
		report := gpu.Measure(func() { err = Run("gemm", y, w, x) })
		if err != nil || report.Launches[0].Kernel != c.want {
			t.Errorf("%s, %s, M = %d, K = %d: %v, %v, want %s", c.device, c.dtype, c.m, c.k, report.Launches[0].Kernel, err, c.want)
		}
		for i, v := range y.Float32s() {
			if v != float32(2*3*c.k) {
				t.Fatalf("%s: element %d is %g, want %d", c.device, i, v, 6*c.k)
			}
		}
	}
}

// TestBestGEMV: many rows fill the GPU without slices, few do not, by the number of its SMs.
func TestBestGEMV(t *testing.T) {
	for _, c := range []struct {
		device string
		n      int
		want   string
	}{{"virtual:h200", 4096, "gemv/5_split_k"}, {"virtual:h200", 57344, "gemv/4_rows"}, {"virtual:t4", 14336, "gemv/4_rows"}} {
		dev := open(t, c.device)
		launches, err := measured("gemv", nil, []any{dev.Zeros(gpu.F16, c.n), dev.Zeros(gpu.F16, c.n, 8), dev.Zeros(gpu.F16, 8)})
		if err != nil || launches[0].Kernel != c.want {
			t.Errorf("%d rows on %s: %v, %v, want %s", c.n, c.device, launches, err, c.want)
		}
	}
}

// TestSlices runs kernels on views that start anywhere: narrow paths take what wide ones cannot.
func TestSlices(t *testing.T) {
	dev := open(t, "virtual:h200")
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i*i%11) - 4
	}
	memory := dev.FromAs(gpu.F16, values)
	for _, name := range names(steps("gemv")) {
		y := dev.Full(gpu.F16, 77, 12)
		w, x := memory.Slice(1, 1+3*16).Reshape(3, 16), memory.Slice(101, 117)
		if err := Run(name, y.Slice(5, 8), w, x); err != nil {
			t.Fatal(err)
		}
		for i, v := range y.Float64s() {
			want := 77.0
			if i >= 5 && i < 8 {
				want = 0
				for k := range 16 {
					want += values[1+(i-5)*16+k] * values[101+k]
				}
			}
			if step := step(gpu.F16, want); !(v-want <= step && want-v <= step) {
				t.Errorf("%s: y[%d] is %g, want %g", name, i, v, want)
			}
		}
	}
	for _, name := range append(names(steps("gemm")), "gemm") {
		out := dev.Full(gpu.F16, 77, 9*3+10)
		w, x := memory.Slice(1, 1+3*8).Reshape(3, 8), memory.Slice(3, 3+9*8).Reshape(9, 8)
		err := Run(name, out.Slice(3, 3+27).Reshape(9, 3), w, x)
		if name != "gemm" && Get(name).operands[0].align > 0 { // TMA; the ladder takes another step
			want := name + ": y starts 6 B behind a multiple of 16 B, and the kernel reads 16 B at a time\nuse a slice that starts on a multiple of 8 elements, or a tensor of its own"
			if err == nil || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out.Float64s() {
			want := 77.0
			if j := i - 3; j >= 0 && j < 27 {
				want = 0
				for k := range 8 {
					want += values[1+j%3*8+k] * values[3+j/3*8+k]
				}
			}
			if step := step(gpu.F16, want); !(v-want <= step && want-v <= step) {
				t.Errorf("%s: element %d is %g, want %g", name, i, v, want)
			}
		}
	}
}

// TestFormulas works out bytes and FLOPs of notebook 01's layer by hand.
func TestFormulas(t *testing.T) {
	dev := open(t, "virtual:h200")
	y, w, x := dev.Empty(gpu.F16, 4096), dev.Empty(gpu.F16, 4096, 4096), dev.Empty(gpu.F16, 4096)
	k := Get("gemv/3_vec16")
	if b := k.Bytes(y, w, x); b.Value != 33554432+2*8192 || b.Unit != "B" || b.Tag != "FORMULA" || b.Source != "2·N·K + 2·K + 2·N" {
		t.Errorf("bytes %+v", b)
	}
	if f := k.FLOPs(y, w, x); f.Value != 33554432 || f.Unit != "FLOP" || f.Tag != "FORMULA" {
		t.Errorf("FLOPs %+v", f)
	}
	defer func() {
		if e, ok := recover().(*gpu.Error); !ok || !strings.HasPrefix(e.Error(), "gemv/3_vec16: 1 arguments, it takes 3\n") {
			t.Errorf("bad arguments: %v", e)
		}
	}()
	k.Bytes(y)
}
