// rope/2_vec: turns pairs of the heads of x [T,H,D] by position*frequency, in place, 16 bytes a lane, sines once a token.
//
// Predecessor: 1_pairs computes every sine again for every head, and moves 2 bytes an access.
// Idea: an angle depends on token and pair, not on the head: a CTA takes up to 32 heads of a token, puts the sines into shared
//   memory once, and turns 16 bytes of each half of a head at a time.
// Expect: sines and cosines fall by the number of heads of a CTA (up to 32); stores fall to an eighth (a quarter in f32).
//   Tables whose length is no multiple of a piece, and rows that do not start on 16 bytes, go an element at a time.
// A profiler should show: DRAM throughput at 80 % of the datasheet or near it for large inputs; hardly any special-function work.
//
// The Go loop: for t, i { s, c := sincos(pos[t]*freq[i]); for h { turn the pair of x[t][h] } }

#include "ropehead.cuh"

template <typename T>
static __device__ __forceinline__ void rope(T *__restrict__ x, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                            int heads, int dim, int pairs, float magnitude, bool adjacent) {
  extern __shared__ float2 table[];
  int first = blockIdx.y * 32, count = min(heads - first, 32);
  T *row = x + (static_cast<size_t>(blockIdx.x) * heads + first) * dim;
  sines(table, positions[blockIdx.x], frequencies, pairs, magnitude);
  if (evenly<T>(dim, pairs, x)) {
    int groups = pairs / wide<T>;
#pragma unroll 2
    for (int at = threadIdx.x; at < count * groups; at += 128) {
      T *head = row + static_cast<size_t>(at / groups) * dim;
      turn_group(head, head, at % groups * wide<T>, pairs, table, adjacent);
    }
    return;
  }
#pragma unroll 1
  for (int at = threadIdx.x; at < count * pairs; at += 128) {
    T *head = row + static_cast<size_t>(at / pairs) * dim;
    turn_pair(head, head, at % pairs, pairs, table, adjacent);
  }
}

#define ENTRY(name, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128) name(T *__restrict__ x, const int *__restrict__ positions,             \
                                                        const float *__restrict__ frequencies, int heads, int dim,        \
                                                        int pairs, float magnitude, int adjacent) {                       \
    rope(x, positions, frequencies, heads, dim, pairs, magnitude, adjacent != 0);                                         \
  }
ENTRY(rope_vec, __half)
ENTRY(rope_vec_bf16, __nv_bfloat16)
ENTRY(rope_vec_f32, float)
