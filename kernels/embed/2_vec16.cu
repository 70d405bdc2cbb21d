// embed/2_vec16: y[t] = table[tokens[t]], rows of a table of embeddings, 16 bytes a lane.
//
// Predecessor: 1_naive moves 64 bytes a request in 16 bits and has one load in flight.
// Idea: 16 bytes a lane, four loads before the first store.
// Expect: an eighth of 1_naive's requests in 16 bits (a quarter in f32), 16 sectors each; the same bytes. Rows that are no
//   multiple of 16 bytes go an element at a time.
// A profiler should show: DRAM throughput at 80 % of the datasheet or more for large inputs.
//
// The Go loop: 1_naive's.

#include "rows.cuh"

template <typename T>
static __device__ __forceinline__ void embed(T *__restrict__ to, const T *__restrict__ from, int columns) {
  if (rows16<T>(columns, to, from)) {
    int pieces = columns / wide<T>;
    for (int first = threadIdx.x; first < pieces; first += 4 * blockDim.x) {
      uint4 held[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int at = first + i * blockDim.x;
        if (at < pieces) held[i] = reinterpret_cast<const uint4 *>(from)[at];
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int at = first + i * blockDim.x;
        if (at < pieces) reinterpret_cast<uint4 *>(to)[at] = held[i];
      }
    }
    return;
  }
  for (int c = threadIdx.x; c < columns; c += blockDim.x) to[c] = from[c];
}

#define ENTRY(name, T)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) name(T *__restrict__ y, const T *__restrict__ table,                \
                                                         const int *__restrict__ tokens, int columns) {                 \
    embed(y + static_cast<size_t>(blockIdx.x) * columns, table + static_cast<size_t>(tokens[blockIdx.x]) * columns, columns); \
  }
ENTRY(embed_vec16, unsigned short)
ENTRY(embed_vec16_f32, float)
