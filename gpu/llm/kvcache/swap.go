package kvcache

// store moves the contents of pages between device and host.
type store interface {
	out(page int32, to *hostPage) error
	in(from *hostPage, page int32) error
}

// hostPage is the contents of a page in host memory.
type hostPage struct {
	tokens []int32
	data   [][]byte // K and V of each layer, where the cache has tensors
}

// hostPool is the room for pages that are swapped out.
type hostPool struct {
	total int
	pages []hostPage // those that were ever used
	free  []int32
}

func (h *hostPool) used() int { return len(h.pages) - len(h.free) }

func (h *hostPool) take() int32 {
	if n := len(h.free); n > 0 {
		p := h.free[n-1]
		h.free = h.free[:n-1]
		return p
	}
	h.pages = append(h.pages, hostPage{})
	return int32(len(h.pages) - 1)
}

func (h *hostPool) giveBack(pages []int32) {
	for i := len(pages) - 1; i >= 0; i-- {
		p := &h.pages[pages[i]]
		p.tokens, p.data = p.tokens[:0], nil
		h.free = append(h.free, pages[i])
	}
}

// SwapOut copies the pages of a sequence to host memory and gives up those on the device; shared ones stay with the others
// that have them. Nothing changes when there is no room, or when a copy fails.
func (c *Cache) SwapOut(id int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.resident("SwapOut", id)
	if err != nil {
		return err
	}
	if room := c.host.total - c.host.used(); len(s.pages) > room {
		return fail("raise Config.HostPages, or bring another sequence back (cache.SwapIn)", "kvcache: SwapOut: sequence %d (%s) has %d pages, in host memory there is room for %d",
			id, Letter(id), len(s.pages), room)
	}
	out := make([]int32, 0, len(s.pages))
	for _, p := range s.pages {
		n := c.host.take()
		out = append(out, n)
		h := &c.host.pages[n]
		if s.known {
			h.tokens = append(h.tokens[:0], c.pool.pages[p].tokens[:c.pool.pages[p].fill]...)
		}
		if c.store != nil {
			if err := c.store.out(p, h); err != nil {
				c.host.giveBack(out)
				return err
			}
		}
	}
	c.drop(s)
	s.pages, s.swapped = append(s.pages, out...), true
	c.swappedOut += uint64(len(out))
	return nil
}

// SwapIn brings a sequence back to the device. Pages whose contents are still there are shared again, the others are copied
// from host memory. Nothing changes when there is no room, or when a copy fails.
func (c *Cache) SwapIn(id int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.find("SwapIn", id)
	if err != nil {
		return err
	}
	if !s.swapped {
		return fail("only what cache.SwapOut took away can come back", "kvcache: SwapIn: sequence %d (%s) is on the device", id, Letter(id))
	}
	copied := 0
	back := c.newSequence()
	back.known = s.known
	err = c.adopt("SwapIn", back, s.length, func(i int) []int32 { return c.host.pages[s.pages[i]].tokens }, func(i int, page int32) error {
		copied++
		if c.store == nil {
			return nil
		}
		return c.store.in(&c.host.pages[s.pages[i]], page)
	})
	if err != nil {
		c.recycle(back)
		return err
	}
	c.swappedIn += uint64(copied)
	c.restored += uint64(len(s.pages) - copied)
	c.host.giveBack(s.pages)
	s.pages = append(s.pages[:0], back.pages...)
	s.content, s.swapped = back.content, false
	c.recycle(back)
	return nil
}
