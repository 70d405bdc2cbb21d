// hopper.cuh: what kernels for sm_90a share: mbarriers, copies of boxes by TMA, wgmma, and how results leave. A source includes element.cuh and
// tensor.cuh before it.
#pragma once

// TensorMap is a CUtensorMap, which a launch passes by value.
struct __align__(64) TensorMap {
  unsigned long long words[16];
};

// barrier_init makes an mbarrier that completes a phase when so many have arrived and the bytes promised have come (PTX ISA
// 9.7.13.15).
static __device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// barriers_visible lets TMA see barriers that this thread has made.
static __device__ __forceinline__ void barriers_visible() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// barrier_expect arrives and promises bytes that TMA will bring.
static __device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// barrier_wait waits for the end of the phase of this parity; a new barrier is in phase 0, and phase 1 counts as ended.
static __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier), "r"(parity)
      : "memory");
}

// tma_load starts copying the box of a matrix at (row, column) to shared memory; what lies outside is zero. Its bytes complete
// the barrier's phase (PTX ISA 9.7.9.27).
static __device__ __forceinline__ void tma_load(unsigned shared, const TensorMap &map, int row, int column, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared),
               "l"(&map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}

// tma_multicast is tma_load to the same place in each CTA of the cluster whose bit the mask has; it completes the mbarrier at the same
// place there.
static __device__ __forceinline__ void tma_multicast(unsigned shared, const TensorMap &map, int row, int column, unsigned barrier, unsigned short mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared),
      "l"(&map), "r"(column), "r"(row), "r"(barrier), "h"(mask)
      : "memory");
}

// barrier_arrive_at arrives at the mbarrier at the same place in the CTA of a rank of the cluster.
static __device__ __forceinline__ void barrier_arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier), "r"(rank)
      : "memory");
}

// cluster_rank is the CTA's number in its cluster, cluster_sync a barrier of all threads of the cluster.
static __device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
static __device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

// tma_store starts copying a box from shared memory to a matrix; what would lie outside is left out.
static __device__ __forceinline__ void tma_store(const TensorMap &map, int row, int column, unsigned shared) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(column), "r"(row), "r"(shared)
               : "memory");
}

// store_commit closes a group of this thread's copies to global memory, store_read waits until shared memory is free again.
static __device__ __forceinline__ void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
static __device__ __forceinline__ void store_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// written_for_tma lets TMA see what this thread has written to shared memory.
static __device__ __forceinline__ void written_for_tma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// group_sync is a barrier of the 128 threads of a warpgroup; each has its own id, from 1.
static __device__ __forceinline__ void group_sync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }

// matrix_descriptor describes rows of 128 bytes, kept in the 128-byte swizzle as TMA does, to wgmma: groups of eight rows lie
// 1024 bytes apart (PTX ISA 9.7.15.5.1). 16 columns of 16 bits further are 32 bytes, 2 more in the descriptor.
static __device__ __forceinline__ unsigned long long matrix_descriptor(unsigned shared) {
  return (shared & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

static __device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// wgmma_wait waits until at most N groups of this warp are under way.
template <int N>
static __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// keep ties accumulators to this place of the program: none is read or written earlier.
template <int N>
static __device__ __forceinline__ void keep(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}

#define HOPPER_NAMES_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HOPPER_NAMES_128 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HOPPER_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define HOPPER_32(d, i) HOPPER_8(d, i), HOPPER_8(d, i + 8), HOPPER_8(d, i + 16), HOPPER_8(d, i + 24)
#define HOPPER_64(d, i) HOPPER_32(d, i), HOPPER_32(d, i + 32)
#define HOPPER_WGMMA(SHAPE, TYPES, MAJOR, NAMES, A, B, P, ...)                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P ", 0;\n"                                                             \
               "wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPES " {" NAMES "}, " A ", " B ", p, 1, 1" MAJOR ";\n}"        \
               : __VA_ARGS__                                                                                               \
               : "l"(a), "l"(b), "r"(add))

// wgmma starts multiplying a 64 x 32-byte tile by a BN x 32-byte tile, both in shared memory with k along their rows, by the four
// warps of a warpgroup: d += a*b where add, else d = a*b. d holds, for each 8 columns j, what store_fragment takes as d + 4*j; BN
// is 128 or 256, and 256 for fp8, of which 32 bytes are 32 columns (PTX ISA 9.7.15.5.2).
template <typename T, int BN>
static __device__ __forceinline__ void wgmma(float (&d)[BN / 2], unsigned long long a, unsigned long long b, int add) {
  if constexpr (BN == 128 && is_f16<T>)
    HOPPER_WGMMA("m64n128k16", "f16.f16", ", 0, 0", HOPPER_NAMES_64, "%64", "%65", "%66", HOPPER_64(d, 0));
  else if constexpr (BN == 128)
    HOPPER_WGMMA("m64n128k16", "bf16.bf16", ", 0, 0", HOPPER_NAMES_64, "%64", "%65", "%66", HOPPER_64(d, 0));
  else if constexpr (is_f16<T>)
    HOPPER_WGMMA("m64n256k16", "f16.f16", ", 0, 0", HOPPER_NAMES_128, "%128", "%129", "%130", HOPPER_64(d, 0), HOPPER_64(d, 64));
  else if constexpr (sizeof(T) == 2)
    HOPPER_WGMMA("m64n256k16", "bf16.bf16", ", 0, 0", HOPPER_NAMES_128, "%128", "%129", "%130", HOPPER_64(d, 0), HOPPER_64(d, 64));
}

// Ring is where a thread stands in a ring of so many stages.
template <int STAGES>
struct Ring {
  int stage;
  unsigned parity;
  __device__ __forceinline__ void next() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
};

constexpr unsigned BOX = 64 * 64 * 2;  // bytes of the boxes in which 16-bit results leave

// leave_boxes writes 64 rows of COLUMNS accumulators of a warpgroup, from (row, column) on, through two boxes of shared memory,
// 128 columns at a time; what lies outside the matrix is left out.
template <typename T, int COLUMNS, int COUNT>
static __device__ __forceinline__ void leave_boxes(const float (&acc)[COUNT], const TensorMap &ymap, int row, int column, int n, unsigned boxes, int id) {
  int lane = threadIdx.x % 32, r = threadIdx.x / 32 % 4 * 16 + lane / 4;
  bool leader = threadIdx.x % 128 == 0;
#pragma unroll
  for (int half = 0; half < COLUMNS / 128; half++) {
    if (leader) store_read();
    group_sync(id);  // the boxes are free
#pragma unroll
    for (int j = 0; j < 16; j++) {
      const float *c = acc + 4 * (16 * half + j);
      unsigned at = boxes + j / 8 * BOX + r * 128 + ((j % 8 ^ r % 8) << 4) + lane % 4 * 4;
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(pack(c[0], c[1], T())) : "memory");
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(at + 8 * 128), "r"(pack(c[2], c[3], T())) : "memory");
    }
    written_for_tma();
    group_sync(id);  // the boxes are whole
    if (leader) {
      for (int b = 0; b < 2; b++)
        if (column + half * 128 + b * 64 < n) tma_store(ymap, row, column + half * 128 + b * 64, boxes + b * BOX);
      store_commit();
    }
  }
}

// leave_fragments writes them element by element, to matrices whose rows do not start on 16 bytes.
template <typename T, int COLUMNS, int COUNT>
static __device__ __forceinline__ void leave_fragments(const float (&acc)[COUNT], T *y, int row, int column, int m, int n) {
#pragma unroll
  for (int j = 0; j < COLUMNS / 8; j++) {
    const float c[4] = {acc[4 * j], acc[4 * j + 1], acc[4 * j + 2], acc[4 * j + 3]};
    store_fragment(y, m, n, row + threadIdx.x / 32 % 4 * 16, column + 8 * j, c);
  }
}
