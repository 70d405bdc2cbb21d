// encode.cuh: how values become the bytes of gpu/quant's block formats. A thread has the values of a block, or of a sub-block of a
// K-quant, whose threads lie side by side in a warp. Every operation is rounded by itself and in the order of gpu/quant, so that the
// bytes are the same. A block with a NaN or an infinity gets NaN for its scale and zeros for its codes.
#pragma once  // after element.cuh

static __device__ __forceinline__ unsigned short half_bits(float v) {
  unsigned short h = __half_as_ushort(__float2half_rn(v));
  return (h & 0x7fff) > 0x7c00 ? 0x7fff : h;
}
static __device__ __forceinline__ float as_half(float v) { return __half2float(__float2half_rn(v)); }
static __device__ __forceinline__ void put_half(unsigned char *p, float v) { *reinterpret_cast<unsigned short *>(p) = half_bits(v); }
static __device__ __forceinline__ bool finite(float v) { return (__float_as_uint(v) & 0x7f800000u) != 0x7f800000u; }
static __device__ __forceinline__ float inverse(float d) { return d == 0 ? 0.0f : __fdiv_rn(1.0f, d); }

// truncated and rounded give 0 for what is no number, which a scale too small to have an inverse makes.
static __device__ __forceinline__ int truncated(float v, int most) { return finite(v) ? min(__float2int_rz(v), most) : 0; }
static __device__ __forceinline__ int rounded(float v) { return finite(v) ? __float2int_rz(roundf(v)) : 0; }

template <int N>
static __device__ __forceinline__ bool all_finite(const float (&x)[N]) {
  bool all = true;
#pragma unroll
  for (int i = 0; i < N; i++) all = all && finite(x[i]);
  return all;
}

// largest is the first value with the largest magnitude, signed.
template <int N>
static __device__ __forceinline__ float largest(const float (&x)[N]) {
  float most = 0, found = 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (fabsf(x[i]) > most) {
      most = fabsf(x[i]);
      found = x[i];
    }
  }
  return found;
}

template <int N>
static __device__ __forceinline__ void span(const float (&x)[N], float &low, float &high) {
  low = high = x[0];
#pragma unroll
  for (int i = 1; i < N; i++) {
    low = fminf(low, x[i]);
    high = fmaxf(high, x[i]);
  }
}

// put_nibbles stores the low four bits of 32 codes, byte j those of j and j + 16; code gives them.
template <typename Code>
static __device__ __forceinline__ void put_nibbles(unsigned char *p, Code code) {
#pragma unroll
  for (int j = 0; j < 16; j++) p[j] = (code(j) & 15) | (code(j + 16) & 15) << 4;
}

// spoilt writes a block that decodes to NaN throughout; the scale is the f16 at `scale`.
template <int BYTES>
static __device__ __forceinline__ void spoilt(unsigned char *p, int scale) {
#pragma unroll 1
  for (int i = 0; i < BYTES; i++) p[i] = i == scale ? 0xff : i == scale + 1 ? 0x7f : 0;
}

// An encoder has VALUES a thread and PARTS threads a block; put writes the part'th one's share of the block at p.
template <int OFFSET>  // of the codes
struct EncodeQ8 {
  static constexpr int VALUES = 32, PARTS = 1, BYTES = 32 + OFFSET;
  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[32], int) {
    if (!all_finite(x)) return spoilt<BYTES>(p, 0);
    float d = __fdiv_rn(fabsf(largest(x)), 127.0f), id = inverse(d);
    int sum = 0;
    put_half(p, d);
#pragma unroll
    for (int i = 0; i < 32; i++) {
      int code = static_cast<signed char>(rounded(__fmul_rn(x[i], id)));
      p[OFFSET + i] = code;
      sum += code;
    }
    if (OFFSET == 4) put_half(p + 2, __fmul_rn(static_cast<float>(sum), d));
  }
};

struct EncodeQ4_0 {
  static constexpr int VALUES = 32, PARTS = 1, BYTES = 18;
  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[32], int) {
    if (!all_finite(x)) return spoilt<BYTES>(p, 0);
    float d = __fdiv_rn(largest(x), -8.0f), id = inverse(d);
    put_half(p, d);
    put_nibbles(p + 2, [&](int i) { return truncated(__fadd_rn(__fmul_rn(x[i], id), 8.5f), 15); });
  }
};

struct EncodeQ4_1 {
  static constexpr int VALUES = 32, PARTS = 1, BYTES = 20;
  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[32], int) {
    if (!all_finite(x)) return spoilt<BYTES>(p, 0);
    float low, high;
    span(x, low, high);
    float d = __fdiv_rn(__fsub_rn(high, low), 15.0f), id = inverse(d);
    put_half(p, d);
    put_half(p + 2, low);
    put_nibbles(p + 4, [&](int i) { return truncated(__fadd_rn(__fmul_rn(__fsub_rn(x[i], low), id), 0.5f), 15); });
  }
};

// EncodeMXFP4: a code is how many of the seven middles between magnitudes lie below the value; one on a middle goes down.
struct EncodeMXFP4 {
  static constexpr int VALUES = 32, PARTS = 1, BYTES = 17;
  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[32], int) {
    bool ok = all_finite(x);
    int e = ok ? max(static_cast<int>(__float_as_uint(largest(x)) << 1 >> 24) - 2, 0) : 255;
    float d = __uint_as_float(e == 0 ? 0x00400000u : static_cast<unsigned>(e) << 23);
    p[0] = e;
    put_nibbles(p + 1, [&](int i) {
      float a = fabsf(x[i]);
      int code = (a > 0.25f * d) + (a > 0.75f * d) + (a > 1.25f * d) + (a > 1.75f * d) + (a > 2.5f * d) + (a > 3.5f * d) + (a > 5.0f * d);
      return !ok ? 0 : code > 0 && x[i] < 0 ? code | 8 : code;
    });
  }
};

// part_mask are the lanes of the PARTS neighbouring threads that share a block.
template <int PARTS>
static __device__ __forceinline__ unsigned part_mask() {
  return ((1u << PARTS) - 1) << (threadIdx.x % 32 / PARTS * PARTS);
}

// part_any says whether a condition holds for one of them, part_max gives their largest value.
template <int PARTS>
static __device__ __forceinline__ bool part_any(bool condition) {
  return __any_sync(part_mask<PARTS>(), condition);
}
template <int PARTS>
static __device__ __forceinline__ float part_max(float v) {
#pragma unroll
  for (int other = PARTS / 2; other > 0; other /= 2) v = fmaxf(v, __shfl_xor_sync(part_mask<PARTS>(), v, other));
  return v;
}

// EncodeQ4_K: scale and minimum of each 32 values come from a search: for each of 22 first scales the codes are rounded and the best
// line through them, by weighted least squares, is solved for.
struct EncodeQ4_K {
  static constexpr int VALUES = 32, PARTS = 8, BYTES = 144, LEVELS = 15;

  static __device__ __forceinline__ int code(float inverse, float above) { return min(max(__float2int_rn(__fmul_rn(inverse, above)), 0), LEVELS); }

  // fit searches; codes holds 32 of four bits, in the order of the values.
  static __device__ __forceinline__ void fit(const float (&x)[32], float average, unsigned (&codes)[4], float &scale, float &minimum) {
    float low, high, sum_w = 0, sum_x = 0, best = 0;
    span(x, low, high);
    low = fminf(low, 0.0f);
    scale = 0;
    minimum = -low;
#pragma unroll
    for (int i = 0; i < 4; i++) codes[i] = 0;
    if (low == high) return;
    auto weight = [&](int i) { return __fadd_rn(average, fabsf(x[i])); };
#pragma unroll
    for (int i = 0; i < 32; i++) {
      sum_w = __fadd_rn(sum_w, weight(i));
      sum_x = __fadd_rn(sum_x, __fmul_rn(weight(i), x[i]));
    }
#pragma unroll 1
    for (int k = -1; k <= 20; k++) {
      unsigned trial[4] = {};
      float sum_l = 0, sum_l2 = 0, sum_xl = 0;
      float id = __fdiv_rn(k < 0 ? 15.0f : __fadd_rn(__fadd_rn(-1.0f, __fmul_rn(0.1f, static_cast<float>(k))), 15.0f), __fsub_rn(high, low));
#pragma unroll
      for (int i = 0; i < 32; i++) {
        int c = code(id, __fsub_rn(x[i], low));
        trial[i / 8] |= static_cast<unsigned>(c) << (i % 8 * 4);
        float l = static_cast<float>(c), wl = __fmul_rn(weight(i), l);
        sum_l = __fadd_rn(sum_l, wl);
        sum_l2 = __fadd_rn(sum_l2, __fmul_rn(wl, l));
        sum_xl = __fadd_rn(sum_xl, __fmul_rn(wl, x[i]));
      }
      float det = __fsub_rn(__fmul_rn(sum_w, sum_l2), __fmul_rn(sum_l, sum_l));
      float s, m;
      if (k < 0) {
        s = __fdiv_rn(1.0f, id);
        m = low;
      } else if (det > 0) {
        s = __fdiv_rn(__fsub_rn(__fmul_rn(sum_w, sum_xl), __fmul_rn(sum_x, sum_l)), det);
        m = __fdiv_rn(__fsub_rn(__fmul_rn(sum_l2, sum_x), __fmul_rn(sum_l, sum_xl)), det);
        if (m > 0) {
          s = __fdiv_rn(sum_xl, sum_l2);
          m = 0;
        }
      } else {
        continue;
      }
      float bad = 0;
#pragma unroll
      for (int i = 0; i < 32; i++) {
        float l = static_cast<float>(trial[i / 8] >> (i % 8 * 4) & 15), d = __fsub_rn(__fadd_rn(__fmul_rn(s, l), m), x[i]);
        bad = __fadd_rn(bad, __fmul_rn(weight(i), __fmul_rn(d, d)));
      }
      if (k < 0 || bad < best) {
        best = bad;
        scale = s;
        low = m;
#pragma unroll
        for (int i = 0; i < 4; i++) codes[i] = trial[i];
      }
    }
    minimum = -low;
  }

  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[32], int part) {
    if (part_any<PARTS>(!all_finite(x))) {
      if (part == 0) spoilt<BYTES>(p, 0);
      return;
    }
    float squares = 0, scale, minimum;
#pragma unroll
    for (int i = 0; i < 32; i++) squares = __fadd_rn(squares, __fmul_rn(x[i], x[i]));
    unsigned codes[4];
    fit(x, __fsqrt_rn(__fdiv_rn(squares, 32.0f)), codes, scale, minimum);
    float most_scale = fmaxf(part_max<PARTS>(scale), 0.0f), most_minimum = fmaxf(part_max<PARTS>(minimum), 0.0f);
    float per_scale = most_scale > 0 ? __fdiv_rn(63.0f, most_scale) : 0, per_minimum = most_minimum > 0 ? __fdiv_rn(63.0f, most_minimum) : 0;
    float d = __fdiv_rn(most_scale, 63.0f), least = __fdiv_rn(most_minimum, 63.0f);
    int s = min(__float2int_rn(__fmul_rn(per_scale, scale)), 63) & 255, m = min(__float2int_rn(__fmul_rn(per_minimum, minimum)), 63) & 255;
    put_scales(p, d, least, s, m, part);
    s &= 63;
    m &= 63;
    float ds = __fmul_rn(as_half(d), static_cast<float>(s)), low = __fmul_rn(as_half(least), static_cast<float>(m));
    if (ds != 0) {
#pragma unroll
      for (int i = 0; i < 4; i++) codes[i] = 0;
#pragma unroll
      for (int i = 0; i < 32; i++)
        codes[i / 8] |= static_cast<unsigned>(min(max(__float2int_rn(__fdiv_rn(__fadd_rn(x[i], low), ds)), 0), LEVELS)) << (i % 8 * 4);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {  // an even part has the low halves of 32 bytes, the next one the high ones
      unsigned other = __shfl_xor_sync(part_mask<PARTS>(), codes[i], 1);
      if (part % 2 == 0) {
#pragma unroll
        for (int j = 0; j < 8; j++) p[16 + part / 2 * 32 + i * 8 + j] = (codes[i] >> (4 * j) & 15) | (other >> (4 * j) & 15) << 4;
      }
    }
  }

  // put_scales packs the scales and minima of eight parts, six bits each, in 12 bytes; four parts write, with what the others have.
  static __device__ __forceinline__ void put_scales(unsigned char *p, float d, float least, int s, int m, int part) {
    int later_s = __shfl_xor_sync(part_mask<PARTS>(), s, 4), later_m = __shfl_xor_sync(part_mask<PARTS>(), m, 4);
    if (part >= 4) return;
    p[4 + part] = s | (later_s >> 4) << 6;
    p[8 + part] = m | (later_m >> 4) << 6;
    p[12 + part] = (later_s & 15) | (later_m & 15) << 4;
    if (part == 0) {
      put_half(p, d);
      put_half(p + 2, least);
    }
  }
};

// EncodeQ6_K: the scale of each 16 values, for codes -32 to 31, is the best of 19 by squared error weighted with the squares.
struct EncodeQ6_K {
  static constexpr int VALUES = 16, PARTS = 16, BYTES = 210;

  static __device__ __forceinline__ int code(float v) { return min(max(__float2int_rn(v), -32), 31); }

  static __device__ __forceinline__ float fit(const float (&x)[16], unsigned (&codes)[4]) {
    float top = largest(x), scale = 0, best = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) codes[i] = 0;
    if (fabsf(top) < 1e-15f) return 0;
#pragma unroll 1
    for (int turn = -1; turn < 19; turn++) {
      int k = turn - 9;  // the first try has no offset
      if (k == 0) continue;
      float id = __fdiv_rn(-(turn < 0 ? 32.0f : __fadd_rn(32.0f, __fmul_rn(0.1f, static_cast<float>(k)))), top);
      unsigned trial[4] = {};
      float sum_xl = 0, sum_l2 = 0;
#pragma unroll
      for (int i = 0; i < 16; i++) {
        int c = code(__fmul_rn(id, x[i]));
        trial[i / 4] |= static_cast<unsigned>(c & 255) << (i % 4 * 8);
        float w = __fmul_rn(x[i], x[i]), l = static_cast<float>(c);
        sum_xl = __fadd_rn(sum_xl, __fmul_rn(__fmul_rn(w, x[i]), l));
        sum_l2 = __fadd_rn(sum_l2, __fmul_rn(__fmul_rn(w, l), l));
      }
      if (turn < 0 ? true : sum_l2 > 0 && __fmul_rn(sum_xl, sum_xl) > __fmul_rn(best, sum_l2)) {
        if (sum_l2 != 0) scale = __fdiv_rn(sum_xl, sum_l2);
        best = __fmul_rn(scale, sum_xl);
#pragma unroll
        for (int i = 0; i < 4; i++) codes[i] = trial[i];
      }
    }
    return scale;
  }

  static __device__ __forceinline__ void put(unsigned char *p, const float (&x)[16], int part) {
    if (part_any<PARTS>(!all_finite(x))) {
      if (part == 0) spoilt<BYTES>(p, 208);
      return;
    }
    unsigned codes[4];
    float scale = fit(x, codes), most = part_max<PARTS>(fabsf(scale));
    // The first of the largest magnitude, as a reader from the left finds it.
    unsigned holders = __ballot_sync(part_mask<PARTS>(), fabsf(scale) == most) >> (threadIdx.x % 32 / PARTS * PARTS) & 0xffff;
    float top = __shfl_sync(part_mask<PARTS>(), scale, __ffs(holders) - 1, PARTS);
    if (!(fabsf(top) >= 1e-15f)) {
#pragma unroll 1
      for (int i = part; i < BYTES; i += PARTS) p[i] = 0;
      return;
    }
    float per_scale = __fdiv_rn(-128.0f, top), d = __fdiv_rn(1.0f, per_scale);
    int s = static_cast<signed char>(min(__float2int_rn(__fmul_rn(per_scale, scale)), 127));
    p[192 + part] = s;
    if (part == 0) put_half(p + 208, d);
    float ds = __fmul_rn(as_half(d), static_cast<float>(s));
    if (ds != 0) {
#pragma unroll
      for (int i = 0; i < 4; i++) codes[i] = 0;
#pragma unroll
      for (int i = 0; i < 16; i++) codes[i / 4] |= static_cast<unsigned>(code(__fdiv_rn(x[i], ds)) & 255) << (i % 4 * 8);
    }
    // Part 8n + r has values 128n + 16r …: low nibbles pair up r with r + 4, high bits are four parts' together.
    int n = part / 8, r = part % 8;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      unsigned q = ((codes[i] & 0x3f3f3f3fu) ^ 0x20202020u);  // code + 32
      unsigned fourth = __shfl_xor_sync(part_mask<PARTS>(), q, 4), second = __shfl_xor_sync(part_mask<PARTS>(), q, 2);
      unsigned sixth = __shfl_xor_sync(part_mask<PARTS>(), fourth, 2);
#pragma unroll
      for (int j = 0; j < 4; j++) {
        unsigned own = q >> (8 * j) & 63, high = fourth >> (8 * j) & 63;
        if (r < 4) p[64 * n + 16 * r + 4 * i + j] = (own & 15) | (high & 15) << 4;
        if (r < 2) p[128 + 32 * n + 16 * r + 4 * i + j] = own >> 4 | (second >> (8 * j) & 48) >> 2 | (high & 48) | (sixth >> (8 * j) & 48) << 2;
      }
    }
  }
};

// EncodeSmall is a float of one byte, to nearest even; what lies beyond the largest becomes it.
template <int E, int M>
struct EncodeSmall {
  static __device__ __forceinline__ unsigned code(float v) {
    constexpr int BIAS = (1 << (E - 1)) - 1;
    constexpr unsigned MOST = E == 4 ? 0x7e : 0x7b, NAN_CODE = E == 4 ? 0x7f : 0x7e;
    unsigned bits = __float_as_uint(v), a = bits & 0x7fffffffu, sign = bits >> 24 & 0x80;
    constexpr unsigned LEAST = static_cast<unsigned>(127 + 1 - BIAS) << 23;        // the smallest normal number
    constexpr unsigned UNIT = static_cast<unsigned>(127 + 1 - BIAS - M + 23) << 23;  // a sum with it ends in the subnormal code
    unsigned found = a < LEAST ? __float_as_uint(__fadd_rn(__uint_as_float(a), __uint_as_float(UNIT))) - UNIT
                               : ((a + ((1u << (22 - M)) - 1) + (a >> (23 - M) & 1)) >> (23 - M)) - (static_cast<unsigned>(127 - BIAS) << M);
    return sign | (a > 0x7f800000u ? NAN_CODE : min(found, MOST));
  }
};
