// page/3_scatter: puts pages into a KV cache, pages[list[i]] = in[i]: what came from the host in one transfer.
//
// Predecessor: none; the way back of 2_gather.
// Idea: one launch distributes memory without gaps to the pages that a sequence got; a CTA takes 16 KiB, 16 bytes a lane.
// Expect: each page read and written once, 16 sectors a request, the ideal. No page may stand twice in the list.
// A profiler should show: half of the DRAM roof each way.
//
// The Go loop: for i { copy(pages[list[i]], in[i]) }

#include "pages.cuh"

extern "C" __global__ void __launch_bounds__(256) page_scatter(unsigned char *__restrict__ pages, const unsigned char *__restrict__ in,
                                                               const int *__restrict__ list, int bytes) {
  copy_slice(pages + static_cast<size_t>(list[blockIdx.x]) * bytes, in + static_cast<size_t>(blockIdx.x) * bytes, bytes);
}
