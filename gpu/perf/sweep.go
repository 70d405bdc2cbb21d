package perf

import "math"

// Sweep is the outcome of running a cell's work once for each value of a parameter: the input of a sweep card.
type Sweep struct {
	Parameter string // "batch"
	Item      string // what one unit of the parameter stands for ("token"): rows are then compared by time per item; "" compares by time
	Note      string // shown after the device: "weights 14336×4096 f16, 117 MB"
	Rows      []SweepRow
}

// SweepRow is one value of the parameter.
type SweepRow struct {
	Label    string // "64", "128×64"
	Value    float64
	Launches []*Launch
	Correct  string // "yes", "no: NMSE 0.3", "" where nothing was checked
	Failed   string // why the row has no launches
}

// itemOf names what one unit of a usual sweep parameter stands for.
var itemOf = map[string]string{"batch": "token", "tokens": "token", "M": "token", "sequences": "sequence", "rows": "row"}

// ItemOf is the item of a parameter that counts independent work (batch → token), or empty.
func ItemOf(parameter string) string { return itemOf[parameter] }

// Total adds up the launches of a row; nil where it failed.
func (r *SweepRow) Total() *Total {
	if r.Failed != "" || len(r.Launches) == 0 {
		return nil
	}
	return Aggregate(r.Launches, Figure{})
}

// Cost is what rows are compared by: seconds, or seconds an item. Known is false where the row failed.
func (s *Sweep) Cost(r *SweepRow) (seconds float64, known bool) {
	t := r.Total()
	if t == nil || !t.Duration.Known() {
		return math.NaN(), false
	}
	if s.Item != "" {
		if !(r.Value > 0) {
			return math.NaN(), false
		}
		return t.Duration.Value / r.Value, true
	}
	return t.Duration.Value, true
}

// Best is the index of the cheapest row, the first of equals, or −1 where every row failed.
func (s *Sweep) Best() int {
	best, at := math.Inf(1), -1
	for i := range s.Rows {
		if c, ok := s.Cost(&s.Rows[i]); ok && c < best {
			best, at = c, i
		}
	}
	return at
}
