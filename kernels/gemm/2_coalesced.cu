// gemm/2_coalesced: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, a warp an element of Y.
//
// Predecessor: 1_naive's lanes read W a whole row apart: 16 sectors of 32 bytes for 16 elements.
// Idea: the 32 lanes of a warp take neighbouring k of one row of X and one row of W, so that a request is one run of memory,
//   and add up their parts at the end. A CTA of 32 warps makes 8 x 4 of Y: warps that want the same row find it in L1.
// Expect: as many requests as 1_naive, 2 for 32 multiplications, but 2 sectors each in f16 (4 in f32), where 1_naive's have
//   9 on average; 32*5 FP32 adds an element more, for the sum over the warp.
// A profiler should show: sectors a request at the ideal, the load unit still the limit: two loads feed one FMA.
//
// The Go loop: for m { for n { for lane := range 32 { for k := lane; k < K; k += 32 { part[lane] += X[m*K+k] * W[n*K+k] } }; Y[m*N+n] = sum of part } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * 8 + warp % 8;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = blockIdx.y * 4 + warp / 8;
  if (row >= m || col >= n) return;
  const T *xrow = x + static_cast<size_t>(row) * k;
  const T *wrow = w + static_cast<size_t>(col) * k;
  float sum = 0;
#pragma unroll 4
  for (int i = lane; i < k; i += 32) sum = fmaf(to_float(xrow[i]), to_float(wrow[i]), sum);
  sum = warp_sum(sum);
  if (lane == 0) store(y + static_cast<size_t>(row) * n + col, sum);
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                      \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_coalesced, __half)
GEMM(gemm_coalesced_bf16, __nv_bfloat16)
GEMM(gemm_coalesced_f32, float)
