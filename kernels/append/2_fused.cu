// append/2_fused: turns q and k by their positions and writes k and v into the pages of a KV cache, one launch.
//
// Predecessor: 1_separate starts four CUDA kernels, and the turned k goes through memory.
// Idea: the CTAs of a token take its heads of q, k and v as one list, 32 each, with the sines in shared memory. k goes from
//   registers to its page. 16 bytes a lane where heads and table are multiples of that.
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

// Places of a head of a token's list: where it comes from and goes to, and whether it is turned.
template <typename T>
struct Places {
  const T *from;
  T *to;
  bool turned;
};

template <typename T>
static __device__ __forceinline__ Places<T> head(const Append<T> &a, size_t token, int h, int slot) {
  if (h < a.qheads) {
    T *q = a.q + (token * a.qheads + h) * a.dim;
    return {q, q, true};
  }
  bool key = h < a.qheads + a.kvheads;
  h -= key ? a.qheads : a.qheads + a.kvheads;
  return {(key ? a.k : a.v) + (token * a.kvheads + h) * a.dim, (key ? a.keys : a.values) + (static_cast<size_t>(slot) * a.kvheads + h) * a.dim, key};
}

template <typename T>
static __device__ __forceinline__ void append(const Append<T> &a, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                              const int *__restrict__ slots, float magnitude) {
  extern __shared__ float2 table[];
  size_t token = blockIdx.x;
  int slot = slots[token], first = blockIdx.y * 32;
  int count = min(a.qheads + (slot < 0 ? 0 : 2 * a.kvheads) - first, 32);  // padding has no place for k and v
  sines(table, positions[token], frequencies, a.pairs, magnitude);
  if (evenly<T>(a.dim, a.pairs, a.q, a.k, a.v) && evenly<T>(a.dim, a.pairs, a.keys, a.values)) {
    int groups = a.pairs / wide<T>;
#pragma unroll 2
    for (int at = threadIdx.x; at < count * groups; at += 128) {
      Places<T> p = head(a, token, first + at / groups, slot);
      int i = at % groups * wide<T>;
      if (p.turned) {
        turn_group(p.to, p.from, i, a.pairs, table, a.adjacent);
      } else {
        uint4 x = *reinterpret_cast<const uint4 *>(p.from + i), y = *reinterpret_cast<const uint4 *>(p.from + i + a.pairs);
        *reinterpret_cast<uint4 *>(p.to + i) = x;
        *reinterpret_cast<uint4 *>(p.to + i + a.pairs) = y;
      }
    }
  } else {
#pragma unroll 1
    for (int at = threadIdx.x; at < count * a.pairs; at += 128) {
      Places<T> p = head(a, token, first + at / a.pairs, slot);
      int i = at % a.pairs;
      if (p.turned) {
        turn_pair(p.to, p.from, i, a.pairs, table, a.adjacent);
      } else {
        p.to[i] = p.from[i];
        p.to[i + a.pairs] = p.from[i + a.pairs];
      }
    }
  }
  int tail = a.dim - 2 * a.pairs;  // what is not turned of k's and v's heads
  for (int at = threadIdx.x; at < count * tail; at += 128) {
    Places<T> p = head(a, token, first + at / tail, slot);
    int i = 2 * a.pairs + at % tail;
    if (p.to != p.from) p.to[i] = p.from[i];
  }
}

#define ENTRY(name, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(128, 6) name(T *__restrict__ q, T *__restrict__ keys, T *__restrict__ values,        \
      const T *__restrict__ k, const T *__restrict__ v, const int *__restrict__ positions, const int *__restrict__ slots,       \
      const float *__restrict__ frequencies, int qheads, int kvheads, int dim, int pairs, float magnitude, int adjacent) {      \
    append(Append<T>{q, keys, values, k, v, qheads, kvheads, dim, pairs, adjacent != 0}, positions, frequencies, slots, magnitude); \
  }
ENTRY(append_fused, __half)
ENTRY(append_fused_bf16, __nv_bfloat16)
ENTRY(append_fused_f32, float)
