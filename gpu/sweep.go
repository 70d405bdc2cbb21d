package gpu

import (
	"fmt"

	"memwall/gpu/card"
	"memwall/gpu/perf"
)

// SweepResult is a sweep: one row a value.
type SweepResult struct {
	Rows  []SweepRow
	sweep *perf.Sweep
}

// SweepRow is what one value of a sweep cost.
type SweepRow struct {
	Value  int
	Report *Report // nil where the row failed
	Failed string  // why, or empty
}

// Sweep calls f for each value and reports what it launched as a table and a plot, the best row marked. Sweeps over "batch",
// "tokens", "M", "rows" or "sequences" compare the time per item, others the time. A row whose launch fails is kept with its
// reason; an interrupt ends the sweep.
func Sweep(name string, values []int, f func(int)) *SweepResult {
	if len(values) == 0 {
		panic(fail("give the values to try: []int{1, 2, 4}", "Sweep(%q): there are no values", name))
	}
	if f == nil {
		panic(fail("pass a function: func(n int) { kernels.Run(…) }", "Sweep(%q): the function is nil", name))
	}
	s := &SweepResult{sweep: &perf.Sweep{Parameter: name, Item: perf.ItemOf(name)}}
	failed := 0
	for _, v := range values {
		row := SweepRow{Value: v}
		report, err := tryMeasure(func() { f(v) })
		if err != nil {
			if e := asError(err); e != nil && e.isInterrupt() {
				panic(e)
			}
			failed++
			row.Failed = firstLine(err.Error())
		}
		row.Report = report
		s.Rows = append(s.Rows, row)
		r := perf.SweepRow{Label: fmt.Sprint(v), Value: float64(v), Failed: row.Failed}
		if report != nil {
			r.Launches = report.Launches
		}
		s.sweep.Rows = append(s.sweep.Rows, r)
		if failed == len(values) {
			panic(&Error{What: fmt.Sprintf("Sweep(%q): every row failed", name), Where: fmt.Sprintf("%s = %d: %s", name, v, err), Cause: err})
		}
	}
	return s
}

// tryMeasure is Measure with the error returned, also when f panicked with it.
func tryMeasure(f func()) (r *Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(*Error)
			if !ok {
				panic(p)
			}
			r, err = nil, e
		}
	}()
	return Measure(f), nil
}

// Per compares rows by the time per item that the parameter counts: Sweep("B", …).Per("token"). An empty item compares by
// time alone.
func (s *SweepResult) Per(item string) *SweepResult {
	s.sweep.Item = item
	return s
}

// Note is shown beside the device: "weights 4096 × 4096 f16".
func (s *SweepResult) Note(text string) *SweepResult {
	s.sweep.Note = text
	return s
}

// Best is the row with the least time, per item where the sweep counts items; nil where every row failed.
func (s *SweepResult) Best() *SweepRow {
	if i := s.sweep.Best(); i >= 0 {
		return &s.Rows[i]
	}
	return nil
}

// Reports are those of the rows that did not fail.
func (s *SweepResult) Reports() []*Report {
	var out []*Report
	for _, r := range s.Rows {
		if r.Report != nil {
			out = append(out, r.Report)
		}
	}
	return out
}

// Roofline shows the sweep's launches on one roofline, each under its value.
func (s *SweepResult) Roofline() *View {
	var named []*Report
	for _, row := range s.Rows {
		if row.Report == nil {
			continue
		}
		r := &Report{records: row.Report.records}
		for _, l := range row.Report.Launches {
			labelled := *l
			labelled.Kernel = fmt.Sprintf("%s %d", s.sweep.Parameter, row.Value)
			labelled.Function = s.sweep.Parameter // rows are launches of a sweep, also where their size chooses the tile
			r.Launches = append(r.Launches, &labelled)
		}
		named = append(named, r)
	}
	return Roofline(named...)
}

// MIMEBundle shows plot and table.
func (s *SweepResult) MIMEBundle() map[string]any {
	for _, r := range s.Reports() {
		r.markShown()
	}
	return card.Sweep(s.sweep).MIMEBundle()
}

// String is the table as text.
func (s *SweepResult) String() string { return card.Sweep(s.sweep).Text }
