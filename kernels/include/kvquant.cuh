// kvquant.cuh: elements of a KV cache in 8 bits: int8 or fp8 (e4m3), with one scale a token and head. Needs element.cuh.
#pragma once

// Int8 and E4M3 say how a row is stored. most is the code of its largest element; FACTOR brings unpacked values to f16 numbers
// that neither overflow nor vanish: value = unpacked * FACTOR.
struct Int8 {
  using Byte = signed char;
  static constexpr float MOST = 127, FACTOR = 1, WEIGHTS = 64;

  // code is x / scale, rounded to nearest even.
  static __device__ __forceinline__ unsigned code(float x, float scale) { return static_cast<unsigned>(__float2int_rn(x / scale)) & 0xff; }

  // unpack gives the f16 numbers of four bytes: 1024 + (b + 128) has b + 128 in its low bits.
  static __device__ __forceinline__ uint2 unpack(unsigned word) {
    unsigned positive = word ^ 0x80808080u;
    __half2 low, high, offset = __halves2half2(__ushort_as_half(0x6480), __ushort_as_half(0x6480));  // 1152
    *reinterpret_cast<unsigned *>(&low) = __byte_perm(positive, 0x64646464, 0x4140);
    *reinterpret_cast<unsigned *>(&high) = __byte_perm(positive, 0x64646464, 0x4342);
    low = __hsub2(low, offset);
    high = __hsub2(high, offset);
    return make_uint2(*reinterpret_cast<unsigned *>(&low), *reinterpret_cast<unsigned *>(&high));
  }
};

struct E4M3 {
  using Byte = unsigned char;
  static constexpr float MOST = 448, FACTOR = 256, WEIGHTS = 256;

  static __device__ __forceinline__ unsigned code(float x, float scale) {
    float y = fabsf(x) / scale;
    unsigned bits = __float_as_uint(y), magnitude;
    if (y < 0.015625f)
      magnitude = __float2int_rn(y * 512);  // below 2^-6 the steps are 2^-9
    else
      magnitude = min(((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3), 0x7eu);
    return magnitude | (__float_as_uint(x) >> 24 & 0x80);
  }

  // unpack moves exponent and mantissa to where f16 has them; its bias is larger by 8, which FACTOR makes good.
  static __device__ __forceinline__ uint2 unpack(unsigned word) {
    unsigned low = __byte_perm(word, 0, 0x1404), high = __byte_perm(word, 0, 0x3424);
    return make_uint2((low & 0x80008000u) | (low >> 1 & 0x3f803f80u), (high & 0x80008000u) | (high >> 1 & 0x3f803f80u));
  }
};
