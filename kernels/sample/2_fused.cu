// sample/2_fused: draws a token from each row of logits, by temperature, top-k, top-p and min-p, one launch.
//
// Predecessor: 1_separate starts four CUDA kernels and looks up each row's largest logit four times.
// Idea: one CTA a row does all of it; what stays is a number in a register.
// Expect: one launch; the row is read three times less: for three of the four lookups.
// A profiler should show: a CTA a row that waits for L2; with few rows most SMs idle, which costs less than three launches.
//
// The Go loop: 1_separate's.

#include "sample.cuh"

extern "C" __global__ void __launch_bounds__(512, 2) sample_fused(int *__restrict__ token, const float *__restrict__ logits,
                                                               const int *__restrict__ seeds, const int *__restrict__ positions, int columns,
                                                               float temperature, int k, float p, float least_share) {
  Row row = look(logits + static_cast<size_t>(blockIdx.x) * columns, columns, temperature);
  unsigned least = min_p(row, top_p(row, top_k(row, k), p), least_share);
  int found = draw(row, least, philox(seeds[blockIdx.x], positions[blockIdx.x]));
  if (threadIdx.x == 0) token[blockIdx.x] = found;
}
