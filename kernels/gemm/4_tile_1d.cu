// gemm/4_tile_1d: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, a thread 8 elements of a column of Y.
//
// Predecessor: 3_smem_tile reads two values from shared memory for every FMA, and shared memory gives a warp one a cycle.
// Idea: a thread makes 8 elements below each other: a value of W, once in a register, is multiplied with 8 of X. The CTA's 512
//   threads make 64 x 64 of Y in steps of 16 along K. Tiles are kept as f32, converted once, and transposed, so that lanes
//   read neighbouring columns of W and all the same value of X.
// Expect: 9 shared loads for 8 FMAs where 3_smem_tile has 16; global loads half of 3_smem_tile's, MNK/32 elements; no bank
//   conflicts; FLOPs 2MNK, tiles counted whole.
// A profiler should show: twice 3_smem_tile's FP32 share, shared memory still ahead of it.
//
// The Go loop: for k0 { copy tiles; for k := range 16 { b := ws[k][n]; for i := range 8 { acc[i] += xs[k][m+i] * b } } }

#include "element.cuh"
#include "tile.cuh"

constexpr int BM = 64, BN = 64, BK = 16, TM = 8, THREADS = BM / TM * BN;

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ float xs[BK][BM + 2], ws[BK][BN + 2];
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = threadIdx.x % BN, row = threadIdx.x / BN * TM;
  float acc[TM] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += BK) {
    copy_transposed<BM, BK, THREADS>(xs, x, m, k, m0, k0);
    copy_transposed<BN, BK, THREADS>(ws, w, n, k, n0, k0);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < BK; kk++) {
      float b = ws[kk][col];
#pragma unroll
      for (int i = 0; i < TM; i++) acc[i] = fmaf(xs[kk][row + i], b, acc[i]);
    }
    __syncthreads();
  }
  if (n0 + col >= n) return;
#pragma unroll
  for (int i = 0; i < TM; i++)
    if (m0 + row + i < m) store(y + static_cast<size_t>(m0 + row + i) * n + n0 + col, acc[i]);
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                  \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_tile_1d, __half)
GEMM(gemm_tile_1d_bf16, __nv_bfloat16)
GEMM(gemm_tile_1d_f32, float)
