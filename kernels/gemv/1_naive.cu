// gemv/1_naive: y[n] = sum over k of W[n,k]*x[k], f16 with f32 accumulation: the decode step of every linear layer.
//
// Predecessor: none; the loop one would write on a CPU, one thread a row.
// Idea: each thread owns one row of W and walks along it, so no thread needs another.
// Expect: neighbouring lanes read addresses 2K bytes apart: each 2-byte load of W is its own 32-byte sector, 32 sectors
//   a request where 2 would do (16 times the ideal). Only the L1 saves DRAM from it: the next 15 loads hit the same sectors.
//   2NK FLOPs, NK/32 requests for W and as many broadcast requests for x.
// A profiler should show: sectors a request near 32 for W, L1 hit rate near 90 %, few warps, long scoreboard stalls.
//
// The Go loop: for n := range y { s := float32(0); for k := range x { s += W[n*K+k] * x[k] }; y[n] = s }

#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(128) gemv_naive(__half *__restrict__ y, const __half *__restrict__ w,
                                                            const __half *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= n) return;
  const __half *wrow = w + static_cast<size_t>(row) * k;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < k; i++) sum = fmaf(__half2float(wrow[i]), __half2float(x[i]), sum);
  y[row] = __float2half_rn(sum);
}
