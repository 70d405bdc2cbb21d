package kernels

import (
	"fmt"
	"maps"
	"math"
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

// expected is every closed form of a step: the row's own, and that its launches touch each input, output and workspace as a
// whole, a workspace written by the first that takes it and read by the others.
func (k *Kernel) expected(d dims, in map[string][]float64) counters {
	all := counters{distinctRead: 0, distinctWrite: 0}
	filled := map[string]bool{} // workspaces that a launch has written
	for _, p := range k.shares(d) {
		for _, m := range k.touched(&p.stage, d) {
			sectors := ceil(m.bytes(d), 32) // allocations start on a multiple of 256 B
			if m.workspace {
				m.read, m.written = filled[m.name], !filled[m.name]
				filled[m.name] = true
			}
			if m.read {
				all[distinctRead] += sectors
			}
			if m.written {
				all[distinctWrite] += sectors
			}
			if m.partial && m.read {
				all[distinctRead] = math.NaN()
			}
			if m.partial && m.written {
				all[distinctWrite] = math.NaN()
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, n float64) bool { return math.IsNaN(n) }) // what rows have to say themselves
	if k.counts != nil {
		maps.Copy(all, k.counts(d))
	}
	if k.countsIn != nil {
		maps.Copy(all, k.countsIn(d, in))
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
