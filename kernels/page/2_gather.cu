// page/2_gather: collects pages of a KV cache, out[i] = pages[list[i]]: what goes to the host in one transfer.
//
// Predecessor: none; pages of a sequence lie anywhere, and a transfer to the host for each would cost microseconds a page.
// Idea: one launch collects them into memory without gaps; a CTA takes 16 KiB of a page, 16 bytes a lane.
// Expect: each page read and written once, 16 sectors a request, the ideal.
// A profiler should show: half of the DRAM roof each way, and then one long transfer.
//
// The Go loop: for i { copy(out[i], pages[list[i]]) }

#include "pages.cuh"

extern "C" __global__ void __launch_bounds__(256) page_gather(unsigned char *__restrict__ out, const unsigned char *__restrict__ pages,
                                                              const int *__restrict__ list, int bytes) {
  copy_slice(out + static_cast<size_t>(blockIdx.x) * bytes, pages + static_cast<size_t>(list[blockIdx.x]) * bytes, bytes);
}
