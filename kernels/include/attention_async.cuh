// attention_async.cuh: fused prefill attention with tiles in flight, over contiguous keys or pages. Needs element.cuh,
// tensor.cuh, async.cuh, attention.cuh and attention_tensor.cuh.
#pragma once

extern __shared__ __align__(1024) unsigned char memory[];

// Prefill is a CTA's work: four warps with MT * 16 queries each, tiles of BN keys, two buffers. Rows of DP elements lie in
// shared memory without padding; piece p (16 bytes) of row r lies at p ^ (r % 8), which frees ldmatrix from conflicts.
template <typename T, int DP, int MT, int BN, bool PAGED>
struct Prefill {
  static constexpr int BM = 64 * MT, BYTES = DP * 2;  // of a row

  Call<T> c;
  Tile tile;
  Rows<PAGED> rows;
  const T *q;  // query 0 of the sequence and head
  T *o;
  int step;  // elements from one query to the next, in q and o
  bool wide;

  static __device__ __forceinline__ unsigned at(int r, int p) { return shared_address(memory) + r * BYTES + ((p ^ (r & 7)) << 4); }

  // Rows of shared memory: the queries, then in each buffer BN keys and BN values.
  static __device__ constexpr int keys_at(int stage) { return BM + stage * 2 * BN; }

  // fill copies N rows from shared row `to` on; source(r) is the address of row r, null where there is none.
  template <int N, typename Source>
  __device__ __forceinline__ void fill(int to, Source source) const {
    constexpr int STEP = 128 / (DP / 8);
    int row = threadIdx.x / (DP / 8), piece = threadIdx.x % (DP / 8);
    if (wide) {
#pragma unroll
      for (int i = row; i < N + row; i += STEP) {
        const T *p = source(i);
        bool inside = p != nullptr && piece * 8 < c.d;
        copy16(at(to + i, piece), inside ? p + piece * 8 : c.q, inside);
      }
    } else {  // cp.async moves 4 bytes at least, and rows of odd length don't start on them
#pragma unroll 1
      for (int i = row; i < N + row; i += STEP) {
        const T *p = source(i);
        uint4 x = load16(p + piece * 8, p == nullptr ? 0 : 1, c.d - piece * 8, 0, 0, false);
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at(to + i, piece)), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
      }
    }
  }

  // ask starts copying keys and values j to j + BN - 1 into a buffer.
  __device__ __forceinline__ void ask(int stage, int j) const {
    fill<BN>(keys_at(stage), [&](int r) { return j + r < tile.keys ? c.k + rows.at(j + r) * c.d : nullptr; });
    fill<BN>(keys_at(stage) + BN, [&](int r) { return j + r < tile.keys ? c.v + rows.at(j + r) * c.d : nullptr; });
  }

  __device__ __forceinline__ void run() {
    int lane = threadIdx.x % 32, mine = threadIdx.x / 32 * MT * 16;  // the warp's first row
    Scores score(c.scale, c.cap, c.d);
    fill<BM>(0, [&](int r) { return tile.first + r < tile.queries ? q + static_cast<size_t>(tile.first + r) * step : nullptr; });
    int j = tile.from / BN * BN;
    if (j < tile.to) ask(0, j);
    commit();
    float acc[MT][DP / 8][4] = {};
    Online online[MT];
    // A step of 16 elements flips bits of an address that are zero in a row's: one operation a step serves all rows.
    unsigned query = at(mine + lane % 16, lane / 16), key = at(keys_at(0) + lane / 16 * 8 + lane % 8, lane / 8 % 2);
    unsigned value = at(keys_at(0) + BN + lane % 16, lane / 16);
#pragma unroll 1
    for (int stage = 0; j < tile.to; j += BN, stage ^= 1) {
      wait_all_but<0>();
      __syncthreads();  // for all threads; and the other buffer has been used
      if (j + BN < tile.to) ask(stage ^ 1, j + BN);
      commit();
      float s[MT][BN / 8][4] = {};
#pragma unroll
      for (int x = 0; x < DP / 16; x++) {
        unsigned a[MT][4];
#pragma unroll
        for (int m = 0; m < MT; m++) ldmatrix_x4(a[m], (query ^ x * 32) + m * 16 * BYTES);
#pragma unroll
        for (int n = 0; n < BN / 16; n++) {
          unsigned b[4];
          ldmatrix_x4(b, (key ^ x * 32) + n * 16 * BYTES);
#pragma unroll
          for (int m = 0; m < MT; m++) {
            mma<T>(s[m][2 * n], a[m], b[0], b[1]);
            mma<T>(s[m][2 * n + 1], a[m], b[2], b[3]);
          }
        }
      }
#pragma unroll
      for (int m = 0; m < MT; m++) {
        int i = tile.first + mine + m * 16;
        float factor = cap_and_mask(s[m], c, tile, score, i + lane / 4, j + lane % 4 * 2, tile.sees_all(c, i, 16, j, BN)), fade[2];
        online[m].weigh(s[m], factor, fade);
        if (__any_sync(0xffffffffu, fade[0] < 1 || fade[1] < 1)) {  // else no maximum has risen
#pragma unroll
          for (int x = 0; x < DP / 8 * 4; x++) acc[m][x / 4][x % 4] *= fade[x % 4 / 2];
        }
      }
#pragma unroll
      for (int kk = 0; kk < BN / 16; kk++) {
        unsigned p[MT][4];
#pragma unroll
        for (int m = 0; m < MT; m++) weight_fragment<T>(p[m], s[m], kk);
#pragma unroll
        for (int x = 0; x < DP / 16; x++) {
          unsigned b[4];
          ldmatrix_x4_transposed(b, (value ^ x * 32) + kk * 16 * BYTES);
#pragma unroll
          for (int m = 0; m < MT; m++) {
            mma<T>(acc[m][2 * x], p[m], b[0], b[1]);
            mma<T>(acc[m][2 * x + 1], p[m], b[2], b[3]);
          }
        }
      }
      unsigned to_other = stage ? -2 * BN * BYTES : 2 * BN * BYTES;
      key += to_other;
      value += to_other;
    }
    finish(acc, online, mine, lane);
  }

  // finish divides by the sums and writes the result, through the warp's own rows of Q so that each lane stores 16 bytes.
  __device__ __forceinline__ void finish(float (&acc)[MT][DP / 8][4], const Online (&online)[MT], int mine, int lane) const {
    wait_all_but<0>();
    __syncthreads();  // Q has been used, and a CTA without a key has waited for it
#pragma unroll
    for (int m = 0; m < MT; m++) {
      float share[2];
      online[m].shares(share);
#pragma unroll
      for (int x = 0; x < DP / 8; x++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
          unsigned two = pack(acc[m][x][2 * r] * share[r], acc[m][x][2 * r + 1] * share[r], T());
          asm volatile("st.shared.u32 [%0], %1;" ::"r"(at(mine + m * 16 + r * 8 + lane / 4, x) + lane % 4 * 4), "r"(two) : "memory");
        }
    }
    __syncwarp();
    constexpr int STEP = 32 / (DP / 8) > 0 ? 32 / (DP / 8) : 1;
#pragma unroll 1
    for (int r = lane / (DP / 8); r < MT * 16; r += STEP) {
      int i = tile.first + mine + r, x = lane % (DP / 8) * 8;
      if (i >= tile.queries || x >= c.d) continue;
      uint4 v;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at(mine + r, x / 8)) : "memory");
      T *p = o + static_cast<size_t>(i) * step + x;
      if (wide) {
        *reinterpret_cast<uint4 *>(p) = v;
      } else {
        unsigned long long low = v.x | static_cast<unsigned long long>(v.y) << 32, high = v.z | static_cast<unsigned long long>(v.w) << 32;
#pragma unroll 1
        for (int n = 0; n < 8 && x + n < c.d; n++) {
          reinterpret_cast<unsigned short *>(p)[n] = static_cast<unsigned short>(low);
          low = low >> 16 | high << 48;
          high >>= 16;
        }
      }
    }
  }
};
