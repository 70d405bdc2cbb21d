// embed/1_naive: y[t] = table[tokens[t]], rows of a table of embeddings, a thread an element.
//
// Predecessor: none; the definition.
// Idea: a CTA a token; threads walk along the row.
// Expect: each row read and written once, 2 sectors a request in 16 bits; the token is read by every warp.
// A profiler should show: two short loads one after the other, the token and then its row: latency, not bandwidth.
//
// The Go loop: for t { copy(y[t], table[tokens[t]]) }

#include "element.cuh"

#define ENTRY(name, T)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(256) name(T *__restrict__ y, const T *__restrict__ table,                \
                                                         const int *__restrict__ tokens, int columns) {                 \
    const T *from = table + static_cast<size_t>(tokens[blockIdx.x]) * columns;                                          \
    T *to = y + static_cast<size_t>(blockIdx.x) * columns;                                                              \
    for (int c = threadIdx.x; c < columns; c += blockDim.x) to[c] = from[c];                                            \
  }
ENTRY(embed_naive, unsigned short)
ENTRY(embed_naive_f32, float)
