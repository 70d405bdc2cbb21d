// rmsnorm/3_vec16: y[r,c] = x[r,c] * w[c] / sqrt(mean over the row of x*x + eps), in f32, a CTA a row that is read once.
//
// Predecessor: 2_warp moves 64 bytes a request and reads every element of x twice.
// Idea: up to 256 threads take a row, 16 bytes a lane, and keep their pieces in registers between the sum and the result
//   (four pieces a thread: 8,192 halves); longer rows read the rest again.
// Expect: two reads (x, w) and one write an element in place of three and one; an eighth of the requests a byte (a quarter
//   in f32): 16 sectors each, the ideal. Two barriers a row, none where a warp is enough. Rows whose length is no multiple
//   of 16 bytes take 2_warp's loop, a CTA a row.
// A profiler should show: DRAM throughput at 80 % of the datasheet or more for large inputs; w comes from L2.
//
// The Go loop: 1_naive's, thread t taking the columns c with c/8%threads == t.

#include "rmsnorm.cuh"

#define ENTRY(name, T)                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) name(T *__restrict__ y, const T *__restrict__ x,            \
                                                         const T *__restrict__ w, int columns, float eps) {     \
    size_t at = static_cast<size_t>(blockIdx.x) * columns;                                                      \
    rms_row<T, false>(y + at, nullptr, x + at, w, columns, eps);                                                \
  }
ENTRY(rmsnorm_vec16, __half)
ENTRY(rmsnorm_vec16_bf16, __nv_bfloat16)
ENTRY(rmsnorm_vec16_f32, float)
