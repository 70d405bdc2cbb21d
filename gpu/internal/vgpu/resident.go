package vgpu

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"memwall/gpu/internal/driver"
)

// Device memory is one reserved range of host addresses. Host memory stands behind what was touched: ordinary allocations
// count it by chunks, so that a launch that touches more than the host has ends with a fault; procedural ones hold pages
// that are made from a function when a warp first looks at them, and may be dropped and made again.
//
// A warp reaches memory through the window of its site: a range in which host memory is known to stand. Outside of it
// enter or enterLanes asks this file for another one. So code that checks an access against site.low and site.high, and
// nothing wider, needs no knowledge of pages.

// hostMemory is what the system has left.
type hostMemory struct {
	free, total int64
	known       bool   // free is the system's figure; else it is the total, and what this device took is not in it
	limit       string // what sets the total where it is not the machine: "cgroup /sys/fs/cgroup/…"
}

func (h hostMemory) String() string {
	if h.total == 0 {
		return "how much memory the host has is not known"
	}
	s := fmt.Sprintf("the host has %s of %s free", byteCount(uint64(max(h.free, 0))), byteCount(uint64(max(h.total, 0))))
	if h.limit != "" {
		s += " (limit: " + h.limit + ")"
	}
	return s
}

const (
	lookEvery    = 64 << 20      // bytes that may be touched between two looks at the host's memory
	mostResident = 1 << 30       // bytes of procedural contents that are kept
	resident1Of  = 16            // and no more than this part of the host's memory
	mostWindow   = 8 * pageBytes // over which lanes that lie apart get a window
)

// backing is what a device memory takes of the host.
type backing struct {
	system func() hostMemory

	mu     sync.Mutex
	unseen int64 // bytes counted since the last look
	taken  int64 // bytes that host memory stands behind

	queue    []residentPage // pages of procedural contents, the oldest first
	keep     int            // pages to keep; 0 until the first one
	resident int
}

type residentPage struct {
	a    *allocation
	page int32
}

// contents are bytes that a function makes; nobody can change them.
type contents struct {
	fill func(offset int64, dst []byte)
	// state of each page: absent, busy while it is made or dropped, or 1 + the number of windows that it lies in.
	state []atomic.Int32
	dead  atomic.Bool
}

const (
	pageAbsent  = 0
	pageBusy    = -1
	pagePresent = 1
)

// beside is what an out-of-memory error adds about the host.
func (b *backing) beside() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return "; " + b.look().String()
}

// forget is for a device that closes.
func (b *backing) forget() {
	b.mu.Lock()
	b.queue, b.resident = nil, 0
	b.mu.Unlock()
}

// count notes that n bytes more are about to take host memory, and says why that is refused.
func (b *backing) count(n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unseen += n; b.unseen < lookEvery {
		b.taken += n
		return nil
	}
	b.unseen = 0
	h := b.look()
	if margin := min(h.total/16, 512<<20); h.total > 0 && h.free-margin < n {
		b.unseen = lookEvery // look again at once
		return fmt.Errorf("%s of device memory are touched, and %s", byteCount(uint64(b.taken)), h)
	}
	b.taken += n
	return nil
}

// look is what the host has left; the caller holds mu.
func (b *backing) look() hostMemory {
	h := b.system()
	if !h.known {
		h.free = max(h.free-b.taken, 0)
	}
	return h
}

// touchedBytes counts the bytes of an ordinary allocation that host memory stands behind, by whole chunks.
func (a *allocation) touchedBytes() int64 {
	n := 0
	for i := range a.chunks {
		n += bits.OnesCount64(a.chunks[i].Load())
	}
	bytes := int64(n) * chunkBytes
	if last := (max(a.high-a.low, 1) - 1) / chunkBytes; len(a.chunks) > 0 && a.hasChunk(last) {
		bytes -= int64((last+1)*chunkBytes - max(a.high-a.low, 1))
	}
	return bytes
}

// returned notes that an ordinary allocation of so many touched bytes was freed.
func (b *backing) returned(n int64) {
	b.mu.Lock()
	b.taken -= n
	b.mu.Unlock()
}

// reach makes sure that host memory stands behind [low, high) of an ordinary allocation, and gives a window around it.
func (m *memory) reach(a *allocation, low, high uint64) (uint64, uint64, error) {
	if a.absent.Load() == 0 {
		return a.low, a.high, nil
	}
	first, last := (low-a.low)/chunkBytes, (max(high, low+1)-1-a.low)/chunkBytes
	for c := first; c <= last; c++ {
		if err := m.touchChunk(a, c); err != nil {
			return 0, 0, err
		}
	}
	// Chunks beside it that were touched before widen the window.
	for n := 0; n < 64 && first > 0 && a.hasChunk(first-1); n++ {
		first--
	}
	for n := 0; n < 64 && a.low+(last+1)*chunkBytes < a.high && a.hasChunk(last+1); n++ {
		last++
	}
	return a.low + first*chunkBytes, min(a.low+(last+1)*chunkBytes, a.high), nil
}

func (a *allocation) hasChunk(c uint64) bool { return a.chunks[c/64].Load()>>(c%64)&1 != 0 }

func (m *memory) touchChunk(a *allocation, c uint64) error {
	if a.hasChunk(c) {
		return nil
	}
	from := a.low + c*chunkBytes
	to := max(min(from+chunkBytes, a.high), from+1)
	if err := m.back.count(int64(to - from)); err != nil {
		return err
	}
	if err := commit(m.arena[from-m.base : to-m.base]); err != nil {
		return fmt.Errorf("%w; %s", err, m.back.system())
	}
	if bit := uint64(1) << (c % 64); a.chunks[c/64].Or(bit)&bit == 0 {
		a.absent.Add(-1)
	}
	return nil
}

// allocProcedural is alloc with contents that fill makes: the bytes of the allocation from offset on, for any offset that
// is a multiple of pageBytes. The same offset must always give the same bytes.
func (m *memory) allocProcedural(n int64, fill func(offset int64, dst []byte)) (*allocation, error) {
	a, err := m.allocAligned(n, "", pageBytes)
	if err != nil {
		return nil, err
	}
	a.chunks = nil
	a.contents = &contents{fill: fill, state: make([]atomic.Int32, (n+pageBytes-1)/pageBytes)}
	a.validity.whole.Store(true)
	return a, nil
}

// pin makes sure that a page is there, and keeps it until unpin.
func (m *memory) pin(a *allocation, page int32) error {
	s := &a.contents.state[page]
	for {
		switch n := s.Load(); {
		case n >= pagePresent:
			if s.CompareAndSwap(n, n+1) {
				return nil
			}
		case n == pageBusy:
			runtime.Gosched()
		case s.CompareAndSwap(pageAbsent, pageBusy):
			err := m.makePage(a, page)
			if err != nil {
				s.Store(pageAbsent)
				return err
			}
			s.Store(pagePresent + 1)
			m.back.kept(m, residentPage{a, page})
			return nil
		}
	}
}

func unpin(a *allocation, page int32) { a.contents.state[page].Add(-1) }

func (m *memory) makePage(a *allocation, page int32) error {
	if err := m.back.count(pageBytes); err != nil {
		return err
	}
	from := a.low - m.base + uint64(page)*pageBytes
	if err := commit(m.arena[from : from+pageBytes]); err != nil {
		return fmt.Errorf("%w; %s", err, m.back.system())
	}
	a.contents.fill(int64(page)*pageBytes, m.arena[from:min(from+pageBytes, a.high-m.base)])
	return nil
}

// kept notes a page that was made, and drops old ones that no window holds.
func (b *backing) kept(m *memory, p residentPage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keep == 0 {
		b.keep = int(max(min(mostResident, b.system().total/resident1Of), 64*pageBytes) / pageBytes)
	}
	b.queue = append(b.queue, p)
	b.resident++
	for tries := len(b.queue); b.resident > b.keep && tries > 0; tries-- {
		old := b.queue[0]
		b.queue = b.queue[1:]
		c := old.a.contents
		if c.dead.Load() {
			continue
		}
		if !c.state[old.page].CompareAndSwap(pagePresent, pageBusy) {
			b.queue = append(b.queue, old)
			continue
		}
		from := old.a.low - m.base + uint64(old.page)*pageBytes
		decommit(m.arena[from : from+pageBytes])
		b.resident--
		b.unseen = max(b.unseen-pageBytes, 0)
		b.taken -= pageBytes
		c.state[old.page].Store(pageAbsent)
	}
}

// drop forgets the pages of an allocation that is freed.
func (b *backing) drop(a *allocation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.contents.dead.Store(true)
	n := 0
	for _, p := range b.queue {
		if p.a != a {
			b.queue[n] = p
			n++
		}
	}
	b.resident -= len(b.queue) - n
	b.taken -= int64(len(b.queue)-n) * pageBytes
	clear(b.queue[n:])
	b.queue = b.queue[:n]
}

// pinned is a run of pages that a window holds.
type pinned struct {
	a     *allocation
	first int32
	count int32
}

func (p *pinned) release() {
	for i := range p.count {
		unpin(p.a, p.first+i)
	}
	p.count = 0
}

// hold pins the pages of [low, high).
func (m *memory) hold(a *allocation, low, high uint64) (pinned, error) {
	p := pinned{a: a, first: int32((low - a.low) / pageBytes)}
	for last := int32((high - 1 - a.low) / pageBytes); p.first+p.count <= last; p.count++ {
		if err := m.pin(a, p.first+p.count); err != nil {
			p.release()
			return p, err
		}
	}
	return p, nil
}

// settle makes [low, high) of an allocation the window of a site, grown to what host memory stands behind.
func (w *warp) settle(in *inst, s *site, a *allocation, low, high uint64, lane int) {
	w.touched(in, a)
	m := w.w.run.memory
	if s.pages.count > 0 && w.w.threads != nil {
		w.w.threads.forget(in.pattern)
	}
	s.pages.release()
	var err error
	if a.contents == nil {
		if s.low, s.high, err = m.reach(a, low, high); err != nil {
			w.outOfHost(in, lane, low, err)
		}
	} else {
		w.readOnly(in, a, low, lane)
		if s.pages, err = m.hold(a, low, high); err != nil {
			w.outOfHost(in, lane, low, err)
		}
		s.low = a.low + uint64(s.pages.first)*pageBytes
		s.high = min(s.low+uint64(s.pages.count)*pageBytes, a.high)
	}
	s.alloc = a
}

// visit makes sure of [low, high) until the worker's next visit, without making it the window of the site.
func (w *warp) visit(in *inst, a *allocation, low, high uint64, lane int) {
	w.touched(in, a)
	if a.contents == nil {
		if a.absent.Load() != 0 {
			if _, _, err := w.w.run.memory.reach(a, low, high); err != nil {
				w.outOfHost(in, lane, low, err)
			}
		}
		return
	}
	w.readOnly(in, a, low, lane)
	p, err := w.w.run.memory.hold(a, low, high)
	if err != nil {
		w.outOfHost(in, lane, low, err)
	}
	w.w.loose = append(w.w.loose, p)
}

// settleLoose lets the pages of the visits before go.
func (k *worker) settleLoose() {
	for i := range k.loose {
		k.loose[i].release()
	}
	k.loose = k.loose[:0]
}

// releasePages lets every page go that the worker's windows hold: the launch is over.
func (k *worker) releasePages() {
	k.settleLoose()
	for i := range k.sites {
		if s := &k.sites[i]; s.pages.count > 0 {
			s.pages.release()
			s.low, s.high = 1, 0
		}
	}
}

func (w *warp) outOfHost(in *inst, lane int, address uint64, err error) {
	w.fault(in, lane, &driver.Fault{Kind: driver.OutOfMemory, Space: "global", Address: address, Detail: err.Error()})
}

func (w *warp) readOnly(in *inst, a *allocation, address uint64, lane int) {
	if in.flags&(flagStore|flagAtomic) != 0 {
		w.fault(in, lane, &driver.Fault{Kind: driver.ReadOnly, Space: "global", Address: address, Bytes: int(in.size), Allocation: "in the procedural " + a.String()})
	}
}
