// ropehead.cuh: heads of a token turned 16 bytes at a time, with sines from shared memory, for rope/2_vec and the fused append.
#pragma once
#include "rope.cuh"
#include "rows.cuh"

// evenly says whether a head's turned part is whole groups of 16-byte pieces in either layout, at addresses that are.
template <typename T>
static __device__ __forceinline__ bool evenly(int dim, int pairs, const void *a, const void *b = nullptr, const void *c = nullptr) {
  return pairs % wide<T> == 0 && rows16<T>(dim, a, b, c);
}

// sines puts each pair's sine and cosine at a position into shared memory, for all heads of a token.
static __device__ __forceinline__ void sines(float2 *table, int position, const float *__restrict__ frequencies, int pairs, float magnitude) {
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) table[i] = turn(position, frequencies[i], magnitude);
  __syncthreads();
}

// turn_group turns pairs i, i+1 … of a head, as many as a piece of 16 bytes has elements, from one head to another, or in place.
template <typename T>
static __device__ __forceinline__ void turn_group(T *to, const T *from, int i, int pairs, const float2 *table, bool adjacent) {
  constexpr int n = wide<T>;
  int a = adjacent ? 2 * i : i, b = adjacent ? 2 * i + n : i + pairs;
  float x[n], y[n];
  unpack<T>(x, *reinterpret_cast<const uint4 *>(from + a));
  unpack<T>(y, *reinterpret_cast<const uint4 *>(from + b));
  if (adjacent) {  // pair j lies in elements 2j and 2j+1 of x and y together
#pragma unroll
    for (int j = 0; j < n / 2; j++) {
      float2 r = rotated(x[2 * j], x[2 * j + 1], table[i + j]), s = rotated(y[2 * j], y[2 * j + 1], table[i + n / 2 + j]);
      x[2 * j] = r.x, x[2 * j + 1] = r.y, y[2 * j] = s.x, y[2 * j + 1] = s.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < n; j++) {
      float2 r = rotated(x[j], y[j], table[i + j]);
      x[j] = r.x, y[j] = r.y;
    }
  }
  *reinterpret_cast<uint4 *>(to + a) = pack<T>(x);
  *reinterpret_cast<uint4 *>(to + b) = pack<T>(y);
}

// turn_pair turns one pair.
template <typename T>
static __device__ __forceinline__ void turn_pair(T *to, const T *from, int i, int pairs, const float2 *table, bool adjacent) {
  int2 p = places(i, pairs, adjacent);
  float2 r = rotated(to_float(from[p.x]), to_float(from[p.y]), table[i]);
  store(to + p.x, r.x);
  store(to + p.y, r.y);
}
