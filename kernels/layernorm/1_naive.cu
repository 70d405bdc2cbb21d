// layernorm/1_naive: y[r,c] = (x[r,c] - mean) * w[c] / sqrt(variance + eps) + b[c] over each row, in f32, a thread a row.
//
// Predecessor: none; three loops over a row: mean, variance, result (Ba, Kiros and Hinton, 2016).
// Idea: a thread owns a row. The variance is of differences from the mean: the mean of squares less the squared mean would
//   cancel where the mean is large.
// Expect: lanes stand a row apart, so a request for x touches 32 sectors; three reads of x, one of w and b, one write.
// A profiler should show: sectors a request far from the ideal, few warps, long scoreboard stalls.
//
// The Go loop: for r { m := Σ x[r][c]/C; v := Σ (x[r][c]-m)²/C; for c { y[r][c] = (x[r][c]-m) * w[c] / sqrt(v+eps) + b[c] } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void norm(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, const T *__restrict__ b,
                                            int rows, int columns, float eps) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const T *in = x + static_cast<size_t>(row) * columns;
  T *out = y + static_cast<size_t>(row) * columns;
  float sum = 0, squares = 0;
#pragma unroll 1
  for (int c = 0; c < columns; c++) sum += to_float(in[c]);
  float mean = sum / static_cast<float>(columns);
#pragma unroll 1
  for (int c = 0; c < columns; c++) {
    float d = to_float(in[c]) - mean;
    squares = fmaf(d, d, squares);
  }
  float scale = rsqrtf(squares / static_cast<float>(columns) + eps);
#pragma unroll 1
  for (int c = 0; c < columns; c++) store(out + c, fmaf((to_float(in[c]) - mean) * scale, to_float(w[c]), b ? to_float(b[c]) : 0));
}

#define ENTRY(name, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) name(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, \
                                                         const T *__restrict__ b, int rows, int columns, float eps) {         \
    norm(y, x, w, b, rows, columns, eps);                                                                                     \
  }
ENTRY(layernorm_naive, __half)
ENTRY(layernorm_naive_bf16, __nv_bfloat16)
ENTRY(layernorm_naive_f32, float)
