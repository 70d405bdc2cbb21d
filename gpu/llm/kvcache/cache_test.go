package kvcache

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"memwall/gpu"
)

func open(t testing.TB, config Config) *Cache {
	t.Helper()
	c, err := New(nil, config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// text is n tokens that no other start has.
func text(start, n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(start*100_000 + i)
	}
	return tokens
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestThreeSequencesByHand: pages of 4 tokens; A has 10 tokens; B shares its first 8 and has 13; C forks A and both go on.
func TestThreeSequencesByHand(t *testing.T) {
	c, id, pages := open(t, Config{Pages: 12, PageSize: 4}), must[int](t), must[[]int](t)
	slot := must[Slot](t)
	a := id(c.Add(text(1, 10)))
	b := id(c.Add(append(text(1, 8), text(2, 5)...)))
	if got, want := fmt.Sprint(pages(c.Pages(a)), pages(c.Pages(b))), "[0 1 2] [0 1 3 4]"; got != want {
		t.Errorf("pages %s, want %s", got, want)
	}
	f := id(c.Fork(a))
	if s := slot(c.Append(a, 1)); s != (Slot{Page: 5, Offset: 2, CopyFrom: 2}) || s.Row(4) != 22 {
		t.Errorf("A goes on in %+v", s)
	}
	if s := slot(c.Append(f, 2)); s != (Slot{Page: 2, Offset: 2, CopyFrom: -1}) {
		t.Errorf("the fork goes on in %+v: the page is its own now", s)
	}
	want := Stats{Pages: 12, Used: 6, Shared: 2, Free: 6, Saved: 4, Tokens: 8 + 3 + 3 + 4 + 1, Slots: 24, Waste: 5. / 24, Sequences: 3, Hits: 2, Misses: 3, Copies: 1}
	if got := c.Stats(); got != want {
		t.Errorf("statistics %+v, want %+v", got, want)
	}
	for _, s := range []struct {
		id   int
		want Sequence
	}{{a, Sequence{0, "A", 11, 3, 2, 3, 0, false}}, {b, Sequence{1, "B", 13, 4, 2, 1, 8, false}}, {f, Sequence{2, "C", 11, 3, 2, 3, 10, false}}} {
		if got := must[Sequence](t)(c.Sequence(s.id)); got != s.want {
			t.Errorf("%+v, want %+v", got, s.want)
		}
	}
	if got := c.Sequences(); len(got) != 3 || got[1].Name != "B" {
		t.Errorf("sequences %+v", got)
	}
}

// TestLeastRecentlyUsedGoesFirst: of what is kept the beginning stays longest, and a beginning that was asked for again
// stays longer than one that was not.
func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c, id := open(t, Config{Pages: 6, PageSize: 2}), must[int](t)
	reused := func(tokens []int32) int {
		n := id(c.Add(tokens))
		defer c.Free(n)
		return must[Sequence](t)(c.Sequence(n)).Reused
	}
	one, two := text(1, 6), text(2, 6)
	c.Free(id(c.Add(one)))
	c.Free(id(c.Add(two)))
	if got := reused(one[:4]); got != 4 { // now the last page of one is the oldest, then two from its end
		t.Fatalf("%d tokens reused, want 4", got)
	}
	big := id(c.Add(text(3, 6))) // takes the third page of one, then the last two of two
	if got := reused(two); got != 2 {
		t.Errorf("%d tokens of two left, want 2: its beginning", got)
	}
	if got := c.Stats(); got.Evictions != 3+2 { // reused(two) took two pages more
		t.Errorf("%d evictions, want 5", got.Evictions)
	}
	c.Free(big)
}

// TestContentsAreComparedWhole: equal tokens after different beginnings are different contents.
func TestContentsAreComparedWhole(t *testing.T) {
	c, id := open(t, Config{Pages: 20, PageSize: 2}), must[int](t)
	id(c.Add([]int32{1, 2, 9, 9}))
	if got := must[Sequence](t)(c.Sequence(id(c.Add([]int32{3, 4, 9, 9})))).Reused; got != 0 {
		t.Errorf("%d tokens reused after another beginning", got)
	}
	if got := must[Sequence](t)(c.Sequence(id(c.Add([]int32{1, 2, 9, 9, 5})))).Reused; got != 4 {
		t.Errorf("%d tokens reused, want 4", got)
	}
	unwritten := id(c.Add([]int32{7, 7}))
	if err := c.Discard(unwritten); err != nil {
		t.Fatal(err)
	}
	if got := must[Sequence](t)(c.Sequence(id(c.Add([]int32{7, 7})))).Reused; got != 0 {
		t.Errorf("%d tokens reused of a sequence that was discarded", got)
	}
}

// TestPagesWrittenAtTheSameTime: two sequences that come to the same contents by appending keep their own pages, and the
// next one that asks finds one of them.
func TestPagesWrittenAtTheSameTime(t *testing.T) {
	c, id := open(t, Config{Pages: 20, PageSize: 2}), must[int](t)
	a, b := id(c.Add(nil)), id(c.Add(nil))
	for _, token := range []int32{5, 6, 7, 8} {
		for _, s := range []int{a, b} {
			must[Slot](t)(c.Append(s, token))
		}
	}
	if s := c.Stats(); s.Used != 4 || s.Shared != 0 {
		t.Errorf("%+v", s)
	}
	if got := must[Sequence](t)(c.Sequence(id(c.Add([]int32{5, 6, 7, 8})))).Reused; got != 4 {
		t.Errorf("%d tokens reused, want 4", got)
	}
}

// failingStore fails at the n-th copy.
type failingStore struct{ left int }

func (f *failingStore) move() error {
	f.left--
	if f.left < 0 {
		return errors.New("the bus is gone")
	}
	return nil
}
func (f *failingStore) out(int32, *hostPage) error { return f.move() }
func (f *failingStore) in(*hostPage, int32) error  { return f.move() }

// TestFailedCopiesChangeNothing: a swap that fails in the middle leaves the sequence where it was.
func TestFailedCopiesChangeNothing(t *testing.T) {
	c := open(t, Config{Pages: 8, PageSize: 2, HostPages: 8})
	a := must[int](t)(c.Add(text(1, 7)))
	f := &failingStore{left: 2}
	c.store = f
	before := c.Stats()
	if err := c.SwapOut(a); err == nil || c.Stats() != before {
		t.Fatalf("%v: %+v, before %+v", err, c.Stats(), before)
	}
	f.left = 4
	if err := c.SwapOut(a); err != nil {
		t.Fatal(err)
	}
	must[int](t)(c.Add(text(2, 16))) // nothing of a is left on the device
	if err := c.SwapIn(a); err == nil || !strings.Contains(err.Error(), "needs 4 more pages") {
		t.Fatal(err)
	}
	c.Free(1)
	f.left = 1
	if err := c.SwapIn(a); err == nil {
		t.Fatal("the copy did not fail")
	}
	if s := c.Stats(); s.Used != 0 || s.Swapped != 1 || s.HostUsed != 4 || s.Free+s.Kept != 8 {
		t.Errorf("after a failed copy: %+v", s)
	}
	f.left = 4
	if err := c.SwapIn(a); err != nil {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Used != 4 || s.HostUsed != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRefusals: what is wrong is said, with the way to mend it.
func TestRefusals(t *testing.T) {
	ok := Config{Pages: 4, PageSize: 2}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Pages: 4}, "kvcache: pages of 0 tokens\ngive the tokens of a page: PageSize: 16"},
		{Config{Pages: 4, PageSize: -2}, "kvcache: pages of -2 tokens\ngive the tokens of a page: PageSize: 16"},
		{Config{PageSize: 16}, "kvcache: a cache of 0 pages\ngive the pages of device memory: Pages: 96"},
		{Config{Pages: math.MaxInt, PageSize: 16}, "kvcache: 9223372036854775807 pages of 16 tokens: more slots than the 2,147,483,647 that an int32 of a block table can number\nmake it smaller, or use several caches"},
		{Config{Pages: 1, PageSize: math.MaxInt}, "kvcache: 1 pages of 9223372036854775807 tokens: more slots than the 2,147,483,647 that an int32 of a block table can number\nmake it smaller, or use several caches"},
		{Config{Pages: 4, PageSize: 2, HostPages: -1}, "kvcache: -1 pages in host memory\ngive HostPages ≥ 0; 0 means that nothing is swapped out"},
		{Config{Pages: 4, PageSize: 2, MaxTokens: -1}, "kvcache: sequences of at most -1 tokens\ngive MaxTokens ≥ 0; 0 means as long as there are pages"},
		{Config{Pages: 4, PageSize: 2, Layers: 32, HeadDim: 128}, "kvcache: 32 layers, 0 KV heads, heads of 128: one of them is missing\ngive all three, or none to count pages only"},
		{Config{Pages: 4, PageSize: 2, Layers: -1, KVHeads: 1, HeadDim: 1}, "kvcache: -1 layers, 1 KV heads, heads of 1\ngive what the model has, or leave all three out to count pages only"},
		{Config{Pages: 4, PageSize: 2, DType: 99}, "kvcache: K and V as DType(99), which has no bytes for a single element\nuse gpu.F16, gpu.BF16, gpu.F32, gpu.E4M3 or gpu.I8"},
		{Config{Pages: 1 << 20, PageSize: 16, Layers: 1 << 20, KVHeads: 1 << 20, HeadDim: 128}, "kvcache: 1048576 pages of 8,190 TiB are more than any memory holds\nlook at Layers, KVHeads, HeadDim and Pages"},
	} {
		if got, err := New(nil, c.config); err == nil || got != nil || err.Error() != c.want {
			t.Errorf("%+v: %v\nwant %s", c.config, err, c.want)
		}
	}
	c := open(t, Config{Pages: 4, PageSize: 2, HostPages: 2, MaxTokens: 9})
	a := must[int](t)(c.Add(text(1, 3)))
	b := must[int](t)(c.Add(text(2, 1)))
	if err := c.Free(b); err != nil {
		t.Fatal(err)
	}
	before := c.Stats()
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if c.Stats() != before {
			t.Errorf("%s: it changed the cache: %+v", want, c.Stats())
		}
	}
	one := func(_ any, err error) error { return err }
	freed := "\na sequence is gone after Free: add it again"
	refused(c.Free(b), "kvcache: Free: sequence 1 (B) was freed"+freed)
	refused(one(c.Append(b, 1)), "kvcache: Append: sequence 1 (B) was freed"+freed)
	refused(c.Free(7), "kvcache: Free: there is no sequence 7\nuse a number that Add or Fork gave")
	refused(c.Discard(-1), "kvcache: Discard: there is no sequence -1\nuse a number that Add or Fork gave")
	refused(one(c.Fork(math.MaxInt)), "kvcache: Fork: there is no sequence 9223372036854775807\nuse a number that Add or Fork gave")
	refused(one(c.Grow(a, 0)), "kvcache: Grow: 0 tokens\ngive at least one")
	refused(one(c.Grow(a, -5)), "kvcache: Grow: -5 tokens\ngive at least one")
	refused(one(c.Extend(a, nil)), "kvcache: Extend: 0 tokens\ngive at least one")
	refused(one(c.Grow(a, math.MaxInt)), "kvcache: Grow: a sequence of 3 and 9223372036854775807 more tokens, at most 9 are allowed\nend it, or raise Config.MaxTokens")
	refused(one(c.Grow(a, 6)), "kvcache: Grow needs 3 more pages of 2 tokens, 2 of 4 can be had\nfree a sequence, swap one out (cache.SwapOut), or make the cache larger (Config.Pages)")
	refused(one(c.Add(text(3, 5))), "kvcache: Add needs 3 more pages of 2 tokens, 2 of 4 can be had\nfree a sequence, swap one out (cache.SwapOut), or make the cache larger (Config.Pages)")
	refused(one(c.Add(text(3, 9))), "kvcache: Add needs 5 pages of 2 tokens, the whole cache has 4\nmake the cache larger (Config.Pages), or the sequence shorter")
	refused(one(c.Add(text(3, 10))), "kvcache: Add: a sequence of 0 and 10 more tokens, at most 9 are allowed\nend it, or raise Config.MaxTokens")
	refused(c.SwapIn(a), "kvcache: SwapIn: sequence 0 (A) is on the device\nonly what cache.SwapOut took away can come back")
	refused(one(c.BlockTable(a)), "kvcache: BlockTable: this cache has no device\nmake it with a device: kvcache.New(dev, …)")
	refused(one(c.Keys(0)), "kvcache: Keys: this cache has no device\nmake it with a device: kvcache.New(dev, …)")
	must[Slot](t)(c.Grow(a, 2))
	before = c.Stats()
	refused(c.SwapOut(a), "kvcache: SwapOut: sequence 0 (A) has 3 pages, in host memory there is room for 2\nraise Config.HostPages, or bring another sequence back (cache.SwapIn)")
	c = open(t, ok)
	before = c.Stats()
	refused(one(c.Add(text(1, 9))), "kvcache: Add needs 5 pages of 2 tokens, the whole cache has 4\nmake the cache larger (Config.Pages), or the sequence shorter")
	c = open(t, Config{Pages: 4, PageSize: 2, HostPages: 9})
	out := must[int](t)(c.Add(text(1, 3)))
	if err := c.SwapOut(out); err != nil {
		t.Fatal(err)
	}
	before = c.Stats()
	for name, f := range map[string]func() error{"Append": func() error { return one(c.Append(out, 1)) }, "Fork": func() error { return one(c.Fork(out)) },
		"SwapOut": func() error { return c.SwapOut(out) }, "Pages": func() error { return one(c.Pages(out)) }} {
		refused(f(), "kvcache: "+name+": sequence 0 (A) is swapped out\nbring it back first: cache.SwapIn(0)")
	}
	if err := c.Free(out); err != nil || c.Stats().HostUsed != 0 {
		t.Errorf("free of a sequence in host memory: %v, %+v", err, c.Stats())
	}
}

// TestLargeCachesCostNothingAtFirst: what is noted grows with the pages that were used.
func TestLargeCachesCostNothingAtFirst(t *testing.T) {
	c := open(t, Config{Pages: math.MaxInt32, PageSize: 1, HostPages: math.MaxInt32})
	a := must[int](t)(c.Add(text(1, 3)))
	if got := must[[]int](t)(c.Pages(a)); !slices.Equal(got, []int{0, 1, 2}) || cap(c.pool.pages) > 100 {
		t.Errorf("pages %v, %d noted", got, cap(c.pool.pages))
	}
	if show := c.Show(); !strings.Contains(show.Text, "3 of 2.15 G pages used") {
		t.Error(show.Text)
	}
}

// TestPublishedWaste: contiguous caches of vLLM's predecessors used 20.4 to 38.2 % of what they reserved (Kwon et al. 2023,
// figure 2); pages of 16 tokens waste under 4 % once sequences have some 200 tokens: half a page of a sequence's.
func TestPublishedWaste(t *testing.T) {
	c := open(t, Config{Pages: 4096, PageSize: 16, MaxTokens: 2048})
	tokens := 0
	for i := range 64 {
		n := 200 + 37*i%800
		must[int](t)(c.Add(text(i, n)))
		tokens += n
	}
	s := c.Stats()
	if s.Waste >= 0.04 || s.Tokens != tokens {
		t.Errorf("%.1f%% of the slots wasted", 100*s.Waste)
	}
	if reserved := 1 - float64(tokens)/(64*2048); reserved < 0.6 || reserved > 0.8 {
		t.Errorf("reserving 2,048 tokens wastes %.0f%%", 100*reserved)
	}
}

func TestLetters(t *testing.T) {
	for id, want := range map[int]string{0: "A", 17: "R", 18: "T", 24: "Z", 25: "A2", 50: "A3", -1: "?"} {
		if got := Letter(id); got != want {
			t.Errorf("%d is %s, want %s", id, got, want)
		}
	}
}

// TestShow: the picture of look/SPEC.md: four sequences, three with a common beginning of eight pages.
func TestShow(t *testing.T) {
	dev, err := gpu.Open("virtual:h200")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	c := must[*Cache](t)(New(dev, Config{Pages: 96, PageSize: 16, MaxTokens: 1024, Layers: 32, KVHeads: 8, HeadDim: 128}))
	if got := c.Config().TokenBytes(); got != 131_072 {
		t.Errorf("a token takes %d B, want 131,072", got)
	}
	for i, n := range []int{361, 437, 428, 67} {
		tokens := text(i, n)
		if n > 100 {
			copy(tokens, text(9, 128))
		}
		must[int](t)(c.Add(tokens))
	}
	want := `KV cache: 67 of 96 pages used, 3.26% of their slots wasted
page of 16 tokens, 2 MiB | 4 sequences | virtual h200, EXECUTED
134 MiB in use, of 192 MiB | 32 MiB saved by sharing
3.26% of used slots wasted | 29 pages free: 464 tokens
  SSSSSSSSAAAAAAAAAAAAAAaB
  BBBBBBBBBBBBBBBBBBbCCCCC
  CCCCCCCCCCCCCcDDDDd.....
  ........................
legend: S shared, A – Z a sequence's own, small letter part filled, . free
sequence  tokens  pages  shared  last page
A            361     23       8    9 of 16
B            437     28       8    5 of 16
C            428     27       8   12 of 16
D             67      5       0    3 of 16
→ reserving 1,024 tokens a sequence would waste 68%`
	if got := c.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := c.MIMEBundle()["text/html"]; !strings.Contains(got.(string), "8 shared, 55 full, 4 partly filled, 29 free") {
		t.Error(got)
	}
	if got, want := c.Stats().String(), `67 of 96 pages used, 8 shared (saves 16), 0 kept, 29 free; 3.26% of the used slots wasted
16 of 79 full pages found by contents, 0 given up`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
