// words.cuh: rows of 16-bit elements that do not start on 16 bytes, on their way to shared memory. A source includes element.cuh
// and piece.cuh before it.
#pragma once

// load_if reads 2 or 4 bytes, or gives 0: predicated, because a branch would make each load wait for the one before.
static __device__ __forceinline__ unsigned load_if(bool inside, const unsigned short *p) {
  unsigned v;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.u16 %0, [%1]; }" : "=r"(v) : "l"(p), "r"(static_cast<unsigned>(inside)));
  return v;
}
static __device__ __forceinline__ unsigned load_if(bool inside, const unsigned *p) {
  unsigned v;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p ld.global.u32 %0, [%1]; }" : "=r"(v) : "l"(p), "r"(static_cast<unsigned>(inside)));
  return v;
}

// copy_words copies N rows of d elements, filled up with zeros to DP, by WARPS warps of which this is number warp: a warp takes a
// row, so that its lanes' words are neighbours in global memory and lie in different banks. from(r) is row r, null for zeros, and
// to(r, i) the shared address of its word i (two elements). even says that rows start on 4 bytes; then, where ASYNC, the words
// are cp.async's, of the group that the caller commits; some is any address that can be read. Rows of an odd number of elements
// are loaded and stored, eight words a lane side by side.
template <int DP, int N, int WARPS, bool ASYNC, typename T, typename To, typename From>
static __device__ __forceinline__ void copy_words(int warp, int d, bool even, const T *some, To to, From from) {
  constexpr int EACH = DP / 64, AHEAD = 8 / EACH;  // words of a row, and rows, for a lane
  static_assert(sizeof(T) == 2 && N % (WARPS * AHEAD) == 0, "every warp has as many rows");
  int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int first = warp; first < N; first += WARPS * AHEAD) {
    const unsigned short *row[AHEAD];
    unsigned v[AHEAD * EACH], high[AHEAD * EACH];
#pragma unroll
    for (int r = 0; r < AHEAD; r++) row[r] = reinterpret_cast<const unsigned short *>(from(first + r * WARPS));
    if (ASYNC && even) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
      for (int n = 0; n < AHEAD * EACH; n++) {
        int r = n / EACH, i = n % EACH * 32 + lane;
        bool inside = row[r] != nullptr && i * 2 < d;
        const void *source = inside ? static_cast<const void *>(row[r] + i * 2) : some;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to(first + r * WARPS, i)), "l"(source), "r"(inside ? 4 : 0) : "memory");
      }
#endif
      continue;
    }
    if (even) {
#pragma unroll
      for (int n = 0; n < AHEAD * EACH; n++) {
        int i = n % EACH * 32 + lane;
        v[n] = load_if(row[n / EACH] != nullptr && i * 2 < d, reinterpret_cast<const unsigned *>(row[n / EACH]) + i);
      }
    } else {
#pragma unroll
      for (int n = 0; n < AHEAD * EACH; n++) {
        int i = n % EACH * 32 + lane;
        v[n] = load_if(row[n / EACH] != nullptr && i * 2 < d, row[n / EACH] + i * 2);
        high[n] = load_if(row[n / EACH] != nullptr && i * 2 + 1 < d, row[n / EACH] + i * 2 + 1);
      }
#pragma unroll
      for (int n = 0; n < AHEAD * EACH; n++) v[n] |= high[n] << 16;
    }
#pragma unroll
    for (int n = 0; n < AHEAD * EACH; n++)
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(to(first + n / EACH * WARPS, n % EACH * 32 + lane)), "r"(v[n]) : "memory");
  }
}
