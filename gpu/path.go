package gpu

import (
	"fmt"
	"strings"
	"time"

	"memwall/gpu/card"
	"memwall/gpu/perf"
)

// Path runs f and shows its way through the layers with the time of each: Go code of the cell, this package's checks, the
// launch, the CUDA kernel. Times of the host are MEASURED. On a virtual device the CUDA kernel's time is the prediction, and
// the time of the simulation, which a real GPU would not need, is left out of the whole.
func Path(f func()) *View {
	start := time.Now()
	r := measure("Path", &frame{}, f)
	whole := time.Since(start)
	var sum layers
	kernel := 0.0
	high, low := 0.0, 0.0
	names := []string{}
	for i, rec := range r.records {
		sum.check += rec.layers.check
		sum.device += rec.layers.device
		sum.evaluate += rec.layers.evaluate
		l := rec.launch
		kernel += known(l.Duration)
		low, high = low+l.Duration.Low, high+l.Duration.High
		if i == 0 || l.Kernel != r.records[i-1].launch.Kernel {
			names = append(names, l.Kernel)
		}
	}
	first := r.Launches[0]
	tag := first.Duration.Tag
	measured := func(d time.Duration) perf.Figure {
		return perf.Figure{Value: d.Seconds(), Unit: "s", Tag: perf.Measured, Source: "host clock"}
	}
	own := max(whole-sum.check-sum.device-sum.evaluate, 0)
	total := own.Seconds() + sum.check.Seconds() + sum.evaluate.Seconds() + kernel
	note := fmt.Sprintf("%s of %s", plural(len(r.Launches), "launch", "launches"), strings.Join(names, ", "))
	if first.Virtual {
		note += fmt.Sprintf("; simulated in %s", perf.Format(sum.device.Seconds(), "s"))
	}
	at := 0.0
	rows := []card.PathRow{{Layer: "cell", Note: "all layers, without the simulation", Seconds: perf.Figure{Value: total, Unit: "s", Tag: tag}}}
	add := func(depth int, layer, note string, seconds perf.Figure, gpu bool) {
		rows = append(rows, card.PathRow{Depth: depth, Layer: layer, Note: note, Start: at, Seconds: seconds, GPU: gpu})
		at += seconds.Value
	}
	add(1, "Go", "the function's own code", measured(own), false)
	add(1, "gpu", "check and pack arguments", measured(sum.check), false)
	add(2, "CUDA kernel", note, perf.Figure{Value: kernel, Low: low, High: high, Unit: "s", Tag: tag}, true)
	add(1, "perf", "counters to figures", measured(sum.evaluate), false)
	return &View{card: card.Path(strings.Join(names, ", "), first.Device, rows), reports: []*Report{r}}
}
