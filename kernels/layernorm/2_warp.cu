// layernorm/2_warp: y[r,c] = (x[r,c] - mean) * w[c] / sqrt(variance + eps) + b[c] over each row, in f32, a warp a row.
//
// Predecessor: 1_naive's lanes walk along 32 rows at once, so each element costs a 32-byte sector.
// Idea: the 32 lanes stand side by side on one row; mean and variance go through five shuffles each.
// Expect: 2 sectors a request, the ideal, in place of 32 for x; requests as before: five reads and one write an element.
// A profiler should show: DRAM throughput several times 1_naive's; the second and third read hit L1 while rows are short.
//
// The Go loop: 1_naive's, lane l taking the columns c with c%32 == l.

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void norm(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, const T *__restrict__ b,
                                            int rows, int columns, float eps) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T *in = x + static_cast<size_t>(row) * columns;
  T *out = y + static_cast<size_t>(row) * columns;
  float sum = 0, squares = 0;
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) sum += to_float(in[c]);
  float mean = warp_sum(sum) / static_cast<float>(columns);
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) {
    float d = to_float(in[c]) - mean;
    squares = fmaf(d, d, squares);
  }
  float scale = rsqrtf(warp_sum(squares) / static_cast<float>(columns) + eps);
#pragma unroll 4
  for (int c = lane; c < columns; c += 32) store(out + c, fmaf((to_float(in[c]) - mean) * scale, to_float(w[c]), b ? to_float(b[c]) : 0));
}

#define ENTRY(name, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) name(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, \
                                                         const T *__restrict__ b, int rows, int columns, float eps) {         \
    norm(y, x, w, b, rows, columns, eps);                                                                                     \
  }
ENTRY(layernorm_warp, __half)
ENTRY(layernorm_warp_bf16, __nv_bfloat16)
ENTRY(layernorm_warp_f32, float)
