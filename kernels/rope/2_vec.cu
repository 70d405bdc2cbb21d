// rope/2_vec: turns pairs of the heads of x [T,H,D] by position*frequency, in place, 8 bytes a lane, sines once a token.
//
// Predecessor: 1_pairs computes every sine again for every head, and moves 2 bytes an access.
// Idea: an angle depends on token and pair, not on the head: a thread takes four pairs (two in f32) of a token, computes
//   their sines once and turns them in one head after another; it loads and stores 8 bytes at a time.
// Expect: sines and cosines fall by the number of heads a thread takes (up to 8); requests fall to a quarter (half in f32).
//   Tables whose length is no multiple of four, and rows that do not start on 8 bytes, go an element at a time.
// A profiler should show: DRAM throughput at 80 % of the datasheet or more for large inputs; little special-function work.
//
// The Go loop: for t, i { s, c := sincos(pos[t]*freq[i]); for h { turn the pair of x[t][h] } }

#include "ropehead.cuh"

template <typename T>
static __device__ __forceinline__ void rope(T *__restrict__ x, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                            int heads, int dim, int pairs, float magnitude, bool adjacent) {
  int token = blockIdx.x, first = blockIdx.y * 8, last = min(heads, first + 8);
  int position = positions[token];
  T *row = x + static_cast<size_t>(token) * heads * dim;
  if (evenly<T>(dim, pairs, x, nullptr)) {
    int groups = pairs / few<T>, side = max(1, static_cast<int>(blockDim.x) / max(groups, 1));  // heads side by side
    for (int at = threadIdx.x; at < groups * side; at += blockDim.x) {
      int i = at % groups * few<T>;
      float2 t[few<T>];
      turns<T>(t, position, frequencies, i, magnitude);
#pragma unroll 2
      for (int h = first + at / groups; h < last; h += side) turn_few(row + static_cast<size_t>(h) * dim, row + static_cast<size_t>(h) * dim, i, pairs, t, adjacent);
    }
    return;
  }
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 t = turn(position, frequencies[i], magnitude);
    int2 p = places(i, pairs, adjacent);
#pragma unroll 1
    for (int h = first; h < last; h++) {
      T *head = row + static_cast<size_t>(h) * dim;
      float2 r = rotated(to_float(head[p.x]), to_float(head[p.y]), t);
      store(head + p.x, r.x);
      store(head + p.y, r.y);
    }
  }
}

#define ENTRY(name, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(64) name(T *__restrict__ x, const int *__restrict__ positions,             \
                                                        const float *__restrict__ frequencies, int heads, int dim,        \
                                                        int pairs, float magnitude, int adjacent) {                       \
    rope(x, positions, frequencies, heads, dim, pairs, magnitude, adjacent != 0);                                         \
  }
ENTRY(rope_vec, __half)
ENTRY(rope_vec_bf16, __nv_bfloat16)
ENTRY(rope_vec_f32, float)
