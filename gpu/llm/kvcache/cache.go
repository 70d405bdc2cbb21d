package kvcache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// Config is the size of a cache. Layers, KVHeads and HeadDim say what a token takes; when all three are zero, pages are
// only counted and Keys and Values have nothing to give.
type Config struct {
	Pages     int       // in device memory
	PageSize  int       // tokens a page
	HostPages int       // pages in host memory for sequences that are swapped out; 0: none are
	MaxTokens int       // the longest sequence that is allowed; 0: as long as there are pages
	Layers    int       // of the model
	KVHeads   int       // heads of K and V a layer
	HeadDim   int       // elements a head
	DType     gpu.DType // of K and V; zero means gpu.F16
}

// TokenBytes is what K and V of one token take in all layers: 2·Layers·KVHeads·HeadDim·bytes.
func (c Config) TokenBytes() int64 {
	return 2 * int64(c.Layers) * int64(c.KVHeads) * int64(c.HeadDim) * int64(c.dtype().Bytes())
}

// PageBytes is what a page takes in all layers.
func (c Config) PageBytes() int64 { return c.TokenBytes() * int64(c.PageSize) }

func (c Config) dtype() gpu.DType {
	if c.DType == 0 {
		return gpu.F16
	}
	return c.DType
}

// stored says whether the cache knows what a token takes.
func (c Config) stored() bool { return c.Layers > 0 }

// mostBytes keeps sizes far from the end of 64 bits.
const mostBytes = 1 << 50

// check says what is wrong with a configuration, or nil.
func (c Config) check() error {
	switch {
	case c.PageSize <= 0:
		return fail("give the tokens of a page: PageSize: 16", "kvcache: pages of %d tokens", c.PageSize)
	case c.Pages <= 0:
		return fail("give the pages of device memory: Pages: 96", "kvcache: a cache of %d pages", c.Pages)
	case c.HostPages < 0:
		return fail("give HostPages ≥ 0; 0 means that nothing is swapped out", "kvcache: %d pages in host memory", c.HostPages)
	case c.MaxTokens < 0:
		return fail("give MaxTokens ≥ 0; 0 means as long as there are pages", "kvcache: sequences of at most %d tokens", c.MaxTokens)
	case c.Pages > math.MaxInt32/c.PageSize || c.HostPages > math.MaxInt32:
		return fail("make it smaller, or use several caches", "kvcache: %d pages of %d tokens: more slots than the 2,147,483,647 that an int32 of a block table can number", c.Pages, c.PageSize)
	case c.Layers < 0 || c.KVHeads < 0 || c.HeadDim < 0:
		return fail("give what the model has, or leave all three out to count pages only", "kvcache: %d layers, %d KV heads, heads of %d", c.Layers, c.KVHeads, c.HeadDim)
	case (c.Layers == 0) != (c.KVHeads == 0) || (c.Layers == 0) != (c.HeadDim == 0):
		return fail("give all three, or none to count pages only", "kvcache: %d layers, %d KV heads, heads of %d: one of them is missing", c.Layers, c.KVHeads, c.HeadDim)
	case c.dtype().Bytes() == 0:
		return fail("use gpu.F16, gpu.BF16, gpu.F32, gpu.E4M3 or gpu.I8", "kvcache: K and V as %s, which has no bytes for a single element", c.DType)
	}
	size := 2 * float64(c.Layers) * float64(c.KVHeads) * float64(c.HeadDim) * float64(c.dtype().Bytes()) * float64(c.PageSize)
	if size*math.Max(float64(c.Pages), float64(c.HostPages)) > mostBytes {
		return fail("look at Layers, KVHeads, HeadDim and Pages", "kvcache: %d pages of %s are more than any memory holds", max(c.Pages, c.HostPages), perf.FormatCapacity(size))
	}
	return nil
}

// Cache is a paged KV cache. Make it with New.
type Cache struct {
	mu     sync.Mutex
	config Config
	dev    *gpu.Device // nil: pages are only counted
	store  store       // moves pages between device and host; nil until there is something to move
	layers []layer

	pool      pool
	index     index
	host      hostPool
	sequences map[int]*sequence
	spare     []*sequence // given back, for the next
	next      int         // the number of the next sequence

	hits, misses, copies, swappedOut, swappedIn, restored uint64
}

// New makes a cache. The device may be nil: then there are pages and block tables to look at, but no tensors.
func New(dev *gpu.Device, config Config) (*Cache, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if dev != nil && dev.Closed() {
		return nil, fail("open it again", "kvcache: the device %s is closed", dev.Name())
	}
	c := &Cache{config: config, dev: dev, sequences: map[int]*sequence{}}
	c.pool.init(config.Pages)
	c.index.seed = rand.Uint64() // so that nobody can choose tokens whose hashes collide
	c.host.total = config.HostPages
	return c, nil
}

// Config is what the cache was made with.
func (c *Cache) Config() Config { return c.config }

// pagesFor is how many pages n tokens take.
func (c *Cache) pagesFor(n int) int { return (n + c.config.PageSize - 1) / c.config.PageSize }

// find gives a sequence that is there, or says what became of it.
func (c *Cache) find(operation string, id int) (*sequence, error) {
	if s, ok := c.sequences[id]; ok {
		return s, nil
	}
	if id >= 0 && id < c.next {
		return nil, fail("a sequence is gone after Free: add it again", "kvcache: %s: sequence %d (%s) was freed", operation, id, Letter(id))
	}
	return nil, fail("use a number that Add or Fork gave", "kvcache: %s: there is no sequence %d", operation, id)
}

// resident gives a sequence whose pages are on the device.
func (c *Cache) resident(operation string, id int) (*sequence, error) {
	s, err := c.find(operation, id)
	if err == nil && s.swapped {
		err = fail(fmt.Sprintf("bring it back first: cache.SwapIn(%d)", id), "kvcache: %s: sequence %d (%s) is swapped out", operation, id, Letter(id))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// full says that pages are missing.
func (c *Cache) full(operation string, need int) error {
	how := "free a sequence"
	if c.host.total > c.host.used() {
		how += ", swap one out (cache.SwapOut)"
	}
	if need > c.pool.total {
		return fail("make the cache larger (Config.Pages), or the sequence shorter", "kvcache: %s needs %d pages of %d tokens, the whole cache has %d",
			operation, need, c.config.PageSize, c.pool.total)
	}
	return fail(how+", or make the cache larger (Config.Pages)", "kvcache: %s needs %d more pages of %d tokens, %d of %d can be had",
		operation, need, c.config.PageSize, c.pool.available(), c.pool.total)
}

// fail makes an error whose first line is formatted.
func fail(how, format string, args ...any) *gpu.Error {
	return &gpu.Error{What: fmt.Sprintf(format, args...), How: how}
}
