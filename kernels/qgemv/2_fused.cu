// qgemv/2_fused: y[n] = sum over k of W[n,k]*x[k], W in a block format or fp8, decoded in registers.
//
// targets: sm_75
// Predecessor: 1_dequantize writes a copy of the weights in f16 and reads it again.
// Idea: a warp a row; a lane decodes every 32nd value and multiplies it at once, so that nothing but W, x and y touches memory.
// Expect: no workspace: DRAM reads W's bytes once and writes y alone; but each value costs loads of its own for code, scale and x,
//   an extraction of bits and a conversion from integer.
// A profiler should show: the load/store unit and the conversion pipe busy, DRAM far from its roof: the unpacking is the limit.
//
// The Go loop: for n := range y { for k := range x { y[n] += decode(W[n], k) * x[k] } }

#include "element.cuh"
#include "formats.cuh"

template <typename F>
static __device__ __forceinline__ void fused(__half *__restrict__ y, const unsigned char *__restrict__ w, const __half *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const unsigned char *from = w + static_cast<size_t>(row) * (k / F::BLOCK) * F::BYTES;
  float sum = warp_sum(decoded_row<F>(from, k, [&](int i) { return to_float(x[i]); }));
  if (lane == 0) store(y + row, sum);
}

#define FUSED(NAME, F)                                                                                                              \
  extern "C" __global__ void __launch_bounds__(128) qgemv_fused_##NAME(__half *__restrict__ y, const unsigned char *__restrict__ w, \
      const __half *__restrict__ x, int n, int k) { fused<F>(y, w, x, n, k); }

FUSED(q8_0, Q8_0)
FUSED(q4_0, Q4_0)
FUSED(q4_1, Q4_1)
FUSED(q5_0, Q5_0)
FUSED(q5_1, Q5_1)
FUSED(q2_k, Q2_K)
FUSED(q3_k, Q3_K)
FUSED(q4_k, Q4_K)
FUSED(q5_k, Q5_K)
FUSED(q6_k, Q6_K)
FUSED(mxfp4, MXFP4)
FUSED(e4m3, E4M3)
FUSED(e5m2, E5M2)
