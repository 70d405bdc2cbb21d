// quantize/2_staged: y = x in a block format or fp8, the bytes of gpu/quant's encoders, through shared memory.
//
// targets: sm_75
// Predecessor: 1_thread reads and writes memory as its threads' blocks lie, a sector for each value and each byte.
// Idea: the CTA copies its values to shared memory as they lie in memory, each thread takes its block from there and writes its bytes
//   there, and the CTA copies these out as they lie. The padding of one float a thread keeps banks apart.
// Expect: 4 sectors a request of loads in f32; stores in words of neighbouring bytes, 4 sectors a request; two barriers more a CTA; the
//   same arithmetic.
// A profiler should show: DRAM near its roof for blocks of 32; for K-quants the search is the limit: 22 or 20 trials over every value.
//
// The Go loop: for b := range blocks { encode(y[b*BYTES:], x[b*BLOCK:]) }

#include "element.cuh"
#include "encode.cuh"

constexpr int THREADS = 128;

// element reads one value of x.
static __device__ __forceinline__ float element(const void *x, long long i, int kind) {
  if (kind == 0) return static_cast<const float *>(x)[i];
  return kind == 1 ? to_float(static_cast<const __half *>(x)[i]) : to_float(static_cast<const __nv_bfloat16 *>(x)[i]);
}

// fetch copies n values from the first on to shared memory, as f32; called for each kind by itself, so that the loop has no branch.
template <int VALUES>
static __device__ __forceinline__ void fetch(float *in, const void *__restrict__ x, long long first, int n, int kind) {
#pragma unroll 8
  for (int i = threadIdx.x; i < n; i += THREADS) in[i / VALUES * (VALUES + 1) + i % VALUES] = element(x, first + i, kind);
}

template <typename E>
static __device__ __forceinline__ void quantize(unsigned char *__restrict__ y, const void *__restrict__ x, long long parts, int kind) {
  constexpr int VALUES = E::VALUES, ROOM = (VALUES + 1) * 4, OUT = E::BYTES * THREADS / E::PARTS;
  __shared__ __align__(16) unsigned char shared[ROOM * THREADS > OUT ? ROOM * THREADS : OUT];
  float *in = reinterpret_cast<float *>(shared);
  long long first = static_cast<long long>(blockIdx.x) * THREADS;
  int here = static_cast<int>(min(static_cast<long long>(THREADS), parts - first)), t = threadIdx.x;
  if (kind == 0) fetch<VALUES>(in, x, first * VALUES, here * VALUES, 0);
  else if (kind == 1) fetch<VALUES>(in, x, first * VALUES, here * VALUES, 1);
  else fetch<VALUES>(in, x, first * VALUES, here * VALUES, 2);
  __syncthreads();
  float v[VALUES] = {};
  if (t < here) {
#pragma unroll
    for (int i = 0; i < VALUES; i++) v[i] = in[t * (VALUES + 1) + i];
  }
  __syncthreads();
  if (t < here) E::put(shared + t / E::PARTS * E::BYTES, v, t % E::PARTS);
  __syncthreads();
  int bytes = here / E::PARTS * E::BYTES;
  unsigned char *to = y + first / E::PARTS * E::BYTES;
  if ((reinterpret_cast<size_t>(to) & 3) == 0) {
#pragma unroll 1
    for (int i = t; i < bytes / 4; i += THREADS) reinterpret_cast<unsigned *>(to)[i] = reinterpret_cast<const unsigned *>(shared)[i];
    for (int i = bytes / 4 * 4 + t; i < bytes; i += THREADS) to[i] = shared[i];
  } else {
#pragma unroll 1
    for (int i = t; i < bytes; i += THREADS) to[i] = shared[i];
  }
}

// small is fp8: four values a thread where they lie on 16 bytes.
template <int E, int M>
static __device__ __forceinline__ void small(unsigned char *__restrict__ y, const void *__restrict__ x, long long n, int kind) {
  long long i = (static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x) * 4;
  if (i >= n) return;
  if (i + 4 <= n && (reinterpret_cast<size_t>(y) & 3) == 0) {
    unsigned codes = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) codes |= EncodeSmall<E, M>::code(element(x, i + j, kind)) << (8 * j);
    *reinterpret_cast<unsigned *>(y + i) = codes;
    return;
  }
#pragma unroll 1
  for (int j = 0; j < 4 && i + j < n; j++) y[i + j] = EncodeSmall<E, M>::code(element(x, i + j, kind));
}

// kind is the type of x: 0 f32, 1 f16, 2 bf16.
#define QUANTIZE(NAME, ...)                                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS) quantize_staged_##NAME(unsigned char *__restrict__ y, const void *__restrict__ x, \
      long long parts, long long kind) { __VA_ARGS__(y, x, parts, static_cast<int>(kind)); }

QUANTIZE(q8_0, quantize<EncodeQ8<2>>)
QUANTIZE(q8_1, quantize<EncodeQ8<4>>)
QUANTIZE(q4_0, quantize<EncodeQ4_0>)
QUANTIZE(q4_1, quantize<EncodeQ4_1>)
QUANTIZE(q4_k, quantize<EncodeQ4_K>)
QUANTIZE(q6_k, quantize<EncodeQ6_K>)
QUANTIZE(mxfp4, quantize<EncodeMXFP4>)
QUANTIZE(e4m3, small<4, 3>)
QUANTIZE(e5m2, small<5, 2>)
