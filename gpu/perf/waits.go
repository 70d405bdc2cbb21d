package perf

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Wait is what the schedulers of a simulated SM wait for when none of their warps can go on.
type Wait uint8

const (
	WaitMemory     Wait = iota // data from global or local memory
	WaitShared                 // data from shared memory, of other lanes, or constants
	WaitArithmetic             // results of arithmetic, and branches
	WaitTensor                 // results of the tensor cores
	WaitCopies                 // asynchronous copies
	WaitBarrier                // other warps
	WaitAtomics                // old values from atomics
	WaitPipe                   // a pipe that is busy
	WaitStart                  // CTAs that begin and end
	NumWaits
)

// waits are how cards say it, and what would help.
var waits = [NumWaits]struct{ what, help string }{
	WaitMemory:     {"data from memory", "keep more bytes under way, with wider loads, several before the first use, or more warps"},
	WaitShared:     {"data from shared memory", "load several values before the first use, or have more warps on an SM"},
	WaitArithmetic: {"results of arithmetic", "an instruction waits for the one before it: several independent sums a thread, or more warps"},
	WaitTensor:     {"results of the tensor cores", "an mma waits for the one before it: more independent accumulators a warp, or more warps"},
	WaitCopies:     {"asynchronous copies", "begin copies earlier: more stages under way before the first is waited for"},
	WaitBarrier:    {"other warps at barriers", "fewer barriers, or several CTAs an SM, so that one works while another waits"},
	WaitAtomics:    {"what atomics give back", "add up inside the warp or the CTA first, and use an atomic whose old value nobody reads"},
	WaitPipe:       {"a busy pipe", "spread the work evenly in time"},
	WaitStart:      {"CTAs to begin and end", "let each CTA do more, in a loop over the grid"},
}

// String says what is waited for.
func (w Wait) String() string {
	if w < NumWaits {
		return waits[w].what
	}
	return "nothing known"
}

// Longest is what the schedulers wait for most, and their share of cycles.
func (s *Simulation) Longest() (w Wait, share float64) {
	if !s.Done() {
		return 0, 0
	}
	for i := range s.Waits {
		if s.Waits[i] > share {
			w, share = Wait(i), s.Waits[i]
		}
	}
	return w, share
}

// Waits lists what the schedulers of a simulated launch wait for, the n most: "data from memory 61%, other warps at barriers 9%";
// "" where it was not simulated.
func (l *Launch) Waits(n int) string {
	if !l.Simulated.Done() {
		return ""
	}
	order := make([]Wait, NumWaits)
	for i := range order {
		order[i] = Wait(i)
	}
	shares := &l.Simulated.Waits
	sort.SliceStable(order, func(i, j int) bool { return shares[order[i]] > shares[order[j]] })
	var parts []string
	for _, w := range order[:min(n, len(order))] {
		if shares[w] >= 0.01 {
			parts = append(parts, w.String()+" "+WholePercent(100*shares[w]))
		}
	}
	return strings.Join(parts, ", ")
}

// explains is the share of a predicted time that a bound and the launch take together where the bound explains it.
const explains = 0.5

// Hottest's cycles: L2 works so long for a request of one warp to one line and for each of its lanes (two published histograms,
// 4.3 and 12.3 ms for 2^24 values on an H100); a compare-and-swap has to come back before the next of its address can succeed.
const (
	atomicPacket = 10
	atomicLane   = 1
)

// Cycles is how long L2 works for it.
func (h Hottest) Cycles(p *Profile) float64 {
	return math.Max(atomicPacket*float64(h.Packets)+atomicLane*float64(h.Updates), float64(h.Compares)*p.L2Latency)
}

// contention is the seconds, at the clock of the model, that the atomics of the whole grid want of one line or address.
func (l *Launch) contention(p *Profile, s scaling) (seconds float64, source string) {
	h := &l.Counts.Hottest
	seconds = h.Cycles(p) / p.ModelHz
	if h.Shared {
		seconds *= s.factor
	}
	if l.Simulated.Done() {
		seconds = l.Simulated.Contention
	}
	if float64(h.Compares)*p.L2Latency > atomicPacket*float64(h.Packets)+atomicLane*float64(h.Updates) {
		return seconds, fmt.Sprintf("%s compare-and-swaps of one address, each after a way to L2 and back", FormatCount(float64(h.Compares)))
	}
	return seconds, fmt.Sprintf("%s updates of one line in %s requests, one request after another", FormatCount(float64(h.Updates)), FormatCount(float64(h.Packets)))
}
