// gated/3_wgmma: Y = silu(X*G^T) * (X*U^T), f16 or bf16, by warpgroups, TMA and pairs of CTAs.
//
// targets: sm_90a
// Predecessor: 2_fused multiplies where both sums are, but its products are gemm/8_swizzle's: small tiles, waited-for copies, mma.sync.
// Idea: gemm/12_multicast with 128 rows of G and 128 of U in place of 256 of W: one CTA of a pair fetches G's for both, the other
//   U's. A thread then holds the two sums of each of its elements, 64 accumulators apart.
// Expect: 4MNK tensor FLOPs, tiles of 256 x 128 counted whole; gemm/12_multicast's requests of TMA for 2N columns, half as many boxes
//   of results; two SFU operations an element and more, no global load by a thread.
// A profiler should show: the tensor pipe above 70 % for a long K; silu hidden behind the other warpgroup's products.
//
// The Go loop: for m { for n { a, b := 0, 0; for k { a += X[m,k]*G[n,k]; b += X[m,k]*U[n,k] }; Y[m,n] = a / (1 + exp(-a)) * b } }
// K a multiple of 8 and addresses of 16 bytes, for TMA; where N is no multiple of 8 threads store their fragments.

#include "element.cuh"
#include "activation.cuh"
#include "tensor.cuh"
#include "hopper.cuh"
#include "multicast.cuh"

// gate makes a warpgroup's 64 x 128 results of the sums for G, the first half of acc, and for U.
static __device__ __forceinline__ void gate(float (&acc)[128]) {
#pragma unroll
  for (int i = 0; i < 64; i++) acc[i] = activation(acc[i], 0) * acc[i + 64];
}

#define MAP const __grid_constant__ TensorMap
#define GATED(NAME, T)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1) NAME(MAP y, MAP g, MAP u, MAP x, int m, int n, int k) {         \
    pair_product<T>(x, g, u, m, k, (n + 127) / 128, 128, 0, FromZero(), [&](float (&acc)[128], int row, int tile, unsigned boxes, int id) { \
      gate(acc);                                                                                                               \
      leave_boxes<T, 128>(acc, y, row, tile * 128, n, boxes, id);                                                              \
    });                                                                                                                        \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1)                                                                 \
      NAME##_ragged(T *__restrict__ y, MAP g, MAP u, MAP x, int m, int n, int k) {                                             \
    pair_product<T>(x, g, u, m, k, (n + 127) / 128, 128, 0, FromZero(), [&](float (&acc)[128], int row, int tile, unsigned, int) {          \
      gate(acc);                                                                                                               \
      leave_fragments<T, 128>(acc, y, row, tile * 128, m, n);                                                                  \
    });                                                                                                                        \
  }
GATED(gated_wgmma, __half)
GATED(gated_wgmma_bf16, __nv_bfloat16)
