package kvcache

// sequence is the block table of one sequence.
type sequence struct {
	pages   []int32 // of device memory, or of host memory while it is swapped out
	length  int     // tokens
	known   bool    // all its tokens are known, so its full pages can be found by contents
	content uint64  // the number of its last full page's contents, while known
	reused  int     // tokens that Add found in the cache
	swapped bool
}

// Slot is where K and V of a token go: row Page·PageSize + Offset of the pages seen as rows.
type Slot struct {
	Page, Offset int
	// CopyFrom is −1, or the page whose contents must be copied to Page before anything is written: it was shared with a
	// fork, and Page is the copy that this sequence got for writing.
	CopyFrom int
}

// Row is the slot's number: Page·pageSize + Offset.
func (s Slot) Row(pageSize int) int { return s.Page*pageSize + s.Offset }

// Add begins a sequence with its first tokens, which may be none, and gives its number. Full pages that another sequence
// has, or had and that were not needed since, with the same tokens from the start on, are taken as they are: their keys and
// values need not be computed again (Sequence.Reused counts their tokens). The others must be written by the caller, before
// anybody else who adds the same tokens reads them. Where there is no room nothing changes.
func (c *Cache) Add(tokens []int32) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.allowed("Add", 0, len(tokens)); err != nil {
		return 0, err
	}
	s := c.newSequence()
	s.known = true
	if err := c.adopt("Add", s, len(tokens), func(i int) []int32 { return tokens[i*c.config.PageSize : min(len(tokens), (i+1)*c.config.PageSize)] }, nil); err != nil {
		c.recycle(s)
		return 0, err
	}
	return c.enter(s), nil
}

// adopt gives an empty sequence pages for n tokens: shared ones as far as their contents are found, then new ones, for
// which fresh is called. Part gives the tokens of page i. It fails before it changes anything for want of pages, and undoes
// what it did when fresh fails.
func (c *Cache) adopt(operation string, s *sequence, n int, part func(i int) []int32, fresh func(i int, page int32) error) error {
	full := n / c.config.PageSize
	revived := 0 // kept pages that are found
	for i := 0; i < full && s.known; i++ {
		found := c.index.find(c.pool.pages, s.content, part(i))
		if found == none {
			break
		}
		s.pages = append(s.pages, found)
		s.content = c.pool.pages[found].content
		if c.pool.pages[found].refs == 0 {
			revived++
		}
	}
	hits := len(s.pages)
	need := c.pagesFor(n) - hits
	if need+revived > c.pool.available() {
		return c.full(operation, need+revived)
	}
	for _, p := range s.pages {
		c.pool.refer(p)
	}
	for i := hits; i < hits+need; i++ {
		p := c.take()
		s.pages = append(s.pages, p)
		if fresh != nil {
			if err := fresh(i, p); err != nil {
				c.drop(s)
				return err
			}
		}
		c.put(s, p, part(i), min(c.config.PageSize, n-i*c.config.PageSize))
	}
	s.length, s.reused = n, hits*c.config.PageSize
	if s.known {
		c.hits += uint64(hits)
		c.misses += uint64(full - hits)
	}
	return nil
}

// put writes n tokens into a page of a sequence; tokens is empty where they are not known. A page that is full then is
// entered in the index.
func (c *Cache) put(s *sequence, n int32, tokens []int32, count int) {
	g := &c.pool.pages[n]
	if s.known {
		g.room(c.config.PageSize)
		g.tokens = append(g.tokens[:g.fill], tokens...)
	}
	c.pool.grow(n, count)
	if s.known && int(g.fill) == c.config.PageSize {
		c.complete(s, n)
	}
}

// complete enters a full page in the index, unless another page has the same contents: then this one is as good, but that
// one is found.
func (c *Cache) complete(s *sequence, n int32) {
	if twin := c.index.find(c.pool.pages, s.content, c.pool.pages[n].tokens); twin != none {
		s.content = c.pool.pages[twin].content
		return
	}
	c.index.add(c.pool.pages, n, s.content)
	s.content = c.pool.pages[n].content
}

// take gives a page that was checked to be available.
func (c *Cache) take() int32 {
	n, ok := c.pool.take(func(n int32) { c.index.remove(c.pool.pages, n) })
	if !ok {
		panic("kvcache: a page was promised that is not there")
	}
	return n
}

// allowed checks a sequence's length after n more tokens.
func (c *Cache) allowed(operation string, length, n int) error {
	most := c.config.MaxTokens
	if most > 0 && (n > most || length > most-n) {
		return fail("end it, or raise Config.MaxTokens", "kvcache: %s: a sequence of %d and %d more tokens, at most %d are allowed", operation, length, n, most)
	}
	return nil
}

// Append adds one token to a sequence and says where its K and V go. A page that is shared with a fork is not written: the
// sequence gets a copy of its own, and Slot.CopyFrom says of which.
func (c *Cache) Append(id int, token int32) (Slot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.resident("Append", id)
	if err != nil {
		return Slot{}, err
	}
	slot, err := c.open("Append", s, 1)
	if err != nil {
		return Slot{}, err
	}
	n := int32(slot.Page)
	g := &c.pool.pages[n]
	if s.known { // put for one token, without a slice of it
		g.room(c.config.PageSize)
		g.tokens = append(g.tokens[:g.fill], token)
	}
	c.pool.grow(n, 1)
	s.length++
	if s.known && int(g.fill) == c.config.PageSize {
		c.complete(s, n)
	}
	return slot, nil
}

// Extend adds several tokens to a sequence, all or none, and gives the slot of the first; Slots has the others.
func (c *Cache) Extend(id int, tokens []int32) (Slot, error) {
	return c.extend("Extend", id, len(tokens), tokens)
}

// Grow adds n tokens to a sequence without saying which: its pages from there on cannot be found by contents, so nobody
// shares them except forks.
func (c *Cache) Grow(id, n int) (Slot, error) { return c.extend("Grow", id, n, nil) }

func (c *Cache) extend(operation string, id, n int, tokens []int32) (Slot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.resident(operation, id)
	if err != nil {
		return Slot{}, err
	}
	if n <= 0 {
		return Slot{}, fail("give at least one", "kvcache: %s: %d tokens", operation, n)
	}
	first, err := c.open(operation, s, n)
	if err != nil {
		return Slot{}, err
	}
	s.known = s.known && tokens != nil
	for n > 0 {
		at := s.length % c.config.PageSize
		if at == 0 && s.length/c.config.PageSize == len(s.pages) {
			s.pages = append(s.pages, c.take())
		}
		count := min(n, c.config.PageSize-at)
		var part []int32
		if s.known {
			part, tokens = tokens[:count], tokens[count:]
		}
		c.put(s, s.pages[len(s.pages)-1], part, count)
		s.length += count
		n -= count
	}
	return first, nil
}

// open makes room for n more tokens of a sequence: it checks that there are pages for all and gives the slot of the first,
// in a page that is the sequence's own.
func (c *Cache) open(operation string, s *sequence, n int) (Slot, error) {
	if err := c.allowed(operation, s.length, n); err != nil {
		return Slot{}, err
	}
	size := c.config.PageSize
	at := s.length - (len(s.pages)-1)*size // in the last page; size where it is full
	copied := false
	need := 0
	if len(s.pages) == 0 {
		at = size
	} else if at < size {
		copied = c.pool.pages[s.pages[len(s.pages)-1]].refs > 1
	}
	if copied {
		need++
	}
	if n > size-at {
		rest := n - (size - at)
		need += rest / size
		if rest%size > 0 {
			need++
		}
	}
	if need > c.pool.available() {
		return Slot{}, c.full(operation, need)
	}
	switch {
	case at == size:
		p := c.take()
		s.pages = append(s.pages, p)
		return Slot{Page: int(p), CopyFrom: none}, nil
	case copied:
		shared := s.pages[len(s.pages)-1]
		return Slot{Page: int(c.separate(s)), Offset: at, CopyFrom: int(shared)}, nil
	}
	return Slot{Page: int(s.pages[len(s.pages)-1]), Offset: at, CopyFrom: none}, nil
}

// separate gives a sequence a copy of its last page, which it shares, and leaves the shared one to the others.
func (c *Cache) separate(s *sequence) int32 {
	last := len(s.pages) - 1
	shared := s.pages[last]
	own := c.take()
	from, to := &c.pool.pages[shared], &c.pool.pages[own]
	if s.known {
		to.room(c.config.PageSize)
		to.tokens = append(to.tokens[:0], from.tokens[:from.fill]...)
	}
	c.pool.grow(own, int(from.fill))
	c.pool.release(shared)
	s.pages[last] = own
	c.copies++
	return own
}

// Fork begins a sequence with the tokens of another and all of its pages. Of the two, the one that goes on first gets a
// copy of the last page, when that is not full.
func (c *Cache) Fork(id int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.resident("Fork", id)
	if err != nil {
		return 0, err
	}
	f := c.newSequence()
	f.pages = append(f.pages, s.pages...)
	f.length, f.known, f.content, f.reused = s.length, s.known, s.content, s.length
	for _, p := range f.pages {
		c.pool.refer(p)
	}
	return c.enter(f), nil
}

// Free ends a sequence. Its pages go back, except those that others have; full ones keep their contents until they are
// needed, so that the same beginning is found again.
func (c *Cache) Free(id int) error { return c.end("Free", id, true) }

// Discard ends a sequence whose K and V were not all written, after a failure: as Free, but none of the contents that
// only it has can be found again.
func (c *Cache) Discard(id int) error { return c.end("Discard", id, false) }

func (c *Cache) end(operation string, id int, keep bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.find(operation, id)
	if err != nil {
		return err
	}
	if s.swapped {
		c.host.giveBack(s.pages)
	} else {
		if !keep {
			for _, p := range s.pages {
				if g := &c.pool.pages[p]; g.refs == 1 && g.indexed {
					c.index.remove(c.pool.pages, p)
				}
			}
		}
		c.drop(s)
	}
	delete(c.sequences, id)
	c.recycle(s)
	return nil
}

// drop gives up the pages of a sequence, the last first: of what is kept, the beginning shall stay longest, because without
// it the rest is not found.
func (c *Cache) drop(s *sequence) {
	for i := len(s.pages) - 1; i >= 0; i-- {
		c.pool.release(s.pages[i])
	}
	s.pages = s.pages[:0]
}

// newSequence is an empty sequence, with the memory of one that ended.
func (c *Cache) newSequence() *sequence {
	if n := len(c.spare); n > 0 {
		s := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return s
	}
	return &sequence{}
}

func (c *Cache) recycle(s *sequence) {
	*s = sequence{pages: s.pages[:0]}
	c.spare = append(c.spare, s)
}

// enter gives a sequence its number.
func (c *Cache) enter(s *sequence) int {
	id := c.next
	c.next++
	c.sequences[id] = s
	return id
}
