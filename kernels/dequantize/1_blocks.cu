// dequantize/1_blocks: y = the values of w, a tensor of any block format or fp8, as f16, bf16 or f32.
//
// targets: sm_75
// Predecessor: none; the simplest way to read quantized weights is to make ordinary ones of them.
// Idea: a thread a value: neighbouring threads read the same or neighbouring bytes of a block and write neighbours.
// Expect: a store of 4 bytes a value (2 as f16), coalesced; of loads several for each value, since every thread reads the scale of
//   its block and its code by itself; L1 serves all but the first.
// A profiler should show: the load/store unit busy with small loads; DRAM writes of 4 or 2 bytes a value where the weights were half of one.
//
// The Go loop: for i := range y { y[i] = decode(w[i/BLOCK], i%BLOCK) }

#include "element.cuh"
#include "formats.cuh"

template <typename F, typename T>
static __device__ __forceinline__ void dequantize(T *__restrict__ y, const unsigned char *__restrict__ w, long long n) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) store(y + i, F::value(w + i / F::BLOCK * F::BYTES, static_cast<int>(i % F::BLOCK)));
}

#define DEQUANTIZE(NAME, F)                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) dequantize_##NAME##_f16(__half *__restrict__ y, const unsigned char *__restrict__ w, \
      long long n) { dequantize<F>(y, w, n); }                                                                                           \
  extern "C" __global__ void __launch_bounds__(256) dequantize_##NAME##_bf16(__nv_bfloat16 *__restrict__ y,                              \
      const unsigned char *__restrict__ w, long long n) { dequantize<F>(y, w, n); }                                                      \
  extern "C" __global__ void __launch_bounds__(256) dequantize_##NAME##_f32(float *__restrict__ y, const unsigned char *__restrict__ w,  \
      long long n) { dequantize<F>(y, w, n); }

DEQUANTIZE(q8_0, Q8_0)
DEQUANTIZE(q4_0, Q4_0)
DEQUANTIZE(q4_1, Q4_1)
DEQUANTIZE(q5_0, Q5_0)
DEQUANTIZE(q5_1, Q5_1)
DEQUANTIZE(q2_k, Q2_K)
DEQUANTIZE(q3_k, Q3_K)
DEQUANTIZE(q4_k, Q4_K)
DEQUANTIZE(q5_k, Q5_K)
DEQUANTIZE(q6_k, Q6_K)
DEQUANTIZE(mxfp4, MXFP4)
DEQUANTIZE(q8_1, Q8_1)
DEQUANTIZE(e4m3, E4M3)
DEQUANTIZE(e5m2, E5M2)
