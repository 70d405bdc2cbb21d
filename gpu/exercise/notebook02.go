package exercise

import (
	"fmt"
	"math"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// The numbers of notebook 02. The latency is what a thread that chases pointers measured on an H100 (published: about 700
// cycles to DRAM), in cycles of the model's clock.
const (
	warpLanes     = 32.0
	sectorBytes   = 32.0
	floatBytes    = 4.0
	stride        = 8.0 // floats between neighbouring lanes in 02.1
	latencyCycles = 700.0
	latencyClock  = 1.755e9
	hiddenStride  = 6.0 // of Riddle
)

// sectorsApart is how many sectors a warp touches whose lanes read floats so many floats apart.
func sectorsApart(floats float64) float64 {
	return math.Min(warpLanes, warpLanes*floats*floatBytes/sectorBytes)
}

func bytesInFlight(device string) float64 {
	return profile(device).DRAMBytesPerSecond * latencyCycles / latencyClock
}

// readingWell are the exercises of notebook 02.
var readingWell = []exercise{
	{
		id: "02.1", unit: "sectors", within: 0.01,
		question: "The 32 lanes of a warp each read one float, 8 floats apart. How many sectors does the request touch?",
		answer:   func() float64 { return sectorsApart(stride) },
		formula: func() string {
			return "8 floats · 4 B = 32 B apart: every lane lies in a sector of its own, 32 in all, and uses 4 of its 32 bytes."
		},
		start: "How many bytes apart do neighbouring lanes read? A sector has 32 bytes.",
		mistakes: []mistake{
			{func() float64 { return sectorsApart(1) }, "That would be neighbours, 4 B apart: 8 lanes share a sector. Here they lie 8 floats apart."},
			{func() float64 { return stride }, "8 is the distance in floats. How many lanes still share a sector of 32 bytes?"},
			{func() float64 { return warpLanes * stride }, "That is the distance in floats from the first lane to the end of the last. Count sectors that are touched."},
			{func() float64 { return warpLanes * floatBytes }, "Those are the bytes that the warp uses. It moves whole sectors of 32 bytes."},
		},
	},
	{
		id: "02.2", unit: "", within: 0.02,
		question: "A thread a row, f16 weights, rows of 4096: how many times as many sectors as necessary does a request of the weights touch?",
		answer:   func() float64 { return warpLanes / (warpLanes * halfBytes / sectorBytes) },
		formula: func() string {
			return "Each lane stands in another row, so 32 sectors; the 32 · 2 B that it uses would fit into 2: 16 times."
		},
		start: "How many sectors do lanes in 32 different rows touch, and in how many would 32 · 2 B fit?",
		mistakes: []mistake{
			{func() float64 { return warpLanes }, "32 sectors is right, but how many would be necessary? 32 lanes · 2 B = 64 B are two sectors."},
			{func() float64 { return warpLanes / 4 }, "That would be floats of four bytes, where four sectors are necessary. f16 has two bytes."},
			{func() float64 { return 2 }, "Two sectors would be necessary. How many are touched, and what is the quotient?"},
		},
	},
	{
		id: "02.3", unit: "B", within: 0.05,
		question: "The H200's DRAM gives 4.8 TB/s, and a load takes about 700 cycles of 1.755 GHz. How many bytes must be under way at any time?",
		answer:   func() float64 { return bytesInFlight("h200") },
		formula: func() string {
			return fmt.Sprintf("700 cycles ÷ 1.755 GHz = 399 ns; 4.80 TB/s · 399 ns = %s, on the whole GPU.", perf.Format(bytesInFlight("h200"), "B"))
		},
		start: "First the latency in seconds: cycles ÷ cycles a second. What arrives in that time was under way when it began.",
		mistakes: []mistake{
			{func() float64 { return bytesInFlight("h200") / 132 }, "That is the share of one of 132 SMs. The question is for the whole GPU."},
			{func() float64 { return profile("h200").DRAMBytesPerSecond * latencyCycles / 1e9 }, "Cycles are not nanoseconds: at 1.755 GHz 700 cycles last 399 ns."},
			{func() float64 { return profile("h200").DRAMBytesPerSecond / latencyClock }, "That is what arrives in one cycle. A load takes 700 of them."},
		},
	},
	{
		id: "02.4", unit: "floats", within: 0.01,
		question: "The riddle's lanes read floats at a fixed distance. How many floats apart are neighbouring lanes?",
		answer:   func() float64 { return hiddenStride },
		formula: func() string {
			return "24 sectors · 32 B = 768 B for 32 lanes: 24 B a lane, 6 floats."
		},
		start: "Take the sectors a request from the card, make bytes of them, and share them among 32 lanes.",
		mistakes: []mistake{
			{func() float64 { return sectorsApart(hiddenStride) }, "Those are the sectors a request. How many bytes are that for each of 32 lanes, and how many floats?"},
			{func() float64 { return hiddenStride * floatBytes }, "Those are bytes: a float has four."},
			{func() float64 { return warpLanes * hiddenStride }, "That is the distance over the whole warp. Divide by its 32 lanes."},
		},
	},
	{
		id: "02.5", question: "Mend the kernel: the same results, with no more sectors than necessary.",
		start: "Launch it yourself and read the sectors a request. Which thread should read x[0], and which x[1]?",
		trial: tryDoubling,
	},
}

// riddle reads x at a fixed distance; the distance is the answer of 02.4.
const riddle = `.version 6.3
.target sm_75
.address_size 64
.visible .entry riddle(.param .u64 y, .param .u64 x)
{
	.reg .b32 %r<5>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
	ld.param.u64 %rd1, [y];
	ld.param.u64 %rd2, [x];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r4, 24;
	add.u64 %rd4, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	mul.wide.u32 %rd5, %r4, 4;
	add.u64 %rd6, %rd1, %rd5;
	st.global.f32 [%rd6], %f1;
	ret;
}
`

// Riddle launches the kernel of exercise 02.4 on a device: 65,536 threads read floats at a distance that only the card
// tells.
func Riddle(dev *gpu.Device) error {
	const threads = 65536
	m, err := dev.LoadModule(gpu.ModuleSpec{Name: "exercise 02.4.ptx", PTX: riddle})
	if err != nil {
		return err
	}
	f, err := m.Function("riddle")
	if err != nil {
		return err
	}
	x, y := dev.Zeros(gpu.F32, threads*hiddenStride), dev.Empty(gpu.F32, threads)
	defer x.Free()
	defer y.Free()
	return f.Launch(gpu.Threads(threads, 256), y, x)
}

// launched measures one launch of a reader's kernel; a failure is an error.
func launched(f *gpu.Function, c gpu.Config, args ...any) (report *gpu.Report, err error) {
	defer func() { // Measure panics with a *gpu.Error
		if r := recover(); r != nil {
			e, ok := r.(*gpu.Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	report = gpu.Measure(func() { err = f.Launch(c, args...) })
	return report, err
}

// tryDoubling judges a mended kernel of 02.5: out[i] = 2·in[i], launched with far fewer threads than elements.
func tryDoubling(f *gpu.Function) (right bool, headline, why string) {
	const n = 100_003
	dev := f.Module().Device()
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i%1000) - 500.5
	}
	in, out := dev.From(values), dev.Full(gpu.F32, math.NaN(), n)
	defer in.Free()
	defer out.Free()
	report, err := launched(f, gpu.Config{Grid: gpu.Dim(32), CTA: gpu.Dim(128)}, out, in, n)
	if err != nil {
		return false, "Not yet: the launch stops.", err.Error()
	}
	got := out.Float32s()
	for i, v := range values {
		if !(got[i] == 2*v) {
			why = "Every element must be written once: count which thread takes which."
			if got[i] != got[i] {
				why = fmt.Sprintf("It was never written: with 4096 threads and %d elements each thread takes several, as far as the last.", n)
			}
			return false, fmt.Sprintf("Not yet: element %d is %g, not %g.", i, got[i], 2*v), why
		}
	}
	c := report.Launches[0].Counts
	perRequest := func(a perf.Access) float64 { return float64(a.Sectors) / float64(max(a.Requests, 1)) }
	for _, a := range []struct {
		what   string
		access perf.Access
	}{{"loads", c.GlobalLoad}, {"stores", c.GlobalStore}} {
		if float64(a.access.Sectors) > 1.15*float64(a.access.IdealSectors) {
			return false, fmt.Sprintf("Right results, but the %s touch %.3g sectors a request where %.3g would do.", a.what, perRequest(a.access),
					float64(a.access.IdealSectors)/float64(max(a.access.Requests, 1))),
				"Neighbouring lanes should stand on neighbouring elements: let thread t begin at element t, and step by the number of all threads."
		}
	}
	return true, fmt.Sprintf("Right: %.3g sectors a request.", perRequest(c.GlobalLoad)),
		"Neighbouring lanes stand on neighbouring elements, so each sector comes once and is used whole."
}
