// gemm/1_naive: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 with f32 accumulation, a thread an element of Y.
//
// Predecessor: none; three nested loops with the outer two spread over threads.
// Idea: 16 x 16 threads a CTA, lanes along n; each reads its row of X and its row of W from global memory.
// Expect: every one of the M*N*K multiplications loads 4 bytes: 2MNK FLOPs for 4MNK bytes asked of the L1, half a FLOP
//   a byte. A request of W touches 16 rows, 16 sectors for 64 wanted bytes; one of X broadcasts 2 values.
// A profiler should show: the L1 and the load unit at their limit, FP32 below 5 %, DRAM nearly idle.
//
// The Go loop: for m { for n { s := float32(0); for k { s += X[m*K+k] * W[n*K+k] }; Y[m*N+n] = s } }

#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256) gemm_naive(__half *__restrict__ y, const __half *__restrict__ w,
                                                            const __half *__restrict__ x, int m, int n, int k) {
  int col = blockIdx.y * 16 + threadIdx.x;  // m runs fastest in the grid, so that CTAs side by side share W
  int row = blockIdx.x * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  const __half *xrow = x + static_cast<size_t>(row) * k;
  const __half *wrow = w + static_cast<size_t>(col) * k;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < k; i++) sum = fmaf(__half2float(xrow[i]), __half2float(wrow[i]), sum);
  y[static_cast<size_t>(row) * n + col] = __float2half_rn(sum);
}
