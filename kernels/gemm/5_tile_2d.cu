// gemm/5_tile_2d: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, a thread 8 x 8 elements of Y.
//
// Predecessor: 4_tile_1d reuses a value of W 8 times, but a value of X only once: more than one shared load an FMA is left.
// Idea: 8 values of X and 8 of W in registers make 64 products. The CTA's 256 threads make 128 x 128 of Y in steps of 16
//   along K. A thread's 8 columns lie 16 apart, so that the lanes of a request read neighbouring words.
// Expect: 16 shared loads for 64 FMAs, a fourth for each where 4_tile_1d has 9/8; global loads half of 4_tile_1d's, MNK/64
//   elements; no bank conflicts; FLOPs 2MNK, tiles counted whole.
// A profiler should show: FP32 above half of its peak; registers limit occupancy to two CTAs an SM.
//
// The Go loop: for k0 { copy tiles; for k := range 16 { for i := range 8 { for j := range 8 { acc[i][j] += xs[k][m+i] * ws[k][n+16*j] } } } }

#include "element.cuh"
#include "tile.cuh"

constexpr int BM = 128, BN = 128, BK = 16, TM = 8, TN = 8, THREADS = BM / TM * (BN / TN);

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ float xs[BK][BM + 2], ws[BK][BN + 2];
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = threadIdx.x % 16, row = threadIdx.x / 16 * TM;
  float acc[TM][TN] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += BK) {
    copy_transposed<BM, BK, THREADS>(xs, x, m, k, m0, k0);
    copy_transposed<BN, BK, THREADS>(ws, w, n, k, n0, k0);
    __syncthreads();
#pragma unroll 4
    for (int kk = 0; kk < BK; kk++) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i++) a[i] = xs[kk][row + i];
#pragma unroll
      for (int j = 0; j < TN; j++) b[j] = ws[kk][col + 16 * j];
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++)
      if (m0 + row + i < m && n0 + col + 16 * j < n) store(y + static_cast<size_t>(m0 + row + i) * n + n0 + col + 16 * j, acc[i][j]);
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                  \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_tile_2d, __half)
GEMM(gemm_tile_2d_bf16, __nv_bfloat16)
GEMM(gemm_tile_2d_f32, float)
