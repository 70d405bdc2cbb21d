// gemm/3_smem_tile: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, tiles in shared memory.
//
// Predecessor: 2_coalesced asks the L1 for two elements a multiplication, however neatly.
// Idea: the CTA's 32 x 32 threads copy a 32 x 32 tile of X and of W into shared memory, each element once, and then every
//   element serves 32 threads. W's tile is stored transposed, its rows padded to an odd number of words, so that neither the
//   copy (a row apart) nor the product (neighbouring elements) meets a bank conflict.
// Expect: global loads fall 32 times, to MNK/16 elements where the shape divides by 32; 2 sectors a request of f16, 4 of
//   f32; no bank conflicts; two barriers a tile. FLOPs stay 2MNK where the shape divides by 32 (ragged edges multiply zeros).
// A profiler should show: shared memory at its limit (two loads an FMA), FP32 at 10-20 %.
//
// The Go loop: for k0 := 0; k0 < K; k0 += 32 { copy tiles; for m { for n { for k { acc[m][n] += xs[m][k] * ws[k][n] } } } }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ T xs[32][32];
  __shared__ T ws[32][32 + 4 / sizeof(T)];  // 17 or 33 words
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.x * 32 + ty;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = blockIdx.y * 32 + tx;
  int wrow = blockIdx.y * 32 + ty;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 32) {
    bool inside = k0 + tx < k;
    xs[ty][tx] = inside && row < m ? x[static_cast<size_t>(row) * k + k0 + tx] : T(0.0f);
    ws[tx][ty] = inside && wrow < n ? w[static_cast<size_t>(wrow) * k + k0 + tx] : T(0.0f);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i++) sum = fmaf(to_float(xs[ty][i]), to_float(ws[i][tx]), sum);
    __syncthreads();
  }
  if (row < m && col < n) store(y + static_cast<size_t>(row) * n + col, sum);
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(1024)                                                                     \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_smem_tile, __half)
GEMM(gemm_smem_tile_bf16, __nv_bfloat16)
GEMM(gemm_smem_tile_f32, float)
