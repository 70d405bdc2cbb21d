// rmsnorm/2_warp: y[r,c] = x[r,c] * w[c] / sqrt(mean over the row of x*x + eps), in f32, a warp a row.
//
// Predecessor: 1_naive's lanes walk along 32 rows at once, so each element costs a 32-byte sector.
// Idea: the 32 lanes stand side by side on one row; the sum goes through five shuffles.
// Expect: 2 sectors a request, the ideal, in place of 32 for x; requests as before: three reads and one write an element;
//   32 times as many warps.
// A profiler should show: DRAM throughput several times 1_naive's; the second read hits L1 while rows are short.
//
// The Go loop: 1_naive's, lane l taking the columns c with c%32 == l.

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void norm(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, int rows, int columns,
                                            float eps) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T *in = x + static_cast<size_t>(row) * columns;
  T *out = y + static_cast<size_t>(row) * columns;
  float sum = 0;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) {
    float v = to_float(in[c]);
    sum = fmaf(v, v, sum);
  }
  sum = warp_sum(sum);
  float scale = rsqrtf(sum / static_cast<float>(columns) + eps);
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) store(out + c, to_float(in[c]) * scale * to_float(w[c]));
}

#define ENTRY(name, T)                                                                                          \
  extern "C" __global__ void __launch_bounds__(128) name(T *__restrict__ y, const T *__restrict__ x,            \
                                                         const T *__restrict__ w, int rows, int columns, float eps) { \
    norm(y, x, w, rows, columns, eps);                                                                          \
  }
ENTRY(rmsnorm_warp, __half)
ENTRY(rmsnorm_warp_bf16, __nv_bfloat16)
ENTRY(rmsnorm_warp_f32, float)
