package kernels

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"memwall/gpu"
	"memwall/gpu/quant"
	"memwall/gpu/quant/quanttest"
)

func mustRun(t *testing.T, step string, args ...any) {
	t.Helper()
	if err := Run(step, args...); err != nil {
		t.Fatal(err)
	}
}

// The device's quantizers and dequantizers against GGML's bytes and values: the same bytes, or for K-quants no larger error;
// values bit for bit.
func TestQuantizersOutside(t *testing.T) {
	dev := open(t, "virtual:h200")
	for _, f := range quant.Formats() {
		dtype, err := gpu.TypeNamed(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == "Q8_1" {
			continue // activations: gpu/quant's test has its bytes
		}
		for _, c := range quanttest.Cases[quanttest.Block](t, strings.ToLower(f.Name)+".jsonl") {
			packed, want := quanttest.Hex(t, c.Packed), quanttest.Floats(t, c.Values)
			back := dev.Empty(gpu.F32, len(want))
			mustRun(t, "dequantize/1_blocks", back, dev.From(packed).View(dtype))
			for i, got := range back.Float32s() {
				if math.Float32bits(got) != math.Float32bits(want[i]) && (got == got || want[i] == want[i]) {
					t.Fatalf("%s %s: value %d decodes to %g, want %g", f.Name, c.Case, i, got, want[i])
				}
			}
			if f.Name[:2] == "Q5" || f.Name == "Q2_K" || f.Name == "Q3_K" {
				continue // read, not made
			}
			x := quanttest.Floats(t, c.Input)
			for _, step := range []string{"quantize/1_thread", "quantize/2_staged"} {
				y := dev.Empty(dtype, len(x))
				mustRun(t, step, y, dev.From(x))
				got := y.View(gpu.U8).Buffer().CopyOut()
				if bytes.Equal(got, packed) || c.Second != "" && bytes.Equal(got, quanttest.Hex(t, c.Second)) {
					continue
				}
				mine, err := quant.NMSE(y.Float32s(), x)
				theirs, err2 := quant.NMSE(want, x)
				if f.Block != 256 || err != nil || err2 != nil || !(mine <= theirs) {
					t.Errorf("%s of %s %s: other bytes, NMSE %g against %g", step, f.Name, c.Case, mine, theirs)
				}
			}
		}
	}
}

// fp8 against ml_dtypes: all f16 numbers and many f32.
func TestSmallFloatsOutside(t *testing.T) {
	dev := open(t, "virtual:h200")
	for _, c := range quanttest.Cases[quanttest.Small](t, "float.jsonl") {
		dtype, err := gpu.TypeNamed(strings.TrimSuffix(c.Format, "fn"))
		if err != nil || dtype != gpu.E4M3 && dtype != gpu.E5M2 {
			continue
		}
		var x *gpu.Tensor
		var want []byte
		switch c.Kind {
		case "decode":
			codes := make([]byte, 256)
			for i := range codes {
				codes[i] = byte(i)
			}
			y := dev.Empty(gpu.F32, 256)
			mustRun(t, "dequantize/1_blocks", y, dev.From(codes).View(dtype))
			for i, v := range quanttest.Floats(t, c.Values) {
				if got := y.At(i); got != float64(v) && (got == got || v == v) {
					t.Errorf("%s: code %#x is %g, want %g", c.Format, i, got, v)
				}
			}
			continue
		case "encode_all_f16_satfinite":
			want = quanttest.AllHalves(t, c.Zlib)
			all := make([]uint16, len(want))
			for i := range all {
				all[i] = uint16(i)
			}
			x = dev.From(all).View(gpu.F16)
		case "encode_f32":
			x, want = dev.From(quanttest.Floats(t, c.Input)), quanttest.Hex(t, c.Saturated)
		default:
			continue // without saturation, which PTX has not for e4m3
		}
		y := dev.Empty(dtype, len(want))
		mustRun(t, "quantize", y, x)
		small, err := quant.Small(dtype.String())
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, got := range y.View(gpu.U8).Ints() {
			a, b := small.Decode(byte(got)), small.Decode(want[i])
			if got != int(want[i]) && (a == a || b == b) { // codes of NaN may differ
				wrong++
			}
		}
		if wrong > 0 || len(want) == 0 {
			t.Errorf("%s %s: %d of %d codes differ", c.Format, c.Kind, wrong, len(want))
		}
	}
}

// TestQuantizeHeaders holds what the headers expect of the counters.
func TestQuantizeHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const rows, columns = 16, 1024
	x, q := h.dev.Randn(gpu.F32, rows, columns), h.dev.Empty(gpu.Q4_0, rows, columns)
	thread := h.count(t, "quantize/1_thread", q, x)
	near(t, "1_thread: sectors a request", perRequest(thread), 32)
	staged := h.count(t, "quantize/2_staged", q, x)
	near(t, "2_staged: sectors a request", perRequest(staged), 4)
	near(t, "2_staged: sectors a request of stores", ratio(staged.GlobalStore.Sectors, staged.GlobalStore.Requests), 4)
	near(t, "2_staged: three barriers a warp", ratio(staged.Barriers, staged.Warps), 3)
	near(t, "2_staged: the same bytes stored", ratio(staged.GlobalStore.Bytes, thread.GlobalStore.Bytes), 1)
	y := h.dev.Empty(gpu.F32, rows, columns)
	blocks := h.count(t, "dequantize/1_blocks", y, q)
	near(t, "1_blocks: bytes stored a value", float64(blocks.GlobalStore.Bytes)/rows/columns, 4)
	near(t, "1_blocks: loads a value, of code and scale", 32*float64(blocks.GlobalLoad.Requests)/rows/columns, 2)
}
