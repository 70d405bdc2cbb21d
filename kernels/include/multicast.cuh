// multicast.cuh: gemm/12_multicast's product of tiles, for kernels that do something with the result before it leaves. A source
// includes element.cuh, tensor.cuh and hopper.cuh before it.
#pragma once

// A cluster of two CTAs makes 256 rows of Y and what 256 rows of W give, a CTA 128 rows of it, in steps of 128 bytes of K.
constexpr int PAIR_ROWS = 256, PAIR_WEIGHTS = 256, PAIR_SIDE = 128, PAIR_STAGES = 4, PAIR_THREADS = 384, PAIR_BAND = 8;
constexpr unsigned PAIR_BOX = PAIR_SIDE * 128, PAIR_STAGE = 3 * PAIR_BOX;

// shared memory: the ring, in each stage 128 rows of X, then two times 128 rows of W; then two boxes of 64 x 64 of Y for each consumer.
extern __shared__ unsigned char pair_ring[];

// pair_place is where a cluster's tile lies, in tiles: rows of Y and rows of W.
static __device__ __forceinline__ int2 pair_place(int tile, int tall, int across) {
  int band = tile / (PAIR_BAND * across), in = tile % (PAIR_BAND * across), rows = min(tall - band * PAIR_BAND, PAIR_BAND);
  return make_int2(band * PAIR_BAND + in % rows, in / rows);
}

// FromZero is the usual beginning of sums.
struct FromZero {
  static constexpr bool ADDS = false;  // the first wgmma overwrites
  __device__ __forceinline__ void operator()(float (&)[PAIR_WEIGHTS / 2], int, int) const {}
};

// pair_copy is the producer, one thread of a CTA: it keeps the ring filled with its own rows of X and, for both CTAs, with its half
// of the rows of W. Those of tile i begin at i * step, the second CTA's `apart` further.
static __device__ __forceinline__ void pair_copy(const TensorMap &xmap, const TensorMap &wmap, int tall, int across, int steps, int columns, int step,
                                                 int apart, unsigned tiles, unsigned fulls, unsigned empties, unsigned rank) {
  Ring<PAIR_STAGES> at{0, 1};
  for (int tile = blockIdx.x / 2; tile < tall * across; tile += gridDim.x / 2) {
    int2 place = pair_place(tile, tall, across);
    int row = place.x * PAIR_ROWS + rank * PAIR_SIDE, weights = place.y * step + rank * apart;
    for (int t = 0; t < steps; t++, at.next()) {
      unsigned stage = tiles + at.stage * PAIR_STAGE, full = fulls + 8 * at.stage;
      barrier_wait(empties + 8 * at.stage, at.parity);  // of both CTAs: the copy of W goes to both
      barrier_expect(full, PAIR_STAGE);
      tma_load(stage, xmap, row, t * columns, full);
      tma_multicast(stage + (1 + rank) * PAIR_BOX, wmap, weights, t * columns, full, 3);
    }
  }
}

// pair_product multiplies X [m, k] with matrices of rows of W, elements of type T: leave(acc, row, tile, boxes, group) gets a
// warpgroup's accumulators of 64 rows of Y from `row` on and of the 256 rows of W of a tile; boxes are two of 64 x 64 results in
// shared memory, group a barrier of its own. Those rows are those that `first` has from tile * step on, and those that `second` has
// from tile * step + apart on, 128 each. begin(acc, row, tile) sets what the sums begin with. All threads of both CTAs call it.
// The Go loop: go func() { for tile { for t { empty[s].wait(); copy(s) } } }(); for tile { for t { full[s].wait(); acc += xs*ws^T; empty[s].arrive() }; leave(acc) }
template <typename T, typename Begin, typename Leave>
static __device__ __forceinline__ void pair_product(const TensorMap &xmap, const TensorMap &first, const TensorMap &second, int m, int k, int across,
                                                    int step, int apart, Begin begin, Leave leave) {
  __shared__ __align__(8) unsigned long long full[PAIR_STAGES], empty[PAIR_STAGES];
  unsigned tiles = (shared_address(pair_ring) + 1023) & ~1023u, fulls = shared_address(full), empties = shared_address(empty), rank = cluster_rank();
  constexpr int COLUMNS = 128 / sizeof(T);
  int group = threadIdx.x / 128, steps = (k + COLUMNS - 1) / COLUMNS, tall = (m + PAIR_ROWS - 1) / PAIR_ROWS;
  if (threadIdx.x == 0) {
    for (int s = 0; s < PAIR_STAGES; s++) {
      barrier_init(fulls + 8 * s, 1);
      barrier_init(empties + 8 * s, 16);  // consuming warps of both CTAs
    }
    barriers_visible();
  }
  cluster_sync();  // the other CTA copies into this one

  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) pair_copy(xmap, rank == 0 ? first : second, tall, across, steps, COLUMNS, step, apart, tiles, fulls, empties, rank);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int half = group - 1, lane = threadIdx.x % 32;
    float acc[PAIR_WEIGHTS / 2];
    Ring<PAIR_STAGES> at{0, 0};
    for (int tile = blockIdx.x / 2; tile < tall * across; tile += gridDim.x / 2) {
      int2 place = pair_place(tile, tall, across);
      int row = place.x * PAIR_ROWS + rank * PAIR_SIDE + half * 64;
      begin(acc, row, place.y);
      unsigned before = 0;  // the barrier of the stage that the group under way reads
      for (int t = 0; t < steps; t++, at.next()) {
        barrier_wait(fulls + 8 * at.stage, at.parity);
        unsigned stage = tiles + at.stage * PAIR_STAGE;
        unsigned long long a = matrix_descriptor(stage + half * 64 * 128), b = matrix_descriptor(stage + PAIR_BOX);
        keep(acc);
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++) wgmma<T, PAIR_WEIGHTS>(acc, a + 2 * kk, b + 2 * kk, Begin::ADDS ? 1 : t + kk);
        wgmma_commit();
        wgmma_wait<1>();
        if (lane < 2 && t > 0) barrier_arrive_at(before, lane);
        before = empties + 8 * at.stage;
      }
      wgmma_wait<0>();
      keep(acc);
      if (lane < 2) barrier_arrive_at(before, lane);
      leave(acc, row, place.y, tiles + PAIR_STAGES * PAIR_STAGE + half * 2 * BOX, group);
    }
    if (threadIdx.x % 128 == 0) store_read();
  }
  cluster_sync();  // the other CTA may still arrive here
}
