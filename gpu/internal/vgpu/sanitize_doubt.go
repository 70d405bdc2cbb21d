package vgpu

import "memwall/gpu/internal/driver"

// doubts are reads of memory that nothing had written yet. Where the write comes later and without an order it is the race
// that is wrong, and it is told as such: on another day the write comes first. So they wait until the CTA ends, those of
// device memory until the launch does.
type doubts struct {
	list   []doubt
	byWord map[uint64][]int // numbers in list, by address / 4
}

type doubt struct {
	finding *driver.Finding
	gone    bool
}

// suspect keeps a read until it is known whether a race explains it.
func (c *sanitizer) suspect(w *warp, id int32, lane uint, f *driver.Finding) {
	d := &w.cta.checked.doubts
	switch f.Space {
	case "local":
		c.report(w, id, lane, f, 1)
		return
	case "global":
		d = &c.doubts
	}
	if len(d.list) >= mostDoubts { // the launch is wrong all over: no need to be exact
		c.report(w, id, lane, f, 1)
		return
	}
	if d.byWord == nil {
		d.byWord = map[uint64][]int{}
	}
	f.First = c.partyAt(f.First.What, id, w.home.cta.index, w.id, lane, w.cta.dim)
	word := f.Address / 4
	d.byWord[word] = append(d.byWord[word], len(d.list))
	d.list = append(d.list, doubt{finding: f})
}

const mostDoubts = 1 << 16

// explain drops the doubts about a place that a race explains.
func (d *doubts) explain(at, bytes uint64) {
	if len(d.byWord) == 0 {
		return
	}
	for word := at / 4; word <= (at+bytes-1)/4; word++ {
		for _, i := range d.byWord[word] {
			d.list[i].gone = true
		}
		delete(d.byWord, word)
	}
}

// settle reports what is left.
func (d *doubts) settle(c *sanitizer) {
	for i := range d.list {
		if !d.list[i].gone {
			c.note(d.list[i].finding, 1)
		}
	}
	*d = doubts{}
}
