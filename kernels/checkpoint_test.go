package kernels

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"memwall/gpu"
	"memwall/gpu/quant"
	"memwall/gpu/quant/quanttest"
)

// checkpointCase is a layer as auto-gptq or autoawq packed it, and its weight as they unpack it.
type checkpointCase struct {
	Format, Zeros string
	Bits          int
	Group         int `json:"group_size"`
	K, N          int
	Words         string  `json:"qweight_hex"`
	ZeroWords     string  `json:"qzeros_hex"`
	Scales        string  `json:"scales_f16_hex"`
	Index         []int32 `json:"g_idx"`
	Values        string  `json:"dequant_f16_hex"`
}

// The device's values of GPTQ's and AWQ's layouts are those of the programs that pack them, bit for bit: 2, 3, 4 and 8 bits, both zero
// formats, rows in order and reordered. Where g_idx is in order, leaving it out gives the same.
func TestCheckpointsOutside(t *testing.T) {
	dev := open(t, "virtual:h200")
	for _, file := range []string{"gptq.jsonl", "awq.jsonl"} {
		for i, c := range quanttest.Cases[checkpointCase](t, file) {
			i32 := func(hex string, rows int) *gpu.Tensor {
				bytes := quanttest.Hex(t, hex)
				return dev.From(bytes, rows, len(bytes)/rows).View(gpu.I32)
			}
			groups := c.K / c.Group
			scales := dev.From(quanttest.Hex(t, c.Scales), groups, 2*c.N).View(gpu.F16)
			want := quanttest.Hex(t, c.Values)
			compare := func(how string, args ...any) {
				y := dev.Full(gpu.F16, math.NaN(), c.K, c.N)
				mustRun(t, strings.ToLower(c.Format), append([]any{y}, args...)...)
				for j, got := range y.View(gpu.U8).View(gpu.F16).Float64s() {
					if w := float64(quant.F16ToFloat32(binary.LittleEndian.Uint16(want[2*j:]))); got != w {
						t.Fatalf("%s %d%s: value [%d, %d] is %g, want %g", file, i, how, j/c.N, j%c.N, got, w)
					}
				}
			}
			if c.Format == "AWQ" {
				compare("", i32(c.Words, c.K), i32(c.ZeroWords, groups), scales)
				continue
			}
			words, zeros, less := i32(c.Words, c.K*c.Bits/32), i32(c.ZeroWords, groups), strings.HasPrefix(c.Zeros, "stored minus 1")
			compare("", words, zeros, scales, dev.From(c.Index), c.Bits, less)
			inOrder := true
			for row, g := range c.Index {
				inOrder = inOrder && int(g) == row/c.Group
			}
			if inOrder {
				compare(" without g_idx", words, zeros, scales, nil, c.Bits, less)
			}
		}
	}
}

// TestCheckpointHeaders holds what the headers of the sources expect of the counters.
func TestCheckpointHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	const k, n, groups = 256, 512, 4
	y, scales := h.dev.Zeros(gpu.F16, k, n), h.dev.Randn(gpu.F16, groups, n)
	gptq := h.count(t, "gptq/1_values", y, h.dev.Zeros(gpu.I32, k/8, n), h.dev.Zeros(gpu.I32, groups, n/8), scales, nil, 4, true)
	near(t, "gptq: each word once, zeros and scales for 32 rows", float64(gptq.GlobalLoad.Bytes), k*n/2+k/32*n/2*8)
	near(t, "gptq: bytes a request of loads, of words and of the rest", ratio(gptq.GlobalLoad.Bytes, gptq.GlobalLoad.Requests), (4*256+2*128)/6.)
	near(t, "gptq: sectors a request of stores", ratio(gptq.GlobalStore.Sectors, gptq.GlobalStore.Requests), 4)
	awq := h.count(t, "awq/1_values", y, h.dev.Zeros(gpu.I32, k, n/8), h.dev.Zeros(gpu.I32, groups, n/8), scales)
	near(t, "awq: each word once, zeros and scales for eight rows", float64(awq.GlobalLoad.Bytes), k*n/2+k/8*n/8*20)
	near(t, "awq: 16 bytes a lane", ratio(awq.GlobalStore.Bytes, awq.GlobalStore.Requests), 512)
}

// TestCheckpointRefusals: what does not fit is named before the launch.
func TestCheckpointRefusals(t *testing.T) {
	dev := open(t, "virtual:h200")
	y, scales := dev.Zeros(gpu.F16, 64, 32), dev.Zeros(gpu.F16, 2, 32)
	words, zeros := dev.Zeros(gpu.I32, 8, 32), dev.Zeros(gpu.I32, 2, 4)
	index := make([]int32, 64)
	index[9] = 2
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"gptq", []any{y, words, zeros, scales, nil, 5, true}, "gptq/1_values: bits = 5: GPTQ has 2, 3, 4 and 8\nthe file's quantize_config.json says how many"},
		{"gptq", []any{y, words, zeros, scales, dev.From(index), 4, true}, "gptq/1_values: groups[9] = 2, there are 2 groups\ngroups are g_idx of the file, or nil where it has none"},
		{"awq", []any{y, dev.Zeros(gpu.I32, 64, 4), dev.Zeros(gpu.I32, 3, 4), dev.Zeros(gpu.F16, 3, 32)}, "awq/1_values: G = 3 groups do not divide K = 64\nscales are [K ÷ group size, N]"},
	} {
		if err := Run(c.name, c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}
