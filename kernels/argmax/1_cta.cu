// argmax/1_cta: index[r] = where the largest element of row r of x stands first, f32, a CTA a row; -1 for a row of NaN alone.
//
// Predecessor: none; greedy decoding's last step.
// Idea: 256 threads walk along a row; value and index travel as one 64-bit number, whose maximum settles ties as well.
// Expect: the row is read once, 4 sectors a request, the ideal; one CTA a row, so a single row uses a single SM.
// A profiler should show: one SM busy, 131 idle, when there is one row of logits.
//
// The Go loop: for r { best := -1; for c { if x[r][c] == x[r][c] && (best < 0 || x[r][c] > x[r][best]) { best = c } }; index[r] = best }

#include "argmax.cuh"

extern "C" __global__ void __launch_bounds__(256) argmax_cta(int *__restrict__ index, const float *__restrict__ x, int columns) {
  const float *row = x + static_cast<size_t>(blockIdx.x) * columns;
  unsigned long long best = 0;
#pragma unroll 4
  for (int c = threadIdx.x; c < columns; c += 256) best = max(best, ranked(row[c], c));
  best = cta_best(best);
  if (threadIdx.x == 0) index[blockIdx.x] = place(best);
}
