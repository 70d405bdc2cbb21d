package kernels

import (
	"fmt"
	"sort"

	"memwall/gpu/perf"
)

// Names of the counters that closed forms are given for.
const (
	flopsF32      = "f32 FLOPs"
	flopsTensor   = "tensor FLOPs"
	flopsSFU      = "SFU operations"
	loadRequests  = "global load requests"
	loadBytes     = "global load bytes"
	loadSectors   = "global load sectors"
	storeRequests = "global store requests"
	storeBytes    = "global store bytes"
	storeSectors  = "global store sectors"
	sharedLoads   = "shared load requests"
	sharedStores  = "shared store requests"
	conflicts     = "bank conflicts"
	barriers      = "barrier arrivals"
	distinctRead  = "distinct sectors read"
	distinctWrite = "distinct sectors written"
)

// readCounter takes each of them from a launch.
var readCounter = map[string]func(c *perf.Counts) uint64{
	flopsF32:      func(c *perf.Counts) uint64 { return c.FLOPs[perf.FLOPF32] },
	flopsTensor:   func(c *perf.Counts) uint64 { return c.FLOPs[perf.FLOPTensor] },
	flopsSFU:      func(c *perf.Counts) uint64 { return c.FLOPs[perf.FLOPSFU] },
	loadRequests:  func(c *perf.Counts) uint64 { return c.GlobalLoad.Requests },
	loadBytes:     func(c *perf.Counts) uint64 { return c.GlobalLoad.Bytes },
	loadSectors:   func(c *perf.Counts) uint64 { return c.GlobalLoad.Sectors },
	storeRequests: func(c *perf.Counts) uint64 { return c.GlobalStore.Requests },
	storeBytes:    func(c *perf.Counts) uint64 { return c.GlobalStore.Bytes },
	storeSectors:  func(c *perf.Counts) uint64 { return c.GlobalStore.Sectors },
	sharedLoads:   func(c *perf.Counts) uint64 { return c.SharedLoad.Requests },
	sharedStores:  func(c *perf.Counts) uint64 { return c.SharedStore.Requests },
	conflicts: func(c *perf.Counts) uint64 {
		return c.SharedLoad.Wavefronts - c.SharedLoad.IdealWavefronts + c.SharedStore.Wavefronts - c.SharedStore.IdealWavefronts
	},
	barriers:      func(c *perf.Counts) uint64 { return c.Barriers },
	distinctRead:  func(c *perf.Counts) uint64 { return c.Cache.DistinctRead },
	distinctWrite: func(c *perf.Counts) uint64 { return c.Cache.DistinctWritten },
}

// expected is every closed form of a launch: the kernel's own, and that each input and output is touched as a whole.
func (k *Kernel) expected(d dims) counters {
	all := counters{}
	for _, o := range k.operands {
		elements := 1.0
		for _, name := range o.shape {
			elements *= d.f(trimFold(name))
		}
		sectors := ceil(elements*float64(o.dtype.Bytes()), 32) // allocations start on a multiple of 256 B
		if o.output {
			all[distinctWrite] += sectors
		} else {
			all[distinctRead] += sectors
		}
	}
	if k.counts != nil {
		for name, n := range k.counts(d) {
			all[name] = n
		}
	}
	return all
}

// compare lists what differs between a launch and the closed forms.
func (c counters) compare(got *perf.Counts) []string {
	var wrong []string
	for name, want := range c {
		if have := readCounter[name](got); float64(have) != want {
			wrong = append(wrong, fmt.Sprintf("%s: %d executed, %.0f by formula", name, have, want))
		}
	}
	sort.Strings(wrong)
	return wrong
}

// ceil is ⌈a/b⌉ of whole numbers.
func ceil(a float64, b int) float64 {
	whole := int(a)
	return float64((whole + b - 1) / b)
}

func trimFold(name string) string {
	if name[0] == '*' {
		return name[1:]
	}
	return name
}
