// sample/1_separate: draws a token from each row of logits, by temperature, top-k, top-p and min-p, four launches.
//
// Predecessor: none; each filter is a CUDA kernel of its own, as samplers are put together from parts.
// Idea: a filter gives the smallest logit that stays, as a number; the next one takes it from memory. Nothing is sorted: four
//   rounds over a row fix a byte of that number each.
// Expect: four launches; the largest logit of a row is looked up in each of them.
// A profiler should show: four launches of a CTA a row, each waiting for L2.
//
// The Go loop: least := kth(x, k); least = nucleus(x, least, p); least = max(least, top + T*ln(minp)); token = draw(x, least, philox(seed, pos))

#include "sample.cuh"

extern "C" __global__ void __launch_bounds__(512) sample_top_k(unsigned *__restrict__ least, const float *__restrict__ logits, int columns, int k) {
  Row row = look(logits + static_cast<size_t>(blockIdx.x) * columns, columns, 1);
  unsigned found = top_k(row, k);
  if (threadIdx.x == 0) least[blockIdx.x] = found;
}

extern "C" __global__ void __launch_bounds__(512) sample_top_p(unsigned *__restrict__ least, const unsigned *__restrict__ before,
                                                               const float *__restrict__ logits, int columns, float temperature, float p) {
  Row row = look(logits + static_cast<size_t>(blockIdx.x) * columns, columns, temperature);
  unsigned found = top_p(row, before[blockIdx.x], p);
  if (threadIdx.x == 0) least[blockIdx.x] = found;
}

extern "C" __global__ void __launch_bounds__(512) sample_min_p(unsigned *__restrict__ least, const unsigned *__restrict__ before,
                                                               const float *__restrict__ logits, int columns, float temperature, float p) {
  Row row = look(logits + static_cast<size_t>(blockIdx.x) * columns, columns, temperature);
  if (threadIdx.x == 0) least[blockIdx.x] = min_p(row, before[blockIdx.x], p);
}

extern "C" __global__ void __launch_bounds__(512) sample_draw(int *__restrict__ token, const unsigned *__restrict__ least,
                                                              const float *__restrict__ logits, const int *__restrict__ seeds,
                                                              const int *__restrict__ positions, int columns, float temperature) {
  Row row = look(logits + static_cast<size_t>(blockIdx.x) * columns, columns, temperature);
  int found = draw(row, least[blockIdx.x], philox(seeds[blockIdx.x], positions[blockIdx.x]));
  if (threadIdx.x == 0) token[blockIdx.x] = found;
}
