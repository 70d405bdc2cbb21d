// scaled.cuh: matrices in 8 bits, int8 or fp8, with a scale for the tensor, for each row or for each group of a row. Every operation
// is rounded by itself and in the order of gpu/quant, so that the codes are the same. A span, the values that share a scale, with a NaN
// or an infinity gets NaN for its scale and zeros for its codes. A source includes element.cuh and encode.cuh before it.
#pragma once

// Int8 and Small say how a value is stored: MOST is the code of the largest of a span, code gives the byte of a value in units of the
// scale, codes those of two.
struct Int8 {
  static constexpr float MOST = 127;
  static __device__ __forceinline__ unsigned codes(float low, float high) { return __byte_perm(code(low), code(high), 0x0040); }
  // The sum with 1.5 * 2^23 is rounded to an integer, half to even, whose low byte is the code; |v| is below 127.5.
  static __device__ __forceinline__ unsigned code(float v) { return __float_as_uint(__fadd_rn(v, 12582912.0f)) & 0xff; }
};

template <int E, int M>
struct Small {
  static constexpr float MOST = E == 4 ? 448 : 57344;
  static __device__ __forceinline__ unsigned code(float v) { return EncodeSmall<E, M>::code(v); }
  static __device__ __forceinline__ unsigned codes(float low, float high) {
#if __CUDA_ARCH__ >= 890  // rounds as code does
    unsigned short two;
    if constexpr (E == 4) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(high), "f"(low));
    else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(two) : "f"(high), "f"(low));
    return two;
#else
    return __byte_perm(code(low), code(high), 0x0040);
#endif
  }
};
using E4M3 = Small<4, 3>;
using E5M2 = Small<5, 2>;

// magnitude_bits orders |v| as integers do: NaN lies above infinity, and that above all numbers.
static __device__ __forceinline__ unsigned magnitude_bits(float v) { return __float_as_uint(v) & 0x7fffffffu; }

// larger is the larger of a magnitude and |v|; a NaN stays.
static __device__ __forceinline__ float larger(float most, float v) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(most) : "f"(fabsf(v)));
  return most;
#else
  return __uint_as_float(max(magnitude_bits(most), magnitude_bits(v)));
#endif
}

// Span is the scale of a span and what its values are multiplied by.
struct Span { float scale, by; };

template <typename C>
static __device__ __forceinline__ Span span_of(unsigned most) {
  if (most >= 0x7f800000u) return {__uint_as_float(0x7fffffffu), __uint_as_float(0x7fffffffu)};
  float scale = __fdiv_rn(__uint_as_float(most), C::MOST), by = inverse(scale);
  if (!finite(by)) scale = by = 0;  // a subnormal scale has no inverse
  return {scale, by};
}

// code_of is the byte of v in a span, codes_of those of four values.
template <typename C>
static __device__ __forceinline__ unsigned code_of(float v, Span s) {
  return s.by == s.by ? C::code(__fmul_rn(v, s.by)) : 0;
}
template <typename C>
static __device__ __forceinline__ unsigned codes_of(const float *v, Span s) {
  unsigned low = C::codes(__fmul_rn(v[0], s.by), __fmul_rn(v[1], s.by)), high = C::codes(__fmul_rn(v[2], s.by), __fmul_rn(v[3], s.by));
  return s.by == s.by ? __byte_perm(low, high, 0x5410) : 0;
}
