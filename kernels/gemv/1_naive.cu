// gemv/1_naive: y[n] = sum over k of W[n,k]*x[k], with f32 accumulation: the decode step of every linear layer.
//
// Predecessor: none; the loop one would write on a CPU, one thread a row.
// Idea: each thread owns one row of W and walks along it, so no thread needs another.
// Expect: neighbouring lanes read addresses a row apart: each 2-byte load of W is its own 32-byte sector, 32 sectors
//   a request where 2 would do (16 times the ideal; in f32 8 times). Only the L1 saves DRAM from it: the next 15 loads hit
//   the same sectors. 2NK FLOPs, NK/32 requests for W and as many broadcast requests for x.
// A profiler should show: sectors a request near 32 for W, L1 hit rate near 90 %, few warps, long scoreboard stalls.
//
// The Go loop: for n := range y { s := float32(0); for k := range x { s += W[n*K+k] * x[k] }; y[n] = s }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void gemv(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= n) return;
  const T *wrow = w + static_cast<size_t>(row) * k;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < k; i++) sum = fmaf(to_float(wrow[i]), to_float(x[i]), sum);
  store(y + row, sum);
}

extern "C" __global__ void __launch_bounds__(128) gemv_naive(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_naive_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_naive_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
