package kvcache

import (
	"math"

	"memwall/gpu"
)

// layer is the pages of one layer, made when they are first asked for.
type layer struct{ keys, values *gpu.Tensor }

// tensors is the store of a cache on a device: the pages that were made so far.
type tensors struct{ c *Cache }

// all are the tensors that exist, in a fixed order: keys and values of layer 0, 1 …
func (t tensors) all() []*gpu.Tensor {
	var found []*gpu.Tensor
	for _, l := range t.c.layers {
		found = append(found, l.keys, l.values)
	}
	return found
}

func (t tensors) out(page int32, to *hostPage) (err error) {
	defer caught(&err)
	to.data = nil
	for _, x := range t.all() {
		var data []byte
		if x != nil {
			data = x.Slice(int(page), int(page)+1).Buffer().CopyOut()
		}
		to.data = append(to.data, data)
	}
	return nil
}

func (t tensors) in(from *hostPage, page int32) (err error) {
	defer caught(&err)
	for i, x := range t.all() {
		if x == nil || i >= len(from.data) || from.data[i] == nil {
			continue // made after the page went out: nothing of it was ever there
		}
		if err := x.Slice(int(page), int(page)+1).Buffer().CopyIn(from.data[i]); err != nil {
			return err
		}
	}
	return nil
}

// caught turns the panic of a failed copy into an error.
func caught(err *error) {
	switch e := recover().(type) {
	case nil:
	case *gpu.Error:
		*err = e
	default:
		panic(e)
	}
}

// Keys is the pages of K of a layer, [pages, pageSize, KVHeads, HeadDim], made at the first call.
func (c *Cache) Keys(layer int) (*gpu.Tensor, error) {
	l, err := c.layer("Keys", layer)
	return l.keys, err
}

// Values is the pages of V of a layer, shaped as Keys.
func (c *Cache) Values(layer int) (*gpu.Tensor, error) {
	l, err := c.layer("Values", layer)
	return l.values, err
}

func (c *Cache) layer(operation string, n int) (l layer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer caught(&err)
	g := c.config
	switch {
	case c.dev == nil:
		return l, c.noDevice(operation)
	case !g.stored():
		return l, fail("give Layers, KVHeads and HeadDim in the Config", "kvcache: %s: this cache only counts pages: it does not know what a token takes", operation)
	case n < 0 || n >= g.Layers:
		return l, fail("layers count from 0", "kvcache: %s: layer %d of %d", operation, n, g.Layers)
	}
	if c.layers == nil {
		c.layers = make([]layer, g.Layers)
		c.store = tensors{c}
	}
	if at := &c.layers[n]; at.values == nil {
		at.keys = c.dev.Zeros(g.dtype(), g.Pages, g.PageSize, g.KVHeads, g.HeadDim)
		at.values = c.dev.Zeros(g.dtype(), g.Pages, g.PageSize, g.KVHeads, g.HeadDim)
	}
	return c.layers[n], nil
}

func (c *Cache) noDevice(operation string) error {
	return fail("make it with a device: kvcache.New(dev, …)", "kvcache: %s: this cache has no device", operation)
}

// BlockTable is the pages of sequences as paged kernels take them: int32 [sequences, most pages of one, at least 1]; what a
// sequence does not have is −1. The tensor is a copy: make it again after sequences changed.
func (c *Cache) BlockTable(ids ...int) (*gpu.Tensor, error) {
	return c.table("BlockTable", ids, func(all []*sequence) ([]int32, []int) {
		width := 1
		for _, s := range all {
			width = max(width, len(s.pages))
		}
		values := make([]int32, 0, len(all)*width)
		for _, s := range all {
			values = append(values, s.pages...)
			for range width - len(s.pages) {
				values = append(values, none)
			}
		}
		return values, []int{len(all), width}
	})
}

// Lengths is the tokens of sequences, int32 [sequences].
func (c *Cache) Lengths(ids ...int) (*gpu.Tensor, error) {
	return c.table("Lengths", ids, func(all []*sequence) ([]int32, []int) {
		var values []int32
		for _, s := range all {
			values = append(values, int32(s.length))
		}
		return values, []int{len(all)}
	})
}

// LastSlots is the rows of the last token of sequences, int32 [sequences]: where a decode step writes K and V.
func (c *Cache) LastSlots(ids ...int) (*gpu.Tensor, error) {
	return c.table("LastSlots", ids, func(all []*sequence) ([]int32, []int) {
		var values []int32
		for _, s := range all {
			values = append(values, c.row(s, s.length-1))
		}
		return values, []int{len(all)}
	})
}

// Slots is the rows of the tokens of a sequence from one on, int32 [tokens − from]: where a prefill writes K and V. A row
// is page·pageSize + offset.
func (c *Cache) Slots(id, from int) (*gpu.Tensor, error) {
	var bad error
	t, err := c.table("Slots", []int{id}, func(all []*sequence) ([]int32, []int) {
		s := all[0]
		if from < 0 || from >= s.length {
			bad = fail("", "kvcache: Slots: from token %d of sequence %d (%s), which has %d", from, id, Letter(id), s.length)
			return nil, nil
		}
		values := make([]int32, 0, s.length-from)
		for i := from; i < s.length; i++ {
			values = append(values, c.row(s, i))
		}
		return values, []int{len(values)}
	})
	if bad != nil {
		return nil, bad
	}
	return t, err
}

// row is where a token of a sequence lies, −1 where there is none.
func (c *Cache) row(s *sequence, token int) int32 {
	if token < 0 {
		return none
	}
	return s.pages[token/c.config.PageSize]*int32(c.config.PageSize) + int32(token%c.config.PageSize)
}

// table makes an int32 tensor from sequences that are on the device; nil values make none.
func (c *Cache) table(operation string, ids []int, make func([]*sequence) ([]int32, []int)) (t *gpu.Tensor, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer caught(&err)
	if c.dev == nil {
		return nil, c.noDevice(operation)
	}
	if len(ids) == 0 {
		return nil, fail("give their numbers: cache."+operation+"(a, b)", "kvcache: %s of no sequence", operation)
	}
	var all []*sequence
	for _, id := range ids {
		s, err := c.resident(operation, id)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	values, shape := make(all)
	if values == nil {
		return nil, nil
	}
	if len(values) > math.MaxInt32 {
		return nil, fail("give fewer sequences at a time", "kvcache: %s: %d entries", operation, len(values))
	}
	return c.dev.From(values, shape...), nil
}
