package gpu

import (
	"encoding/json"
	"fmt"
	"time"

	"memwall/gpu/card"
	"memwall/gpu/perf"
)

// Report is what some launches cost.
type Report struct {
	Launches []*perf.Launch // in the order in which they ended
	records  []*record
}

func newReport(all []*record) *Report {
	r := &Report{records: all}
	for _, rec := range all {
		r.Launches = append(r.Launches, rec.launch)
	}
	return r
}

// Measure runs f and reports what it launched. It panics with an *Error when a launch failed, also when f ignored it, and
// when there was none.
func Measure(f func()) *Report { return measure("Measure", &frame{}, f) }

// Sample runs f with only every k-th CTA of each launch executed: counts are scaled by k and labelled so, and reading what
// such a launch wrote is an error. Large regular grids are so measured in a fraction of the time.
func Sample(k int, f func()) *Report {
	if k < 1 {
		panic(fail("k = 1 runs every CTA", "Sample(%d, …): k is at least 1", k))
	}
	return measure("Sample", &frame{sample: k}, f)
}

// SampleFor is Sample with k chosen launch by launch, a power of two, so that each takes about as long as the budget on this
// computer; a launch that fits runs whole. Which k that is depends on the computer, and the card says it.
func SampleFor(budget time.Duration, f func()) *Report {
	if budget <= 0 {
		panic(fail("give a time, such as 2*time.Second", "SampleFor(%v, …): the budget is not positive", budget))
	}
	return measure("SampleFor", &frame{sampleTime: budget}, f)
}

// Warm runs f with the L2 cache kept from launch to launch; otherwise each launch starts with a cold one.
func Warm(f func()) *Report { return measure("Warm", &frame{warm: true}, f) }

func measure(name string, fr *frame, f func()) *Report {
	if f == nil {
		panic(fail("pass a function: func() { kernels.Run(…) }", "%s: the function is nil", name))
	}
	fr.repeat = true
	all, err := records.within(fr, f)
	if err != nil {
		panic(err)
	}
	if len(all) == 0 {
		panic(fail("call f.Launch or kernels.Run inside the function", "%s: the function launched nothing", name))
	}
	r := newReport(all)
	records.mu.Lock()
	if !records.inCell {
		records.last = r
	}
	records.mu.Unlock()
	return r
}

// Total adds up the launches.
func (r *Report) Total() *perf.Total {
	if r == nil {
		panic(fail("measure first: r := gpu.Measure(func() { … })", "the report is nil"))
	}
	return perf.Aggregate(r.Launches, perf.Figure{})
}

// Intensity is FLOPs ÷ DRAM bytes over all launches, in FLOP/B; NaN where the device cannot count them.
func (r *Report) Intensity() float64 { return known(r.Total().Intensity) }

// Seconds is the time of all launches together, MODELLED on a virtual device and MEASURED on a real one.
func (r *Report) Seconds() float64 { return known(r.Total().Duration) }

// Duration is Seconds with its range and tag.
func (r *Report) Duration() perf.Figure { return r.Total().Duration }

// DRAMBytes is the traffic of all launches together.
func (r *Report) DRAMBytes() perf.Figure { return r.Total().DRAMBytes }

// FLOPs is the work of all launches together.
func (r *Report) FLOPs() perf.Figure { return r.Total().FLOPs }

// Verdict is the headline of the card: "Memory-bound: DRAM allows 7.00 µs at best".
func (r *Report) Verdict() string {
	return r.Total().Verdict().String()
}

// Card is the report as a card: that of the launch, or the sum of several.
func (r *Report) Card() card.Card {
	if r == nil {
		return card.Card{Text: "no report"}
	}
	return card.Cell(r.Launches)
}

// MIMEBundle shows the card.
func (r *Report) MIMEBundle() map[string]any {
	r.markShown()
	return r.Card().MIMEBundle()
}

// String is the text of the card.
func (r *Report) String() string { return r.Card().Text }

// JSON is the launches with every figure, for other programs.
func (r *Report) JSON() string {
	text, err := json.MarshalIndent(r.Launches, "", "  ")
	if err != nil {
		panic(&Error{What: "JSON: " + err.Error(), Cause: err})
	}
	return string(text)
}

func (r *Report) markShown() {
	if r == nil {
		return
	}
	for _, rec := range r.records {
		rec.shown = true
	}
}

// known is a figure's value, NaN where it has none.
func known(f perf.Figure) float64 {
	if !f.Known() {
		return nan
	}
	return f.Value
}

// View is something put together from reports, ready to be shown.
type View struct {
	card    card.Card
	reports []*Report
}

// MIMEBundle shows the view; its launches get no card of their own then.
func (v *View) MIMEBundle() map[string]any {
	for _, r := range v.reports {
		r.markShown()
	}
	return v.card.MIMEBundle()
}

// String is the view as text.
func (v *View) String() string { return v.card.Text }

// Roofline shows the launches of several reports on one roofline, with the ridges of the device.
func Roofline(reports ...*Report) *View {
	var launches []*perf.Launch
	for i, r := range reports {
		if r == nil {
			panic(fail("measure it first", "Roofline: report %d is nil", i+1))
		}
		for _, l := range r.Launches {
			if len(launches) > 0 && l.Device != launches[0].Device {
				panic(fail("draw one roofline a device", "Roofline: launches of %s and %s have different roofs", launches[0].Device, l.Device))
			}
			launches = append(launches, l)
		}
	}
	if len(launches) == 0 {
		panic(fail("give it reports: gpu.Roofline(gpu.Measure(…))", "Roofline: there is no launch to draw"))
	}
	return &View{card: card.Roofline(launches), reports: reports}
}

// SideBySide shows the cards of several reports next to each other.
func SideBySide(reports ...*Report) *View {
	cards := make([]card.Card, 0, len(reports))
	for i, r := range reports {
		if r == nil {
			panic(fail("measure it first", "SideBySide: report %d is nil", i+1))
		}
		cards = append(cards, r.Card())
	}
	if len(cards) == 0 {
		panic(fail("give it reports: gpu.SideBySide(a, b)", "SideBySide: there is nothing to show"))
	}
	return &View{card: card.SideBySide(cards...), reports: reports}
}

// cellCard is the card of launches that nothing else has shown, or nil.
func cellCard(all []*record) Card {
	if len(all) == 0 {
		return nil
	}
	return card.Cell(newReport(all).Launches)
}

// failureCard shows a launch that failed, so many times: a fault as its card; another error as its text, unless that is seen
// already.
func failureCard(err error, times int, seen bool) Card {
	e := asError(err)
	switch {
	case e != nil && e.Fault != nil && e.Fault.Kind != interrupted:
		return e.card()
	case seen || e != nil && e.isInterrupt():
		return nil
	case times > 1:
		return card.Card{Text: fmt.Sprintf("launch failed %s: %v", plural(times, "time", "times"), err)}
	}
	return card.Card{Text: fmt.Sprintf("launch failed: %v", err)}
}
