// qgemv/1_dequantize: y[n] = sum over k of W[n,k]*x[k], W in a block format or fp8, by way of an f16 copy of W in memory.
//
// targets: sm_75
// Predecessor: none; what one does first with quantized weights.
// Idea: two launches: the first writes the weights as f16 to a workspace, a thread a value, the second is gemv/3_vec16 on it.
// Expect: the store of 2NK bytes, and as many loaded again: with 4-bit weights eight times the bytes that had to be read.
// A profiler should show: DRAM busy, two thirds of it with the copy that quantizing was to avoid.
//
// The Go loop: for i := range NK { v[i] = f16(decode(W, i)) }; then for n := range y { for k := range x { y[n] += v[n,k] * x[k] } }

#include "element.cuh"
#include "formats.cuh"

#define DEQUANTIZE(NAME, F)                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) qgemv_values_##NAME(__half *__restrict__ v, const unsigned char *__restrict__ w, int n, \
      int k) {                                                                                                                             \
    long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;                                                                  \
    if (i < static_cast<long long>(n) * k) store(v + i, F::value(w + i / F::BLOCK * F::BYTES, static_cast<int>(i % F::BLOCK)));            \
  }

DEQUANTIZE(q8_0, Q8_0)
DEQUANTIZE(q4_0, Q4_0)
DEQUANTIZE(q4_1, Q4_1)
DEQUANTIZE(q4_k, Q4_K)
DEQUANTIZE(q6_k, Q6_K)
DEQUANTIZE(mxfp4, MXFP4)
DEQUANTIZE(e4m3, E4M3)
DEQUANTIZE(e5m2, E5M2)

extern "C" __global__ void __launch_bounds__(128) qgemv_product(__half *__restrict__ y, const __half *__restrict__ v,
    const __half *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const __half *from = v + static_cast<size_t>(row) * k;
  float sum = 0;
  if (aligned16(v, x, k)) {
#pragma unroll 1
    for (int i = lane; i < k / 8; i += 32) sum = dot16<__half>(reinterpret_cast<const uint4 *>(from)[i], reinterpret_cast<const uint4 *>(x)[i], sum);
  } else {
#pragma unroll 1
    for (int i = lane; i < k; i += 32) sum = fmaf(to_float(from[i]), to_float(x[i]), sum);
  }
  sum = warp_sum(sum);
  if (lane == 0) store(y + row, sum);
}
