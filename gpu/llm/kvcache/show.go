package kvcache

import "memwall/gpu/card"

// Show is the page map: which pages are shared, full, part filled and free, what is wasted and what sharing saves.
func (c *Cache) Show() card.Card {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.stats()
	m := &card.PageMap{PageTokens: c.config.PageSize, PageBytes: c.config.PageBytes(), Total: stats.Pages, Tokens: stats.Tokens, Saved: stats.Saved,
		Reserve: c.config.MaxTokens, HostUsed: stats.HostUsed, HostTotal: stats.HostPages, Pages: make([]card.Page, len(c.pool.pages))}
	if c.dev != nil {
		m.Device, m.Virtual, m.Profile = c.dev.Name(), c.dev.Virtual(), c.dev.Profile()
	}
	for i := range c.pool.pages {
		switch p := &c.pool.pages[i]; {
		case p.refs > 1:
			m.Pages[i].Kind = card.PageShared
		case p.refs == 1 && int(p.fill) == c.config.PageSize:
			m.Pages[i].Kind = card.PageOwn
		case p.refs == 1:
			m.Pages[i].Kind = card.PagePart
		case p.indexed:
			m.Pages[i].Kind = card.PageKept
		}
	}
	for _, s := range c.describeAll() {
		m.Sequences = append(m.Sequences, card.PageSequence{Name: s.Name, Tokens: s.Tokens, Pages: s.Pages, Shared: s.Shared, Last: s.Last, Out: s.Out})
		if s.Out {
			continue
		}
		for _, p := range c.sequences[s.ID].pages {
			if k := m.Pages[p].Kind; k == card.PageOwn || k == card.PagePart {
				m.Pages[p].Owner = s.Name
			}
		}
	}
	return card.Pages(m)
}

// MIMEBundle shows the page map.
func (c *Cache) MIMEBundle() map[string]any { return c.Show().MIMEBundle() }

// String is the page map as text.
func (c *Cache) String() string { return c.Show().Text }
