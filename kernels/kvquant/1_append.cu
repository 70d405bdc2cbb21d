// kvquant/1_append: writes k and v [T, Hkv, D] of new tokens into pages of 8-bit elements, with a scale a token and head.
//
// Predecessor: a cache of f16 or bf16 costs two bytes an element, and decode reads all of them for each token.
// Idea: a warp takes a row of D elements, finds the largest by shuffles, and stores round(x * most / largest) in a byte: most is
//   127 for int8, 448 for fp8 (e4m3). The scale largest / most goes beside it as f32. A negative slot is padding and is left out.
// Expect: a row is read twice, the second time from L1, and D bytes and 4 are written: 2*2*2*T*Hkv*D bytes asked for,
//   2*T*Hkv*(D + 4) stored.
// A profiler should show: DRAM as the limit for long chunks; for one token a launch that is all latency.
//
// The Go loop: for row { s := max(|x|) / most; scale[slot] = s; for d { page[slot,d] = round(x[d] / s) } }; a row of zeros has scale 0 and zeros

#include "element.cuh"
#include "kvquant.cuh"

template <typename T, typename S>
static __device__ __forceinline__ void append(typename S::Byte *__restrict__ kp, typename S::Byte *__restrict__ vp, float *__restrict__ ks,
    float *__restrict__ vs, const T *__restrict__ k, const T *__restrict__ v, const int *__restrict__ slots, int tokens, int hkv, int d) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= tokens * hkv) return;
  int slot = slots[row / hkv];
  if (slot < 0) return;
  size_t to = static_cast<size_t>(slot) * hkv + row % hkv;
#pragma unroll 1
  for (int second = 0; second < 2; second++) {
    const T *from = (second ? v : k) + static_cast<size_t>(row) * d;
    typename S::Byte *bytes = (second ? vp : kp) + to * d;
    float largest = 0;
    bool whole = true;  // no NaN
    for (int x = lane; x < d; x += 32) {
      float value = to_float(from[x]);
      largest = fmaxf(largest, fabsf(value));
      whole = whole && value == value;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
    whole = __all_sync(0xffffffffu, whole);
    float scale = whole && largest < __int_as_float(0x7f800000) ? largest / S::MOST : __int_as_float(0x7fffffff);
    if (lane == 0) (second ? vs : ks)[to] = scale;  // NaN where the row has no scale: then so are all results that see it
    for (int x = lane; x < d; x += 32) bytes[x] = scale > 0 ? static_cast<typename S::Byte>(S::code(to_float(from[x]), scale)) : 0;
  }
}

#define APPEND(NAME, T, S)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128) NAME(                                                                  \
      S::Byte *__restrict__ kp, S::Byte *__restrict__ vp, float *__restrict__ ks, float *__restrict__ vs,                  \
      const T *__restrict__ k, const T *__restrict__ v, const int *__restrict__ slots, int tokens, int hkv, int d) {       \
    append<T, S>(kp, vp, ks, vs, k, v, slots, tokens, hkv, d);                                                             \
  }

APPEND(kvquant_append_i8, __half, Int8)
APPEND(kvquant_append_i8_bf16, __nv_bfloat16, Int8)
APPEND(kvquant_append_e4m3, __half, E4M3)
APPEND(kvquant_append_e4m3_bf16, __nv_bfloat16, E4M3)
