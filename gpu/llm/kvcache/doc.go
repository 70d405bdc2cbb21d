// Package kvcache is the allocator of a paged KV cache, as PagedAttention has it (Kwon et al., "Efficient Memory Management
// for Large Language Model Serving with PagedAttention", 2023): device memory is cut into pages of a fixed number of tokens,
// and each sequence has a block table, the list of its pages in order. So a sequence takes pages as it grows and needs no
// room reserved for the longest answer, and what is wasted is at most the rest of its last page.
//
//	cache := kvcache.New(dev, kvcache.Config{Pages: 96, PageSize: 16})
//	a := cache.Add(prompt)          // a sequence; full pages of the same beginning are shared with those that have them
//	slot := cache.Append(a, token)  // where its K and V go
//	b := cache.Fork(a)              // the same tokens, no page more; the first to write a shared page gets a copy
//	cache.Free(a)
//	cache.Show()
//
// Pages are counted by references. A full page is found again by its contents: its tokens, and those of all pages before it.
// What nobody refers to any more but may be asked for again stays until its page is needed; the least recently used goes
// first. A sequence can be swapped out to host memory and back.
//
// The allocator moves numbers, not keys and values: the CUDA kernels write and read K and V through the tensors that
// BlockTable, Lengths and Slots make. All methods may be called from any goroutine; a cache has one lock.
package kvcache
