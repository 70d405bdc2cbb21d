// fp8gemm/2_wgmma: Y[m,n] = xs[m]*ws[n] * sum over k of X[m,k]*W[n,k], X and W in fp8, by warpgroups, TMA and pairs of CTAs.
//
// targets: sm_90a
// Predecessor: 1_mma's small tiles read each element often, its threads wait for their copies, and mma.sync reaches two thirds of
//   what Hopper's tensor cores can do.
// Idea: gemm/12_multicast with elements of one byte: a stage of 128 bytes has 128 columns of K in place of 64, and wgmma m64n256k32
//   takes as long as m64n256k16 in 16 bits. The scales are multiplied in before the results leave.
// Expect: gemm/12_multicast's requests, stages and barriers with K/2 in place of K; 2MNK tensor FLOPs, tiles of 256 x 256 counted
//   whole; two multiplications an element of Y; 66 requests for scales a warp and tile.
// A profiler should show: the tensor pipe above 70 %, fewer bytes from L2 than the 16-bit kernel for the same K.
//
// The Go loop: gemm/12_multicast's, with acc[m,n] *= xs[m] * ws[n] before Y = acc.
// K a multiple of 16 and addresses of 16 bytes, for TMA; where N is no multiple of 8 threads store their fragments. Hopper's tensor
// cores keep about 14 bits of a sum: a long K loses more than f32 would.

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"
#include "fp8.cuh"
#include "multicast.cuh"

// scaled multiplies a warpgroup's 64 x 256 sums, from (row, column) on, by their scales.
static __device__ __forceinline__ void scaled(float (&acc)[128], const float *__restrict__ xscale, const float *__restrict__ wscale, int row, int column,
                                              int xs, int ws) {
  int lane = threadIdx.x % 32, r = row + threadIdx.x / 32 % 4 * 16 + lane / 4;
  const float of[2] = {scale_of(xscale, xs, r), scale_of(xscale, xs, r + 8)};
#pragma unroll
  for (int j = 0; j < 32; j++) {
    int c = column + j * 8 + lane % 4 * 2;
    const float by[2] = {scale_of(wscale, ws, c), scale_of(wscale, ws, c + 1)};
#pragma unroll
    for (int e = 0; e < 4; e++) acc[4 * j + e] *= of[e / 2] * by[e % 2];
  }
}

#define MAP const __grid_constant__ TensorMap
#define SCALES const float *xscale, const float *wscale, int m, int n, int k, int xs, int ws
#define GEMM(NAME, FP8, T)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1) NAME(MAP y, MAP w, MAP x, SCALES) {                             \
    pair_product<FP8>(x, w, w, m, k, (n + 255) / 256, 256, 128, FromZero(), [&](float (&acc)[128], int row, int tile, unsigned boxes, int id) { \
      scaled(acc, xscale, wscale, row, tile * 256, xs, ws);                                                                    \
      leave_boxes<T, 256>(acc, y, row, tile * 256, n, boxes, id);                                                              \
    });                                                                                                                        \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1) NAME##_ragged(T *__restrict__ y, MAP w, MAP x, SCALES) {        \
    pair_product<FP8>(x, w, w, m, k, (n + 255) / 256, 256, 128, FromZero(), [&](float (&acc)[128], int row, int tile, unsigned, int) {      \
      scaled(acc, xscale, wscale, row, tile * 256, xs, ws);                                                                    \
      leave_fragments<T, 256>(acc, y, row, tile * 256, m, n);                                                                  \
    });                                                                                                                        \
  }
GEMM(fp8gemm_wgmma_e4m3, E4M3, __half)
GEMM(fp8gemm_wgmma_e5m2, E5M2, __half)
GEMM(fp8gemm_wgmma_e4m3_bf16, E4M3, __nv_bfloat16)
GEMM(fp8gemm_wgmma_e5m2_bf16, E5M2, __nv_bfloat16)
