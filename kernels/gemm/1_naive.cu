// gemm/1_naive: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, a thread an element of Y.
//
// Predecessor: none; three nested loops with the outer two spread over threads.
// Idea: 16 x 16 threads a CTA, lanes along n; each reads its row of X and its row of W from global memory.
// Expect: every one of the M*N*K multiplications loads two elements: 2MNK FLOPs for 4MNK bytes of f16 asked of the L1, half
//   a FLOP a byte. A request of W touches 16 rows, 16 sectors for 16 wanted elements; one of X broadcasts 2 values.
// A profiler should show: the L1 and the load unit at their limit, FP32 below 5 %, DRAM nearly idle.
//
// The Go loop: for m { for n { s := float32(0); for k { s += X[m*K+k] * W[n*K+k] }; Y[m*N+n] = s } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  int col = blockIdx.y * 16 + threadIdx.x;  // m runs fastest in the grid, so that CTAs side by side share W
  int row = blockIdx.x * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  const T *xrow = x + static_cast<size_t>(row) * k;
  const T *wrow = w + static_cast<size_t>(col) * k;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < k; i++) sum = fmaf(to_float(xrow[i]), to_float(wrow[i]), sum);
  store(y + static_cast<size_t>(row) * n + col, sum);
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                      \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_naive, __half)
GEMM(gemm_naive_bf16, __nv_bfloat16)
GEMM(gemm_naive_f32, float)
