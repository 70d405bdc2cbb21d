// scaled/2_rows: y = x in int8 or fp8 with a scale for the tensor, each row or each group of a row, a span at a time.
//
// targets: sm_75 sm_89
// Predecessor: 1_passes reads x from memory twice, in requests of 32 values, and writes bytes one by one.
// Idea: a warp or a part of one, for spans of more than 1,024 values a CTA, finds the largest of its span and rounds the span while it
//   is in L1; pieces of 16 bytes are loaded and their codes stored together. Only where there are fewer spans than CTAs of a wave, as with one scale for
//   the tensor, does a launch before find the largest, by the same loads.
// Expect: 2*e*R*K bytes of loads in a quarter or an eighth of the requests; half of them from L1, so e*R*K bytes from DRAM; R*K bytes
//   stored, 4 or 8 a lane. With one scale for the tensor x comes twice from DRAM, or L2 where it fits.
// A profiler should show: DRAM near its roof for int8; the integer pipe beside it for fp8, whose rounding is done in integers.
//
// The Go loop: for s := range spans { scale[s] = max(|x[s]|) / most; for i { y[s,i] = round(x[s,i] * (1 / scale[s])) } }

#include "rows.cuh"
#include "encode.cuh"
#include "scaled.cuh"

constexpr int THREADS = 256, CHUNK = 16384;

// largest_of is the largest magnitude of n values from x on, over the threads that share them, each from t on.
template <typename T>
static __device__ __forceinline__ unsigned largest_of(const T *x, int n, int t, int threads, bool pieces) {
  float of_thread = 0;
  if (pieces) {
#pragma unroll 4
    for (int i = t; i < n / wide<T>; i += threads) {
      float v[wide<T>];
      unpack<T>(v, reinterpret_cast<const uint4 *>(x)[i]);
#pragma unroll
      for (int j = 0; j < wide<T>; j++) of_thread = larger(of_thread, v[j]);
    }
  } else {
#pragma unroll 4
    for (int i = t; i < n; i += threads) of_thread = larger(of_thread, to_float(x[i]));
  }
  unsigned largest = magnitude_bits(of_thread);
  for (int lanes = min(threads, 32) / 2; lanes > 0; lanes /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, lanes));
  if (threads <= 32) return largest;
  __shared__ unsigned of[THREADS / 32];
  if (threadIdx.x % 32 == 0) of[threadIdx.x / 32] = largest;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < THREADS / 32; w++) largest = max(largest, of[w]);
  return largest;
}

// aligned says whether n values of x from here on, and their codes, lie in whole pieces.
template <typename T>
static __device__ __forceinline__ bool aligned(const T *x, const unsigned char *y, int n) {
  return ((reinterpret_cast<size_t>(x) | static_cast<size_t>(n) * sizeof(T)) & 15) == 0 && (reinterpret_cast<size_t>(y) & (wide<T> - 1)) == 0;
}

// rows does the spans, a unit each; or, with chunks of a span, as many units whose largest is known.
template <typename C, typename T>
static __device__ __forceinline__ void rows(unsigned char *__restrict__ y, float *__restrict__ scale, const T *__restrict__ x,
    const unsigned *__restrict__ most, long long length, int units, int chunks, int threads) {
  int unit = blockIdx.x * (THREADS / threads) + threadIdx.x / threads, t = threadIdx.x % threads;
  bool idle = unit >= units;  // the last warp's lanes meet at the shuffles all the same
  if (idle) unit = units - 1;
  int span = chunks ? unit / chunks : unit;
  long long at = chunks ? static_cast<long long>(unit % chunks) * CHUNK : 0;
  int n = idle ? 0 : static_cast<int>(chunks ? min(length - at, static_cast<long long>(CHUNK)) : length);
  x += span * length + at;
  y += span * length + at;
  bool pieces = aligned(x, y, n);
  Span s = span_of<C>(chunks ? most[span] : largest_of(x, n, t, threads, pieces));
  if (t == 0 && at == 0 && !idle) scale[span] = s.scale;
  if (!pieces) {
#pragma unroll 4
    for (int i = t; i < n; i += threads) y[i] = code_of<C>(to_float(x[i]), s);
    return;
  }
#pragma unroll 2
  for (int i = t; i < n / wide<T>; i += threads) {
    float v[wide<T>];
    unpack<T>(v, reinterpret_cast<const uint4 *>(x)[i]);
    unsigned words[wide<T> / 4];
#pragma unroll
    for (int j = 0; j < wide<T>; j += 4) words[j / 4] = codes_of<C>(v + j, s);
    if constexpr (wide<T> == 4)
      reinterpret_cast<unsigned *>(y)[i] = words[0];
    else
      reinterpret_cast<uint2 *>(y)[i] = make_uint2(words[0], words[1]);
  }
}

// chunk_largest finds the largest of spans of which several CTAs take chunks.
template <typename T>
static __device__ __forceinline__ void chunk_largest(unsigned *__restrict__ most, const T *__restrict__ x, long long length, int chunks) {
  long long at = static_cast<long long>(blockIdx.x % chunks) * CHUNK;
  int n = static_cast<int>(min(length - at, static_cast<long long>(CHUNK)));
  x += blockIdx.x / chunks * length + at;
  unsigned largest = largest_of(x, n, threadIdx.x, THREADS, aligned(x, static_cast<const unsigned char *>(nullptr), n));
  if (threadIdx.x == 0) atomicMax(most + blockIdx.x / chunks, largest);
}

#define LARGEST(NAME, T)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) scaled_chunks_##NAME(unsigned *__restrict__ most,              \
      const T *__restrict__ x, long long length, long long chunks) {                                               \
    chunk_largest(most, x, length, static_cast<int>(chunks));                                                          \
  }
#define ROWS(NAME, C, T)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) scaled_rows_##NAME(unsigned char *__restrict__ y,              \
      float *__restrict__ scale, const T *__restrict__ x, const unsigned *__restrict__ most, long long length, long long units, \
      long long chunks, long long threads) {                                                                           \
    rows<C>(y, scale, x, most, length, static_cast<int>(units), static_cast<int>(chunks), static_cast<int>(threads));                                                        \
  }
#define TYPES(NAME, T) LARGEST(NAME, T) ROWS(i8_##NAME, Int8, T) ROWS(e4m3_##NAME, E4M3, T) ROWS(e5m2_##NAME, E5M2, T)

TYPES(f32, float)
TYPES(f16, __half)
TYPES(bf16, __nv_bfloat16)
