// scaled/1_passes: y = x in int8 or fp8 with a scale for the tensor, each row or each group of a row, in two launches.
//
// targets: sm_75
// Predecessor: none.
// Idea: the first launch finds the largest magnitude of each span, the values that share a scale, by atomics; the second divides by
//   it and rounds. Both read x.
// Expect: 2*e*R*K bytes of loads, a request for each 32 values; R*K bytes stored, a byte a lane.
// A profiler should show: DRAM busy twice for x where it is larger than L2; requests, not bytes, as the limit.
//
// The Go loop: for s := range spans { scale[s] = max(|x[s]|) / most; for i { y[s,i] = round(x[s,i] * (1 / scale[s])) } }

#include "element.cuh"
#include "encode.cuh"
#include "scaled.cuh"

constexpr int THREADS = 256, CHUNK = 4096;

// chunk gives the values of a CTA: a part of a span that lies in one piece.
static __device__ __forceinline__ long long chunk(long long length, int chunks, long long &end) {
  long long span = blockIdx.x / chunks, at = static_cast<long long>(blockIdx.x % chunks) * CHUNK;
  end = span * length + min(length, at + CHUNK);
  return span * length + at;
}

template <typename T>
static __device__ __forceinline__ void largest_of(unsigned *__restrict__ most, const T *__restrict__ x, long long length, int chunks) {
  long long end, i = chunk(length, chunks, end) + threadIdx.x;
  unsigned largest = 0;
#pragma unroll 1
  for (; i < end; i += THREADS) largest = max(largest, magnitude_bits(to_float(x[i])));
  for (int lanes = 16; lanes > 0; lanes /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
  if (threadIdx.x % 32 == 0) atomicMax(most + blockIdx.x / chunks, largest);
}

template <typename C, typename T>
static __device__ __forceinline__ void codes_of(unsigned char *__restrict__ y, float *__restrict__ scale, const T *__restrict__ x,
    const unsigned *__restrict__ most, long long length, int chunks) {
  long long end, i = chunk(length, chunks, end) + threadIdx.x;
  Span s = span_of<C>(most[blockIdx.x / chunks]);
  if (blockIdx.x % chunks == 0 && threadIdx.x == 0) scale[blockIdx.x / chunks] = s.scale;
#pragma unroll 1
  for (; i < end; i += THREADS) y[i] = code_of<C>(to_float(x[i]), s);
}

#define LARGEST(NAME, T)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) scaled_largest_##NAME(unsigned *__restrict__ most,             \
      const T *__restrict__ x, long long length, long long chunks) {                                                      \
    largest_of(most, x, length, static_cast<int>(chunks));                                                             \
  }
#define CODES(NAME, C, T)                                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS) scaled_codes_##NAME(unsigned char *__restrict__ y,             \
      float *__restrict__ scale, const T *__restrict__ x, const unsigned *__restrict__ most, long long length, long long chunks) { \
    codes_of<C>(y, scale, x, most, length, static_cast<int>(chunks));                                                                    \
  }
#define TYPES(NAME, T) LARGEST(NAME, T) CODES(i8_##NAME, Int8, T) CODES(e4m3_##NAME, E4M3, T) CODES(e5m2_##NAME, E5M2, T)

TYPES(f32, float)
TYPES(f16, __half)
TYPES(bf16, __nv_bfloat16)
