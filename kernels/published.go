package kernels

import (
	"context"
	"fmt"
	"strings"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// publishedLadder is what others have measured of the same steps, beside which the ladder's predictions stand.
type publishedLadder struct {
	title  string // of the shape and the GPU it was measured on
	device string // the profile that is nearest
	types  string
	dims   dims
	unit   string
	steps  []publishedStep
}

type publishedStep struct {
	kernel string
	value  float64 // a rate: more is faster
}

// publishedLadders are of ../shared/facts/kernels.md: SGEMM_CUDA on an A6000, which is a GA102 as the RTX 3090 is, and the
// steps of bf16 ladders on an A100 (mma.sync on a tile with bank conflicts, without, with copies in flight) and on an H100 (wgmma and
// TMA with a larger tile, a producer of its own and 128 × 256, the best).
var publishedLadders = []publishedLadder{
	{"SGEMM 4096³ on an A6000, predicted for an RTX 3090", "virtual:rtx3090", "f32", dims{"M": 4096, "N": 4096, "K": 4096}, "% of cuBLAS", []publishedStep{
		{"gemm/1_naive", 1.3}, {"gemm/2_coalesced", 8.5}, {"gemm/3_smem_tile", 12.8}, {"gemm/4_tile_1d", 36.5}, {"gemm/5_tile_2d", 68.7}, {"gemm/6_vectorised", 78.4}}},
	{"bf16 GEMM 4096³ on an A100", "virtual:a100-40", "bf16", dims{"M": 4096, "N": 4096, "K": 4096}, "TFLOP/s", []publishedStep{
		{"gemm/7_mma", 60}, {"gemm/8_swizzle", 191}, {"gemm/9_cp_async", 221}}},
	{"bf16 GEMM on an H100, large, predicted for 4096³", "virtual:h100", "bf16", dims{"M": 4096, "N": 4096, "K": 4096}, "TFLOP/s", []publishedStep{
		{"gemm/10_wgmma", 423}, {"gemm/11_warp_specialised", 631}, {"gemm/12_multicast", 764}}},
}

// PublishedTable is a ladder's published rates beside predicted times.
type PublishedTable struct {
	Title string          `json:"title"`
	Unit  string          `json:"unit"`
	Lines []PublishedLine `json:"steps"`
}

// PublishedLine is a step: its rate and its predicted time, and each as a multiple of the last step's.
type PublishedLine struct {
	Kernel    string      `json:"kernel"`
	Published float64     `json:"published"`
	Time      perf.Figure `json:"time"`
	Ratio     float64     `json:"published_ratio"` // of the last step's rate
	Predicted float64     `json:"predicted_ratio"` // of the last step's speed
}

// Published predicts the ladders that others have published the rates of.
func Published(ctx context.Context) ([]PublishedTable, error) {
	var tables []PublishedTable
	for _, l := range publishedLadders {
		dev, err := gpu.Open(l.device)
		if err != nil {
			return tables, err
		}
		b := bencher{ctx: ctx, dev: dev, times: map[string]benchTime{}}
		table := PublishedTable{Title: l.title, Unit: l.unit}
		for _, s := range l.steps {
			if ctx.Err() != nil {
				return tables, ctx.Err()
			}
			k := lookUpRow(s.kernel, l.types)
			if k == nil {
				return tables, &gpu.Error{What: fmt.Sprintf("published figures: there is no %s for %s", s.kernel, l.types)}
			}
			t := b.time(k, trial{dims: l.dims})
			if t.err != nil {
				return tables, t.err
			}
			table.Lines = append(table.Lines, PublishedLine{Kernel: s.kernel, Published: s.value, Time: t.total.Duration})
		}
		last := table.Lines[len(table.Lines)-1]
		for i := range table.Lines {
			line := &table.Lines[i]
			line.Ratio, line.Predicted = line.Published/last.Published, last.Time.Value/line.Time.Value
		}
		tables = append(tables, table)
	}
	return tables, nil
}

// InOrder is the share of pairs, at least 20 % apart in what is published, that the prediction has in the same order.
func (t PublishedTable) InOrder() float64 {
	right, pairs := 0, 0
	for i, a := range t.Lines {
		for _, b := range t.Lines[i+1:] {
			slow, fast := a, b
			if slow.Published > fast.Published {
				slow, fast = b, a
			}
			if fast.Published < 1.2*slow.Published {
				continue
			}
			if pairs++; slow.Time.Value > fast.Time.Value {
				right++
			}
		}
	}
	return float64(right) / float64(max(pairs, 1))
}

// String is a line a step.
func (t PublishedTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of pairs ≥ 20%% apart in order\n", t.Title, perf.FormatPercent(100*t.InOrder()))
	rows := [][]string{{"step", "published", "of the last", "predicted", "of the last"}}
	for _, l := range t.Lines {
		rows = append(rows, []string{l.Kernel, fmt.Sprintf("%g %s", l.Published, t.Unit), fmt.Sprintf("%.3f", l.Ratio),
			perf.Format(l.Time.Value, "s") + " " + string(l.Time.Tag), fmt.Sprintf("%.3f", l.Predicted)})
	}
	writeColumns(&b, rows)
	return b.String()
}
