// pipeline.cuh: gemm/9_cp_async's product of a tile with copies in flight, of all columns or of a slice of them. A source includes
// async.cuh, element.cuh, piece.cuh and tensor.cuh before it.
#pragma once

constexpr int BK = 64;

// copy4 starts copying 4 bytes to shared memory, or 4 zeros where the source is not to be read.
static __device__ __forceinline__ void copy4(unsigned shared, const void *global, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(inside ? 4 : 0) : "memory");
}

// ring holds the buffers, and at the end the sums of the slices.
extern __shared__ __align__(128) unsigned char ring[];

// Multiplier is a CTA's work: BM x BN of Y by WARPS_M x WARPS_N x SLICES warps, with STAGES buffers.
template <typename T, int BM, int BN, int WARPS_M, int WARPS_N, int SLICES, int STAGES>
struct Multiplier {
  static constexpr int PARTS = WARPS_M * WARPS_N, THREADS = 32 * PARTS * SLICES, WM = BM / WARPS_M, WN = BN / WARPS_N;
  static constexpr int BYTES = (BM + BN) * BK * 2;  // of a buffer

  const T *w, *x;
  int m, n, k, from, to, m0, n0;  // columns from `from`, a multiple of BK, up to `to` are multiplied
  bool even;  // rows start on 4 bytes
  unsigned shared;  // the ring: in each buffer BM rows of X, then BN rows of W

  // at is the address of piece p (8 halves) of row r in a buffer.
  __device__ __forceinline__ unsigned at(int stage, int r, int p) const {
    return shared + stage * BYTES + r * (BK * 2) + ((p ^ (r & 7)) << 4);
  }

  // copy starts copying the tiles of columns k0 to k0 + 63 into a buffer.
  template <bool WIDE>
  __device__ __forceinline__ void copy(int stage, int k0) const {
    if (WIDE) {
      copy_tile<BM>(at(stage, 0, 0), x, m, m0, k0);
      copy_tile<BN>(at(stage, BM, 0), w, n, n0, k0);
    } else {
      copy_words<BM>(at(stage, 0, 0), x, m, m0, k0);
      copy_words<BN>(at(stage, BM, 0), w, n, n0, k0);
    }
  }

  // copy_tile copies rows first to first + ROWS - 1 of a matrix; eight threads share a row, a piece of 8 halves each.
  template <int ROWS>
  __device__ __forceinline__ void copy_tile(unsigned buffer, const T *matrix, int rows, int first, int k0) const {
    constexpr int STEP = THREADS / 8;  // a multiple of 8, so that a thread's pieces all have the same place in their row
    int r = threadIdx.x / 8, p = threadIdx.x % 8, col = k0 + p * 8, row = first + r;
    unsigned shared = buffer + r * (BK * 2) + ((p ^ (r & 7)) << 4);
    const T *source = matrix + static_cast<size_t>(row) * k + col;
    int left = col < to ? rows - row : 0;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP, source += static_cast<size_t>(STEP) * k)
      copy16(shared + i * (BK * 2), i < left ? source : matrix, i < left);
  }

  // copy_words is copy_tile for rows that don't start on 16 bytes, a warp a row, so that its lanes' words are neighbours in
  // global memory and lie on different banks. cp.async moves 4 bytes at least: rows of odd length are loaded and stored.
  template <int ROWS>
  __device__ __forceinline__ void copy_words(unsigned buffer, const T *matrix, int rows, int first, int k0) const {
    constexpr int WARPS = THREADS / 32, AHEAD = 4;
    static_assert(ROWS % (WARPS * AHEAD) == 0, "every warp has as many rows");
    int lane = threadIdx.x % 32, col = k0 + lane * 2;
#pragma unroll 1
    for (int r = threadIdx.x / 32; r < ROWS; r += WARPS * AHEAD) {
      const T *source = matrix + static_cast<size_t>(first + r) * k + col;
      unsigned v[AHEAD];
#pragma unroll
      for (int j = 0; j < AHEAD; j++, source += static_cast<size_t>(WARPS) * k) {
        bool inside = first + r + j * WARPS < rows && col < to;
        if (even) {
          copy4(word(buffer, r + j * WARPS, lane), inside ? source : matrix, inside);
        } else {
          const unsigned short *h = reinterpret_cast<const unsigned short *>(source);
          v[j] = inside ? h[0] : 0;
          if (inside && col + 1 < to) v[j] |= static_cast<unsigned>(h[1]) << 16;
        }
      }
      if (even) continue;
#pragma unroll
      for (int j = 0; j < AHEAD; j++)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(word(buffer, r + j * WARPS, lane)), "r"(v[j]) : "memory");
    }
  }

  // word is the address of word i (2 halves) of row r behind a buffer's first.
  static __device__ __forceinline__ unsigned word(unsigned buffer, int r, int i) {
    return buffer + r * (BK * 2) + ((i / 4 ^ (r & 7)) << 4) + i % 4 * 4;
  }

  // run is the CTA's work: store(row, column, c) gets the fragments of its result, as store_fragment takes them; WIDE says that all
  // rows start on 16 bytes.
  template <bool WIDE, typename Store>
  __device__ __forceinline__ void run(Store store) const {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % PARTS, slice = warp / PARTS;
    int wm = part / WARPS_N * WM, wn = part % WARPS_N * WN;
    int steps = (to - from + BK - 1) / BK;
    float acc[WM / 16][WN / 8][4] = {};
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
      if (s < steps) copy<WIDE>(s, from + s * BK);
      commit();
    }
    int reading = 0, writing = STAGES - 1;
#pragma unroll 1
    for (int t = 0; t < steps; t++) {
      wait_all_but<STAGES - 2>();  // the oldest group has arrived
      __syncthreads();             // for all threads; and its successor's buffer is free
      if (t + STAGES - 1 < steps) copy<WIDE>(writing, from + (t + STAGES - 1) * BK);
      commit();
#pragma unroll
      for (int turn = 0; turn < BK / 16 / SLICES; turn++) {
        int kk = turn * SLICES + slice;
        unsigned a[WM / 16][4], b[WN / 16][4];
#pragma unroll
        for (int i = 0; i < WM / 16; i++) ldmatrix_x4(a[i], at(reading, wm + i * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
        for (int j = 0; j < WN / 16; j++)
          ldmatrix_x4(b[j], at(reading, BM + wn + j * 16 + lane / 16 * 8 + lane % 8, kk * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < WM / 16; i++)
#pragma unroll
          for (int j = 0; j < WN / 8; j++) mma<T>(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
      reading = reading + 1 == STAGES ? 0 : reading + 1;
      writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    if (SLICES > 1) {
      __syncthreads();  // the last tile has been read
      add_slices(acc, part, slice, lane);
      if (slice > 0) return;
    }
#pragma unroll
    for (int i = 0; i < WM / 16; i++)
#pragma unroll
      for (int j = 0; j < WN / 8; j++) store(m0 + wm + i * 16, n0 + wn + j * 8, acc[i][j]);
  }

  // add_slices adds the accumulators of slices 1 and up to those of slice 0, through the ring.
  __device__ __forceinline__ void add_slices(float (&acc)[WM / 16][WN / 8][4], int part, int slice, int lane) const {
    constexpr int FRAGMENTS = WM / 16 * (WN / 8);
    float4 *sums = reinterpret_cast<float4 *>(ring);
#pragma unroll
    for (int f = 0; f < FRAGMENTS; f++) {
      float(&c)[4] = acc[f / (WN / 8)][f % (WN / 8)];
      if (slice > 0) sums[(((slice - 1) * PARTS + part) * FRAGMENTS + f) * 32 + lane] = make_float4(c[0], c[1], c[2], c[3]);
    }
    __syncthreads();
    if (slice > 0) return;
#pragma unroll 1
    for (int other = 0; other < SLICES - 1; other++) {
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f++) {
        float(&c)[4] = acc[f / (WN / 8)][f % (WN / 8)];
        float4 v = sums[((other * PARTS + part) * FRAGMENTS + f) * 32 + lane];
        c[0] += v.x;
        c[1] += v.y;
        c[2] += v.z;
        c[3] += v.w;
      }
    }
  }
};
