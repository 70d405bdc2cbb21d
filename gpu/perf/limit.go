package perf

import (
	"fmt"
	"math"
	"strings"
)

// busy is the share of the simulated cycles from which a pipe of an SM is named as what limits, whatever else waits.
const busy = neitherRoof

// nearlyAll is the share of the schedulers' work from which a pipe's is named in its place.
const nearlyAll = 0.8

// longWait is the share of the schedulers' cycles below which what they wait for most is only one wait of several.
const longWait = 1. / 3

// pipes are what each pipe has to do and what a headline calls it, arithmetic first: it is named before the issue slots that it takes.
func (m *MachineCycles) pipes() [8]struct {
	resource, name string
	cycles         float64
} {
	return [8]struct {
		resource, name string
		cycles         float64
	}{
		{ResourceTensor, "tensor cores", m.Tensor}, {ResourceFP64, "FP64 pipes", m.FP64}, {ResourceFP32, "FP32 pipes", m.FP32},
		{ResourceFP16, "FP16 pipes", m.FP16}, {ResourceSFU, "special function units", m.SFU}, {ResourceInteger, "integer pipes", m.Integer},
		{ResourceLSU, "load/store units", m.LSU}, {ResourceIssue, "schedulers", m.Issue},
	}
}

// busiestPipe is the pipe of the busiest SM that works for most of the simulated cycles, of those that have a bound, and its share
// of them; where a pipe works nearly as much as the schedulers, it is what they issue to.
func (l *Launch) busiestPipe(bounds []Bound) (resource, name string, share float64) {
	if !l.Simulated.Done() {
		return "", "", 0
	}
	for _, p := range l.Simulated.Machine.pipes() {
		s := min(p.cycles/l.Simulated.Cycles, 1)
		if p.resource == ResourceIssue && share >= nearlyAll*s || s <= share || secondsOf(bounds, p.resource) == 0 {
			continue
		}
		resource, name, share = p.resource, p.name, s
	}
	return resource, name, share
}

// unexplained tells whether the simulation takes so much longer than every bound that none of them explains it: then a pipe of few
// SMs limits the launch, or what its warps wait for.
func (l *Launch) unexplained(bounds []Bound, seconds float64) bool {
	if !l.Simulated.Done() {
		return false
	}
	for _, b := range bounds {
		if b.Resource != ResourceLatency && b.Resource != ResourceTail && max(l.besideLaunch(b), b.reached) >= explains*seconds {
			return false
		}
	}
	return true
}

// besideLaunch is the time of a launch that nothing but one bound limits.
func (l *Launch) besideLaunch(b Bound) float64 {
	if b.Resource == ResourceLaunch {
		return b.Seconds
	}
	return b.Seconds + l.Profile.LaunchSeconds
}

// limiting is what the verdict names once the time is known: the winner of the bounds, unless that is an overhead or a wait beside
// which something else takes more of the time.
func (l *Launch) limiting(m *model) string {
	top, _, _ := strings.Cut(m.winner, " and ")
	open := l.unexplained(m.bounds, m.seconds)
	launch := top == ResourceLaunch && l.Profile.LaunchSeconds < explains*m.seconds
	if !open && !launch && top != ResourceLatency && top != ResourceIssue {
		return m.winner
	}
	if pipe, _, share := l.busiestPipe(m.bounds); share >= busy {
		if pipe == top {
			return m.winner
		}
		return pipe
	}
	if launch {
		for _, b := range m.bounds { // largest first
			if b.Resource != ResourceLaunch && b.Resource != ResourceLatency && b.Resource != ResourceTail && max(b.Seconds, b.reached) >= explains*(m.seconds-l.Profile.LaunchSeconds) {
				return b.Resource
			}
		}
	}
	switch {
	case !open && !launch:
		return m.winner
	case secondsOf(m.bounds, ResourceLatency) > 0:
		return ResourceLatency
	case launch && m.slowest != "" && m.slowest != ResourceLaunch:
		return m.slowest
	}
	return m.winner
}

// Floor is the best time of the resource that limits, in seconds, on all SMs; 0 where it is an estimate, is no work, or says nothing
// of the predicted time.
func (l *Launch) Floor() float64 {
	top := l.Limit()
	if top.About || top.Resource == ResourceLaunch || top.Resource == ResourceGrid || l.fewSMs(top) {
		return 0
	}
	return top.Seconds
}

// fewSMs tells whether a pipe limits that is busy on the SMs that have work, though its bound, of all SMs, explains nothing, or is one
// of the few SMs that have work.
func (l *Launch) fewSMs(top Bound) bool {
	pipe, _, share := l.busiestPipe(l.Bounds)
	return l.Duration.Tag != Measured && pipe == top.Resource && share >= busy && (l.besideLaunch(top) < explains*l.Duration.Value || top.About && l.gridTooSmall())
}

// working names the SMs that work: "3 of 132 SMs", or the busiest where each has work.
func (l *Launch) working() string {
	if n := l.Shape.CTAs(); n < uint64(l.Profile.SMs) {
		return fmt.Sprintf("%d of %d SMs", n, l.Profile.SMs)
	}
	return "the busiest SM"
}

// limitHeadline says of a launch whose bounds do not explain its time what does: a pipe, or what is waited for; "" where they do.
func (l *Launch) limitHeadline(kind string, top Bound) (headline string, share float64) {
	if l.Duration.Tag == Measured || !l.Simulated.Done() {
		return "", 0
	}
	if top.Resource == ResourceLatency {
		wait, share := l.Simulated.Longest()
		if !(share > 0) {
			return "", 0
		}
		of := "the cycles"
		if l.Shape.CTAs() < uint64(l.Profile.SMs) {
			of += " of " + l.working()
		}
		if share < longWait {
			all := 0.0
			for _, s := range l.Simulated.Waits {
				all += s
			}
			return fmt.Sprintf("%s: %s of %s wait, %s for %s", kind, WholePercent(100*all), of, WholePercent(100*share), wait), all
		}
		return fmt.Sprintf("%s: %s of %s wait for %s", kind, WholePercent(100*share), of, wait), share
	}
	if !l.fewSMs(top) {
		return "", 0
	}
	_, name, share := l.busiestPipe(l.Bounds)
	return fmt.Sprintf("%s: the %s of %s work %s of the time", kind, name, l.working(), WholePercent(100*share)), share
}

// plural is one of two words.
func plural(n uint64, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// counted writes a count with its noun: "1 CTA", "64 CTAs".
func counted(n float64, noun string) string {
	if math.Abs(n-1) < 1e-9 {
		return "1 " + noun
	}
	return FormatCount(n) + " " + noun + "s"
}
