// rope.cuh: rotary position embedding (Su et al., 2021): the angle of a pair of dimensions at a position, to f32's precision.
#pragma once
#include "element.cuh"

// turn is sine and cosine of position*frequency, times a magnitude. The product of two f32 numbers has 48 bits; at position
// 100,000 the 24 that f32 keeps are wrong by 4 thousandths of a radian. So its rounding error is computed too (the fma is
// exact), whole turns are taken away with three parts of 2*pi, and the error is put back.
static __device__ __forceinline__ float2 turn(int position, float frequency, float magnitude) {
  float high = static_cast<float>(position) * frequency;
  float low = fmaf(static_cast<float>(position), frequency, -high);
  float turns = rintf(high * 0.159154943f);
  float angle = fmaf(-turns, 6.28125f, high);      // the first 8 bits of 2*pi: exact
  angle = fmaf(-turns, 1.93530717e-3f, angle);     // the next 24
  angle = fmaf(-turns, 1.02533763e-11f, angle) + low;
  float sine, cosine;
  __sincosf(angle, &sine, &cosine);
  return make_float2(sine * magnitude, cosine * magnitude);
}

// places are the two elements of pair i among n pairs: neighbours (2i, 2i+1), or half a head apart (i, i+n).
static __device__ __forceinline__ int2 places(int i, int n, bool adjacent) {
  return adjacent ? make_int2(2 * i, 2 * i + 1) : make_int2(i, i + n);
}

// rotated turns a pair.
static __device__ __forceinline__ float2 rotated(float a, float b, float2 t) { return make_float2(a * t.y - b * t.x, a * t.x + b * t.y); }
