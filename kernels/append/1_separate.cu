// append/1_separate: turns q and k by their positions and writes k and v into the pages of a KV cache, four launches.
//
// Predecessor: none; rope for q, rope for k, a scatter for k and one for v, as a framework that knows these calls them.
// Idea: each operation is a CUDA kernel of its own; the turned k goes through memory between two of them. Token t goes to row
//   slots[t] of the pages seen as rows, page*pageSize + offset; a negative slot is padding and is not written.
// Expect: four launches; k is written twice, once for memory and once for its page.
// A profiler should show: four short launches in a decode step, each a few microseconds of which most is its start.
//
// The Go loop: for t { turn(q[t], pos[t]); kr := turn(k[t], pos[t]); if s := slots[t]; s >= 0 { K[s] = kr; V[s] = v[t] } }

#include "rope.cuh"

// turn_rows turns the heads of each token from one tensor to another, or in place.
template <typename T>
static __device__ __forceinline__ void turn_rows(T *to, const T *from, const int *__restrict__ positions, const float *__restrict__ frequencies,
                                                 int heads, int dim, int pairs, float magnitude, bool adjacent) {
  int position = positions[blockIdx.x];
  size_t row = static_cast<size_t>(blockIdx.x) * heads * dim;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 t = turn(position, frequencies[i], magnitude);
    int2 p = places(i, pairs, adjacent);
    for (int h = 0; h < heads; h++) {
      size_t at = row + static_cast<size_t>(h) * dim;
      float2 r = rotated(to_float(from[at + p.x]), to_float(from[at + p.y]), t);
      store(to + at + p.x, r.x);
      store(to + at + p.y, r.y);
    }
  }
  if (to == from) return;
  int tail = dim - 2 * pairs;
  for (int i = threadIdx.x; i < heads * tail; i += blockDim.x) {
    size_t at = row + static_cast<size_t>(i / tail) * dim + 2 * pairs + i % tail;
    to[at] = from[at];
  }
}

#define ENTRY(suffix, T)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(64) append_turn##suffix(T *to, const T *from, const int *__restrict__ positions, \
      const float *__restrict__ frequencies, int heads, int dim, int pairs, float magnitude, int adjacent) {                 \
    turn_rows(to, from, positions, frequencies, heads, dim, pairs, magnitude, adjacent != 0);                                \
  }                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) append_scatter##suffix(T *__restrict__ pages, const T *__restrict__ from, \
      const int *__restrict__ slots, int heads, int dim) {                                                                   \
    int slot = slots[blockIdx.x];                                                                                            \
    if (slot < 0) return;                                                                                                    \
    size_t n = static_cast<size_t>(heads) * dim;                                                                             \
    for (size_t i = threadIdx.x; i < n; i += 256) pages[slot * n + i] = from[blockIdx.x * n + i];                            \
  }
ENTRY(, __half)
ENTRY(_bf16, __nv_bfloat16)
ENTRY(_f32, float)
