// softmax/2_warp: y[r,c] = exp(x[r,c] - max of row r) / sum of the same over the row, f32, a warp a row.
//
// Predecessor: 1_naive's lanes walk along 32 rows at once, so each 4-byte access costs a 32-byte sector.
// Idea: the 32 lanes stand side by side on one row; maximum and sum go through five shuffles each.
// Expect: 4 sectors a request, the ideal, in place of 32; requests as before: three reads and one write an element.
// A profiler should show: DRAM throughput several times 1_naive's; the second and third read hit L1 while rows are short.
//
// The Go loop: 1_naive's, lane l taking the columns c with c%32 == l.

extern "C" __global__ void __launch_bounds__(128) softmax_warp(float *__restrict__ y, const float *__restrict__ x, int rows,
                                                              int columns) {
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
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  float scale = sum == 0 ? 0 : 1 / sum;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) out[c] = __expf(in[c] - top) * scale;
}
