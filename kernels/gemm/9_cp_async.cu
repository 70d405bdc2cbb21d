// gemm/9_cp_async: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, on tensor cores with tiles in flight.
//
// targets: sm_80
// Predecessor: 8_swizzle waits for each tile before it multiplies, so every one of its K/64 steps costs a trip to memory, and
//   its 64 x 64 tiles read X and W so often that L2 is busy for longer than the tensor cores.
// Idea: cp.async copies from global to shared memory without registers and without waiting; while one tile is multiplied the
//   next STAGES - 1 are under way, in a ring of STAGES buffers with one barrier a step. The tile of Y is 16 x 32 while decode
//   reads W for few rows, then 64 x 64, 128 x 64, and 128 x 128 where that many keep the SMs busy. A warp's part is as square
//   as can be (up to 64 x 64), so that shared memory is read once an mma; warps that a small tile leaves over take turns on
//   the columns and add up at the end (SLICES). Where rows don't start on 16 bytes a warp copies a row in 4-byte words, or
//   loads and stores them where they don't start on 4.
// Expect: tensor FLOPs 2MNK, tiles counted whole; global loads MNK*(1/BM + 1/BN) elements, half of 8_swizzle's with the
//   largest tile, and then 8 ldmatrix for 32 mma; one barrier a step in place of two; no bank conflicts; BM*BN FP32 adds a
//   slice beyond the first, once a CTA.
// A profiler should show: few stalls on memory; tensor pipe 60 % and more for large M; DRAM near its roof for M = 1.
//
// The Go loop: 8_swizzle's; the copy of step t + STAGES - 1 is begun before step t is multiplied.
// cp.async: PTX ISA 9.7.9.25; it fills with zeros what a size below 16 leaves out.

#include "async.cuh"
#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "pipeline.cuh"

// m runs fastest in the grid, so that CTAs side by side share W.
#define ENTRY(NAME, T, BM, BN, WARPS_M, WARPS_N, SLICES, STAGES)                                                            \
  extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N * SLICES)                                             \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {                      \
    Multiplier<T, BM, BN, WARPS_M, WARPS_N, SLICES, STAGES> multiplier{                                                     \
        w, x, m, n, k, 0, k, int(blockIdx.x) * BM, int(blockIdx.y) * BN, words(w, x, k), shared_address(ring)};             \
    auto store = [&](int row, int column, const float(&c)[4]) { store_fragment(y, m, n, row, column, c); };                 \
    if (aligned16(w, x, k)) multiplier.template run<true>(store);                                                           \
    else multiplier.template run<false>(store);                                                                             \
  }
#define GEMM(NAME, ...) ENTRY(NAME, __half, __VA_ARGS__) ENTRY(NAME##_bf16, __nv_bfloat16, __VA_ARGS__)

// Shared memory: 30, 80, 72 and 96 KiB; every device since sm_80 has 99.
GEMM(gemm_cp_async_16x32, 16, 32, 1, 1, 4, 5)
GEMM(gemm_cp_async_64x64, 64, 64, 1, 1, 4, 5)
GEMM(gemm_cp_async_128x64, 128, 64, 2, 1, 2, 3)
GEMM(gemm_cp_async_128x128, 128, 128, 2, 2, 1, 3)
