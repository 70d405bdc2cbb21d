package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestSanitize runs the cases of every kernel, ragged sizes among them, under the sanitizer: it finds nothing, and results
// and counters are right as without it.
func TestSanitize(t *testing.T) {
	for _, name := range []string{"virtual:h200", "virtual:t4"} {
		dev := open(t, name)
		for _, k := range registry {
			if _, cannot := k.targetFor(dev); cannot != nil {
				continue
			}
			t.Run(name+"/"+k.name, func(t *testing.T) {
				for i, trial := range k.cases {
					if testing.Short() && i > 2 {
						break
					}
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
