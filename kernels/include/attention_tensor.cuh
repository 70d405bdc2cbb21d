// attention_tensor.cuh: what attention on tensor cores shares: scores and weights of a warp as fragments of mma.sync. Needs
// element.cuh, tensor.cuh and attention.cuh.
#pragma once

// ldmatrix_x4_transposed is ldmatrix_x4 of the tiles' transposes: V lies in memory as keys by elements, and the second product
// wants pairs of keys.
static __device__ __forceinline__ void ldmatrix_x4_transposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// quad_max and quad_sum go over the four lanes that share a row of a fragment.
static __device__ __forceinline__ float quad_max(float v) {
  v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
  return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}
static __device__ __forceinline__ float quad_sum(float v) {
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// Online is the running softmax of 16 queries of a warp, two rows a lane: the maximum, in units of the dot product, and the
// lane's share of the sum.
struct Online {
  float top[2] = {-infinity(), -infinity()}, sum[2] = {};

  // weigh turns scores into weights and gives by how much what was summed before fades. Scores are in units whose factor to
  // base-2 logarithms is scale.
  // The Go loop: m := max(top, max(s)); fade = exp2(scale*(top-m)); s[j] = exp2(scale*(s[j]-m)); sum = sum*fade + sum of s; top = m
  template <int N>
  __device__ __forceinline__ void weigh(float (&s)[N][4], float scale, float (&fade)[2]) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float next = top[r];
#pragma unroll
      for (int n = 0; n < N; n++) next = fmaxf(next, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
      next = quad_max(next);
      float base = next == -infinity() ? 0 : next * scale;  // -inf - -inf would be NaN
      fade[r] = ex2(fmaf(top[r], scale, -base));
      top[r] = next;
      float add = 0;
#pragma unroll
      for (int n = 0; n < N; n++)
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; i++) {
          s[n][i] = ex2(fmaf(s[n][i], scale, -base));
          add += s[n][i];
        }
      sum[r] = fmaf(sum[r], fade[r], add);
    }
  }

  // shares are what a row of the result is to be multiplied with at the end: 0 where no key was seen.
  __device__ __forceinline__ void shares(float (&share)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float all = quad_sum(sum[r]);
      share[r] = all == 0 ? 0 : 1 / all;
    }
  }
};

// weight_fragment is the A operand, 16 queries by the 16 keys of score tiles 2*kk and 2*kk + 1: an accumulator of m16n8 has
// the layout that half of an m16k16 operand needs.
template <typename T, int N>
static __device__ __forceinline__ void weight_fragment(unsigned (&a)[4], const float (&s)[N][4], int kk) {
  a[0] = pack(s[2 * kk][0], s[2 * kk][1], T());
  a[1] = pack(s[2 * kk][2], s[2 * kk][3], T());
  a[2] = pack(s[2 * kk + 1][0], s[2 * kk + 1][1], T());
  a[3] = pack(s[2 * kk + 1][2], s[2 * kk + 1][3], T());
}

// cap_and_mask applies the soft cap, and hides keys that a query does not see: scores of queries i and i + 8 with keys j + 8n
// and the next. whole says that all are seen. It gives the factor that scores still lack.
template <typename T, int N>
static __device__ __forceinline__ float cap_and_mask(float (&s)[N][4], const Call<T> &c, const Tile &tile, const Scores &score, int i, int j, bool whole) {
  if (c.cap > 0) {
#pragma unroll
    for (int n = 0; n < N * 4; n++) s[n / 4][n % 4] = score(s[n / 4][n % 4]);
  }
  if (!whole) {
#pragma unroll
    for (int n = 0; n < N * 4; n++)
      if (!tile.sees(c, i + n % 4 / 2 * 8, j + n / 4 * 8 + n % 2)) s[n / 4][n % 4] = -infinity();
  }
  return c.cap > 0 ? 1 : score.scale;
}
