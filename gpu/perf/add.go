package perf

import (
	"cmp"
	"slices"
)

// Add adds another count field by field.
func (a *Access) Add(b Access) {
	a.Requests += b.Requests
	a.Lanes += b.Lanes
	a.Bytes += b.Bytes
	a.Sectors += b.Sectors
	a.IdealSectors += b.IdealSectors
	a.Lines += b.Lines
}

// Add adds another count field by field.
func (a *SharedAccess) Add(b SharedAccess) {
	a.Requests += b.Requests
	a.Lanes += b.Lanes
	a.Bytes += b.Bytes
	a.Wavefronts += b.Wavefronts
	a.IdealWavefronts += b.IdealWavefronts
}

// Add adds another count field by field.
func (a *Contention) Add(b Contention) {
	a.Requests += b.Requests
	a.Addresses += b.Addresses
	a.Passes += b.Passes
}

// Add keeps the more of each: launches come one after another, and so their updates do not wait for each other.
func (a *Hottest) Add(b Hottest) {
	if b.Packets+b.Updates > a.Packets+a.Updates {
		a.Packets, a.Updates, a.Shared = b.Packets, b.Updates, b.Shared
	}
	a.Compares = max(a.Compares, b.Compares)
}

// Add adds another count field by field. Distinct sectors add up only where launches touch different memory, so the sum is
// an upper bound of the distinct sectors of both.
func (a *CacheCounts) Add(b CacheCounts) {
	a.L1Lookups += b.L1Lookups
	a.L1Hits += b.L1Hits
	a.L2Lookups += b.L2Lookups
	a.L2Hits += b.L2Hits
	a.DRAMReadSectors += b.DRAMReadSectors
	a.DRAMWriteSectors += b.DRAMWriteSectors
	a.DistinctRead += b.DistinctRead
	a.DistinctWritten += b.DistinctWritten
}

// Add adds the counts of another launch field by field; LoadRounds, a longest chain, and Hottest keep the larger.
func (a *Counts) Add(b *Counts) {
	a.CTAs += b.CTAs
	a.Warps += b.Warps
	a.WarpInstructions += b.WarpInstructions
	a.ThreadInstructions += b.ThreadInstructions
	for i := range a.Instructions {
		a.Instructions[i] += b.Instructions[i]
	}
	for i := range a.FLOPs {
		a.FLOPs[i] += b.FLOPs[i]
	}
	a.GlobalLoad.Add(b.GlobalLoad)
	a.GlobalStore.Add(b.GlobalStore)
	a.GlobalAtomic.Add(b.GlobalAtomic)
	a.LocalLoad.Add(b.LocalLoad)
	a.LocalStore.Add(b.LocalStore)
	a.SharedLoad.Add(b.SharedLoad)
	a.SharedStore.Add(b.SharedStore)
	a.SharedAtomic.Add(b.SharedAtomic)
	a.GlobalContention.Add(b.GlobalContention)
	a.SharedContention.Add(b.SharedContention)
	a.Hottest.Add(b.Hottest)
	a.Barriers += b.Barriers
	a.Waits += b.Waits
	a.Branches += b.Branches
	a.DivergentBranches += b.DivergentBranches
	a.LoadRounds = max(a.LoadRounds, b.LoadRounds)
	a.Cache.Add(b.Cache)
}

var classNames = [NumClasses]string{
	"FP32", "FP16", "FP64", "integer", "special function", "convert", "move", "tensor", "global memory", "shared memory",
	"local memory", "asynchronous copy", "warp exchange", "barrier", "control",
}

// String names the class as cards do.
func (c Class) String() string {
	if c < NumClasses {
		return classNames[c]
	}
	return "unknown class"
}

var flopNames = [NumFLOPTypes]string{"FP32", "FP16", "FP64", "tensor", "special function"}

// String names the type as cards do.
func (t FLOPType) String() string {
	if t < NumFLOPTypes {
		return flopNames[t]
	}
	return "unknown type"
}

// Add adds what another instruction of the same line did; the line's place, text and class stay.
func (a *LineCounts) Add(b *LineCounts) {
	a.WarpInstructions += b.WarpInstructions
	a.ThreadInstructions += b.ThreadInstructions
	for i := range a.FLOPs {
		a.FLOPs[i] += b.FLOPs[i]
	}
	a.Global.Add(b.Global)
	a.Local.Add(b.Local)
	a.Shared.Add(b.Shared)
	a.Contention.Add(b.Contention)
	a.Branches += b.Branches
	a.DivergentBranches += b.DivergentBranches
}

// SourceLines sums the counts of PTX lines by the line of the source that they come from, in the order of file and line; PTX
// without a source line is left out. Text is that of the first PTX instruction, PTXLine where it stands.
func SourceLines(lines []LineCounts) []LineCounts {
	type place struct {
		file string
		line int
	}
	at := map[place]int{}
	var sums []LineCounts
	for i := range lines {
		l := &lines[i]
		if l.SourceLine == 0 {
			continue
		}
		p := place{l.File, l.SourceLine}
		k, seen := at[p]
		if !seen {
			at[p] = len(sums)
			sums = append(sums, *l)
			continue
		}
		sums[k].Add(l)
	}
	slices.SortStableFunc(sums, func(a, b LineCounts) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.SourceLine, b.SourceLine))
	})
	return sums
}
