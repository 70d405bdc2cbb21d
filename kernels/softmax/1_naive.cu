// softmax/1_naive: y[r,c] = exp(x[r,c] - max of row r) / sum of the same over the row, f32, a thread a row.
//
// Predecessor: none; three loops over a row: maximum, sum, result.
// Idea: a thread owns a row, so no thread needs another.
// Expect: lanes stand 4*columns bytes apart, so a request touches 32 sectors where 4 would do (8 times the ideal);
//   three reads and one write an element.
// A profiler should show: sectors a request 32, few warps, long scoreboard stalls.
//
// The Go loop: for r { m := max(x[r]); s := 0; for c { s += exp(x[r][c]-m) }; for c { y[r][c] = exp(x[r][c]-m) / s } }
// A row of -inf alone gives zeros (attention needs that of a row that is masked throughout); a NaN makes its row NaN.

extern "C" __global__ void __launch_bounds__(128) softmax_naive(float *__restrict__ y, const float *__restrict__ x, int rows,
                                                               int columns) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float *in = x + static_cast<size_t>(row) * columns;
  float *out = y + static_cast<size_t>(row) * columns;
  const float inf = __int_as_float(0x7f800000);
  float top = -inf;
#pragma unroll 1
  for (int c = 0; c < columns; c++) top = fmaxf(top, in[c]);
  if (top == -inf) top = 0;  // -inf - -inf would be NaN
  float sum = 0;
#pragma unroll 1
  for (int c = 0; c < columns; c++) sum += __expf(in[c] - top);
  float scale = sum == 0 ? 0 : 1 / sum;
#pragma unroll 1
  for (int c = 0; c < columns; c++) out[c] = __expf(in[c] - top) * scale;
}
