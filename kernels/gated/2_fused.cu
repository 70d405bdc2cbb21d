// gated/2_fused: Y = silu(X*G^T) * (X*U^T), f16 or bf16: both products of a tile in one CTA, multiplied in registers.
//
// Predecessor: 1_unfused writes two products only to read them again, and reads X twice.
// Idea: a CTA keeps the sums of the same 64 x 64 elements for both matrices; a tile of X serves both. The results meet in f32 in
//   the registers of one thread.
// Expect: one launch; 4MN elements fewer through memory than 1_unfused; X's tiles read once in place of twice; the same tensor
//   FLOPs; 6 ldmatrix for 16 mma (sm_80) in place of 8.
// A profiler should show: the time of the two products or less, twice the accumulators a thread.
//
// The Go loop: for m { for n { a, b := 0, 0; for k { a += X[m,k]*G[n,k]; b += X[m,k]*U[n,k] }; Y[m,n] = a / (1 + exp(-a)) * b } }

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "multiply.cuh"

template <typename T>
static __device__ __forceinline__ void gated(T *__restrict__ y, const T *__restrict__ g, const T *__restrict__ u, const T *__restrict__ x, int m, int n, int k) {
  __shared__ __align__(128) MultiplyTile xs, ws[2];
  int m0 = blockIdx.x * MULTIPLY_SIDE, n0 = blockIdx.y * MULTIPLY_SIDE;
  const T *const weights[2] = {g, u};
  float acc[2][2][4][4] = {};
  multiply(acc, x, weights, m, n, k, m0, n0, xs, ws, aligned16(g, x, k) && aligned16(u, x, k));
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float c[4];
#pragma unroll
      for (int e = 0; e < 4; e++) c[e] = silu(acc[0][i][j][e]) * acc[1][i][j][e];
      store_fragment(y, m, n, multiply_row(m0) + i * 16, multiply_column(n0) + j * 8, c);
    }
}

#define GATED(SUFFIX, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(MULTIPLY_THREADS, 3) gated_fused##SUFFIX(T *y, const T *g, const T *u, const T *x, int m, int n, int k) { \
    gated(y, g, u, x, m, n, k);                                                                                                   \
  }
GATED(, __half)
#if __CUDA_ARCH__ >= 800
GATED(_bf16, __nv_bfloat16)
#endif
