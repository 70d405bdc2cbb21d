// unpack.cuh: how a lane reads its 64 neighbouring values of a row from shared memory, a format a struct. load takes the words of a
// lane; pairs gives piece p, eight values as four pairs of small exact numbers in f16, and codes the same as signed bytes; group g,
// of 64 / GROUPS values, has its scale in scale(g) and, where MINIMA, what is to be added to each value in minimum(g).
#pragma once  // after element.cuh

static __device__ __forceinline__ unsigned prmt(unsigned a, unsigned b, unsigned selector) {
  unsigned d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}

// masked_or is (a & mask) | other, one lop3.
static __device__ __forceinline__ unsigned masked_or(unsigned a, unsigned mask, unsigned other) {
  unsigned d;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(d) : "r"(a), "r"(mask), "r"(other));
  return d;
}

static __device__ __forceinline__ __half2 as_half2(unsigned v) { return *reinterpret_cast<__half2 *>(&v); }
static __device__ __forceinline__ float low_half(unsigned v) { return __half2float(__ushort_as_half(v & 0xffff)); }
static __device__ __forceinline__ float high_half(unsigned v) { return __half2float(__ushort_as_half(v >> 16)); }

// nibble_pairs are the low or the high nibbles of a word's bytes, less an offset. The nibbles are put into the mantissa of the f16
// number 1024, so that no conversion is needed: 1024 + q, or 1024 + 16q, which is scaled.
template <int OFFSET>
static __device__ __forceinline__ void nibble_pairs(unsigned word, bool high, __half2 &even, __half2 &odd) {
  const unsigned magic = 0x64006400u, mask = high ? 0x00f000f0u : 0x000f000fu;
  __half2 a = as_half2(masked_or(word, mask, magic)), b = as_half2(masked_or(word >> 8, mask, magic));  // bytes 0, 2 and 1, 3
  if (high) {
    __half2 sixteenth = __float2half2_rn(0.0625f), less = __float2half2_rn(-64.0f - OFFSET);
    even = __hfma2(a, sixteenth, less);
    odd = __hfma2(b, sixteenth, less);
  } else {
    __half2 less = __float2half2_rn(-1024.0f - OFFSET);
    even = __hadd2(a, less);
    odd = __hadd2(b, less);
  }
}

// A pair of blocks whose 16 bytes of nibbles are in words q[4 * block] and up.
template <int OFFSET>
struct Nibbles {
  unsigned q[8];
  // pairs: piece p holds values 8p to 8p + 7; even and odd of its two words.
  __device__ __forceinline__ void pairs(int p, __half2 (&v)[4]) const {
    nibble_pairs<OFFSET>(q[p / 4 * 4 + p % 2 * 2], p % 4 >= 2, v[0], v[1]);
    nibble_pairs<OFFSET>(q[p / 4 * 4 + p % 2 * 2 + 1], p % 4 >= 2, v[2], v[3]);
  }
  // codes are without the offset.
  __device__ __forceinline__ uint2 codes(int p) const {
    int i = p / 4 * 4 + p % 2 * 2, shift = p % 4 / 2 * 4;
    return make_uint2(q[i] >> shift & 0x0f0f0f0fu, q[i + 1] >> shift & 0x0f0f0f0fu);
  }
};

struct UnpackQ4_0 : Nibbles<8> {
  static constexpr int TILE = 64 * 18, GROUPS = 2, WARPS = 8, CODE_OFFSET = 8;
  static constexpr bool MINIMA = false;
  static constexpr float CODE_SCALE = 1;
  float d[2];
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    unsigned v[9];
#pragma unroll
    for (int i = 0; i < 9; i++) v[i] = s[9 * lane + i];
    d[0] = low_half(v[0]);
    d[1] = high_half(v[4]);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      q[i] = prmt(v[i], v[i + 1], 0x5432);
      q[4 + i] = v[5 + i];
    }
  }
  __device__ __forceinline__ float scale(int g) const { return d[g]; }
  __device__ __forceinline__ float minimum(int) const { return 0; }
};

struct UnpackQ4_1 : Nibbles<0> {
  static constexpr int TILE = 64 * 20, GROUPS = 2, WARPS = 8, CODE_OFFSET = 0;
  static constexpr bool MINIMA = true;
  static constexpr float CODE_SCALE = 1;
  unsigned dm[2];
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    uint2 v[5];
#pragma unroll
    for (int i = 0; i < 5; i++) v[i] = reinterpret_cast<const uint2 *>(s)[5 * lane + i];
    dm[0] = v[0].x, q[0] = v[0].y, q[1] = v[1].x, q[2] = v[1].y, q[3] = v[2].x;
    dm[1] = v[2].y, q[4] = v[3].x, q[5] = v[3].y, q[6] = v[4].x, q[7] = v[4].y;
  }
  __device__ __forceinline__ float scale(int g) const { return low_half(dm[g]); }
  __device__ __forceinline__ float minimum(int g) const { return high_half(dm[g]); }
};

// UnpackQ4_K: four lanes share a block; a lane has 32 bytes, the low nibbles of which are one group and the high ones the next.
struct UnpackQ4_K {
  static constexpr int TILE = 8 * 144, GROUPS = 2, WARPS = 8, CODE_OFFSET = 0;
  static constexpr bool MINIMA = true;
  static constexpr float CODE_SCALE = 1;
  unsigned q[8];
  float d[2], m[2];
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    const uint4 *b = reinterpret_cast<const uint4 *>(s) + lane / 4 * 9;
    int t = lane % 4;
    uint4 head = b[0], low = b[1 + 2 * t], high = b[2 + 2 * t];
    q[0] = low.x, q[1] = low.y, q[2] = low.z, q[3] = low.w, q[4] = high.x, q[5] = high.y, q[6] = high.z, q[7] = high.w;
    // Scales and minima 2t and 2t + 1, six bits each: of the first four whole bytes, of the others nibbles and the top bits.
    int at = 16 * (t % 2);
    unsigned first = head.y >> at, second = head.z >> at, last = head.w >> at;
    unsigned scales = t < 2 ? first & 0x3f3fu : (last & 0x0f0fu) | (first >> 2 & 0x3030u);
    unsigned minima = t < 2 ? second & 0x3f3fu : (last >> 4 & 0x0f0fu) | (second >> 2 & 0x3030u);
    float each = low_half(head.x), least = -high_half(head.x);
    d[0] = each * static_cast<float>(scales & 255), d[1] = each * static_cast<float>(scales >> 8);
    m[0] = least * static_cast<float>(minima & 255), m[1] = least * static_cast<float>(minima >> 8);
  }
  __device__ __forceinline__ void pairs(int p, __half2 (&v)[4]) const {
    nibble_pairs<0>(q[p % 4 * 2], p >= 4, v[0], v[1]);
    nibble_pairs<0>(q[p % 4 * 2 + 1], p >= 4, v[2], v[3]);
  }
  __device__ __forceinline__ uint2 codes(int p) const {
    return make_uint2(q[p % 4 * 2] >> (p / 4 * 4) & 0x0f0f0f0fu, q[p % 4 * 2 + 1] >> (p / 4 * 4) & 0x0f0f0f0fu);
  }
  __device__ __forceinline__ float scale(int g) const { return d[g]; }
  __device__ __forceinline__ float minimum(int g) const { return m[g]; }
};

// byte_pairs are four signed bytes: with the sign bit turned they are 0 to 255, and stand in the mantissa of 1024.
static __device__ __forceinline__ void byte_pairs(unsigned word, __half2 &even, __half2 &odd) {
  unsigned turned = word ^ 0x80808080u;
  __half2 less = __float2half2_rn(-1152.0f);
  even = __hadd2(as_half2(prmt(turned, 0x64646464u, 0x4240)), less);
  odd = __hadd2(as_half2(prmt(turned, 0x64646464u, 0x4341)), less);
}

struct UnpackQ8_0 {
  static constexpr int TILE = 64 * 34, GROUPS = 2, WARPS = 4, CODE_OFFSET = 0;
  static constexpr bool MINIMA = false;
  static constexpr float CODE_SCALE = 1;
  unsigned q[16];
  float d[2];
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    unsigned v[17];
#pragma unroll
    for (int i = 0; i < 17; i++) v[i] = s[17 * lane + i];
    d[0] = low_half(v[0]);
    d[1] = high_half(v[8]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      q[i] = prmt(v[i], v[i + 1], 0x5432);
      q[8 + i] = v[9 + i];
    }
  }
  __device__ __forceinline__ void pairs(int p, __half2 (&v)[4]) const {
    byte_pairs(q[2 * p], v[0], v[1]);
    byte_pairs(q[2 * p + 1], v[2], v[3]);
  }
  __device__ __forceinline__ uint2 codes(int p) const { return make_uint2(q[2 * p], q[2 * p + 1]); }
  __device__ __forceinline__ float scale(int g) const { return d[g]; }
  __device__ __forceinline__ float minimum(int) const { return 0; }
};

// UnpackQ6_K: four lanes share a block of 210 bytes, every other one of which starts between words.
struct UnpackQ6_K {
  static constexpr int TILE = 8 * 210, GROUPS = 4, WARPS = 4, CODE_OFFSET = 32;
  static constexpr bool MINIMA = false;
  static constexpr float CODE_SCALE = 1;
  unsigned low[16], high[8];
  float d[4];
  int half;
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    int block = lane / 4, t = lane % 4;
    const unsigned *b = s + 105 * block / 2;
    unsigned selector = block % 2 ? 0x5432 : 0x3210;
    half = t % 2;
    auto fetch = [&](int at) { return prmt(b[at], b[at + 1], selector); };
#pragma unroll
    for (int i = 0; i < 16; i++) low[i] = fetch(16 * (t / 2) + i) >> (4 * half) & 0x0f0f0f0fu;
#pragma unroll
    for (int i = 0; i < 8; i++) high[i] = fetch(32 + 8 * (t / 2) + i) >> (4 * half);
    unsigned scales = fetch(48 + t), last = reinterpret_cast<const unsigned short *>(s)[105 * block + 104];
    float each = low_half(last);
#pragma unroll
    for (int g = 0; g < 4; g++) d[g] = each * static_cast<float>(static_cast<signed char>(scales >> (8 * g)));
  }
  // codes: the high bits of piece p are bits 0 and 1 of each byte for the first 32 values, bits 2 and 3 for the others.
  __device__ __forceinline__ uint2 codes(int p) const {
    int i = p % 4 * 2;
    unsigned a = p < 4 ? high[i] << 4 : high[i] << 2, b = p < 4 ? high[i + 1] << 4 : high[i + 1] << 2;
    return make_uint2(masked_or(a, 0x30303030u, low[2 * p]), masked_or(b, 0x30303030u, low[2 * p + 1]));
  }
  __device__ __forceinline__ void pairs(int p, __half2 (&v)[4]) const {
    uint2 c = codes(p);
    __half2 less = __float2half2_rn(-1056.0f);
    v[0] = __hadd2(as_half2(prmt(c.x, 0x64646464u, 0x4240)), less);
    v[1] = __hadd2(as_half2(prmt(c.x, 0x64646464u, 0x4341)), less);
    v[2] = __hadd2(as_half2(prmt(c.y, 0x64646464u, 0x4240)), less);
    v[3] = __hadd2(as_half2(prmt(c.y, 0x64646464u, 0x4341)), less);
  }
  __device__ __forceinline__ float scale(int g) const { return d[g]; }
  __device__ __forceinline__ float minimum(int) const { return 0; }
};

// UnpackMXFP4: a code's three bits of magnitude choose one of eight bytes, the high byte of an f16 number, or twice the number as an
// integer; its sign follows. codes are twice the values.
struct UnpackMXFP4 {
  static constexpr int TILE = 64 * 17, GROUPS = 2, WARPS = 8, CODE_OFFSET = 0;
  static constexpr bool MINIMA = false;
  static constexpr float CODE_SCALE = 0.5f;
  unsigned q[8], e[2];
  __device__ __forceinline__ void load(const unsigned *s, int lane) {
    const unsigned *b = s + 17 * lane / 2;
    unsigned v[10];
#pragma unroll
    for (int i = 0; i < 9; i++) v[i] = b[i];
    v[9] = 0;
    unsigned offset = lane % 2 * 2, first = 0x3210 + 0x1111 * (offset + 1), second = 0x3210 + 0x1111 * (offset + 2);
    e[0] = v[0] >> (8 * offset) & 255;
    e[1] = prmt(v[4], v[5], offset + 1) & 255;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      q[i] = prmt(v[i], v[i + 1], first);
      q[4 + i] = prmt(v[4 + i], v[5 + i], second);
    }
  }
  // look gives the entries of a table of 16 bytes, those of codes without and with the sign apart, for the low or the high nibbles of a
  // word. prmt takes four nibbles of its selector at a time, three bits of each.
  static __device__ __forceinline__ unsigned look(unsigned word, bool high, uint2 plus, uint2 minus) {
    unsigned magnitudes = word & 0x77777777u, side = masked_or(word >> 1, 0x44444444u, 0x32103210u);
    unsigned first = prmt(prmt(plus.x, plus.y, magnitudes), prmt(minus.x, minus.y, magnitudes), side);
    unsigned second = prmt(prmt(plus.x, plus.y, magnitudes >> 16), prmt(minus.x, minus.y, magnitudes >> 16), side >> 16);
    return prmt(first, second, high ? 0x7531 : 0x6420);
  }
  __device__ __forceinline__ unsigned look(int p, int i, uint2 plus, uint2 minus) const {
    return look(q[p / 4 * 4 + p % 2 * 2 + i], p % 4 >= 2, plus, minus);
  }
  __device__ __forceinline__ void pairs(int p, __half2 (&v)[4]) const {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      unsigned bytes = look(p, i, make_uint2(0x3e3c3800u, 0x46444240u), make_uint2(0xbebcb880u, 0xc6c4c2c0u));
      v[2 * i] = as_half2(prmt(bytes, 0, 0x2404));
      v[2 * i + 1] = as_half2(prmt(bytes, 0, 0x3414));
    }
  }
  __device__ __forceinline__ uint2 codes(int p) const {
    uint2 plus = make_uint2(0x03020100u, 0x0c080604u), minus = make_uint2(0xfdfeff00u, 0xf4f8fafcu);
    return make_uint2(look(p, 0, plus, minus), look(p, 1, plus, minus));
  }
  __device__ __forceinline__ float scale(int g) const { return __uint_as_float(e[g] == 0 ? 0x00400000u : e[g] << 23); }
  __device__ __forceinline__ float minimum(int) const { return 0; }
};
