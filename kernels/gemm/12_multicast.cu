// gemm/12_multicast: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, with CTAs in pairs that read W once for both.
//
// targets: sm_90a
// Predecessor: each CTA of 11_warp_specialised fetches 128 rows of X and 256 of W from L2 in each step, 48 KiB for 1024 cycles of
//   its tensor cores: 48 B a cycle, and L2 gives an SM of an H200 about 32.
// Idea: two CTAs on neighbouring SMs form a cluster and make 256 x 256 of Y together. Both need the same rows of W: each fetches
//   half of them by TMA, for both (multicast). A stage is free when the consumers of both CTAs have read it, so that they arrive
//   at the mbarriers of both. The rest is 11_warp_specialised.
// Expect: tensor FLOPs 2MNK, tiles of 256 x 256 counted whole; global reads MNK/128 elements, 2/3 of 11_warp_specialised's, in four
//   requests a step and cluster; the same shared loads, stores and barriers a CTA.
// A profiler should show: the tensor pipe above 80 %, L2 to SM traffic a third lower, no CTA without a partner.
//
// The Go loop: 11_warp_specialised's, with copy(s) of half the rows of W into both CTAs, and empty[s].arrive() in both.
// K a multiple of 8 and addresses of 16 bytes, for TMA; where N is no multiple of 8 threads store their fragments.

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"
#include "multicast.cuh"

#define MAP const __grid_constant__ TensorMap
#define GEMM(NAME, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1) NAME(MAP y, MAP w, MAP x, int m, int n, int k) {                \
    pair_product<T>(x, w, w, m, k, (n + 255) / 256, 256, 128, FromZero(), [&](const float (&acc)[128], int row, int tile, unsigned boxes, int id) { \
      leave_boxes<T, 256>(acc, y, row, tile * 256, n, boxes, id);                                                              \
    });                                                                                                                        \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1) NAME##_ragged(T *__restrict__ y, MAP w, MAP x, int m, int n, int k) { \
    pair_product<T>(x, w, w, m, k, (n + 255) / 256, 256, 128, FromZero(), [&](const float (&acc)[128], int row, int tile, unsigned, int) {  \
      leave_fragments<T, 256>(acc, y, row, tile * 256, m, n);                                                                  \
    });                                                                                                                        \
  }
GEMM(gemm_multicast, __half)
GEMM(gemm_multicast_bf16, __nv_bfloat16)
