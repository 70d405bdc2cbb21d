package kvcache

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"memwall/gpu"
)

func TestMain(m *testing.M) { gpu.ChildMain(); os.Exit(m.Run()) }

// model is what a cache must do, as simply as it can be said: a sequence is its tokens, and memory is an array of tokens
// that is written where the cache says and nowhere else. When every sequence reads its own tokens back through its block
// table after each operation, no page was lost, given twice, shared wrongly or copied too late.
type model struct {
	cache  *Cache
	config Config
	memory []int32 // what lies in each slot of device memory; −1 is poison
	live   map[int][]int32
	out    map[int]bool
	ended  []int
}

// memoryStore moves the model's slots, four bytes each.
type memoryStore struct{ m *model }

func (s memoryStore) slots(page int32) []int32 {
	n := s.m.config.PageSize
	return s.m.memory[int(page)*n : (int(page)+1)*n]
}

func (s memoryStore) out(page int32, to *hostPage) error {
	var data []byte
	for _, v := range s.slots(page) {
		data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	to.data = [][]byte{data}
	return nil
}

func (s memoryStore) in(from *hostPage, page int32) error {
	for i := range s.slots(page) {
		b := from.data[0][4*i:]
		s.slots(page)[i] = int32(b[0]) | int32(b[1])<<8 | int32(b[2])<<16 | int32(b[3])<<24
	}
	return nil
}

func newModel(t testing.TB, config Config) *model {
	t.Helper()
	c, err := New(nil, config)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{cache: c, config: config, live: map[int][]int32{}, out: map[int]bool{}}
	m.memory = slices.Repeat([]int32{-1}, config.Pages*config.PageSize)
	c.store = memoryStore{m}
	return m
}

// wrote puts the tokens of a sequence from one on where the cache says, as a CUDA kernel does with K and V.
func (m *model) wrote(id, from int) {
	s := m.cache.sequences[id]
	for i := from; i < s.length; i++ {
		m.memory[m.cache.row(s, i)] = m.live[id][i]
	}
}

// step does one operation, chosen by two numbers, and says what went wrong.
func (m *model) step(op, x uint32) error {
	c := m.cache
	ids := make([]int, 0, len(m.live))
	for id := range m.live {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		op = 0
	}
	id := 0
	if len(ids) > 0 {
		id = ids[int(x%uint32(len(ids)))]
	}
	before := c.stats()
	failed := func(err error) error { // nothing may have changed
		if after := c.stats(); after != before {
			return fmt.Errorf("%v changed the cache from %+v to %+v", err, before, after)
		}
		return nil
	}
	switch op % 12 {
	case 0, 1:
		return m.add(ids, id, x, failed)
	case 2, 3, 4, 5:
		slot, err := c.Append(id, int32(x>>8&1))
		if err != nil {
			return failed(err)
		}
		m.copied(slot)
		m.live[id] = append(m.live[id], int32(x>>8&1))
		m.memory[slot.Row(m.config.PageSize)] = int32(x >> 8 & 1)
		return m.check(id)
	case 6:
		tokens := make([]int32, 1+x>>8%uint32(2*m.config.PageSize))
		slot, err := c.Extend(id, tokens)
		if err != nil {
			return failed(err)
		}
		return m.extended(id, slot, tokens)
	case 7:
		if x>>8%4 > 0 { // rarely: a sequence with unknown tokens shares no more
			return nil
		}
		tokens := slices.Repeat([]int32{7}, int(1+x>>12%uint32(m.config.PageSize)))
		slot, err := c.Grow(id, len(tokens))
		if err != nil {
			return failed(err)
		}
		return m.extended(id, slot, tokens)
	case 8:
		got, err := c.Fork(id)
		if err != nil {
			return failed(err)
		}
		m.live[got] = slices.Clone(m.live[id])
		return m.check(got)
	case 9:
		end := c.Free
		if x>>8%8 == 0 {
			end = c.Discard
		}
		if err := end(id); err != nil {
			return err
		}
		delete(m.live, id)
		delete(m.out, id)
		m.ended = append(m.ended, id)
		if err := end(id); err == nil {
			return fmt.Errorf("sequence %d was freed twice", id)
		}
		return nil
	case 10:
		if err := c.SwapOut(id); err != nil {
			return failed(err)
		}
		m.out[id] = true
	case 11:
		if err := c.SwapIn(id); err != nil {
			return failed(err)
		}
		delete(m.out, id)
		return m.check(id)
	}
	return nil
}

// add begins a sequence of few different tokens, often with a beginning taken from another, so that contents are often equal.
func (m *model) add(ids []int, id int, x uint32, failed func(error) error) error {
	var tokens []int32
	if len(ids) > 0 && x&1 == 0 {
		tokens = append(tokens, m.live[id][:int(x>>8)%(len(m.live[id])+1)]...)
	}
	for i := range int(x>>16) % (3*m.config.PageSize + 1) {
		tokens = append(tokens, int32(x>>(i%24)&1))
	}
	got, err := m.cache.Add(tokens)
	if err != nil {
		return failed(err)
	}
	m.live[got] = tokens
	info, _ := m.cache.Sequence(got)
	m.wrote(got, info.Reused)
	return m.check(got)
}

func (m *model) copied(slot Slot) {
	if slot.CopyFrom >= 0 {
		copy(memoryStore{m}.slots(int32(slot.Page)), memoryStore{m}.slots(int32(slot.CopyFrom)))
	}
}

func (m *model) extended(id int, slot Slot, tokens []int32) error {
	m.copied(slot)
	from := len(m.live[id])
	m.live[id] = append(m.live[id], tokens...)
	if got := m.cache.row(m.cache.sequences[id], from); int(got) != slot.Row(m.config.PageSize) {
		return fmt.Errorf("sequence %d grew at row %d, the slot says %d", id, got, slot.Row(m.config.PageSize))
	}
	m.wrote(id, from)
	return m.check(id)
}

// check reads one sequence back.
func (m *model) check(id int) error {
	s, want := m.cache.sequences[id], m.live[id]
	if s.length != len(want) || len(s.pages) != m.cache.pagesFor(len(want)) {
		return fmt.Errorf("sequence %d has %d tokens in %d pages, want %d tokens", id, s.length, len(s.pages), len(want))
	}
	if m.out[id] {
		return nil
	}
	for i, w := range want {
		if got := m.memory[m.cache.row(s, i)]; got != w {
			return fmt.Errorf("token %d of sequence %d reads %d from page %d, want %d", i, id, got, s.pages[i/m.config.PageSize], w)
		}
	}
	return nil
}

// invariants counts everything anew.
func (m *model) invariants() error {
	c := m.cache
	refs := make([]int32, len(c.pool.pages))
	tokens := map[int32]int{}
	host := map[int32]bool{}
	for id := range m.live {
		s := c.sequences[id]
		if s == nil || s.swapped != m.out[id] {
			return fmt.Errorf("sequence %d: %+v", id, s)
		}
		if err := m.check(id); err != nil {
			return err
		}
		for i, p := range s.pages {
			if s.swapped {
				if host[p] {
					return fmt.Errorf("host page %d was given twice", p)
				}
				host[p] = true
				continue
			}
			refs[p]++
			tokens[p] = min(m.config.PageSize, s.length-i*m.config.PageSize)
		}
	}
	if len(c.sequences) != len(m.live) || c.host.used() != len(host) {
		return fmt.Errorf("%d sequences, want %d; %d host pages, want %d", len(c.sequences), len(m.live), c.host.used(), len(host))
	}
	state := make([]string, len(refs))
	claim := func(n int32, what string) error {
		if state[n] != "" {
			return fmt.Errorf("page %d is %s and %s", n, state[n], what)
		}
		state[n] = what
		return nil
	}
	used, shared, references, filled, kept := 0, 0, 0, 0, 0
	for n, r := range refs {
		if c.pool.pages[n].refs != r {
			return fmt.Errorf("page %d counts %d references, %d have it", n, c.pool.pages[n].refs, r)
		}
		if r > 0 {
			if err := claim(int32(n), "used"); err != nil {
				return err
			}
			used++
			references += int(r)
			filled += tokens[int32(n)]
		}
		if r > 1 {
			shared++
		}
	}
	for _, n := range c.pool.free {
		if err := claim(n, "free"); err != nil {
			return err
		}
	}
	for n := c.pool.oldest; n != none; n = c.pool.pages[n].newer {
		if err := claim(n, "kept"); err != nil {
			return err
		}
		kept++
	}
	if i := slices.Index(state, ""); i >= 0 {
		return fmt.Errorf("page %d is lost", i)
	}
	want := Stats{Used: used, Shared: shared, Kept: kept, Saved: references - used, Tokens: filled}
	got := c.stats()
	if got.Used != want.Used || got.Shared != want.Shared || got.Kept != want.Kept || got.Saved != want.Saved || got.Tokens != want.Tokens ||
		got.Free != m.config.Pages-used-kept {
		return fmt.Errorf("statistics %+v, counted %+v", got, want)
	}
	return m.found(kept)
}

// found: each page that is kept can be found, and no page is found under other contents than it has.
func (m *model) found(kept int) error {
	entries := 0
	for n := range m.cache.pool.pages {
		p := &m.cache.pool.pages[n]
		if !p.indexed {
			continue
		}
		entries++
		if got := m.cache.index.find(m.cache.pool.pages, p.parent, p.tokens); got != int32(n) {
			return fmt.Errorf("page %d is found as %d", n, got)
		}
		for i, w := range p.tokens {
			if got := m.memory[n*m.config.PageSize+i]; got != w {
				return fmt.Errorf("page %d is found by token %d = %d, but holds %d", n, i, w, got)
			}
		}
	}
	if entries != m.cache.index.entries || kept > entries {
		return fmt.Errorf("%d pages can be found, the index counts %d, %d are kept", entries, m.cache.index.entries, kept)
	}
	return nil
}

// TestMillionOperations: random operations on caches of several shapes, against the model.
func TestMillionOperations(t *testing.T) {
	configs := []Config{
		{Pages: 64, PageSize: 4, HostPages: 24}, {Pages: 7, PageSize: 1, HostPages: 3}, {Pages: 200, PageSize: 16, HostPages: 500}, {Pages: 1, PageSize: 3},
		{Pages: 30, PageSize: 5, MaxTokens: 31, HostPages: 8},
	}
	const total = 1_000_000
	for i, config := range configs {
		m := newModel(t, config)
		r := rand.New(rand.NewPCG(uint64(i), 7))
		for n := range total / len(configs) {
			op, x := r.Uint32(), r.Uint32()
			if len(m.live) > 12 && r.IntN(3) == 0 {
				op = 9
			}
			if err := m.step(op, x); err != nil {
				t.Fatalf("%+v, operation %d (%d, %d): %v", config, n, op%12, x, err)
			}
			if n%512 == 0 || n < 100 {
				if err := m.invariants(); err != nil {
					t.Fatalf("%+v after operation %d (%d): %v", config, n, op%12, err)
				}
			}
		}
		s := m.cache.Stats()
		if config.Pages > 1 && (s.Hits == 0 || s.Evictions == 0 || s.Copies == 0 && config.PageSize > 1 || s.PagesOut == 0 || s.PagesIn == 0) {
			t.Errorf("%+v: the operations never met some case: %+v", config, s)
		}
		for id := range m.live {
			if err := m.cache.Free(id); err != nil {
				t.Fatal(err)
			}
		}
		if s := m.cache.Stats(); s.Used != 0 || s.Tokens != 0 || s.Kept+s.Free != config.Pages || s.HostUsed != 0 || s.Saved != 0 {
			t.Errorf("%+v: when all are freed: %+v", config, s)
		}
	}
}

// FuzzOperations: any sequence of operations keeps the model's rules.
func FuzzOperations(f *testing.F) {
	f.Add([]byte("\x08\x03\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"))
	f.Add([]byte("\x01\x00\x00\xff\xff\x00\x08\x00\x00\x02\x09\x00\x0b\x10"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 3 || len(data) > 4000 {
			return
		}
		m := newModel(t, Config{Pages: 1 + int(data[0]%40), PageSize: 1 + int(data[1]%9), HostPages: int(data[2] % 20)})
		for at := 3; at+5 <= len(data); at += 5 {
			x := uint32(data[at+1]) | uint32(data[at+2])<<8 | uint32(data[at+3])<<16 | uint32(data[at+4])<<24
			if err := m.step(uint32(data[at]), x); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.invariants(); err != nil {
			t.Fatal(err)
		}
	})
}
