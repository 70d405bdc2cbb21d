// logsoftmax/1_warp: y[r,c] = x[r,c] - log of the sum over the row of exp(x), f32, a warp a row.
//
// Predecessor: none; softmax/2_warp with a logarithm.
// Idea: the maximum is taken away before the exponential, so that nothing overflows; three passes over the row.
// Expect: three reads and one write an element, 4 sectors a request, the ideal.
// A profiler should show: a warp that walks along 128,000 logits: latency, not bandwidth, while rows are few.
//
// The Go loop: for r { m := max(x[r]); s := 0; for c { s += exp(x[r][c]-m) }; for c { y[r][c] = x[r][c] - m - log(s) } }
// A row of -inf alone gives -inf; a NaN makes its row NaN.

#include "element.cuh"

extern "C" __global__ void __launch_bounds__(128) logsoftmax_warp(float *__restrict__ y, const float *__restrict__ x, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float *in = x + static_cast<size_t>(row) * columns;
  float *out = y + static_cast<size_t>(row) * columns;
  const float inf = __int_as_float(0x7f800000);
  float top = -inf;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) top = fmaxf(top, in[c]);
  for (int lanes = 16; lanes > 0; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, lanes));
  if (top == -inf) top = 0;  // -inf - -inf would be NaN
  float sum = 0;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) sum += __expf(in[c] - top);
  float rest = logf(warp_sum(sum));
  if (rest == -inf) rest = 0;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) out[c] = in[c] - top - rest;
}
