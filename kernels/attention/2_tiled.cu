// attention/2_tiled: o = softmax(scale*q*k^T, masked)*v for each head, fused: tiles of 32 keys pass by, nothing of S x S is stored.
//
// Predecessor: 1_naive writes and reads a matrix of Sq*Sk elements a head twice, because softmax wants a row's maximum and
//   sum before its first weight can be used.
// Idea: it does not. Keep each query's maximum so far, the sum and the result relative to it; when a tile raises the maximum
//   from m to m', scale both by 2^(m - m'), and divide once at the end (Milakov and Gimelshein 2018; FlashAttention, Dao et al.
//   2022). A CTA has 32 queries; 32 keys, then their values, lie in shared memory; a thread holds 4 x 2 scores and 4 rows of
//   the result in registers, all in f32. Tiles that nobody sees are not even loaded.
// Expect: no S x S traffic at all; K and V are read ceil(Sq/32) times, half of that if causal; 16 sectors a request; 4*Sq*Sk*D
//   FLOPs a head; one exponential a score, and for a row and tile one in each of its 16 lanes.
// A profiler should show: DRAM at Q, K, V and O once, since L2 holds K and V of the heads at work; FP32 pipes busy.
//
// The Go loop: m, l, o = -inf, 0, 0; for tiles of keys { m2 = max(m, max(s)); p = exp(s - m2); l = l*exp(m-m2) + sum(p); o = o*exp(m-m2) + p*v; m = m2 }; o /= l

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_fill.cuh"

constexpr int ROWS = 32;  // queries of a CTA, and keys of a tile

extern __shared__ __align__(128) unsigned char memory[];

template <typename T, int DP>
static __device__ __forceinline__ void attend(Call<T> c) {
  T *queries = reinterpret_cast<T *>(memory), *keys = queries + ROWS * (DP + 8);
  float(*weights)[ROWS + 4] = reinterpret_cast<float(*)[ROWS + 4]>(keys + ROWS * (DP + 8));
  Tile tile;
  if (!tile.find(c, ROWS, blockIdx.x)) return;
  const T *q = c.q + tile.q_row * c.d, *k = c.k + tile.k_row * c.d, *v = c.v + tile.k_row * c.d;
  Width width(q, k, v, c.d);
  Scores score(c.scale, c.cap, c.d);
  int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16;  // rows row to row + 3, and columns column and column + 16
  fill<DP, ROWS>(queries, q, tile.queries, c.d, tile.first, width);
  float top[4], sum[4] = {}, acc[4][DP / 16] = {};
#pragma unroll
  for (int r = 0; r < 4; r++) top[r] = -infinity();
#pragma unroll 1
  for (int j = tile.from / ROWS * ROWS; j < tile.to; j += ROWS) {
    __syncthreads();  // the values before have been used
    fill<DP, ROWS>(keys, k, tile.keys, c.d, j, width);
    __syncthreads();
    float s[4][2] = {};
#pragma unroll 1
    for (int x = 0; x < DP; x += 8) {
      uint4 b0 = *reinterpret_cast<const uint4 *>(keys + column * (DP + 8) + x);
      uint4 b1 = *reinterpret_cast<const uint4 *>(keys + (column + 16) * (DP + 8) + x);
#pragma unroll
      for (int r = 0; r < 4; r++) {
        uint4 a = *reinterpret_cast<const uint4 *>(queries + (row + r) * (DP + 8) + x);
        s[r][0] = dot16<T>(a, b0, s[r][0]);
        s[r][1] = dot16<T>(a, b1, s[r][1]);
      }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
      for (int n = 0; n < 2; n++) s[r][n] = tile.sees(c, tile.first + row + r, j + column + 16 * n) ? score(s[r][n]) : -infinity();
      float next = fmaxf(top[r], fmaxf(s[r][0], s[r][1]));
#pragma unroll
      for (int lanes = 8; lanes > 0; lanes /= 2) next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, lanes));
      float base = next == -infinity() ? 0 : next;  // -inf - -inf would be NaN
      float fade = ex2(top[r] - base);
      top[r] = next;
      sum[r] *= fade;
#pragma unroll
      for (int x = 0; x < DP / 16; x++) acc[r][x] *= fade;
#pragma unroll
      for (int n = 0; n < 2; n++) {
        float p = ex2(s[r][n] - base);
        sum[r] += p;
        weights[row + r][column + 16 * n] = p;
      }
    }
    __syncthreads();  // the keys have been used, and the weights are there
    fill<DP, ROWS>(keys, v, tile.keys, c.d, j, width);
    __syncthreads();
#pragma unroll 1
    for (int n = 0; n < ROWS; n += 4) {
      float4 p[4];
#pragma unroll
      for (int r = 0; r < 4; r++) p[r] = *reinterpret_cast<const float4 *>(&weights[row + r][n]);
#pragma unroll
      for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < DP / 32; x++) {
          float2 value = pair(*reinterpret_cast<const unsigned *>(keys + (n + y) * (DP + 8) + x * 32 + column * 2), T());
#pragma unroll
          for (int r = 0; r < 4; r++) {
            float weight = y == 0 ? p[r].x : y == 1 ? p[r].y : y == 2 ? p[r].z : p[r].w;
            acc[r][2 * x] = fmaf(weight, value.x, acc[r][2 * x]);
            acc[r][2 * x + 1] = fmaf(weight, value.y, acc[r][2 * x + 1]);
          }
        }
    }
  }
#pragma unroll
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int lanes = 8; lanes > 0; lanes /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], lanes);
    float share = sum[r] == 0 ? 0 : 1 / sum[r];
    if (tile.first + row + r >= tile.queries) continue;
    T *o = c.o + (tile.q_row + tile.first + row + r) * c.d;
#pragma unroll
    for (int x = 0; x < DP / 16; x++) {
      int at = x / 2 * 32 + column * 2 + x % 2;
      if (at < c.d) store(o + at, acc[r][x] * share);
    }
  }
}

#define TILED(NAME, T, DP, CTAS)                                                                                           \
  extern "C" __global__ void __launch_bounds__(128, CTAS) NAME(ATTENTION_PARAMETERS(T)) { attend<T, DP>(ATTENTION_CALL(T)); }

TILED(attention_tiled_64, __half, 64, 4)
TILED(attention_tiled_128, __half, 128, 4)
TILED(attention_tiled_256, __half, 256, 3)
TILED(attention_tiled_64_bf16, __nv_bfloat16, 64, 4)
TILED(attention_tiled_128_bf16, __nv_bfloat16, 128, 4)
TILED(attention_tiled_256_bf16, __nv_bfloat16, 256, 3)
