// ropehead.cuh: a piece of a head turned at once, for rope/2_vec and the fused append.
#pragma once
#include "rope.cuh"

// few is how many neighbouring elements a thread takes at a time: 8 bytes of them.
template <typename T>
constexpr int few = 8 / sizeof(T);

template <typename T>
struct alignas(8) Few { T v[8 / sizeof(T)]; };

// evenly says whether a head's turned part is whole groups in either layout, at addresses that are.
template <typename T>
static __device__ __forceinline__ bool evenly(int dim, int pairs, const void *a, const void *b) {
  return pairs % few<T> == 0 && ((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b) | static_cast<size_t>(dim) * sizeof(T)) & 7) == 0;
}

// turns is few pairs' sines and cosines, from pair i on.
template <typename T>
static __device__ __forceinline__ void turns(float2 (&t)[8 / sizeof(T)], int position, const float *__restrict__ frequencies, int i, float magnitude) {
#pragma unroll
  for (int j = 0; j < few<T>; j++) t[j] = turn(position, frequencies[i + j], magnitude);
}

// turn_few turns few pairs from pair i on, from one head to another; from and to may be the same.
template <typename T>
static __device__ __forceinline__ void turn_few(T *to, const T *from, int i, int pairs, const float2 (&t)[8 / sizeof(T)], bool adjacent) {
  int a = adjacent ? 2 * i : i, b = adjacent ? 2 * i + few<T> : i + pairs;
  Few<T> x = *reinterpret_cast<const Few<T> *>(from + a), y = *reinterpret_cast<const Few<T> *>(from + b), u, v;
#pragma unroll
  for (int j = 0; j < few<T>; j++) {
    if (adjacent) {  // pair j lies in elements 2j and 2j+1 of x and y together
      constexpr int half = few<T> / 2;
      const Few<T> &w = j < half ? x : y;
      float2 r = rotated(to_float(w.v[2 * (j % half)]), to_float(w.v[2 * (j % half) + 1]), t[j]);
      Few<T> &z = j < half ? u : v;
      store(&z.v[2 * (j % half)], r.x);
      store(&z.v[2 * (j % half) + 1], r.y);
    } else {
      float2 r = rotated(to_float(x.v[j]), to_float(y.v[j]), t[j]);
      store(&u.v[j], r.x);
      store(&v.v[j], r.y);
    }
  }
  *reinterpret_cast<Few<T> *>(to + a) = u;
  *reinterpret_cast<Few<T> *>(to + b) = v;
}
