// addnorm/2_fused: h += x, then y[r,c] = h[r,c] * w[c] / sqrt(mean over the row of h*h + eps), one launch.
//
// Predecessor: 1_separate writes the sum h to memory and reads it again for the norm.
// Idea: the CTA that adds a row still has it in registers when it norms it.
// Expect: reads of h, x and w, writes of h and y: five elements' worth of traffic in place of six, four from DRAM in place of
//   five; one launch. The norm takes the sum before it is rounded for h.
// A profiler should show: the DRAM roof, four fifths of 1_separate's time and no gap.
//
// The Go loop: for r { s := 0; for c { h[r][c] += x[r][c]; s += h[r][c]*h[r][c] }; for c { y[r][c] = h[r][c] * w[c] / sqrt(s/C+eps) } }

#include "rmsnorm.cuh"

#define ENTRY(name, T)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256, 3) name(T *__restrict__ y, T *__restrict__ h, const T *__restrict__ x, \
                                                         const T *__restrict__ w, int columns, float eps) {              \
    size_t at = static_cast<size_t>(blockIdx.x) * columns;                                                               \
    rms_row<T, true>(y + at, h + at, x + at, w, columns, eps);                                                           \
  }
ENTRY(addnorm_fused, __half)
ENTRY(addnorm_fused_bf16, __nv_bfloat16)
ENTRY(addnorm_fused_f32, float)
