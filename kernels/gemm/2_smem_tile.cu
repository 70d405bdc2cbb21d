// gemm/2_smem_tile: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 with f32 accumulation, tiles in shared memory.
//
// Predecessor: 1_naive asks the L1 for 4 bytes a multiplication, and a request of W touches 16 sectors.
// Idea: the CTA's 32 x 32 threads copy a 32 x 32 tile of X and of W into shared memory, each element once, and then
//   every element serves 32 threads. W's tile is stored transposed, its rows padded to 34, so that neither the copy
//   (17 words apart, an odd number) nor the product (neighbouring halves) meets a bank conflict.
// Expect: global loads fall 32 times, to MNK/16 elements where the shape divides by 32; 2 sectors a request; no bank conflicts;
//   two barriers a tile. FLOPs stay 2MNK where the shape divides by 32 (ragged edges multiply zeros).
// A profiler should show: shared memory at its limit (two loads an FMA), FP32 at 10-20 %.
//
// The Go loop: for k0 := 0; k0 < K; k0 += 32 { copy tiles; for m { for n { for k { acc[m][n] += xs[m][k] * ws[k][n] } } } }

#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(1024) gemm_smem_tile(__half *__restrict__ y, const __half *__restrict__ w,
                                                                 const __half *__restrict__ x, int m, int n, int k) {
  __shared__ __half xs[32][32];
  __shared__ __half ws[32][34];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.x * 32 + ty;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = blockIdx.y * 32 + tx;
  int wrow = blockIdx.y * 32 + ty;
  const __half zero = __ushort_as_half(0);
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 32) {
    bool inside = k0 + tx < k;
    xs[ty][tx] = inside && row < m ? x[static_cast<size_t>(row) * k + k0 + tx] : zero;
    ws[tx][ty] = inside && wrow < n ? w[static_cast<size_t>(wrow) * k + k0 + tx] : zero;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i++) sum = fmaf(__half2float(xs[ty][i]), __half2float(ws[i][tx]), sum);
    __syncthreads();
  }
  if (row < m && col < n) y[static_cast<size_t>(row) * n + col] = __float2half_rn(sum);
}
