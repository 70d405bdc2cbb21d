// kvquant/2_decode: o = softmax(scale*q*k^T)*v for one new query a sequence, over pages of 8-bit elements.
//
// targets: sm_80
// Predecessor: paged/1_decode reads 2 bytes an element, and a cache of them fills the GPU.
// Idea: copy bytes, and unpack each tile of 16 tokens to f16 in shared memory before the tensor cores take it: an int8 by two
//   operations for two elements, an fp8 by three. Nothing is multiplied by a scale while unpacking: a key's scale multiplies its
//   score, a value's scale its weight. A warp is a part of its own: it writes result and log-sum-exp, which the second launch joins.
// Expect: half of paged/1_decode's bytes for K and V and 8 for the scales of a token and head; the same FLOPs.
// A profiler should show: half the bytes, but not half the time: each byte passes through shared memory three times, and a warp's
//   chain from copy to unpacking to mma is long. What it buys is room for twice as many tokens.
//
// The Go loop: paged/1_decode's, with kScale[j] * k[j] for k[j] and vScale[j] * v[j] for v[j].

#include "element.cuh"
#include "tensor.cuh"
#include "async.cuh"
#include "piece.cuh"
#include "words.cuh"
#include "attention.cuh"
#include "attention_tensor.cuh"
#include "attention_decode.cuh"
#include "kvquant.cuh"

// Reader is a warp's work: 16 query heads against every WARPS-th tile of 16 tokens.
template <typename S, int DP, int STAGES>
struct Reader {
  static constexpr int BYTES = 16 * DP, STAGE = 2 * BYTES + 128, WIDE = 32 * DP;  // of K; of a buffer with scales; of K as f16
  unsigned base;

  static __device__ __forceinline__ void copy4(unsigned shared, const void *global, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(inside ? 4 : 0) : "memory");
  }

  // ask starts copying tokens j to j + 15.
  __device__ __forceinline__ void ask(int stage, int j, int to, size_t there, const void *k, const void *v, const float *ks, const float *vs, int d) const {
    int lane = threadIdx.x % 32;
    unsigned buffer = base + stage * STAGE;
#pragma unroll
    for (int i = lane; i < 16 * (DP / 16) + lane; i += 32) {
      int r = i / (DP / 16) % 16, p = i % (DP / 16);
      size_t source = __shfl_sync(0xffffffffu, there, r) * d + p * 16;
      bool inside = j + r < to && p * 16 < d;
      copy16(buffer + i * 16, inside ? static_cast<const char *>(k) + source : k, inside);
      copy16(buffer + BYTES + i * 16, inside ? static_cast<const char *>(v) + source : v, inside);
    }
    const float *scale = (lane < 16 ? ks : vs) + there;
    copy4(buffer + 2 * BYTES + lane * 4, j + lane % 16 < to ? scale : ks, j + lane % 16 < to);
  }

  // wide is the address of piece p of row r of K (V: behind it) as f16.
  __device__ __forceinline__ unsigned wide(int r, int p) const { return base + STAGES * STAGE + r * (DP * 2) + ((p ^ (r & 7)) << 4); }

  // widen unpacks a buffer.
  __device__ __forceinline__ void widen(int stage) const {
#pragma unroll
    for (int i = threadIdx.x % 32; i < 2 * 16 * (DP / 16) + threadIdx.x % 32; i += 32) {
      int r = i / (DP / 16) % 16, p = i % (DP / 16), second = i / (DP / 16) / 16;
      uint4 word;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w) : "r"(base + stage * STAGE + i * 16) : "memory");
      uint2 a = S::unpack(word.x), b = S::unpack(word.y), c = S::unpack(word.z), e = S::unpack(word.w);
      bool odd = p & 4;  // half of the lanes store their second piece first, so that eight lanes reach all banks
      uint4 front = odd ? make_uint4(c.x, c.y, e.x, e.y) : make_uint4(a.x, a.y, b.x, b.y), back = odd ? make_uint4(a.x, a.y, b.x, b.y) : make_uint4(c.x, c.y, e.x, e.y);
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(wide(r, 2 * p + odd) + second * WIDE), "r"(front.x), "r"(front.y), "r"(front.z), "r"(front.w) : "memory");
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(wide(r, 2 * p + !odd) + second * WIDE), "r"(back.x), "r"(back.y), "r"(back.z), "r"(back.w) : "memory");
    }
  }
};

template <typename T, typename S, int DP, int WARPS, int STAGES>
static __device__ __forceinline__ void decode(const T *__restrict__ q, const void *__restrict__ k, const void *__restrict__ v, const float *__restrict__ ks,
    const float *__restrict__ vs, const int *__restrict__ table, const int *__restrict__ lengths, float *__restrict__ part_o,
    float *__restrict__ part_lse, int hq, int hkv, int page, int columns, int d, int parts, float scale, int window, float cap) {
  int group = hq / hkv, tiles = (group + 15) / 16, kv = blockIdx.x / tiles, b = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int to = lengths[b], from = window > 0 ? max(0, to - window) : 0, heads = min(16, group - blockIdx.x % tiles * 16);
  part_range<16 * WARPS>(from, to, blockIdx.z, parts / WARPS);
  size_t first = static_cast<size_t>(b) * hq + kv * group + blockIdx.x % tiles * 16;
  Rows<true> rows{table + static_cast<size_t>(b) * columns, page, static_cast<size_t>(kv), static_cast<size_t>(hkv)};
  Reader<S, DP, STAGES> reader{shared_address(ring) + warp * (STAGES * Reader<S, DP, STAGES>::STAGE + 2 * Reader<S, DP, STAGES>::WIDE)};
  Scores score(scale, cap, d);
  auto row = [&](int j) { return j + lane % 16 < to ? rows.at(j + lane % 16) : 0; };
  int begin = from / 16 * 16 + warp * 16, reading = 0, writing = STAGES - 1;
  for (int s = 0; s < STAGES - 1; s++) {
    int j = begin + s * 16 * WARPS;
    if (j < to) reader.ask(s, j, to, row(j), k, v, ks, vs, d);
    commit();
  }
  // Queries as f16 relative to their head's largest element, which bf16 might have beyond f16's range.
  unsigned a[DP / 16][4];
  float largest[2] = {};
#pragma unroll
  for (int pass = 0; pass < 2; pass++) {
#pragma unroll
    for (int i = 0; i < DP / 4; i++) {
      int head = lane / 4 + i % 2 * 8, x = i / 4 * 16 + i / 2 % 2 * 8 + lane % 4 * 2;
      const T *p = q + (first + head) * d + x;
      float low = head < heads && x < d ? to_float(p[0]) : 0, high = head < heads && x < d ? to_float(p[1]) : 0, &most = largest[i % 2];
      if (pass == 0) most = fmaxf(most, fmaxf(fabsf(low), fabsf(high)));
      else a[i / 4][i % 4] = pack(low / most, high / most, __half());
    }
    for (int r = 0; r < 2 && pass == 0; r++) {
      float row = quad_max(largest[r]);
      largest[r] = row > 0 ? row : 1;
    }
  }
  float acc[DP / 8][4] = {}, factor = cap > 0 ? 1 : score.scale;
  Online online;
  size_t there = row(begin + (STAGES - 1) * 16 * WARPS);
#pragma unroll 1
  for (int j = begin; j < to; j += 16 * WARPS) {
    wait_all_but<STAGES - 2>();
    __syncwarp();
    int next = j + (STAGES - 1) * 16 * WARPS;
    if (next < to) reader.ask(writing, next, to, there, k, v, ks, vs, d);
    commit();
    there = row(next + 16 * WARPS);
    reader.widen(reading);
    __syncwarp();
    float s[2][4] = {}, scales[2][4];
    unsigned at = reader.base + reading * reader.STAGE + 2 * reader.BYTES + lane % 4 * 8;
#pragma unroll
    for (int i = 0; i < 4; i++)  // of keys, then of values; tokens 2c and 2c + 1, then 8 further
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(scales[i / 2][i % 2 * 2]), "=f"(scales[i / 2][i % 2 * 2 + 1]) : "r"(at + i * 32) : "memory");
#pragma unroll
    for (int x = 0; x < DP / 16; x++) {
      unsigned f[4];
      ldmatrix_x4(f, reader.wide(lane / 16 * 8 + lane % 8, x * 2 + lane / 8 % 2));
      mma<__half>(s[0], a[x], f[0], f[1]);
      mma<__half>(s[1], a[x], f[2], f[3]);
    }
#pragma unroll
    for (int n = 0; n < 8; n++) {
      float &value = s[n / 4][n % 4];
      value *= largest[n / 2 % 2] * (S::FACTOR * scales[0][n / 4 * 2 + n % 2]);
      if (cap > 0) value = score(value);
      int token = j + n / 4 * 8 + lane % 4 * 2 + n % 2;
      if (token < from || token >= to) value = -infinity();
    }
    float fade[2];
    online.weigh(s, factor, fade);
#pragma unroll
    for (int n = 0; n < 8; n++) s[n / 4][n % 4] *= S::WEIGHTS * scales[1][n / 4 * 2 + n % 2];
    unsigned p[4];
    weight_fragment<__half>(p, s, 0);
#pragma unroll
    for (int x = 0; x < DP / 8 * 4; x++) acc[x / 4][x % 4] *= fade[x % 4 / 2];
#pragma unroll
    for (int x = 0; x < DP / 16; x++) {
      unsigned f[4];
      ldmatrix_x4_transposed(f, reader.wide(lane % 16, x * 2 + lane / 16) + reader.WIDE);
      mma<__half>(acc[2 * x], p, f[0], f[1]);
      mma<__half>(acc[2 * x + 1], p, f[2], f[3]);
    }
    __syncwarp();  // the tile has been used
    reading = reading + 1 == STAGES ? 0 : reading + 1;
    writing = writing + 1 == STAGES ? 0 : writing + 1;
  }
  wait_all_but<0>();
#pragma unroll
  for (int r = 0; r < 2; r++) {
    int head = lane / 4 + r * 8;
    float sum = quad_sum(online.sum[r]), share = sum == 0 ? 0 : S::FACTOR / S::WEIGHTS / sum;
    if (head >= heads) continue;
    size_t part = (first + head) * parts + blockIdx.z * WARPS + warp;
#pragma unroll
    for (int x = 0; x < DP / 8; x++)
      if (x * 8 < d) *reinterpret_cast<float2 *>(part_o + part * d + x * 8 + lane % 4 * 2) = make_float2(acc[x][2 * r] * share, acc[x][2 * r + 1] * share);
    if (lane % 4 == 0) part_lse[part] = sum == 0 ? -infinity() : online.top[r] * factor + __log2f(sum);
  }
}

#define DECODE(NAME, T, S, DP, WARPS, STAGES)                                                                              \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) NAME(                                                        \
      const T *__restrict__ q, const S::Byte *__restrict__ k, const S::Byte *__restrict__ v, const float *__restrict__ ks, \
      const float *__restrict__ vs, const int *__restrict__ table, const int *__restrict__ lengths,                        \
      float *__restrict__ part_o, float *__restrict__ part_lse, int hq, int hkv, int page, int columns, int d, int parts,  \
      float scale, int window, float cap) {                                                                                \
    decode<T, S, DP, WARPS, STAGES>(q, k, v, ks, vs, table, lengths, part_o, part_lse, hq, hkv, page, columns, d, parts,   \
                                    scale, window, cap);                                                                   \
  }
#define ELEMENTS(SUFFIX, T)                                                                                                \
  DECODE(kvquant_decode_64_i8##SUFFIX, T, Int8, 64, 4, 4)                                                                  \
  DECODE(kvquant_decode_128_i8##SUFFIX, T, Int8, 128, 4, 3)                                                                \
  DECODE(kvquant_decode_64_e4m3##SUFFIX, T, E4M3, 64, 4, 4)                                                                \
  DECODE(kvquant_decode_128_e4m3##SUFFIX, T, E4M3, 128, 4, 3)                                                              \
  extern "C" __global__ void __launch_bounds__(128) decode_combine##SUFFIX(T *__restrict__ o, const float *__restrict__ part_o, \
      const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
ELEMENTS(, __half)
ELEMENTS(_bf16, __nv_bfloat16)
