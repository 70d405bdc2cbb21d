// addnorm/1_separate: h += x, then y[r,c] = h[r,c] * w[c] / sqrt(mean over the row of h*h + eps), two launches.
//
// Predecessor: none; a residual addition and rmsnorm/3_vec16, as a framework that knows both calls them.
// Idea: each operation is a CUDA kernel of its own; h goes through memory between them.
// Expect: reads of h, x, h again and w, writes of h and y: six elements' worth of traffic for each of the row.
// A profiler should show: both at the DRAM roof, one after the other, with a gap between them.
//
// The Go loop: for i { h[i] += x[i] }; then rmsnorm's.

#include "rmsnorm.cuh"

template <typename T>
static __device__ __forceinline__ void add(T *__restrict__ h, const T *__restrict__ x, int rows, int columns) {
  constexpr int n = wide<T>;
  size_t total = static_cast<size_t>(rows) * columns, first = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  if (rows16<T>(columns, h, x)) {
    if (first >= total / n) return;
    float a[n], b[n];
    unpack<T>(a, reinterpret_cast<uint4 *>(h)[first]);
    unpack<T>(b, reinterpret_cast<const uint4 *>(x)[first]);
#pragma unroll
    for (int i = 0; i < n; i++) a[i] += b[i];
    reinterpret_cast<uint4 *>(h)[first] = pack<T>(a);
    return;
  }
  for (size_t i = first; i < total; i += static_cast<size_t>(gridDim.x) * 256) store(h + i, to_float(h[i]) + to_float(x[i]));
}

#define ENTRY(suffix, T)                                                                                             \
  extern "C" __global__ void __launch_bounds__(256) addnorm_add##suffix(T *__restrict__ h, const T *__restrict__ x, int rows, \
                                                                        int columns) {                               \
    add(h, x, rows, columns);                                                                                        \
  }                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) addnorm_norm##suffix(T *__restrict__ y, const T *__restrict__ h, \
                                                                         const T *__restrict__ w, int columns, float eps) { \
    size_t at = static_cast<size_t>(blockIdx.x) * columns;                                                           \
    rms_row<T, false>(y + at, nullptr, h + at, w, columns, eps);                                                     \
  }
ENTRY(, __half)
ENTRY(_bf16, __nv_bfloat16)
ENTRY(_f32, float)
