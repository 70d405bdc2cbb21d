// fp8gemm/1_mma: Y[m,n] = xs[m]*ws[n] * sum over k of X[m,k]*W[n,k], X and W in fp8 (e4m3 or e5m2), Y in f16 or bf16, by mma.sync.
//
// targets: sm_89
// Predecessor: gemm/8_swizzle moves 16 bits an element, and a third and more of its time goes to shared memory.
// Idea: 8 bits carry what a product of weights and activations needs, when rows are scaled into their range: half the bytes at
//   every level, and mma.sync m16n8k32 makes twice the products of its 16-bit form. Two elements lie like one of 16 bits, so that
//   tiles, swizzle and ldmatrix are gemm/8_swizzle's. The scales, one a row or one for all, meet the sums in registers.
// Expect: gemm/8_swizzle's counters with K/2 in place of K: half of its loads, ldmatrix and barriers; 2MNK tensor FLOPs; two
//   multiplications an element of Y, and 12 requests for scales a warp.
// A profiler should show: shared memory busiest, the tensor pipe below 40 %.
//
// The Go loop: for m { for n { s := float32(0); for k { s += X[m,k] * W[n,k] }; Y[m,n] = s * xs[m] * ws[n] } }
// K a multiple of 16. Hopper's tensor cores keep about 14 bits of a sum: a long K loses more than f32 would.

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "fp8.cuh"
#include "multiply.cuh"

// gemm multiplies with pairs of elements: k counts pairs.
template <typename PAIR, typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const PAIR *w, const PAIR *x, const float *__restrict__ xscale,
                                            const float *__restrict__ wscale, int m, int n, int k, int xs, int ws) {
  __shared__ __align__(128) MultiplyTile xtile, wtile[1];
  int m0 = blockIdx.x * MULTIPLY_SIDE, n0 = blockIdx.y * MULTIPLY_SIDE, lane = threadIdx.x % 32;
  const PAIR *const weights[1] = {w};
  float acc[1][2][4][4] = {};
  multiply(acc, x, weights, m, n, k, m0, n0, xtile, wtile, true);
  float by[4][2];
#pragma unroll
  for (int c = 0; c < 8; c++) by[c / 2][c % 2] = scale_of(wscale, ws, multiply_column(n0) + c / 2 * 8 + lane % 4 * 2 + c % 2);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int row = multiply_row(m0) + i * 16;
    const float of[2] = {scale_of(xscale, xs, row + lane / 4), scale_of(xscale, xs, row + lane / 4 + 8)};
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
      for (int c = 0; c < 4; c++) {
        acc[0][i][j][c] *= of[c / 2] * by[j][c % 2];
        asm volatile("" : "+f"(acc[0][i][j][c]));  // here, not in each of the branches that store it
      }
      store_fragment(y, m, n, row, multiply_column(n0) + j * 8, acc[0][i][j]);
    }
  }
}

#define GEMM(NAME, PAIR, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(MULTIPLY_THREADS)                                                                    \
      NAME(T *y, const PAIR *w, const PAIR *x, const float *xscale, const float *wscale, int m, int n, int k, int xs, int ws) {     \
    gemm(y, w, x, xscale, wscale, m, n, k / 2, xs, ws);                                                                            \
  }
GEMM(fp8gemm_e4m3, E4M3Pair, __half)
GEMM(fp8gemm_e5m2, E5M2Pair, __half)
GEMM(fp8gemm_e4m3_bf16, E4M3Pair, __nv_bfloat16)
GEMM(fp8gemm_e5m2_bf16, E5M2Pair, __nv_bfloat16)
