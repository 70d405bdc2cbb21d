// rmsnorm/1_naive: y[r,c] = x[r,c] * w[c] / sqrt(mean over the row of x*x + eps), in f32, a thread a row.
//
// Predecessor: none; two loops over a row, its sum of squares and the result (Zhang and Sennrich, 2019).
// Idea: a thread owns a row, so no thread needs another.
// Expect: lanes stand a row apart, so a request for x touches 32 sectors (w takes one); two reads of x, one of w and one
//   write an element; no barriers.
// A profiler should show: sectors a request far from the ideal, few warps, long scoreboard stalls.
//
// The Go loop: for r { s := 0; for c { s += x[r][c]*x[r][c] }; for c { y[r][c] = x[r][c] * w[c] / sqrt(s/C+eps) } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void norm(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, int rows, int columns,
                                            float eps) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const T *in = x + static_cast<size_t>(row) * columns;
  T *out = y + static_cast<size_t>(row) * columns;
  float sum = 0;
#pragma unroll 1
  for (int c = 0; c < columns; c++) sum = fmaf(to_float(in[c]), to_float(in[c]), sum);
  float scale = rsqrtf(sum / static_cast<float>(columns) + eps);
#pragma unroll 1
  for (int c = 0; c < columns; c++) store(out + c, to_float(in[c]) * scale * to_float(w[c]));
}

#define ENTRY(name, T)                                                                                          \
  extern "C" __global__ void __launch_bounds__(128) name(T *__restrict__ y, const T *__restrict__ x,            \
                                                         const T *__restrict__ w, int rows, int columns, float eps) { \
    norm(y, x, w, rows, columns, eps);                                                                          \
  }
ENTRY(rmsnorm_naive, __half)
ENTRY(rmsnorm_naive_bf16, __nv_bfloat16)
ENTRY(rmsnorm_naive_f32, float)
