//go:build cuda && cgo && linux

package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
)

// card is a GPU as NVML would answer for it.
func card(clock uint32, reasons uint64) *mock.Device {
	return &mock.Device{
		GetClockInfoFunc: func(what nvml.ClockType) (uint32, nvml.Return) {
			if what == nvml.CLOCK_MEM {
				return 2619, nvml.SUCCESS
			}
			return clock, nvml.SUCCESS
		},
		GetPowerUsageFunc:                   func() (uint32, nvml.Return) { return 612400, nvml.SUCCESS },
		GetTemperatureFunc:                  func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 54, nvml.SUCCESS },
		GetCurrentClocksThrottleReasonsFunc: func() (uint64, nvml.Return) { return reasons, nvml.SUCCESS },
		GetMigModeFunc:                      func() (int, int, nvml.Return) { return 0, 0, nvml.ERROR_NOT_SUPPORTED },
	}
}

// NVML is asked for the GPU that the driver opened, by its UUID, whatever its number; a MIG slice has the clocks of its GPU.
func TestHealth(t *testing.T) {
	const first, second, slice = "8c1d0001-0000-0000-0000-000000000000", "8c1d0002-0000-0000-0000-000000000000", "8c1d0003-0000-0000-0000-000000000000"
	whole := card(1980, 0)
	known := map[string]nvml.Device{
		"GPU-" + first: whole, "GPU-" + second: card(1200, 0x4|0x40),
		"MIG-" + slice: &mock.Device{GetDeviceHandleFromMigDeviceHandleFunc: func() (nvml.Device, nvml.Return) { return whole, nvml.SUCCESS }},
	}
	api := &mock.Interface{DeviceGetHandleByUUIDFunc: func(uuid string) (nvml.Device, nvml.Return) {
		if g := known[uuid]; g != nil {
			return g, nvml.SUCCESS
		}
		return nil, nvml.ERROR_NOT_FOUND
	}}
	for uuid, want := range map[string]string{
		first:  "SM 1980 MHz, memory 2619 MHz, 612 W, 54 °C",
		second: "SM 1200 MHz, memory 2619 MHz, 612 W, 54 °C, held down by the power cap, the hardware's thermal limit",
		slice:  "SM 1980 MHz, memory 2619 MHz, 612 W, 54 °C",
	} {
		if got := healthOf(api, uuid).String(); got != want {
			t.Errorf("%s: %s, want %s", uuid, got, want)
		}
	}
	if h := healthOf(api, "none"); !strings.HasPrefix(h.String(), "clocks unknown: NVML: ") {
		t.Errorf("a GPU that is not there: %s", h)
	}
}

// Slices stand with UUID, multiprocessors and memory; empty places and whole GPUs are passed over.
func TestSlices(t *testing.T) {
	slice := func(uuid string, sms uint32, mib uint64) nvml.Device {
		return &mock.Device{
			GetUUIDFunc: func() (string, nvml.Return) { return uuid, nvml.SUCCESS },
			GetAttributesFunc: func() (nvml.DeviceAttributes, nvml.Return) {
				return nvml.DeviceAttributes{MultiprocessorCount: sms, MemorySizeMB: mib}, nvml.SUCCESS
			},
		}
	}
	places := []nvml.Device{slice("MIG-a", 14, 9728), nil, slice("MIG-b", 42, 40192)}
	cut := &mock.Device{
		GetMigModeFunc:           func() (int, int, nvml.Return) { return nvml.DEVICE_MIG_ENABLE, nvml.DEVICE_MIG_ENABLE, nvml.SUCCESS },
		GetMaxMigDeviceCountFunc: func() (int, nvml.Return) { return len(places), nvml.SUCCESS },
		GetMigDeviceHandleByIndexFunc: func(i int) (nvml.Device, nvml.Return) {
			if places[i] == nil {
				return nil, nvml.ERROR_NOT_FOUND
			}
			return places[i], nvml.SUCCESS
		},
	}
	gpus := []nvml.Device{card(1980, 0), cut}
	api := &mock.Interface{
		DeviceGetCountFunc:         func() (int, nvml.Return) { return len(gpus), nvml.SUCCESS },
		DeviceGetHandleByIndexFunc: func(i int) (nvml.Device, nvml.Return) { return gpus[i], nvml.SUCCESS },
	}
	got := slicesOf(api)
	if want := []string{"MIG-a of GPU 1: 14 SMs, 9728 MiB", "MIG-b of GPU 1: 42 SMs, 40192 MiB"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	const want = "no GPU cuda:1\nthere is one GPU, cuda:0\nMIG slices, one of which CUDA_VISIBLE_DEVICES chooses:\n" +
		"  MIG-a of GPU 1: 14 SMs, 9728 MiB\n  MIG-b of GPU 1: 42 SMs, 40192 MiB"
	if err := explainOrdinal(1, 1, surroundings{slices: got}); err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
