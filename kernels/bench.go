package kernels

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"memwall/gpu"
)

// BenchRow is how fast the virtual GPU executed one launch, all counters on, on one core.
type BenchRow struct {
	Name               string  `json:"name"`
	Milliseconds       float64 `json:"ms"`                             // median, MEASURED by the host's clock
	ThreadInstructions float64 `json:"thread_instructions"`            // a launch, EXECUTED
	Rate               float64 `json:"thread_instructions_per_second"` // MEASURED
	LimitMilliseconds  float64 `json:"limit_ms,omitempty"`             // what the launch may take, 0 where nothing is promised
	Ratio              float64 `json:"ratio_to_limit,omitempty"`       // below 1 is within it
	SampledCTAs        int     `json:"sampled_one_of,omitempty"`       // every k-th CTA, 0: all
}

// BenchTable is the rows of BenchVirtual.
type BenchTable []BenchRow

// benchCase is one launch: its arguments are made once.
type benchCase struct {
	name, step string
	sample     int
	limit      float64 // ms
	arguments  func(d *gpu.Device) []any
}

var benchCases = []benchCase{
	{name: "f16 4096²", step: "gemv/3_vec16", limit: 150, arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F16, 4096), d.Randn(gpu.F16, 4096, 4096), d.Randn(gpu.F16, 4096)}
	}},
	{name: "f16 4096²", step: "gemv/2_warp", arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F16, 4096), d.Randn(gpu.F16, 4096, 4096), d.Randn(gpu.F16, 4096)}
	}},
	{name: "512³", step: "gemm/3_mma", arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F16, 512, 512), d.Randn(gpu.F16, 512, 512), d.Randn(gpu.F16, 512, 512)}
	}},
	{name: "512 × 4096²", step: "gemm/4_cp_async", sample: 16, arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F16, 512, 4096), d.Randn(gpu.F16, 4096, 4096), d.Randn(gpu.F16, 512, 4096)}
	}},
	{name: "f32 512 × 4096", step: "softmax/3_online", arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F32, 512, 4096), d.Randn(gpu.F32, 512, 4096)}
	}},
	{name: "one CTA", step: "gemv/2_warp", arguments: func(d *gpu.Device) []any {
		return []any{d.Zeros(gpu.F16, 4), d.Randn(gpu.F16, 4, 32), d.Randn(gpu.F16, 32)}
	}},
}

// BenchVirtual measures the launches whose name or step contains the filter, on one core of the host, each five times after
// one to warm up; ctx ends it between two launches.
func BenchVirtual(ctx context.Context, filter string) (table BenchTable, err error) {
	d, err := gpu.Open("virtual:h200")
	if err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = e
		}
	}()
	for _, c := range benchCases {
		if !strings.Contains(c.name, filter) && !strings.Contains(c.step, filter) {
			continue
		}
		args := c.arguments(d)
		var times []float64
		row := BenchRow{Name: c.step + ", " + c.name, LimitMilliseconds: c.limit, SampledCTAs: c.sample}
		for range 6 {
			if err := ctx.Err(); err != nil {
				return table, err
			}
			start := time.Now()
			r := gpu.Sample(max(c.sample, 1), func() { err = Run(c.step, args...) })
			times = append(times, time.Since(start).Seconds())
			if err != nil {
				return table, err
			}
			row.ThreadInstructions = float64(r.Launches[0].Counts.ThreadInstructions)
		}
		slices.Sort(times[1:])
		median := times[1:][len(times[1:])/2]
		row.Milliseconds, row.Rate = 1e3*median, row.ThreadInstructions/median
		if c.limit > 0 {
			row.Ratio = row.Milliseconds / c.limit
		}
		table = append(table, row)
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("bench vgpu: no launch contains %q; they are %s", filter, benchNames())
	}
	return table, nil
}

func benchNames() string {
	var names []string
	for _, c := range benchCases {
		names = append(names, c.step+" ("+c.name+")")
	}
	return strings.Join(names, ", ")
}

// String is the table.
func (t BenchTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %10s %12s %8s\n", "launch on the virtual GPU, one core", "ms", "M instr/s", "of limit")
	for _, r := range t {
		name, ratio := r.Name, ""
		if r.SampledCTAs > 1 {
			name += fmt.Sprintf(", 1 of %d CTAs", r.SampledCTAs)
		}
		if r.LimitMilliseconds > 0 {
			ratio = fmt.Sprintf("%.2f ×", r.Ratio)
		}
		fmt.Fprintf(&b, "%-44s %10.3g %12.0f %8s\n", name, r.Milliseconds, r.Rate/1e6, ratio)
	}
	b.WriteString("MEASURED by the host's clock, medians of 5, all counters on; instr: of threads, EXECUTED")
	return b.String()
}
