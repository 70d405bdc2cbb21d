// rows.cuh: what kernels that work on rows share: pieces of 16 bytes as f32, and sums over a CTA.
#pragma once
#include "element.cuh"

// wide is how many elements a piece of 16 bytes has.
template <typename T>
constexpr int wide = 16 / sizeof(T);

// unpack gives the elements of a piece as f32, in their order.
template <typename T>
static __device__ __forceinline__ void unpack(float (&v)[16 / sizeof(T)], uint4 piece) {
  const unsigned p[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if constexpr (sizeof(T) == 4) {
      v[i] = __uint_as_float(p[i]);
    } else {
      float2 f = pair(p[i], T());
      v[2 * i] = f.x, v[2 * i + 1] = f.y;
    }
  }
}

static __device__ __forceinline__ unsigned packed(float a, float b, __half) {
  __half2 h = __floats2half2_rn(a, b);
  return *reinterpret_cast<unsigned *>(&h);
}
static __device__ __forceinline__ unsigned packed(float a, float b, __nv_bfloat16) {
  return static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(a))) |
         static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(b))) << 16;
}

// pack rounds f32 values to a piece of 16 bytes.
template <typename T>
static __device__ __forceinline__ uint4 pack(const float (&v)[16 / sizeof(T)]) {
  unsigned p[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if constexpr (sizeof(T) == 4) {
      p[i] = __float_as_uint(v[i]);
    } else {
      p[i] = packed(v[2 * i], v[2 * i + 1], T());
    }
  }
  return make_uint4(p[0], p[1], p[2], p[3]);
}

// rows16 says whether rows of so many elements at these addresses can all be read in 16-byte pieces.
template <typename T>
static __device__ __forceinline__ bool rows16(int columns, const void *a, const void *b, const void *c = nullptr, const void *d = nullptr) {
  return ((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b) | reinterpret_cast<size_t>(c) | reinterpret_cast<size_t>(d) |
           static_cast<size_t>(columns) * sizeof(T)) & 15) == 0;
}

// cta_sum adds a value over the threads of a CTA of up to 1024, whole warps; every thread has the sum. Two barriers, which
// a CTA of one warp does without.
static __device__ __forceinline__ float cta_sum(float sum) {
  __shared__ float part[32];
  sum = warp_sum(sum);
  if (blockDim.x == 32) return sum;
  __syncthreads();  // the sums of an earlier call were read
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x / 32); i++) sum += part[i];
  return sum;
}
