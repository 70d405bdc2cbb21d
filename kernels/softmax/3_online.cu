// softmax/3_online: y[r,c] = exp(x[r,c] - max of row r) / sum of the same over the row, f32, maximum and sum in one pass.
//
// Predecessor: 2_warp reads every element three times: for the maximum, for the sum, for the result.
// Idea: keep a running maximum and the sum relative to it; when the maximum rises from m to m', scale the sum by
//   exp(m - m'). Two such pairs merge by the same rule, so the warp's lanes merge theirs with shuffles. FlashAttention rests on it.
// Expect: two reads and one write an element in place of three and one: load requests fall to two thirds;
//   4 sectors a request as before; one exponential more an element.
// A profiler should show: L2 and DRAM reads down to two thirds where rows do not stay in L1.
//
// The Go loop: m, s := -inf, 0; for c { n := max(m, x[c]); s = s*exp(m-n) + exp(x[c]-n); m = n }; for c { y[c] = exp(x[c]-m) / s }

// rescale is exp(from - to), where -inf (nothing seen yet) counts nothing.
static __device__ __forceinline__ float rescale(float from, float to) {
  return from == __int_as_float(0xff800000) ? 0 : __expf(from - to);
}

extern "C" __global__ void __launch_bounds__(128) softmax_online(float *__restrict__ y, const float *__restrict__ x, int rows,
                                                                int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float *in = x + static_cast<size_t>(row) * columns;
  float *out = y + static_cast<size_t>(row) * columns;
  const float inf = __int_as_float(0x7f800000);
  float top = -inf, sum = 0;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) {
    float v = in[c];
    float next = fmaxf(top, v);
    sum = sum * rescale(top, next) + rescale(v, next);
    top = next;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, top, lanes), others = __shfl_xor_sync(0xffffffffu, sum, lanes);
    float next = fmaxf(top, other);
    sum = sum * rescale(top, next) + others * rescale(other, next);
    top = next;
  }
  if (top == -inf) top = 0;  // -inf - -inf would be NaN
  float scale = sum == 0 ? 0 : 1 / sum;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) out[c] = __expf(in[c] - top) * scale;
}
