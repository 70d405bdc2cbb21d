// quantize/1_thread: y = x in a block format, the bytes of gpu/quant's encoders.
//
// targets: sm_75
// Predecessor: none.
// Idea: a thread a block of 32 values, or a sub-block of a K-quant, whose eight or sixteen threads agree by shuffles. The thread keeps
//   its values in registers, finds the scale, and writes the block byte by byte.
// Expect: neighbouring threads read 32 values apart, so a request touches 32 sectors where 4 would do, and each sector is asked for
//   again and again; stores of single bytes as far apart as blocks.
// A profiler should show: the load/store unit busy, DRAM idle; for K-quants the arithmetic of the search.
//
// The Go loop: for b := range blocks { encode(y[b*BYTES:], x[b*BLOCK:]) }

#include "element.cuh"
#include "encode.cuh"

template <typename E, typename T>
static __device__ __forceinline__ void load(float (&v)[E::VALUES], const T *__restrict__ x, long long at) {
#pragma unroll
  for (int i = 0; i < E::VALUES; i++) v[i] = to_float(x[at * E::VALUES + i]);
}

template <typename E>
static __device__ __forceinline__ void quantize(unsigned char *__restrict__ y, const void *__restrict__ x, long long parts, int bytes) {
  long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= parts) return;
  float v[E::VALUES];
  if (bytes == 4) load<E>(v, static_cast<const float *>(x), at);
  else load<E>(v, static_cast<const __half *>(x), at);
  E::put(y + at / E::PARTS * E::BYTES, v, static_cast<int>(at % E::PARTS));
}

// bytes is the size of an element of x: f32 or f16.
#define QUANTIZE(NAME, E)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128, 2) quantize_thread_##NAME(unsigned char *__restrict__ y, const void *__restrict__ x, \
      long long parts, long long bytes) { quantize<E>(y, x, parts, static_cast<int>(bytes)); }

QUANTIZE(q8_0, EncodeQ8<2>)
QUANTIZE(q8_1, EncodeQ8<4>)
QUANTIZE(q4_0, EncodeQ4_0)
QUANTIZE(q4_1, EncodeQ4_1)
QUANTIZE(q4_k, EncodeQ4_K)
QUANTIZE(q6_k, EncodeQ6_K)
QUANTIZE(mxfp4, EncodeMXFP4)
