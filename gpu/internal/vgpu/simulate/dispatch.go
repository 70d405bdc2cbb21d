package simulate

import "container/heap"

// Dispatch is how a grid's CTAs are spread over the SMs: at first one to each SM in turn until all slots are taken, then the next to
// the slot that is free first. A CTA holds its slot for as long as its work; work counts instructions.
type Dispatch struct {
	CTAs     []int   // of the SM with the most to do, in the order in which they start there
	Busiest  float64 // work of that SM
	Makespan float64 // work of the slot that ends last
}

// Dispatched spreads CTAs of the work given over so many SMs with resident slots each.
func Dispatched(work []float64, sms, resident int) Dispatch {
	sms, resident = max(sms, 1), max(resident, 1)
	free := make(slots, min(sms*resident, len(work)))
	for i := range free {
		free[i].number = i
	}
	sums, at := make([]float64, sms), make([]int, len(work))
	var d Dispatch
	for i, w := range work {
		s := &free[0]
		at[i] = s.number % sms
		sums[at[i]] += w
		s.time += w
		d.Makespan = max(d.Makespan, s.time)
		heap.Fix(&free, 0)
	}
	busiest := 0
	for i, w := range sums {
		if w > sums[busiest] {
			busiest = i
		}
	}
	for i := range at {
		if at[i] == busiest {
			d.CTAs = append(d.CTAs, i)
		}
	}
	d.Busiest = sums[busiest]
	return d
}

// slot is room for one CTA: number modulo the SMs is the SM.
type slot struct {
	time   float64
	number int
}

// slots are a heap: the one that is free first, then the lowest number.
type slots []slot

func (s slots) Len() int      { return len(s) }
func (s slots) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s slots) Push(any)      { panic("slots are fixed") }
func (s slots) Pop() any      { panic("slots are fixed") }
func (s slots) Less(i, j int) bool {
	return s[i].time < s[j].time || s[i].time == s[j].time && s[i].number < s[j].number
}
