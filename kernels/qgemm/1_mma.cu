// qgemm/1_mma: Y[m,n] = sum over k of X[m,k]*W[n,k], W in a block format, X and Y in f16, on tensor cores.
//
// targets: sm_80
// Predecessor: qgemv/3_packed serves one sequence: several would read and unpack the weights again for each.
// Idea: the weights stay packed until the last moment. A CTA copies tiles of 512 values, 64 rows of W and up to 16 sequences, with
//   cp.async into a ring of two or three buffers, as 99 KB hold them. A lane unpacks 64 neighbouring values of two rows as in qgemv/3_packed, multiplies them
//   by their scale in f16, and has a fragment of mma.sync: both operands permute k in the same way, so that a value needs no move.
//   All sequences share the unpacking.
// Expect: W loaded once for each 16 sequences (8 where a value has 8 bits), X once for each 64 rows; 2*N*K*8 FLOPs on tensor cores for each eight sequences,
//   started or not; a barrier a tile and warp.
// A profiler should show: up to M = 16 little more than half of the time of f16 weights; the unpacking, not DRAM, is the limit.
//
// The Go loop: for m := range M { for n := range N { for k := range K { y[m,n] += x[m,k] * f16(scale * code[n,k]) } } }

#include "element.cuh"
#include "async.cuh"
#include "tensor.cuh"
#include "unpack.cuh"

constexpr int TILE = 512, ROWS = 64, THREADS = 128;

extern __shared__ __align__(128) unsigned char ring[];

// Multiplier is a CTA's work: 64 rows of W, 8 * T sequences, with STAGES buffers. PART is the bytes of 256 values.
template <typename U, int PART, int T, int STAGES>
struct Multiplier {
  static constexpr int STRIDE = 2 * PART + 16;  // of a row in shared memory: 16 bytes more keep lanes in banks of their own
  static constexpr int STAGE = ROWS * STRIDE + 8 * T * TILE * 2;

  const unsigned char *w;
  const __half *x;
  int m, n, k, m0, n0, bytes;
  unsigned shared;

  // place is where piece p (8 values) of chunk c (64 values) of a sequence lies in a buffer.
  static __device__ __forceinline__ int place(int sequence, int chunk, int p) {
    return ROWS * STRIDE + ((sequence * 8 + chunk) * 8 + (p ^ ((sequence * 4 + chunk) & 7))) * 16;
  }

  // copy starts copying a tile: the rows' bytes, and the sequences' values; what is outside is zero. Eight threads share a row, so
  // that its address is worked out once.
  __device__ __forceinline__ void copy(int tile) const {
    constexpr int PIECES = 2 * PART / 16;
    int t = threadIdx.x % 8, first = threadIdx.x / 8, at = tile * 2 * PART;
    unsigned buffer = shared + tile % STAGES * STAGE, to = buffer + first * STRIDE + t * 16;
    const unsigned char *from = w + static_cast<size_t>(n0 + first) * bytes + at + t * 16;
    int pieces = (min(bytes - at, 2 * PART) >> 4) - t;  // of this thread's, counted in eights
#pragma unroll
    for (int r = 0; r < ROWS; r += THREADS / 8, to += THREADS / 8 * STRIDE, from += static_cast<size_t>(THREADS / 8) * bytes) {
      bool row = n0 + first + r < n;
#pragma unroll
      for (int i = 0; i < PIECES; i += 8) {
        bool inside = row && i < pieces;
        if (i + 8 <= PIECES || t < PIECES - i) copy16(to + i * 16, inside ? from + i * 16 : w, inside);
      }
    }
    int column = tile * TILE + t * 8;
    const __half *source = x + static_cast<size_t>(m0 + first) * k + column;
#pragma unroll
    for (int s = 0; s < 8 * T; s += THREADS / 8, source += static_cast<size_t>(THREADS / 8) * k) {
      if (8 * T < THREADS / 8 && first >= 8 * T) break;
      bool there = m0 + first + s < m;
#pragma unroll
      for (int chunk = 0; chunk < TILE / 64; chunk++) {
        bool inside = there && column + chunk * 64 < k;
        copy16(buffer + place(first + s, chunk, t), inside ? source + chunk * 64 : x, inside);
      }
    }
  }

  // values are a group's pairs times its scale, plus its minimum.
  static __device__ __forceinline__ void values(const U &u, int p, __half2 scale, __half2 minimum, __half2 (&v)[4]) {
    u.pairs(p, v);
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = U::MINIMA ? __hfma2(v[i], scale, minimum) : __hmul2(v[i], scale);
  }

  // multiply takes 256 values of a buffer: lane l rows l/4 and l/4 + 8 of its warp's 16, and of each the (l%4)'th 64 values.
  __device__ __forceinline__ void multiply(float (&sum)[T][4], int stage, int half) const {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned char *buffer = ring + stage * STAGE;
    U low, high;
    low.load(reinterpret_cast<const unsigned *>(buffer + (warp * 16 + lane / 4) * STRIDE + half * PART), lane % 4);
    high.load(reinterpret_cast<const unsigned *>(buffer + (warp * 16 + lane / 4 + 8) * STRIDE + half * PART), lane % 4);
#pragma unroll
    for (int p = 0; p < 8; p++) {
      int g = p * U::GROUPS / 8;
      __half2 a[4], b[4];
      values(low, p, __float2half2_rn(low.scale(g)), __float2half2_rn(low.minimum(g)), a);
      values(high, p, __float2half2_rn(high.scale(g)), __float2half2_rn(high.minimum(g)), b);
      const unsigned *wa = reinterpret_cast<const unsigned *>(a), *wb = reinterpret_cast<const unsigned *>(b);
      unsigned first[4] = {wa[0], wb[0], wa[1], wb[1]}, second[4] = {wa[2], wb[2], wa[3], wb[3]};
#pragma unroll
      for (int t = 0; t < T; t++) {
        uint4 v = *reinterpret_cast<const uint4 *>(buffer + place(t * 8 + lane / 4, half * 4 + lane % 4, p));
        mma(sum[t], first, prmt(v.x, v.y, 0x5410), prmt(v.x, v.y, 0x7632));  // in the order of the pairs: 0 and 2, 1 and 3
        mma(sum[t], second, prmt(v.z, v.w, 0x5410), prmt(v.z, v.w, 0x7632));
      }
    }
  }

  __device__ __forceinline__ void run(__half *y) const {
    int tiles = (k + TILE - 1) / TILE;
    float sum[T][4] = {};
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
      if (s < tiles) copy(s);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
      __syncthreads();
      if (tile + STAGES - 1 < tiles) copy(tile + STAGES - 1);
      asm volatile("cp.async.commit_group;" ::: "memory");
      multiply(sum, tile % STAGES, 0);
      if (tile * TILE + TILE / 2 < k) multiply(sum, tile % STAGES, 1);
    }
    int lane = threadIdx.x % 32, row = n0 + threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
    for (int t = 0; t < T; t++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int sequence = m0 + t * 8 + lane % 4 * 2 + i % 2, output = row + i / 2 * 8;
        if (sequence < m && output < n) y[static_cast<size_t>(sequence) * n + output] = __float2half_rn(sum[t][i]);
      }
  }
};

#define QGEMM(NAME, U, PART, T, STAGES)                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) qgemm_mma_##NAME(__half *__restrict__ y, const unsigned char *__restrict__ w, \
      const __half *__restrict__ x, int m, int n, int k) {                                                                             \
    Multiplier<U, PART, T, STAGES>{w, x, m, n, k, int(blockIdx.y) * 8 * T, int(blockIdx.x) * ROWS, k / 256 * PART,                     \
                                   shared_address(ring)}.run(y);                                                                       \
  }

QGEMM(q4_0_8, UnpackQ4_0, 144, 1, 3)
QGEMM(q4_0_16, UnpackQ4_0, 144, 2, 2)
QGEMM(q4_1_8, UnpackQ4_1, 160, 1, 3)
QGEMM(q4_1_16, UnpackQ4_1, 160, 2, 2)
QGEMM(q4_k_8, UnpackQ4_K, 144, 1, 3)
QGEMM(q4_k_16, UnpackQ4_K, 144, 2, 2)
QGEMM(q8_0_8, UnpackQ8_0, 272, 1, 2)
