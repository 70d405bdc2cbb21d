// batch/2_registers: y[m,n] = sum over k of W[n,k]*x[m,k] for a few sequences at once, eight sums a lane.
//
// Predecessor: 1_looped reads every weight once for each sequence.
// Idea: a warp holds the sums of eight sequences in registers, so that a piece of W, once loaded, serves all eight.
// Expect: requests for W fall eight times (NK/256 for each group of eight sequences); those for x stay, M*N*K/256, and come
//   from the caches. The same FLOPs as 1_looped, all on the FP32 units.
// A profiler should show: DRAM traffic near W once; from M = 8 on the L1 and the FP32 units are the limit, not the DRAM.
//
// The Go loop: for n := range N { for k := range K { for m := range 8 { s[m] += W[n,k] * x[m,k] } } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void batch(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  int row = blockIdx.y * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  int first = blockIdx.x * 8;  // sequences first to first+7; where there are fewer, the last one is repeated and not stored
  if (row >= n) return;
  const T *wrow = w + static_cast<size_t>(row) * k;
  float sum[8] = {};
  if (aligned16(w, x, k)) {
    const uint4 *wv = reinterpret_cast<const uint4 *>(wrow);
#pragma unroll 1
    for (int i = lane; i < k / 8; i += 32) {
      uint4 piece = __ldcs(wv + i);
#pragma unroll
      for (int s = 0; s < 8; s++) {
        const T *xrow = x + static_cast<size_t>(min(first + s, m - 1)) * k;
        sum[s] = dot16<T>(piece, reinterpret_cast<const uint4 *>(xrow)[i], sum[s]);
      }
    }
  } else {
#pragma unroll 1
    for (int i = lane; i < k; i += 32) {
      float v = to_float(wrow[i]);
#pragma unroll
      for (int s = 0; s < 8; s++) sum[s] = fmaf(v, to_float(x[static_cast<size_t>(min(first + s, m - 1)) * k + i]), sum[s]);
    }
  }
#pragma unroll
  for (int s = 0; s < 8; s++) {
    sum[s] = warp_sum(sum[s]);
    if (lane == 0 && first + s < m) store(y + static_cast<size_t>(first + s) * n + row, sum[s]);
  }
}

extern "C" __global__ void __launch_bounds__(128, 6) batch_registers(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int m, int n, int k) { batch(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128, 6) batch_registers_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int m, int n, int k) { batch(y, w, x, m, n, k); }
