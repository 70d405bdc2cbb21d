// argmax/2_split: index[r] = where the largest element of row r of x stands first, f32, several CTAs a row; -1 for NaN alone.
//
// Predecessor: 1_cta reads a row by one SM, which gets a small part of the bandwidth.
// Idea: CTAs take stretches of 4,096 elements each; a second launch joins what they found, a warp a row.
// Expect: as many CTAs as stretches; the same bytes, and 8 for each stretch written and read again.
// A profiler should show: a row of 128,000 logits spread over 32 SMs in place of one.
//
// The Go loop: 1_cta's for each stretch, and for their results.

#include "argmax.cuh"

constexpr int stretch = 4096;

extern "C" __global__ void __launch_bounds__(256) argmax_stretch(unsigned long long *__restrict__ part, const float *__restrict__ x, int columns) {
  const float *row = x + static_cast<size_t>(blockIdx.y) * columns;
  int begin = blockIdx.x * stretch, end = min(columns, begin + stretch);
  unsigned long long best = 0;
#pragma unroll 4
  for (int c = begin + threadIdx.x; c < end; c += 256) best = max(best, ranked(row[c], c));
  best = cta_best(best);
  if (threadIdx.x == 0) part[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = best;
}

extern "C" __global__ void __launch_bounds__(32) argmax_join(int *__restrict__ index, const unsigned long long *__restrict__ part, int parts) {
  unsigned long long best = 0;
  for (int i = threadIdx.x; i < parts; i += 32) best = max(best, part[static_cast<size_t>(blockIdx.x) * parts + i]);
  for (int lanes = 16; lanes > 0; lanes /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, lanes));
  if (threadIdx.x == 0) index[blockIdx.x] = place(best);
}
