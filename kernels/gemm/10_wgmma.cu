// gemm/10_wgmma: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, by warpgroups and the tensor memory accelerator.
//
// targets: sm_90a
// Predecessor: 9_cp_async spends its instructions on addresses of copies and on ldmatrix, and mma.sync reaches two thirds of
//   what Hopper's tensor cores can do; its tiles are as large as the registers of one warp allow.
// Idea: wgmma.mma_async lets the four warps of a warpgroup multiply 64 x 16 by BN x 16 straight from shared memory, at the full
//   rate and without waiting. TMA copies a whole tile for one instruction of one thread, swizzled as wgmma wants it, with
//   zeros outside the matrix, and counts its bytes on an mbarrier. Two warpgroups make 128 x BN of Y, BN = 256 where such
//   tiles fill the SMs, else 128; tiles of 64 columns go round a ring of 4.
// Expect: tensor FLOPs 2MNK, tiles counted whole; global reads MNK*(1/128 + 1/BN) elements, 3/4 of 9_cp_async's 128 x 128 with
//   BN = 256, in two requests a step and CTA; threads touch shared memory no more: wgmma reads it in 5 requests (A for each of
//   its warps, and B) of many wavefronts, TMA writes it in two a step; no bank conflicts.
// A profiler should show: the tensor pipe above 60 %; few instructions issued; time lost at the beginning and end of each CTA.
//
// The Go loop: for t := range steps { wait for tile t; acc += xs * ws^T in 4 pieces of 16; when tile t-1 is read, copy t+3 over it }
// K a multiple of 8 and addresses of 16 bytes, for TMA; other shapes are 9_cp_async's.

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"

constexpr int BM = 128, BK = 64, STAGES = 4, THREADS = 256;

extern __shared__ unsigned char ring[];  // in each of the stages BM rows of X, then BN rows of W, 128 bytes each

template <typename T, int BN>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const TensorMap &wmap, const TensorMap &xmap, int m, int n, int k) {
  constexpr unsigned BYTES = (BM + BN) * BK * 2;
  __shared__ __align__(8) unsigned long long full[STAGES];
  unsigned tiles = (shared_address(ring) + 1023) & ~1023u, arrived = shared_address(full);  // a swizzled tile starts on 1024
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int group = threadIdx.x / 128, steps = (k + BK - 1) / BK;

  // copy starts filling a stage with the tiles of a step.
  auto copy = [&](int stage, int step) {
    barrier_expect(arrived + 8 * stage, BYTES);
    tma_load(tiles + stage * BYTES, xmap, m0, step * BK, arrived + 8 * stage);
    tma_load(tiles + stage * BYTES + BM * BK * 2, wmap, n0, step * BK, arrived + 8 * stage);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) barrier_init(arrived + 8 * s, 1);
    barriers_visible();
    for (int s = 0; s < STAGES && s < steps; s++) copy(s, s);
  }
  __syncthreads();

  float acc[BN / 2];
  for (int t = 0, stage = 0, parity = 0; t < steps; t++) {
    barrier_wait(arrived + 8 * stage, parity);
    unsigned long long a = matrix_descriptor(tiles + stage * BYTES + group * 64 * BK * 2), b = matrix_descriptor(tiles + stage * BYTES + BM * BK * 2);
    keep(acc);
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < BK / 16; kk++) wgmma<T, BN>(acc, a + 2 * kk, b + 2 * kk, t + kk);
    wgmma_commit();
    wgmma_wait<1>();  // the step before is done
    __syncthreads();  // by both warpgroups
    if (threadIdx.x == 0 && t > 0 && t - 1 + STAGES < steps) copy(stage == 0 ? STAGES - 1 : stage - 1, t - 1 + STAGES);
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  wgmma_wait<0>();
  keep(acc);
  int row = m0 + group * 64 + threadIdx.x / 32 % 4 * 16;
#pragma unroll
  for (int j = 0; j < BN / 8; j++) {
    const float c[4] = {acc[4 * j], acc[4 * j + 1], acc[4 * j + 2], acc[4 * j + 3]};
    store_fragment(y, m, n, row, n0 + 8 * j, c);
  }
}

#define GEMM(NAME, T, BN)                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                               \
      NAME(T *__restrict__ y, const __grid_constant__ TensorMap w, const __grid_constant__ TensorMap x, int m, int n, int k) { \
    gemm<T, BN>(y, w, x, m, n, k);                                                                                       \
  }
GEMM(gemm_wgmma_128x128, __half, 128)
GEMM(gemm_wgmma_128x256, __half, 256)
GEMM(gemm_wgmma_128x128_bf16, __nv_bfloat16, 128)
GEMM(gemm_wgmma_128x256_bf16, __nv_bfloat16, 256)
