// embed/3_blocks: y[t] = the values of row tokens[t] of a table in any block format or fp8, as f16, bf16 or f32.
//
// targets: sm_75
// Predecessor: 2_vec16 copies rows of ordinary elements; a table of 128,256 rows of 4,096 in f16 takes 1.05 GB, in Q4_0 295 MB.
// Idea: only the rows that are asked for are decoded: a thread takes eight neighbouring values, which lie in one block, and stores
//   them together.
// Expect: a row's bytes are read once from DRAM and 16 bytes stored a lane in 16 bits (in f32 two stores of 16 bytes, each half of the sectors that it touches); of loads one byte for each
//   code or pair of codes, and the block's scale once for each eight values; L1 serves all but
//   the first of a sector.
// A profiler should show: the integer pipe and the load/store unit busier than DRAM: unpacking is what the smaller table costs.
//
// The Go loop: for t { for c { y[t,c] = decode(table[tokens[t]], c) } }

#include "element.cuh"
#include "formats.cuh"

constexpr int EACH = 8;

static __device__ __forceinline__ void store_pieces(float *y, const float (&v)[EACH]) {
  reinterpret_cast<float4 *>(y)[0] = make_float4(v[0], v[1], v[2], v[3]);
  reinterpret_cast<float4 *>(y)[1] = make_float4(v[4], v[5], v[6], v[7]);
}
template <typename T>
static __device__ __forceinline__ void store_pieces(T *y, const float (&v)[EACH]) {
  *reinterpret_cast<uint4 *>(y) = make_uint4(pack(v[0], v[1], T()), pack(v[2], v[3], T()), pack(v[4], v[5], T()), pack(v[6], v[7], T()));
}

template <typename F, typename T>
static __device__ __forceinline__ void embed(T *__restrict__ y, const unsigned char *__restrict__ table, const int *__restrict__ tokens, int columns) {
  size_t blocks = (columns + F::BLOCK - 1) / F::BLOCK;
  const unsigned char *row = table + tokens[blockIdx.x] * blocks * F::BYTES;
  y += static_cast<size_t>(blockIdx.x) * columns;
  bool wide = ((reinterpret_cast<size_t>(y) | static_cast<size_t>(columns) * sizeof(T)) & 15) == 0;
#pragma unroll 1
  for (int c = threadIdx.x * EACH; c < columns; c += blockDim.x * EACH) {
    float v[EACH];
    if (F::BLOCK >= EACH) {
      const unsigned char *b = row + c / F::BLOCK * F::BYTES;
#pragma unroll
      for (int j = 0; j < EACH; j++) v[j] = F::value(b, c % F::BLOCK + j);
    } else {  // fp8: rows have any length
#pragma unroll
      for (int j = 0; j < EACH; j++) v[j] = c + j < columns ? F::value(row + c + j, 0) : 0.0f;
    }
    if (wide && c + EACH <= columns) {
      store_pieces(y + c, v);
    } else {
#pragma unroll
      for (int j = 0; j < EACH; j++)
        if (c + j < columns) store(y + c + j, v[j]);
    }
  }
}

#define ENTRY(NAME, F, SUFFIX, T)                                                                                             \
  extern "C" __global__ void __launch_bounds__(256) embed_blocks_##NAME##_##SUFFIX(T *__restrict__ y,                         \
      const unsigned char *__restrict__ table, const int *__restrict__ tokens, int columns) { embed<F>(y, table, tokens, columns); }
#define EMBED(NAME, F) ENTRY(NAME, F, f16, __half) ENTRY(NAME, F, bf16, __nv_bfloat16) ENTRY(NAME, F, f32, float)

EMBED(q8_0, Q8_0)
EMBED(q8_1, Q8_1)
EMBED(q4_0, Q4_0)
EMBED(q4_1, Q4_1)
EMBED(q5_0, Q5_0)
EMBED(q5_1, Q5_1)
EMBED(q2_k, Q2_K)
EMBED(q3_k, Q3_K)
EMBED(q4_k, Q4_K)
EMBED(q5_k, Q5_K)
EMBED(q6_k, Q6_K)
EMBED(mxfp4, MXFP4)
EMBED(e4m3, E4M3)
EMBED(e5m2, E5M2)
