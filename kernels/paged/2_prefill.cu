// paged/2_prefill: o = softmax(scale*q*k^T, masked)*v for the newest tokens of several sequences, whose keys lie in pages.
//
// targets: sm_80
// Predecessor: attention/4_cp_async reads K and V of whole prompts in one piece. A server adds a chunk of a prompt to what the
//   pages hold already: an earlier chunk, or a prefix that another sequence computed.
// Idea: q and o are [tokens, Hq, D], the chunks of all sequences one after the other as the projections make them; cuQ says
//   where each starts, lengths how many tokens its pages then hold, the chunk among them. A chunk's queries are the last of
//   them. The tiles are attention/4_cp_async's; a thread finds the rows that it copies through the block table.
// Expect: the bytes and FLOPs of attention/4_cp_async, with lengths in place of Sk, and 4 bytes of table for each 16 bytes of K
//   and of V that a lane copies, nearly all of them from L1.
// A profiler should show: attention/4_cp_async's picture, with a few more integer instructions a tile.
//
// The Go loop: attention/3_mma's, with k[table[j/page]][j%page] for k[j].

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_async.cuh"

template <typename T, int DP, int MT, int BN>
static __device__ __forceinline__ void attend(const Call<T> &c, const int *table, const int *lengths, int page, int columns) {
  Prefill<T, DP, MT, BN, true> work{c};
  Tile &tile = work.tile;
  int n, start, h = blockIdx.y;
  if (!tile.search(c.cu_q, c.sequences, work.BM, blockIdx.x, n, start)) return;
  tile.keys = lengths[n];
  tile.bound(c, work.BM);
  work.rows = {table + static_cast<size_t>(n) * columns, page, static_cast<size_t>(h / (c.hq / c.hkv)), static_cast<size_t>(c.hkv)};
  work.step = c.hq * c.d;
  work.q = c.q + static_cast<size_t>(start) * work.step + h * c.d;
  work.o = c.o + static_cast<size_t>(start) * work.step + h * c.d;
  work.wide = ((reinterpret_cast<size_t>(c.q) | reinterpret_cast<size_t>(c.k) | reinterpret_cast<size_t>(c.v) | reinterpret_cast<size_t>(c.o) |
                static_cast<size_t>(c.d) * 2) & 15) == 0;
  work.run();
}

#define PAGED(NAME, T, DP, MT, BN)                                                                                         \
  extern "C" __global__ void __launch_bounds__(128, 2) NAME(                                                               \
      T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                        \
      const int *__restrict__ table, const int *__restrict__ lengths, const int *__restrict__ cu_q, int b, int hq,         \
      int hkv, int page, int columns, int d, float scale, int causal, int window, float cap) {                             \
    attend<T, DP, MT, BN>(Call<T>{o, q, k, v, cu_q, nullptr, b, hq, hkv, 0, 0, d, b, scale, causal, window, cap}, table,   \
                          lengths, page, columns);                                                                         \
  }

PAGED(paged_prefill_64, __half, 64, 2, 64)
PAGED(paged_prefill_128, __half, 128, 2, 32)
PAGED(paged_prefill_256, __half, 256, 1, 32)
PAGED(paged_prefill_64_bf16, __nv_bfloat16, 64, 2, 64)
PAGED(paged_prefill_128_bf16, __nv_bfloat16, 128, 2, 32)
PAGED(paged_prefill_256_bf16, __nv_bfloat16, 256, 1, 32)
