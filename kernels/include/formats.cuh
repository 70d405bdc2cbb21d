// formats.cuh: the block formats of gpu/quant, one struct a format: values and bytes of a block, and how one value is read. The
// arithmetic is that of gpu/quant's decoders, in f32 and rounded in the same places.
#pragma once  // after element.cuh

static __device__ __forceinline__ float half_at(const unsigned char *p) {  // blocks start on any even byte
  return __half2float(__ushort_as_half(*reinterpret_cast<const unsigned short *>(p)));
}

// nibble is value i of 32 whose low four bits lie in byte i%16: the first 16 in the low halves.
static __device__ __forceinline__ int nibble(const unsigned char *q, int i) { return q[i % 16] >> (i / 16 * 4) & 15; }

static __device__ __forceinline__ float scaled(int code, float d) { return __fmul_rn(static_cast<float>(code), d); }
static __device__ __forceinline__ float shifted(int code, float d, float m) { return __fadd_rn(scaled(code, d), m); }

// bytes_at reads four bytes of which only the first pair starts on an even address.
static __device__ __forceinline__ unsigned bytes_at(const unsigned char *p) {
  const unsigned short *h = reinterpret_cast<const unsigned short *>(p);
  return h[0] | static_cast<unsigned>(h[1]) << 16;
}

struct Q8_0 {
  static constexpr int BLOCK = 32, BYTES = 34;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) { return scaled(static_cast<signed char>(b[2 + i]), half_at(b)); }
};

struct Q8_1 {
  static constexpr int BLOCK = 32, BYTES = 36;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) { return scaled(static_cast<signed char>(b[4 + i]), half_at(b)); }
};

struct Q4_0 {
  static constexpr int BLOCK = 32, BYTES = 18;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) { return scaled(nibble(b + 2, i) - 8, half_at(b)); }
};

struct Q4_1 {
  static constexpr int BLOCK = 32, BYTES = 20;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) { return shifted(nibble(b + 4, i), half_at(b), half_at(b + 2)); }
};

struct Q5_0 {
  static constexpr int BLOCK = 32, BYTES = 22;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    return scaled((nibble(b + 6, i) | (bytes_at(b + 2) >> i & 1) << 4) - 16, half_at(b));
  }
};

struct Q5_1 {
  static constexpr int BLOCK = 32, BYTES = 24;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    return shifted(nibble(b + 8, i) | (bytes_at(b + 4) >> i & 1) << 4, half_at(b), half_at(b + 2));
  }
};

// MXFP4 has e2m1 codes, sign and three bits of magnitude: twice the values are the small integers of the table. Half the scale is
// exact but for the two smallest, of which it is the subnormal half.
struct MXFP4 {
  static constexpr int BLOCK = 32, BYTES = 17;
  static __device__ __forceinline__ float scale(unsigned code) { return __uint_as_float(code == 0 ? 0x00400000u : code << 23); }
  static __device__ __forceinline__ float magnitude(int code) {
    return static_cast<float>(0xc8643210u >> (code & 7) * 4 & 15) * 0.5f;  // 0 1 2 3 4 6 8 12, halved
  }
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int code = nibble(b + 1, i);
    float v = magnitude(code);
    return __fmul_rn(code & 8 ? -v : v, scale(b[0]));
  }
};

// sub_scale is the j-th of eight 6-bit scales and minima in 12 bytes.
static __device__ __forceinline__ void sub_scale(const unsigned char *b, int j, int &scale, int &minimum) {
  if (j < 4) {
    scale = b[j] & 63;
    minimum = b[j + 4] & 63;
  } else {
    scale = (b[j + 4] & 15) | b[j - 4] >> 6 << 4;
    minimum = b[j + 4] >> 4 | b[j] >> 6 << 4;
  }
}

// with_minimum is code * (d * scale) - dmin * minimum, of Q2_K, Q4_K and Q5_K.
static __device__ __forceinline__ float with_minimum(int code, float d, int scale, float least, int minimum) {
  return __fsub_rn(__fmul_rn(__fmul_rn(d, static_cast<float>(scale)), static_cast<float>(code)), __fmul_rn(least, static_cast<float>(minimum)));
}

struct Q4_K {
  static constexpr int BLOCK = 256, BYTES = 144;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int scale, minimum;
    sub_scale(b + 4, i / 32, scale, minimum);
    return with_minimum(b[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15, half_at(b), scale, half_at(b + 2), minimum);
  }
};

struct Q5_K {
  static constexpr int BLOCK = 256, BYTES = 176;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int scale, minimum;
    sub_scale(b + 4, i / 32, scale, minimum);
    int code = (b[48 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15) | (b[16 + i % 32] >> (i / 32) & 1) << 4;
    return with_minimum(code, half_at(b), scale, half_at(b + 2), minimum);
  }
};

struct Q6_K {
  static constexpr int BLOCK = 256, BYTES = 210;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int n = i / 128, l = i % 128;
    int code = (b[64 * n + l % 64] >> (l / 64 * 4) & 15) | (b[128 + 32 * n + l % 32] >> (l / 32 * 2) & 3) << 4;
    return __fmul_rn(scaled(static_cast<signed char>(b[192 + i / 16]), half_at(b + 208)), static_cast<float>(code - 32));
  }
};

struct Q2_K {
  static constexpr int BLOCK = 256, BYTES = 84;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int s = b[i / 16];
    return with_minimum(b[16 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3, half_at(b + 80), s & 15, half_at(b + 82), s >> 4);
  }
};

struct Q3_K {
  static constexpr int BLOCK = 256, BYTES = 110;
  static __device__ __forceinline__ float value(const unsigned char *b, int i) {
    int j = i / 16;
    int scale = ((b[96 + j % 8] >> (j / 8 * 4) & 15) | (b[104 + j % 4] >> (j / 4 * 2) & 3) << 4) - 32;
    int code = (b[32 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - (b[i % 32] >> (i / 32) & 1 ? 0 : 4);
    return __fmul_rn(scaled(scale, half_at(b + 108)), static_cast<float>(code));
  }
};

// small_float is a float of one byte, sign, E bits of exponent and M of mantissa, as the same value in f32: its bits moved to where
// f32 has them are a number too small by the difference of the exponents' biases.
template <int E, int M>
static __device__ __forceinline__ float small_float(unsigned char code) {
  unsigned magnitude = code & 0x7f;
  float v = __fmul_rn(__uint_as_float(magnitude << (23 - M)), __uint_as_float(static_cast<unsigned>(127 + 127 - ((1 << (E - 1)) - 1)) << 23));
  bool nan = E == 4 ? magnitude == 0x7f : magnitude > 0x7c, infinite = E == 5 && magnitude == 0x7c;
  if (nan) v = __uint_as_float(0x7fffffffu);
  if (infinite) v = __uint_as_float(0x7f800000u);
  return code & 0x80 ? -v : v;
}
struct E4M3 {
  static constexpr int BLOCK = 1, BYTES = 1;
  static __device__ __forceinline__ float value(const unsigned char *b, int) { return small_float<4, 3>(*b); }
};
struct E5M2 {
  static constexpr int BLOCK = 1, BYTES = 1;
  static __device__ __forceinline__ float value(const unsigned char *b, int) { return small_float<5, 2>(*b); }
};

// decoded_row is a lane's share of a row's product, value by value: the sum of every 32nd weight, decoded, times what x gives for it.
template <typename F, typename X>
static __device__ __forceinline__ float decoded_row(const unsigned char *row, int k, X x) {
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x % 32; i < k; i += 32) sum = fmaf(F::value(row + i / F::BLOCK * F::BYTES, i % F::BLOCK), x(i), sum);
  return sum;
}

// settled says whether a sum of products that were taken apart (scale times codes, minimum times the sum of x) is what whole weights
// give: not where an infinity or NaN took part, since the parts meet it one by one. An infinite x times code 0 is NaN, and opposite
// infinities are, where scale * code + minimum is an ordinary weight.
static __device__ __forceinline__ bool settled(float sum) { return (__float_as_uint(sum) & 0x7f800000u) != 0x7f800000u; }
