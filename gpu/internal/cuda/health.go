//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Health is how a GPU does: what NVML says of it.
type Health struct {
	SMClockHz, MemoryClockHz float64
	Watts                    float64
	Celsius                  float64
	Throttled                []string // why its clock is held down
	Missing                  string   // why nothing is known
}

// String is "SM 1980 MHz, 612 W, 54 °C", and why the clock is held down.
func (h Health) String() string {
	if h.Missing != "" {
		return "clocks unknown: " + h.Missing
	}
	s := fmt.Sprintf("SM %.0f MHz, memory %.0f MHz, %.0f W, %.0f °C", h.SMClockHz/1e6, h.MemoryClockHz/1e6, h.Watts, h.Celsius)
	for i, why := range h.Throttled {
		if i == 0 {
			s += ", held down by "
		} else {
			s += ", "
		}
		s += why
	}
	return s
}

// managed is NVML, opened once; why says why there is none.
var managed = sync.OnceValues(func() (api nvml.Interface, why string) {
	api = nvml.New()
	if r := api.Init(); r != nvml.SUCCESS {
		return nil, "NVML: " + nvml.ErrorString(r)
	}
	return api, ""
})

// throttling are the reasons that a user can do something about.
var throttling = []struct {
	bit  uint64
	text string
}{
	{0x4, "the power cap"}, {0x8, "a hardware slowdown"}, {0x20, "the software's thermal limit"}, {0x40, "the hardware's thermal limit"}, {0x80, "the power brake"},
	{0x2, "the applications' clock setting"},
}

// health of the device; the virtual GPU has none.
func (d *Device) health() Health {
	if d.virtual {
		return Health{Missing: "the GPU is virtual"}
	}
	api, why := managed()
	if why != "" {
		return Health{Missing: why}
	}
	return healthOf(api, d.uuid)
}

// handleOf finds the GPU that the driver knows by a UUID. NVML counts GPUs otherwise than a driver under CUDA_VISIBLE_DEVICES or
// CUDA_DEVICE_ORDER does, so a number would name another one. A MIG slice has the clocks of its GPU.
func handleOf(api nvml.Interface, uuid string) (nvml.Device, nvml.Return) {
	g, r := api.DeviceGetHandleByUUID("GPU-" + uuid)
	if r != nvml.ERROR_NOT_FOUND {
		return g, r
	}
	slice, r := api.DeviceGetHandleByUUID("MIG-" + uuid)
	if r != nvml.SUCCESS {
		return nil, r
	}
	return slice.GetDeviceHandleFromMigDeviceHandle()
}

// healthOf asks NVML about the GPU with a UUID.
func healthOf(api nvml.Interface, uuid string) Health {
	g, r := handleOf(api, uuid)
	if r != nvml.SUCCESS {
		return Health{Missing: "NVML: " + nvml.ErrorString(r)}
	}
	var h Health
	if v, r := g.GetClockInfo(nvml.CLOCK_SM); r == nvml.SUCCESS {
		h.SMClockHz = float64(v) * 1e6
	}
	if v, r := g.GetClockInfo(nvml.CLOCK_MEM); r == nvml.SUCCESS {
		h.MemoryClockHz = float64(v) * 1e6
	}
	if v, r := g.GetPowerUsage(); r == nvml.SUCCESS {
		h.Watts = float64(v) / 1e3
	}
	if v, r := g.GetTemperature(nvml.TEMPERATURE_GPU); r == nvml.SUCCESS {
		h.Celsius = float64(v)
	}
	if bits, r := g.GetCurrentClocksThrottleReasons(); r == nvml.SUCCESS {
		for _, t := range throttling {
			if bits&t.bit != 0 {
				h.Throttled = append(h.Throttled, t.text)
			}
		}
	}
	return h
}
