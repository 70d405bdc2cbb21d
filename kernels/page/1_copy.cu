// page/1_copy: copies pages of a KV cache, pages[pairs[i][1]] = pages[pairs[i][0]]: copy-on-write.
//
// Predecessor: none; a copy for each page from the host would be a launch each.
// Idea: a list of pairs, from and to, in one launch; a CTA takes 16 KiB of a page, 16 bytes a lane, four loads in flight.
// Expect: each page read and written once, 16 sectors a request, the ideal. No page may be both a source and a target: CTAs
//   run in any order.
// A profiler should show: half of the DRAM roof each way.
//
// The Go loop: for i { copy(pages[pairs[i][1]], pages[pairs[i][0]]) }

#include "pages.cuh"

extern "C" __global__ void __launch_bounds__(256) page_copy(unsigned char *__restrict__ pages, const int *__restrict__ pairs, int bytes) {
  const unsigned char *from = pages + static_cast<size_t>(pairs[2 * blockIdx.x]) * bytes;
  unsigned char *to = pages + static_cast<size_t>(pairs[2 * blockIdx.x + 1]) * bytes;
  copy_slice(to, from, bytes);
}
