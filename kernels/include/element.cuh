// element.cuh: what kernels that serve several element types share: each is read as f32 and written rounded to nearest.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static __device__ __forceinline__ float to_float(float v) { return v; }
static __device__ __forceinline__ float to_float(__half v) { return __half2float(v); }
static __device__ __forceinline__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }

static __device__ __forceinline__ void store(float *p, float v) { *p = v; }
static __device__ __forceinline__ void store(__half *p, float v) { *p = __float2half_rn(v); }
static __device__ __forceinline__ void store(__nv_bfloat16 *p, float v) { *p = __float2bfloat16_rn(v); }

// pair gives two neighbouring elements as f32.
static __device__ __forceinline__ float2 pair(unsigned v, __half) { return __half22float2(*reinterpret_cast<__half2 *>(&v)); }
static __device__ __forceinline__ float2 pair(unsigned v, __nv_bfloat16) {
  return make_float2(__uint_as_float(v << 16), __uint_as_float(v & 0xffff0000u));
}

// pack is two values rounded to neighbouring elements of a word.
static __device__ __forceinline__ unsigned pack(float low, float high, __half) {
  __half2 v = __floats2half2_rn(low, high);
  return *reinterpret_cast<unsigned *>(&v);
}
static __device__ __forceinline__ unsigned pack(float low, float high, __nv_bfloat16) {
  __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<unsigned *>(&v);
}

// dot16 adds the products of the elements in two 16-byte pieces to a sum, in f32 and in their order.
template <typename T>
static __device__ __forceinline__ float dot16(uint4 a, uint4 b, float sum) {
  const unsigned pa[4] = {a.x, a.y, a.z, a.w}, pb[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if constexpr (sizeof(T) == 4) {
      sum = fmaf(__uint_as_float(pa[i]), __uint_as_float(pb[i]), sum);
    } else {
      float2 fa = pair(pa[i], T()), fb = pair(pb[i], T());
      sum = fmaf(fa.x, fb.x, sum);
      sum = fmaf(fa.y, fb.y, sum);
    }
  }
  return sum;
}

// aligned16 says whether rows of k elements of a matrix and a vector of k can both be read in 16-byte pieces.
template <typename T>
static __device__ __forceinline__ bool aligned16(const T *w, const T *x, int k) {
  return ((reinterpret_cast<size_t>(w) | reinterpret_cast<size_t>(x) | static_cast<size_t>(k) * sizeof(T)) & 15) == 0;
}

// load16 reads the 16 bytes of row `row` from column `col` on; what lies outside the matrix is zero. wide says that all rows
// start on 16 bytes, so that a piece that begins inside also ends inside.
template <typename T>
static __device__ __forceinline__ uint4 load16(const T *matrix, int rows, int columns, int row, int col, bool wide) {
  if (row >= rows || col >= columns) return make_uint4(0, 0, 0, 0);
  const T *p = matrix + static_cast<size_t>(row) * columns + col;
  if (wide) return *reinterpret_cast<const uint4 *>(p);
  unsigned long long low = 0, high = 0;  // the elements are pushed in from the top
#pragma unroll 1
  for (int i = 0; i < 16 / static_cast<int>(sizeof(T)); i++) {
    unsigned long long v = 0;
    if (col + i < columns) {
      if constexpr (sizeof(T) == 4)
        v = reinterpret_cast<const unsigned *>(p)[i];
      else
        v = reinterpret_cast<const unsigned short *>(p)[i];
    }
    low = low >> 8 * sizeof(T) | high << (64 - 8 * sizeof(T));
    high = high >> 8 * sizeof(T) | v << (64 - 8 * sizeof(T));
  }
  return make_uint4(low, low >> 32, high, high >> 32);
}

// warp_sum adds a value over the 32 lanes; every lane has the sum.
static __device__ __forceinline__ float warp_sum(float sum) {
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  return sum;
}
