// attention/1_naive: o = softmax(scale*q*k^T, masked)*v for each head, in three launches with the S x S matrix in memory.
//
// Predecessor: none. This is attention as its formula reads, and what a framework runs that has a product, a softmax and a
//   product.
// Idea: a thread a score; a warp a row of softmax; a thread an element of the result. What a launch makes it
//   leaves in memory for the next, rounded to the element type.
// Expect: the matrix of B*Hq*Sq*Sk elements is written and read twice, 4*B*Hq*Sq*Sk*e bytes, however short a head is; masked
//   scores are computed, stored and read like others. For B = 64, H = 16, N = 1024, d = 64 that is 8.6 of 9.1 GB.
// A profiler should show: DRAM busy with a matrix that nobody asked for, and in the products many requests a FLOP.
//
// The Go loop: for i { for j { s[i,j] = scale * dot(q[i], k[j]) }; for j { p[j] = exp(s[i,j]-max) / sum }; for j { o[i] += p[j] * v[j] } }

#include "element.cuh"
#include "attention.cuh"

// scores makes s [b, hq, sq, sk], 16 x 16 of it a CTA: the logarithms, base 2, of the weights, -inf where a query does not look.
template <typename T>
static __device__ __forceinline__ void scores(T *__restrict__ s, Call<T> c) {
  int across = (c.sk + 15) / 16;
  int i = blockIdx.x / across * 16 + threadIdx.y, j = blockIdx.x % across * 16 + threadIdx.x;
  int h = blockIdx.y, batch = blockIdx.z;
  if (i >= c.sq || j >= c.sk) return;
  Tile tile;
  tile.queries = c.sq;
  tile.keys = c.sk;
  int qi = i, kj = j;  // within their sequence
  bool together = true;
  if (c.cu_q != nullptr) {
    int n = 0;
    while (n < c.sequences - 1 && i >= c.cu_q[n + 1]) n++;
    qi -= c.cu_q[n];
    kj -= c.cu_k[n];
    tile.queries = c.cu_q[n + 1] - c.cu_q[n];
    tile.keys = c.cu_k[n + 1] - c.cu_k[n];
    together = kj >= 0 && qi < tile.queries;
  }
  tile.shift = tile.keys - tile.queries;
  const T *q = c.q + ((static_cast<size_t>(batch) * c.hq + h) * c.sq + i) * c.d;
  const T *k = c.k + ((static_cast<size_t>(batch) * c.hkv + h / (c.hq / c.hkv)) * c.sk + j) * c.d;
  float dot = 0;
#pragma unroll 4
  for (int x = 0; x < c.d; x++) dot = fmaf(to_float(q[x]), to_float(k[x]), dot);
  Scores score(c.scale, c.cap, c.d);
  bool sees = together && tile.sees(c, qi, kj);
  store(s + ((static_cast<size_t>(batch) * c.hq + h) * c.sq + i) * c.sk + j, sees ? score(dot) : -infinity());
}

// softmax turns rows of s into weights that add up to 1; a row without a visible key becomes zeros.
template <typename T>
static __device__ __forceinline__ void softmax(T *__restrict__ p, const T *__restrict__ s, int rows, int columns) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T *scores = s + static_cast<size_t>(row) * columns;
  T *weights = p + static_cast<size_t>(row) * columns;
  float top = -infinity(), sum = 0;
#pragma unroll 4
  for (int j = lane; j < columns; j += 32) top = fmaxf(top, to_float(scores[j]));
  for (int lanes = 16; lanes > 0; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, lanes));
  if (top == -infinity()) top = 0;  // -inf - -inf would be NaN
#pragma unroll 4
  for (int j = lane; j < columns; j += 32) sum += ex2(to_float(scores[j]) - top);
  sum = warp_sum(sum);
  float share = sum == 0 ? 0 : 1 / sum;
#pragma unroll 4
  for (int j = lane; j < columns; j += 32) store(weights + j, ex2(to_float(scores[j]) - top) * share);
}

// product makes o, four rows of 32 elements a CTA.
template <typename T>
static __device__ __forceinline__ void product(T *__restrict__ o, const T *__restrict__ p, const T *__restrict__ v, int hq, int hkv, int sq, int sk, int d) {
  int across = (d + 31) / 32;
  int i = blockIdx.x / across * 4 + threadIdx.x / 32, x = blockIdx.x % across * 32 + threadIdx.x % 32;
  int h = blockIdx.y, batch = blockIdx.z;
  if (i >= sq || x >= d) return;
  const T *weights = p + ((static_cast<size_t>(batch) * hq + h) * sq + i) * sk;
  const T *values = v + (static_cast<size_t>(batch) * hkv + h / (hq / hkv)) * sk * d + x;
  float sum = 0;
#pragma unroll 4
  for (int j = 0; j < sk; j++) sum = fmaf(to_float(weights[j]), to_float(values[static_cast<size_t>(j) * d]), sum);
  store(o + ((static_cast<size_t>(batch) * hq + h) * sq + i) * d + x, sum);
}

#define NAIVE(SUFFIX, T)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256) attention_scores##SUFFIX(                                              \
      T *__restrict__ s, const T *__restrict__ q, const T *__restrict__ k, const int *__restrict__ cu_q,                   \
      const int *__restrict__ cu_k, int hq, int hkv, int sq, int sk, int d, int sequences, float scale, int causal,        \
      int window, float cap) {                                                                                             \
    scores<T>(s, Call<T>{nullptr, q, k, nullptr, cu_q, cu_k, 0, hq, hkv, sq, sk, d, sequences, scale, causal, window, cap}); \
  }                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) attention_softmax##SUFFIX(                                             \
      T *__restrict__ p, const T *__restrict__ s, int rows, int columns) {                                                 \
    softmax<T>(p, s, rows, columns);                                                                                       \
  }                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128) attention_product##SUFFIX(                                             \
      T *__restrict__ o, const T *__restrict__ p, const T *__restrict__ v, int hq, int hkv, int sq, int sk, int d) {       \
    product<T>(o, p, v, hq, hkv, sq, sk, d);                                                                               \
  }

NAIVE(, __half)
NAIVE(_bf16, __nv_bfloat16)
