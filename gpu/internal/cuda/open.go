//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"gorgonia.org/cu"

	"memwall/gpu/internal/cuda/shim"
	"memwall/gpu/internal/vdrv"
	"memwall/gpu/perf"
)

// opened is the driver of this process, opened once.
var opened = sync.OnceValues(func() (virtual bool, err error) {
	name, model, _ := strings.Cut(os.Getenv(environmentLibrary), ":")
	if virtual = name == "virtual"; virtual {
		if model == "" {
			model = perf.DefaultProfile
		}
		profile, err := perf.ProfileByName(model)
		if err != nil {
			return true, &NoDriver{fmt.Sprintf("no NVIDIA driver: $%s: there is no virtual GPU %q", environmentLibrary, model), "the devices are " + strings.Join(perf.ProfileNames(), ", ")}
		}
		vdrv.Configure(vdrv.Options{Profile: profile, Count: true, Simulate: true})
		shim.Use(vdrv.Lookup())
	}
	o := shim.Open()
	out := opening{loaded: o.Stage != shim.NotLoaded, path: o.Path, detail: o.Detail, code: Result(o.Code)}
	if o.Stage == shim.NoSymbol {
		out.symbol = o.Detail
	}
	return virtual, explain(out, lookAround())
})

// Available is nil where Open can open a GPU, or says why it cannot.
func Available() error {
	if _, err := opened(); err != nil {
		return err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return explain(opening{loaded: true, code: resultOf(err)}, lookAround())
	}
	if n == 0 {
		return explain(opening{loaded: true, code: noDevice}, lookAround())
	}
	return nil
}

// Count is how many GPUs there are to open; 0 where Available gives an error.
func Count() int {
	if Available() != nil {
		return 0
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0
	}
	return n
}

// DriverVersion is the CUDA version that the driver is of: 12040 for 12.4.
func DriverVersion() int { return cu.Version() }
