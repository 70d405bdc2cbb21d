// rope/1_pairs: turns pairs of the heads of x [T,H,D] by position*frequency, in place, a thread a pair.
//
// Predecessor: none; the definition (Su et al., 2021), with frequencies and magnitude from a table, so that each way of
//   scaling them (linear, Llama 3's, YaRN's) is the same CUDA kernel.
// Idea: a thread owns a pair of one head of one token: its angle, sine and cosine, and the turn.
// Expect: every element of the turned part read and written once; a sine and a cosine for each pair of each head; heads that
//   are longer than twice the table keep their tails.
// A profiler should show: 2-byte accesses; the same sines computed again for every head.
//
// The Go loop: for t, h, i { s, c := sincos(pos[t]*freq[i]); a, b := x[t][h][p], x[t][h][q]; x[..p], x[..q] = a*c-b*s, a*s+b*c }

#include "rope.cuh"

template <typename T>
static __device__ __forceinline__ void rope(T *__restrict__ x, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                            int tokens, int heads, int dim, int pairs, float magnitude, bool adjacent) {
  size_t at = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  size_t row = at / pairs;  // token and head
  if (row >= static_cast<size_t>(tokens) * heads) return;
  int i = at % pairs;
  float2 t = turn(positions[row / heads], frequencies[i], magnitude);
  int2 p = places(i, pairs, adjacent);
  T *head = x + row * dim;
  float2 r = rotated(to_float(head[p.x]), to_float(head[p.y]), t);
  store(head + p.x, r.x);
  store(head + p.y, r.y);
}

#define ENTRY(name, T)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) name(T *__restrict__ x, const int *__restrict__ positions,             \
                                                         const float *__restrict__ frequencies, int tokens, int heads,     \
                                                         int dim, int pairs, float magnitude, int adjacent) {              \
    rope(x, positions, frequencies, tokens, heads, dim, pairs, magnitude, adjacent != 0);                                  \
  }
ENTRY(rope_pairs, __half)
ENTRY(rope_pairs_bf16, __nv_bfloat16)
ENTRY(rope_pairs_f32, float)
