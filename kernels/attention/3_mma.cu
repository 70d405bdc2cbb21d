// attention/3_mma: o = softmax(scale*q*k^T, masked)*v for each head, fused, both products on tensor cores.
//
// Predecessor: 2_tiled multiplies on the FP32 units, which do a fourteenth of what tensor cores can, and sends every weight
//   through shared memory.
// Idea: the FlashAttention-2 shape (Dao 2023). Four warps have 16 queries each and share nothing but the tiles of K and V: a
//   row's maximum and sum concern four lanes of one warp. Q stays in registers as the A operand of mma.sync for the whole
//   pass. Weights go from the first product's accumulators straight into the second's A operand, whose layout is the same;
//   ldmatrix.trans turns V. The result is divided once, at the end.
// Expect: 4*Sq*Sk*D FLOPs a head on tensor cores, tiles counted whole (64 queries by 64 keys, 16 where D > 128; D to 64, 128,
//   256), no FP32 FMA for them; K and V read ceil(Sq/64) times, half as often as in 2_tiled; two ldmatrix a 16 x 16 piece of
//   K and of V.
// A profiler should show: tensor pipe at a quarter, warps waiting for the tile that was asked for only when it was needed.
//
// The Go loop: 2_tiled's, 64 queries and 64 keys at a time.
// Fragments: PTX ISA 9.7.14.5, m16n8k16.

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_fill.cuh"
#include "attention_tensor.cuh"

constexpr int BM = 64;

extern __shared__ __align__(128) unsigned char memory[];

template <typename T, int DP, int BN>
static __device__ __forceinline__ void attend(Call<T> c) {
  constexpr bool HELD = DP <= 128;  // 256 would need 64 registers more than there are: then Q stays in shared memory
  T *queries = reinterpret_cast<T *>(memory), *keys = HELD ? queries : queries + BM * (DP + 8), *values = keys + BN * (DP + 8);
  Tile tile;
  if (!tile.find(c, BM, blockIdx.x)) return;
  const T *q = c.q + tile.q_row * c.d, *k = c.k + tile.k_row * c.d, *v = c.v + tile.k_row * c.d;
  Width width(q, k, v, c.d);
  Scores score(c.scale, c.cap, c.d);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int i = tile.first + warp * 16;  // the warp's first query
  fill<DP, BM>(queries, q, tile.queries, c.d, tile.first, width);
  __syncthreads();
  unsigned query = shared_address(queries + (warp * 16 + lane % 16) * (DP + 8) + lane / 16 * 8);
  unsigned a[HELD ? DP / 16 : 1][4];
#pragma unroll
  for (int x = 0; HELD && x < DP / 16; x++) ldmatrix_x4(a[x], query + x * 32);
  float acc[DP / 8][4] = {};
  Online online;
  unsigned key = shared_address(keys + (lane / 16 * 8 + lane % 8) * (DP + 8) + lane / 8 % 2 * 8);
  unsigned value = shared_address(values + lane % 16 * (DP + 8) + lane / 16 * 8);
#pragma unroll 1
  for (int j = tile.from / BN * BN; j < tile.to; j += BN) {
    __syncthreads();  // the tiles before have been used
    fill<DP, BN>(keys, k, tile.keys, c.d, j, width);
    fill<DP, BN>(values, v, tile.keys, c.d, j, width);
    __syncthreads();
    float s[BN / 8][4] = {};
#pragma unroll
    for (int x = 0; x < DP / 16; x++) {
      unsigned(&operand)[4] = a[HELD ? x : 0];
      if (!HELD) ldmatrix_x4(operand, query + x * 32);
#pragma unroll
      for (int n = 0; n < BN / 16; n++) {
        unsigned b[4];
        ldmatrix_x4(b, key + (n * 16 * (DP + 8) + x * 16) * 2);
        mma<T>(s[2 * n], operand, b[0], b[1]);
        mma<T>(s[2 * n + 1], operand, b[2], b[3]);
      }
    }
    float factor = cap_and_mask(s, c, tile, score, i + lane / 4, j + lane % 4 * 2, tile.sees_all(c, i, 16, j, BN));
    float fade[2];
    online.weigh(s, factor, fade);
#pragma unroll
    for (int x = 0; x < DP / 8 * 4; x++) acc[x / 4][x % 4] *= fade[x % 4 / 2];
#pragma unroll
    for (int kk = 0; kk < BN / 16; kk++) {
      unsigned p[4];
      weight_fragment<T>(p, s, kk);
#pragma unroll
      for (int x = 0; x < DP / 16; x++) {
        unsigned b[4];
        ldmatrix_x4_transposed(b, value + (kk * 16 * (DP + 8) + x * 16) * 2);
        mma<T>(acc[2 * x], p, b[0], b[1]);
        mma<T>(acc[2 * x + 1], p, b[2], b[3]);
      }
    }
  }
  float share[2];
  online.shares(share);
  T *o = c.o + tile.q_row * c.d;
#pragma unroll
  for (int x = 0; x < DP / 8; x++) {
#pragma unroll
    for (int r = 0; r < 4; r++) acc[x][r] *= share[r / 2];
    store_fragment(o, tile.queries, c.d, i, x * 8, acc[x]);
  }
}

#define MMA(NAME, T, DP, BN, CTAS)                                                                                         \
  extern "C" __global__ void __launch_bounds__(128, CTAS) NAME(ATTENTION_PARAMETERS(T)) { attend<T, DP, BN>(ATTENTION_CALL(T)); }

MMA(attention_mma_64, __half, 64, 64, 3)
MMA(attention_mma_128, __half, 128, 64, 2)
MMA(attention_mma_256, __half, 256, 16, 2)
MMA(attention_mma_64_bf16, __nv_bfloat16, 64, 64, 3)
MMA(attention_mma_128_bf16, __nv_bfloat16, 128, 64, 2)
MMA(attention_mma_256_bf16, __nv_bfloat16, 256, 16, 2)
