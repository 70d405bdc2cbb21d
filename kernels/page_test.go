package kernels

import (
	"testing"

	"memwall/gpu"
)

// TestPageHeaders holds what the headers of the sources expect of the counters, and embed's.
func TestPageHeaders(t *testing.T) {
	h := headers{open(t, "virtual:h200")}
	pages, staging := h.dev.Randn(gpu.F16, 8, 16, 4, 64), h.dev.Zeros(gpu.F16, 2, 16, 4, 64)
	const bytes = 2 * 2 * 16 * 4 * 64 // of two pages
	for name, args := range map[string][]any{
		"page/1_copy":    {pages, h.dev.From([]int{0, 1, 3, 2}, 2, 2)},
		"page/2_gather":  {staging, pages, h.dev.From([]int{7, 1})},
		"page/3_scatter": {pages, staging, h.dev.From([]int{7, 1})},
	} {
		c := h.count(t, name, args...)
		near(t, name+": written once", float64(c.GlobalStore.Bytes), bytes)
		near(t, name+": 16 sectors a store", ratio(c.GlobalStore.Sectors, c.GlobalStore.Requests), 16)
	}
	y, table, tokens := h.dev.Zeros(gpu.F16, 4, 2048), h.dev.Randn(gpu.F16, 10, 2048), h.dev.From([]int{9, 0, 3, 3})
	naive, vec := h.count(t, "embed/1_naive", y, table, tokens), h.count(t, "embed/2_vec16", y, table, tokens)
	near(t, "embed/1_naive: 2 sectors a store", ratio(naive.GlobalStore.Sectors, naive.GlobalStore.Requests), 2)
	near(t, "embed/2_vec16: an eighth of the stores", ratio(vec.GlobalStore.Requests, naive.GlobalStore.Requests), 1.0/8)
	near(t, "embed/2_vec16: the same bytes", ratio(vec.GlobalStore.Bytes, naive.GlobalStore.Bytes), 1)
}

// TestCacheRefusals: indices that the device would only meet as wild addresses or races are named before the launch.
func TestCacheRefusals(t *testing.T) {
	dev := open(t, "virtual:h200")
	ints := func(values ...int) *gpu.Tensor { return dev.From(values) }
	pages := dev.Zeros(gpu.F16, 4, 2, 1, 8)
	q, k := dev.Zeros(gpu.F16, 2, 1, 8), dev.Zeros(gpu.F16, 2, 1, 8)
	other := dev.Zeros(gpu.F16, 4, 2, 1, 8)
	frequencies := dev.Zeros(gpu.F32, 4)
	add := func(slots *gpu.Tensor, frequencies *gpu.Tensor) error {
		return Run("append", q, pages, other, k, dev.Zeros(gpu.F16, 2, 1, 8), slots, ints(0, 1), frequencies, 1.0, false)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{add(ints(0, 8), frequencies), "append/2_fused: slots[1] = 8, the pages have 8 rows\na slot is page·pageSize + offset: cache.Slots or cache.LastSlots gives them"},
		{add(ints(3, 3), frequencies), "append/2_fused: slots[0] and slots[1] are both 3: two tokens in one place\ngive each token a slot of its own, or −1 to leave it out"},
		{add(ints(0, 1), dev.Zeros(gpu.F32, 5)), "append/2_fused: a table of 5 frequencies turns 10 elements, a head has D = 8\ngive a frequency for each pair: kernels.RoPE{Base: …, Dim: D}.Frequencies()"},
		{add(ints(0, -1), frequencies), ""},
		{Run("page/1_copy", pages, dev.From([]int{0, 4}, 1, 2)), "page/1_copy: pairs[0] = 0 → 4, there are 4 pages\ngive pairs of pages, from and to"},
		{Run("page/1_copy", pages, dev.From([]int{0, 2, 1, 2}, 2, 2)), "page/1_copy: pairs[0] and pairs[1] both write page 2\ngive each target once"},
		{Run("page/1_copy", pages, dev.From([]int{0, 2, 2, 1}, 2, 2)), "page/1_copy: pairs[0] writes page 2, which pairs[1] reads, and they run in any order\ncopy them in two calls"},
		{Run("page/2_gather", dev.Zeros(gpu.F16, 1, 2, 1, 8), pages, ints(-1)), "page/2_gather: list[0] = -1, there are 4 pages\ngive numbers of pages: cache.Pages(id)"},
		{Run("page/3_scatter", pages, dev.Zeros(gpu.F16, 2, 2, 1, 8), ints(1, 1)), "page/3_scatter: list[0] and list[1] both name page 1\ngive each page once"},
		{Run("embed", dev.Zeros(gpu.F16, 1, 8), dev.Zeros(gpu.F16, 5, 8), ints(5)), "embed/2_vec16: tokens[0] = 5, the table has 5 rows\ngive tokens of the model's vocabulary"},
	} {
		if c.want == "" && c.err == nil {
			continue
		}
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v\nwant %s", c.err, c.want)
		}
	}
}
