package vgpu

// Shadow memory: for every granule of device and shared memory that a sanitized launch touches, who wrote it last and who
// has read it since. A granule has 4 bytes, and 2 or 1 in pages where narrower accesses were made.

const (
	shadowPage = 4096 // bytes of memory that a page of shadow stands for
	// shadowCap bounds the shadow of device memory in bytes; a granule takes 48.
	shadowCap   = 1 << 30
	maxReaders  = 8          // of a granule of device memory that are remembered
	maxNear     = 48         // of a granule of shared memory
	pendingTime = ^uint32(0) // of a write that has not arrived: nobody knows it
	granuleCost = 48
)

// markKind says what an access was.
type markKind uint8

const (
	markAtomic   markKind = 1 << iota
	markVolatile          // volatile, relaxed, acquire or release
	markAsync             // by cp.async, a bulk copy or wgmma
	markGuess             // a read whose value a compare-and-swap of the same place confirms
	markNear              // of the scope of a CTA: no synchronisation with others
	markWrote             // a strong write, which stands among the readers: it does not hide the plain write before it
)

// mark is an access by lanes of one warp at one time; lanes is 0 where there was none.
type mark struct {
	cta   uint32
	time  uint32
	id    int32 // PTX instruction
	lanes uint32
	warp  uint16
	kind  markKind
}

// cell is the state of a granule. more is the number of the list that holds further readers, 0 for none.
type cell struct {
	write, read mark
	more        int32
	strong      bool // some of the readers are strong writes
}

// shadow is the shadow of one memory.
type shadow struct {
	pages map[uint64]*shadowLeaf
	last  *shadowLeaf
	at    uint64 // page of last
	lists [][]mark
	spare []int32
	bytes uint64
	limit uint64 // of bytes; 0: none
	full  bool   // the limit was met: some memory is not watched
	most  int    // readers of a granule, 0: all
}

// shadowLeaf is the shadow of a page: granules of 1<<shift bytes.
type shadowLeaf struct {
	shift uint
	cells []cell
}

func newShadow(limit uint64, most int) *shadow {
	return &shadow{pages: map[uint64]*shadowLeaf{}, lists: make([][]mark, 1), at: ^uint64(0), limit: limit, most: most}
}

// clear forgets everything, at the start of a CTA.
func (s *shadow) clear() {
	for _, p := range s.pages {
		clear(p.cells)
	}
	s.lists, s.spare = s.lists[:1], s.spare[:0]
}

// page gives the shadow of the page that holds an address, fine enough for an access of size bytes; nil when the shadow
// is full.
func (s *shadow) page(address, size uint64) *shadowLeaf {
	number := address / shadowPage
	p := s.last
	if number != s.at {
		p = s.pages[number]
		if p == nil {
			if s.limit > 0 && s.bytes+shadowPage/4*granuleCost > s.limit {
				s.full = true
				return nil
			}
			p = &shadowLeaf{shift: 2, cells: make([]cell, shadowPage/4)}
			s.pages[number] = p
			s.bytes += shadowPage / 4 * granuleCost
		}
		s.last, s.at = p, number
	}
	if size < 4 && size < 1<<p.shift {
		s.split(p, uint(size>>1))
	}
	return p
}

// split makes the granules of a page finer.
func (s *shadow) split(p *shadowLeaf, shift uint) {
	fine := make([]cell, shadowPage>>shift)
	for i := range fine {
		fine[i] = p.cells[i>>(p.shift-shift)]
		if n := fine[i].more; n > 0 {
			fine[i].more = s.list(s.lists[n])
		}
	}
	s.bytes += uint64(len(fine)-len(p.cells)) * granuleCost
	p.shift, p.cells = shift, fine
}

// list keeps a list of readers and gives its number.
func (s *shadow) list(of []mark) int32 {
	if n := len(s.spare); n > 0 {
		k := s.spare[n-1]
		s.spare = s.spare[:n-1]
		s.lists[k] = append(s.lists[k][:0], of...)
		return k
	}
	s.lists = append(s.lists, append(make([]mark, 0, len(of)+2), of...))
	return int32(len(s.lists) - 1)
}

// forget drops the readers of a granule.
func (s *shadow) forget(c *cell) {
	c.read.lanes, c.strong = 0, false
	if c.more > 0 {
		s.spare = append(s.spare, c.more)
		c.more = 0
	}
}

// renew forgets what was done with [low, high): malloc gives it to a thread, and whoever had it before has freed it.
func (s *shadow) renew(low, high uint64) {
	for at := low; at < high; {
		end := min((at/shadowPage+1)*shadowPage, high)
		if p := s.pages[at/shadowPage]; p != nil {
			for k := at % shadowPage >> p.shift; k < (end-1)%shadowPage>>p.shift+1; k++ {
				s.forget(&p.cells[k])
				p.cells[k].write = mark{}
			}
		}
		at = end
	}
}

// readers gives the readers beside the first.
func (s *shadow) readers(c *cell) []mark {
	if c.more == 0 {
		return nil
	}
	return s.lists[c.more]
}

// addReader notes a read; ordered says which marks come before whatever the reader does: they need not be kept.
func (s *shadow) addReader(c *cell, r mark, ordered func(*mark) bool) {
	if joins(&c.read, &r) {
		return
	}
	if c.read.lanes == 0 || ordered(&c.read) {
		c.read = r
		if c.more > 0 { // others of its time are ordered too, as a rule
			list := s.lists[c.more]
			n := 0
			for i := range list {
				if !ordered(&list[i]) {
					list[n] = list[i]
					n++
				}
			}
			s.lists[c.more] = list[:n]
		}
		return
	}
	if c.more == 0 {
		c.more = s.list(nil)
	}
	list := s.lists[c.more]
	for i := range list {
		if joins(&list[i], &r) {
			return
		}
	}
	if len(list) >= 16 {
		for i := range list {
			if ordered(&list[i]) {
				list[i] = r
				return
			}
		}
	}
	if s.most > 0 && len(list) >= s.most-1 {
		list[int(r.cta+uint32(r.warp))%len(list)] = r
		return
	}
	s.lists[c.more] = append(list, r)
}

// joins adds a read to one by the same warp at the same time.
func joins(m, r *mark) bool {
	if m.lanes != 0 && m.cta == r.cta && m.warp == r.warp && m.time == r.time && m.kind == r.kind {
		m.lanes |= r.lanes
		m.id = r.id
		return true
	}
	return false
}

// writtenBits is which bytes of a memory have been written.
type writtenBits []uint64

func newWrittenBits(bytes int) writtenBits { return make(writtenBits, (bytes+63)/64) }

// missing gives the first byte of [at, at+n) that was never written.
func (v writtenBits) missing(at, n uint64) (uint64, bool) {
	if at&63+n <= 64 {
		want := uint64(1)<<n - 1
		if n == 64 {
			want = ^uint64(0)
		}
		if v[at>>6]>>(at&63)&want == want {
			return 0, false
		}
	}
	for i := at; i < at+n; i++ {
		if v[i>>6]>>(i&63)&1 == 0 {
			return i, true
		}
	}
	return 0, false
}

func (v writtenBits) set(at, n uint64) {
	if at&63+n <= 64 && n < 64 {
		v[at>>6] |= (uint64(1)<<n - 1) << (at & 63)
		return
	}
	for i := at; i < at+n; i++ {
		v[i>>6] |= 1 << (i & 63)
	}
}
