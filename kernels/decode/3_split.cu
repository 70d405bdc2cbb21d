// decode/3_split: o = softmax(scale*q*k^T)*v for one new query a sequence, the keys cut into parts that run at the same time.
//
// targets: sm_80
// Predecessor: 2_packed has B*Hkv CTAs, and a long conversation of one user leaves most SMs without work.
// Idea: softmax over parts is exact: each part gives its result and the logarithm of its sum of weights (LSE); a second launch
//   adds the results with weights 2^(LSE - max). An empty part has LSE -inf and weight 0. The number of parts is the occupancy
//   rule of FlashAttention's split-KV: none where CTAs fill four fifths of the SMs' two slots, else the fewest whose last wave
//   is within 85 % of the fullest.
// Expect: parts times as many CTAs; the bytes of 2_packed and 8*parts*B*Hq*(D + 1) for what goes through memory between the
//   launches; with one part exactly 2_packed.
// A profiler should show: DRAM near its roof for a batch of 1 too, once S is long.
//
// The Go loop: for p := range parts { o[p], lse[p] = attention over keys of part p }; w := 2^(lse - max(lse)); o = sum(w*o[p]) / sum(w)

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "piece.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_decode.cuh"

template <typename T, int DP, int WARPS, int STAGES>
static __device__ __forceinline__ void split(T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
    const int *__restrict__ lengths, float *__restrict__ part_o, float *__restrict__ part_lse, int hq, int hkv, int s, int d, int parts,
    float scale, int window, float cap) {
  int group = hq / hkv, rows = (group + 15) / 16, kv = blockIdx.x / rows, row = blockIdx.x % rows, b = blockIdx.y, part = blockIdx.z;
  int to = lengths == nullptr ? s : lengths[b], from = window > 0 ? max(0, to - window) : 0;
  part_range<32 * WARPS / 2>(from, to, part, parts);
  size_t heads = static_cast<size_t>(b) * hq + kv * group + row * 16;
  GroupDecoder<T, DP, WARPS, STAGES, false> decoder{k, v, d, {nullptr, 0, (static_cast<size_t>(b) * hkv + kv) * s, 1}, from, to};
  decoder.decode(q + heads * d, min(16, group - row * 16), Scores(scale, cap, d), Result<T>{o, part_o, part_lse, heads, d, part, parts});
}

#define SPLIT(NAME, T, DP, WARPS, STAGES)                                                                                  \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) NAME(                                                           \
      T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                        \
      const int *__restrict__ lengths, float *__restrict__ part_o, float *__restrict__ part_lse, int b, int hq, int hkv,   \
      int s, int d, int parts, float scale, int window, float cap) {                                                       \
    split<T, DP, WARPS, STAGES>(o, q, k, v, lengths, part_o, part_lse, hq, hkv, s, d, parts, scale, window, cap);          \
  }

SPLIT(decode_split_64, __half, 64, 4, 4)
SPLIT(decode_split_128, __half, 128, 4, 3)
SPLIT(decode_split_256, __half, 256, 2, 3)
SPLIT(decode_split_64_bf16, __nv_bfloat16, 64, 4, 4)
SPLIT(decode_split_128_bf16, __nv_bfloat16, 128, 4, 3)
SPLIT(decode_split_256_bf16, __nv_bfloat16, 256, 2, 3)

extern "C" __global__ void __launch_bounds__(128) decode_combine(__half *__restrict__ o, const float *__restrict__ part_o,
    const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
extern "C" __global__ void __launch_bounds__(128) decode_combine_bf16(__nv_bfloat16 *__restrict__ o, const float *__restrict__ part_o,
    const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
