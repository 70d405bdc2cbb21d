// gemm/11_warp_specialised: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, with a warpgroup that only copies.
//
// targets: sm_90a
// Predecessor: 10_wgmma's warpgroups stop at a barrier every step so that one thread can start a copy, and its tensor cores
//   rest while a CTA begins, waits for its first tiles, and writes its part of Y.
// Idea: a CTA an SM stays and takes tile after tile (persistent). One warpgroup, the producer, does nothing but start copies: it
//   gives its registers to the two others (setmaxnreg) and runs ahead of them, into the next tile too, as far as the ring has
//   room. Stages pass back and forth over two mbarriers, full and empty; no barrier stops a CTA. Results leave through
//   shared memory by TMA, while the next tile's first stages arrive. Tiles go in bands of 16 rows of tiles, so that those
//   under way at a time share rows of X and W in L2.
// Expect: 10_wgmma's tensor FLOPs, reads and wgmmas; barriers only in the epilogue, 32 arrivals a tile, and one at the start
//   for each of the 12 warps; as many CTAs as SMs; stores to global memory in boxes of 64 x 64, 8 a tile; shared stores 512 a
//   tile, without bank conflicts.
// A profiler should show: the tensor pipe above 75 %, the producer's warps idle, L2 hit rate above 80 %.
//
// The Go loop: go func() { for tile { for t { empty[s].wait(); copy(s) } } }(); for tile { for t { full[s].wait(); acc += xs*ws^T; empty[s].arrive() }; Y = acc }
// K a multiple of 8 and addresses of 16 bytes, for TMA; where N is no multiple of 8 threads store their fragments.

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4, THREADS = 384, BAND = 16;
constexpr unsigned STAGE = (BM + BN) * BK * 2;

// shared memory: the ring, in each stage BM rows of X, then BN rows of W; then two boxes of 64 x 64 of Y for each consumer.
extern __shared__ unsigned char ring[];

// place is where a tile of Y begins.
static __device__ __forceinline__ int2 place(int tile, int m, int n) {
  int tall = (m + BM - 1) / BM, across = (n + BN - 1) / BN, band = tile / (BAND * across), in = tile % (BAND * across);
  int rows = min(tall - band * BAND, BAND);
  return make_int2((band * BAND + in % rows) * BM, in / rows * BN);
}

template <typename T, bool BOXES>
static __device__ __forceinline__ void gemm(T *y, const TensorMap &ymap, const TensorMap &wmap, const TensorMap &xmap, int m, int n, int k) {
  __shared__ __align__(8) unsigned long long full[STAGES], empty[STAGES];
  unsigned tiles = (shared_address(ring) + 1023) & ~1023u, fulls = shared_address(full), empties = shared_address(empty);
  int group = threadIdx.x / 128, steps = (k + BK - 1) / BK, count = (m + BM - 1) / BM * ((n + BN - 1) / BN);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      barrier_init(fulls + 8 * s, 1);
      barrier_init(empties + 8 * s, 8);  // consuming warps
    }
    barriers_visible();
  }
  __syncthreads();

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x > 0) return;
    Ring<STAGES> at{0, 1};
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
      int2 begin = place(tile, m, n);
      for (int t = 0; t < steps; t++, at.next()) {
        unsigned stage = tiles + at.stage * STAGE, barrier = fulls + 8 * at.stage;
        barrier_wait(empties + 8 * at.stage, at.parity);
        barrier_expect(barrier, STAGE);
        tma_load(stage, xmap, begin.x, t * BK, barrier);
        tma_load(stage + BM * BK * 2, wmap, begin.y, t * BK, barrier);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int half = group - 1;
  bool first = threadIdx.x % 32 == 0;
  float acc[BN / 2];
  Ring<STAGES> at{0, 0};
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    unsigned before = 0;  // the barrier of the stage that the group under way reads
    for (int t = 0; t < steps; t++, at.next()) {
      barrier_wait(fulls + 8 * at.stage, at.parity);
      unsigned stage = tiles + at.stage * STAGE;
      unsigned long long a = matrix_descriptor(stage + half * 64 * BK * 2), b = matrix_descriptor(stage + BM * BK * 2);
      keep(acc);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < BK / 16; kk++) wgmma<T, BN>(acc, a + 2 * kk, b + 2 * kk, t + kk);
      wgmma_commit();
      wgmma_wait<1>();
      if (first && t > 0) barrier_arrive(before);
      before = empties + 8 * at.stage;
    }
    wgmma_wait<0>();
    keep(acc);
    if (first) barrier_arrive(before);
    int2 begin = place(tile, m, n);
    if constexpr (BOXES) {
      leave_boxes<T, BN>(acc, ymap, begin.x + half * 64, begin.y, n, tiles + STAGES * STAGE + half * 2 * BOX, group);
    } else {
      leave_fragments<T, BN>(acc, y, begin.x + half * 64, begin.y, m, n);
    }
  }
  if (BOXES && threadIdx.x % 128 == 0) store_read();
}

#define MAP const __grid_constant__ TensorMap
#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(MAP y, MAP w, MAP x, int m, int n, int k) {               \
    gemm<T, true>(nullptr, y, w, x, m, n, k);                                                                            \
  }                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME##_ragged(T *__restrict__ y, MAP w, MAP x, int m, int n, int k) { \
    gemm<T, false>(y, w, w, x, m, n, k);                                                                                 \
  }
GEMM(gemm_warp_specialised, __half)
GEMM(gemm_warp_specialised_bf16, __nv_bfloat16)
