// paged/1_decode: o = softmax(scale*q*k^T)*v for one new query a sequence, whose keys and values lie in pages.
//
// targets: sm_80
// Predecessor: decode/3_split wants each sequence's cache in one piece, as long as the sequence may ever become: most of it is
//   empty, and nothing can be shared.
// Idea: the cache is cut into pages of page tokens, [pages, page, Hkv, D], and a block table says which page holds tokens
//   page*i and on (PagedAttention, Kwon et al. 2023). A row of D elements is in one piece wherever its page lies, so the
//   copies ask for the same sectors; the lanes look up the rows of a tile one tile ahead, so that no copy waits for the table.
//   No entry behind the last token is read. Parts and their combination are decode/3_split's.
// Expect: the bytes of decode/3_split and 8 bytes of table a token and KV head (two lanes each); the same FLOPs. A page that
//   several sequences share is fetched from DRAM once.
// A profiler should show: the time of decode/3_split, and 10 % more at most with pages of 16.
//
// The Go loop: decode/3_split's, with k[table[j/page]][j%page] for k[j].

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "piece.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_decode.cuh"

template <typename T, int DP, int WARPS, int STAGES>
static __device__ __forceinline__ void paged(T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
    const int *__restrict__ table, const int *__restrict__ lengths, float *__restrict__ part_o, float *__restrict__ part_lse, int hq, int hkv,
    int page, int columns, int d, int parts, float scale, int window, float cap) {
  int group = hq / hkv, rows = (group + 15) / 16, kv = blockIdx.x / rows, row = blockIdx.x % rows, b = blockIdx.y, part = blockIdx.z;
  int to = lengths[b], from = window > 0 ? max(0, to - window) : 0;
  part_range<16 * WARPS>(from, to, part, parts);
  size_t heads = static_cast<size_t>(b) * hq + kv * group + row * 16;  // the first of up to 16 rows of q and o
  GroupDecoder<T, DP, WARPS, STAGES, true> decoder{
      k, v, d, {table + static_cast<size_t>(b) * columns, page, static_cast<size_t>(kv), static_cast<size_t>(hkv)}, from, to};
  decoder.decode(q + heads * d, min(16, group - row * 16), Scores(scale, cap, d), Result<T>{o, part_o, part_lse, heads, d, part, parts});
}

#define PAGED(NAME, T, DP, WARPS, STAGES)                                                                                  \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) NAME(                                                           \
      T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                        \
      const int *__restrict__ table, const int *__restrict__ lengths, float *__restrict__ part_o,                          \
      float *__restrict__ part_lse, int b, int hq, int hkv, int page, int columns, int d, int parts, float scale,          \
      int window, float cap) {                                                                                             \
    paged<T, DP, WARPS, STAGES>(o, q, k, v, table, lengths, part_o, part_lse, hq, hkv, page, columns, d, parts, scale,     \
                                window, cap);                                                                              \
  }

PAGED(paged_decode_64, __half, 64, 4, 4)
PAGED(paged_decode_128, __half, 128, 4, 3)
PAGED(paged_decode_256, __half, 256, 2, 3)
PAGED(paged_decode_64_bf16, __nv_bfloat16, 64, 4, 4)
PAGED(paged_decode_128_bf16, __nv_bfloat16, 128, 4, 3)
PAGED(paged_decode_256_bf16, __nv_bfloat16, 256, 2, 3)

extern "C" __global__ void __launch_bounds__(128) decode_combine(__half *__restrict__ o, const float *__restrict__ part_o,
    const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
extern "C" __global__ void __launch_bounds__(128) decode_combine_bf16(__nv_bfloat16 *__restrict__ o, const float *__restrict__ part_o,
    const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
