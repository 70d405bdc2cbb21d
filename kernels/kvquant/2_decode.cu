// kvquant/2_decode: o = softmax(scale*q*k^T)*v for one new query a sequence, over pages of 8-bit elements.
//
// targets: sm_80
// Predecessor: paged/1_decode reads 2 bytes an element, and a cache of them fills the GPU.
// Idea: copy bytes, and unpack them in registers on their way to the tensor cores: the products of a dot product may be added in any
//   order, so a lane takes 16 neighbouring elements of a key, four for each of four mma, where f16 needs ldmatrix; of values it takes
//   16 of each of four tokens, and pairs the bytes of two. A key's scale multiplies its score, a value's scale its weight. A warp is a
//   part of its own: it writes result and log-sum-exp, which the second launch joins.
// Expect: half of paged/1_decode's bytes for K and V and 8 for the scales of a token and head; the same FLOPs.
// A profiler should show: DRAM as the limit; the integer pipe, which unpacks, behind it.
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
  static constexpr int BYTES = 16 * DP, STAGE = 2 * BYTES + 128;  // of K; of a buffer with scales
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
      copy16(buffer + key(r, p), inside ? static_cast<const char *>(k) + source : k, inside);
      copy16(buffer + value(r, p), inside ? static_cast<const char *>(v) + source : v, inside);
    }
    const float *scale = (lane < 16 ? ks : vs) + there;
    copy4(buffer + 2 * BYTES + lane * 4, j + lane % 16 < to ? scale : ks, j + lane % 16 < to);
  }

  // key and value are the addresses in a buffer of the 16 bytes p of token r. They are moved so that the eight lanes that are served
  // together reach all banks: two tokens of keys, four of values.
  __device__ __forceinline__ static unsigned key(int r, int p) { return r * DP + ((p ^ (DP == 128 ? (r & 1) << 2 : 0)) << 4); }
  __device__ __forceinline__ static unsigned value(int r, int p) { return BYTES + r * DP + ((p ^ (r >> 1 & 3) << (DP == 128)) << 4); }
};

static __device__ __forceinline__ void load4(unsigned (&w)[4], unsigned address) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(address) : "memory");
}
static __device__ __forceinline__ void load4(unsigned (&w)[2], unsigned address) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(address) : "memory");
}

template <typename T, typename S, int DP, int WARPS, int STAGES>
static __device__ __forceinline__ void decode(const T *__restrict__ q, const void *__restrict__ k, const void *__restrict__ v, const float *__restrict__ ks,
    const float *__restrict__ vs, const int *__restrict__ table, const int *__restrict__ lengths, float *__restrict__ part_o,
    float *__restrict__ part_lse, int hq, int hkv, int page, int columns, int d, int parts, float scale, int window, float cap) {
  int group = hq / hkv, tiles = (group + 15) / 16, kv = blockIdx.x / tiles, b = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int to = lengths[b], from = window > 0 ? max(0, to - window) : 0, heads = min(16, group - blockIdx.x % tiles * 16);
  part_range<16 * WARPS>(from, to, blockIdx.z, parts / WARPS);
  size_t first = static_cast<size_t>(b) * hq + kv * group + blockIdx.x % tiles * 16;
  Rows<true> rows{table + static_cast<size_t>(b) * columns, page, static_cast<size_t>(kv), static_cast<size_t>(hkv)};
  Reader<S, DP, STAGES> reader{shared_address(ring) + warp * STAGES * Reader<S, DP, STAGES>::STAGE};
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
      int head = lane / 4 + i % 2 * 8, x = i / 16 * 64 + lane % 4 * 16 + i / 4 % 4 * 4 + i / 2 % 2 * 2;  // as keys are taken
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
    float s[2][4] = {}, scales[2][4];
    unsigned buffer = reader.base + reading * reader.STAGE, at = buffer + 2 * reader.BYTES + lane % 4 * 8;
#pragma unroll
    for (int i = 0; i < 4; i++)  // of keys, then of values; tokens 2c and 2c + 1, then 8 further
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(scales[i / 2][i % 2 * 2]), "=f"(scales[i / 2][i % 2 * 2 + 1]) : "r"(at + i * 32) : "memory");
#pragma unroll
    for (int n = 0; n < 2; n++) {
#pragma unroll
      for (int h = 0; h < DP / 64; h++) {
        unsigned word[4];
        load4(word, buffer + reader.key(n * 8 + lane / 4, h * 4 + lane % 4));
#pragma unroll
        for (int x = 0; x < 4; x++) {
          uint2 f = S::unpack(word[x]);
          mma<__half>(s[n], a[h * 4 + x], f.x, f.y);
        }
      }
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
    unsigned token[4][DP / 32];
#pragma unroll
    for (int i = 0; i < 4; i++) load4(token[i], buffer + reader.value(lane % 4 * 2 + i % 2 + i / 2 * 8, lane / 4 * DP / 128) + lane / 4 * (DP / 8) % 16);
#pragma unroll
    for (int x = 0; x < DP / 32; x++) {
      uint2 f[2][2];  // of the first two tokens and the others: elements 4x and 4x + 1, 4x + 2 and 4x + 3
#pragma unroll
      for (int i = 0; i < 2; i++) {
        f[i][0] = S::unpack(__byte_perm(token[2 * i][x], token[2 * i + 1][x], 0x5140));
        f[i][1] = S::unpack(__byte_perm(token[2 * i][x], token[2 * i + 1][x], 0x7362));
      }
#pragma unroll
      for (int i = 0; i < 2; i++) {
        mma<__half>(acc[4 * x + 2 * i], p, f[0][i].x, f[1][i].x);
        mma<__half>(acc[4 * x + 2 * i + 1], p, f[0][i].y, f[1][i].y);
      }
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
    for (int second = 0; second < 2; second++) {
      int from_x = (lane % 4 * 2 + second) * (DP / 8);  // the column of the results is eight or sixteen elements wide
#pragma unroll
      for (int x = 0; x < DP / 8; x += 4) {
        float4 four = make_float4(acc[x][2 * r + second] * share, acc[x + 1][2 * r + second] * share, acc[x + 2][2 * r + second] * share, acc[x + 3][2 * r + second] * share);
        if (from_x + x < d) *reinterpret_cast<float4 *>(part_o + part * d + from_x + x) = four;
      }
    }
    if (lane % 4 == 0) part_lse[part] = sum == 0 ? -infinity() : online.top[r] * factor + __log2f(sum);
  }
}

#define DECODE(NAME, T, S, DP, WARPS, STAGES)                                                                              \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 3) NAME(                                                        \
      const T *__restrict__ q, const S::Byte *__restrict__ k, const S::Byte *__restrict__ v, const float *__restrict__ ks, \
      const float *__restrict__ vs, const int *__restrict__ table, const int *__restrict__ lengths,                        \
      float *__restrict__ part_o, float *__restrict__ part_lse, int hq, int hkv, int page, int columns, int d, int parts, float scale, int window, float cap) { \
    decode<T, S, DP, WARPS, STAGES>(q, k, v, ks, vs, table, lengths, part_o, part_lse, hq, hkv, page, columns, d, parts, scale, window, cap); \
  }
#define ELEMENTS(SUFFIX, T)                                                                                                \
  DECODE(kvquant_decode_64_i8##SUFFIX, T, Int8, 64, 4, 6)                                                                  \
  DECODE(kvquant_decode_128_i8##SUFFIX, T, Int8, 128, 4, 4)                                                                \
  DECODE(kvquant_decode_64_e4m3##SUFFIX, T, E4M3, 64, 4, 6)                                                                \
  DECODE(kvquant_decode_128_e4m3##SUFFIX, T, E4M3, 128, 4, 4)                                                              \
  extern "C" __global__ void __launch_bounds__(128) decode_combine##SUFFIX(T *__restrict__ o, const float *__restrict__ part_o, \
      const float *__restrict__ part_lse, int parts, int d) { combine(o, part_o, part_lse, parts, d); }
ELEMENTS(, __half)
ELEMENTS(_bf16, __nv_bfloat16)
