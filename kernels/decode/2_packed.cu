// decode/2_packed: o = softmax(scale*q*k^T)*v for one new query a sequence, a CTA for all query heads that share a KV head.
//
// targets: sm_80
// Predecessor: 1_head reads K and V again for every query head of a group, 2 bytes a lane and request, and one key at a time.
// Idea: the query heads of a group are the rows of a matrix (up to 16), so decode becomes a small prefill: K and V are read
//   once for all of them, and both products go to tensor cores, which idle otherwise. Each warp takes every fourth tile of 16
//   tokens through buffers of its own: cp.async keeps two tiles a warp in flight, and no warp waits for another before the
//   results meet.
// Expect: K and V once: Hq/Hkv times fewer bytes requested than by 1_head, 16 sectors a request; 4*16*S*D FLOPs on tensor cores a
//   KV head, rows without a query included; one barrier pair a CTA.
// A profiler should show: DRAM near its roof where B*Hkv CTAs fill the GPU, SMs without work where they do not.
//
// The Go loop: 1_head's, with the loop over the group's heads innermost.

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "piece.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_decode.cuh"

template <typename T, int DP, int WARPS, int STAGES>
static __device__ __forceinline__ void packed_heads(T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
    const int *__restrict__ lengths, int hq, int hkv, int s, int d, float scale, int window, float cap) {
  int group = hq / hkv, parts = (group + 15) / 16, kv = blockIdx.x / parts, part = blockIdx.x % parts, b = blockIdx.y;
  int to = lengths == nullptr ? s : lengths[b], from = window > 0 ? max(0, to - window) : 0;
  size_t heads = static_cast<size_t>(b) * hq + kv * group + part * 16;  // the first of up to 16 rows of q and o
  GroupDecoder<T, DP, WARPS, STAGES, false> decoder{k, v, d, {nullptr, 0, (static_cast<size_t>(b) * hkv + kv) * s, 1}, from, to};
  decoder.decode(q + heads * d, min(16, group - part * 16), Scores(scale, cap, d), Result<T>{o, nullptr, nullptr, heads, d, 0, 1});
}

#define PACKED(NAME, T, DP, WARPS, STAGES)                                                                                 \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) NAME(                                                           \
      T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                        \
      const int *__restrict__ lengths, int b, int hq, int hkv, int s, int d, float scale, int window, float cap) {         \
    packed_heads<T, DP, WARPS, STAGES>(o, q, k, v, lengths, hq, hkv, s, d, scale, window, cap);                            \
  }

// Shared memory: 64, 96 and 96 KiB; every device since sm_80 has 99.
PACKED(decode_packed_64, __half, 64, 4, 4)
PACKED(decode_packed_128, __half, 128, 4, 3)
PACKED(decode_packed_256, __half, 256, 2, 3)
PACKED(decode_packed_64_bf16, __nv_bfloat16, 64, 4, 4)
PACKED(decode_packed_128_bf16, __nv_bfloat16, 128, 4, 3)
PACKED(decode_packed_256_bf16, __nv_bfloat16, 256, 2, 3)
