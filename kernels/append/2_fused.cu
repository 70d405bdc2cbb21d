// append/2_fused: turns q and k by their positions and writes k and v into the pages of a KV cache, one launch.
//
// Predecessor: 1_separate starts four CUDA kernels, and the turned k goes through memory.
// Idea: the CTAs of a token take its heads of q, k and v as one list, eight each; sines are computed once for eight heads. k
//   goes from registers to its page. 8 bytes a lane where heads and table are multiples of that.
// Expect: one launch; k and v are written once, into their pages; stores fall by k's tokens*heads*dim elements.
// A profiler should show: one launch in place of four; a decode step's append ends in the time of a launch.
//
// The Go loop: 1_separate's.

#include "ropehead.cuh"

template <typename T>
struct Append {
  T *q, *keys, *values;
  const T *k, *v;
  int qheads, kvheads, dim, pairs;
  bool adjacent;
};

// one handles few pairs from pair i on of head h of a token's list: turned for q and k, copied for v.
template <typename T>
static __device__ __forceinline__ void one(const Append<T> &a, size_t token, int h, int slot, int i, const float2 (&t)[8 / sizeof(T)]) {
  if (h < a.qheads) {
    T *head = a.q + (token * a.qheads + h) * a.dim;
    turn_few(head, head, i, a.pairs, t, a.adjacent);
    return;
  }
  if (slot < 0) return;
  bool key = h < a.qheads + a.kvheads;
  h -= key ? a.qheads : a.qheads + a.kvheads;
  const T *from = (key ? a.k : a.v) + (token * a.kvheads + h) * a.dim;
  T *to = (key ? a.keys : a.values) + (static_cast<size_t>(slot) * a.kvheads + h) * a.dim;
  if (key) {
    turn_few(to, from, i, a.pairs, t, a.adjacent);
  } else {
    *reinterpret_cast<Few<T> *>(to + i) = *reinterpret_cast<const Few<T> *>(from + i);
    *reinterpret_cast<Few<T> *>(to + i + a.pairs) = *reinterpret_cast<const Few<T> *>(from + i + a.pairs);
  }
}

// tails copies what is not turned of k's and v's heads [first, last) of the list, from element on.
template <typename T>
static __device__ __forceinline__ void tails(const Append<T> &a, size_t token, int first, int last, int slot, int keyfrom, int valuefrom) {
  for (int h = max(first, a.qheads); h < last && slot >= 0; h++) {
    bool key = h < a.qheads + a.kvheads;
    int kv = h - (key ? a.qheads : a.qheads + a.kvheads);
    const T *from = (key ? a.k : a.v) + (token * a.kvheads + kv) * a.dim;
    T *to = (key ? a.keys : a.values) + (static_cast<size_t>(slot) * a.kvheads + kv) * a.dim;
    for (int i = (key ? keyfrom : valuefrom) + threadIdx.x; i < a.dim; i += blockDim.x) to[i] = from[i];
  }
}

template <typename T>
static __device__ __forceinline__ void append(const Append<T> &a, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                              const int *__restrict__ slots, float magnitude) {
  size_t token = blockIdx.x;
  int first = blockIdx.y * 8, last = min(a.qheads + 2 * a.kvheads, first + 8);
  int position = positions[token], slot = slots[token];
  if (evenly<T>(a.dim, a.pairs, a.q, a.k) && evenly<T>(a.dim, a.pairs, a.v, a.keys) && evenly<T>(a.dim, a.pairs, a.values, nullptr)) {
    int groups = a.pairs / few<T>, side = max(1, static_cast<int>(blockDim.x) / max(groups, 1));
    for (int at = threadIdx.x; at < groups * side; at += blockDim.x) {
      int i = at % groups * few<T>;
      float2 t[few<T>];
      turns<T>(t, position, frequencies, i, magnitude);
#pragma unroll 1
      for (int h = first + at / groups; h < last; h += side) one(a, token, h, slot, i, t);
    }
    tails(a, token, first, last, slot, 2 * a.pairs, 2 * a.pairs);
    return;
  }
  for (int i = threadIdx.x; i < a.pairs; i += blockDim.x) {
    float2 t = turn(position, frequencies[i], magnitude);
    int2 p = places(i, a.pairs, a.adjacent);
    for (int h = first; h < min(last, a.qheads + a.kvheads); h++) {
      if (h >= a.qheads && slot < 0) break;
      T *to = h < a.qheads ? a.q + (token * a.qheads + h) * a.dim : a.keys + (static_cast<size_t>(slot) * a.kvheads + h - a.qheads) * a.dim;
      const T *from = h < a.qheads ? to : a.k + (token * a.kvheads + h - a.qheads) * a.dim;
      float2 r = rotated(to_float(from[p.x]), to_float(from[p.y]), t);
      store(to + p.x, r.x);
      store(to + p.y, r.y);
    }
  }
  tails(a, token, first, last, slot, 2 * a.pairs, 0);
}

#define ENTRY(name, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(64, 10) name(T *__restrict__ q, T *__restrict__ keys, T *__restrict__ values,        \
      const T *__restrict__ k, const T *__restrict__ v, const int *__restrict__ positions, const int *__restrict__ slots,       \
      const float *__restrict__ frequencies, int qheads, int kvheads, int dim, int pairs, float magnitude, int adjacent) {      \
    append(Append<T>{q, keys, values, k, v, qheads, kvheads, dim, pairs, adjacent != 0}, positions, frequencies, slots, magnitude); \
  }
ENTRY(append_fused, __half)
ENTRY(append_fused_bf16, __nv_bfloat16)
ENTRY(append_fused_f32, float)
