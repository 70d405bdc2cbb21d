package kernels

import (
	"slices"
	"testing"

	"memwall/gpu"
)

// TestSanitize runs two cases of every kernel under the sanitizer, the largest of moderate size, ragged ones before others;
// as PTX for sm_75 one. It finds nothing, and results and counters are right as without it.
func TestSanitize(t *testing.T) {
	for _, device := range []struct {
		name  string
		cases int
	}{{"virtual:h200", 2}, {"virtual:t4", 1}} {
		dev := open(t, device.name)
		for _, k := range registry {
			if _, cannot := k.targetFor(dev); cannot != nil {
				continue
			}
			t.Run(device.name+"/"+k.name, func(t *testing.T) {
				for _, trial := range moderate(k.cases, device.cases) {
					var result CaseResult
					var err error
					found := gpu.Sanitize(func() { result, err = k.checkCase(dev, trial, 1) })
					if err != nil || len(result.Wrong) > 0 {
						t.Errorf("%s: %v %q", trial, err, result.Wrong)
					}
					if !found.Clean() || found.Launches == 0 {
						t.Errorf("%s: %s", trial, found)
					}
				}
			})
		}
	}
}

// moderate gives n of the cases.
func moderate(cases []trial, n int) []trial {
	work := func(t trial) int {
		product, ragged := t.work(), 0
		for _, extent := range t.dims {
			if extent%8 != 0 {
				ragged = 1
			}
		}
		if product > sanitizedWork {
			return -product
		}
		return product + ragged*sanitizedWork
	}
	list := slices.Clone(cases)
	slices.SortStableFunc(list, func(a, b trial) int { return work(b) - work(a) })
	return list[:min(n, len(list))]
}
