// glu/3_vec16: y = act(gate) * up, element by element, f32 inside: SiLU (SwiGLU), GELU by tanh or by erf; 16 bytes a lane.
//
// Predecessor: 2_fused moves 64 bytes a request (128 in f32), and a thread has two loads in flight.
// Idea: a thread takes two pieces of 16 bytes of each input, all four loads before the first result.
// Expect: an eighth of 2_fused's requests (a quarter in f32), 16 sectors each, the ideal; the same bytes. A tensor that does
//   not start on 16 bytes is taken an element at a time.
// A profiler should show: DRAM throughput at 80 % of the datasheet or more for large inputs.
//
// The Go loop: 2_fused's.

#include "activation.cuh"
#include "rows.cuh"

template <typename T>
static __device__ __forceinline__ void glu(T *__restrict__ y, const T *__restrict__ gate, const T *__restrict__ up, int n, int which) {
  constexpr int w = wide<T>;
  size_t first = static_cast<size_t>(blockIdx.x) * (256 * 2 * w);  // of this CTA's elements
  if (rows16<T>(0, y, gate, up)) {
    size_t at[2] = {first + threadIdx.x * w, first + (256 + threadIdx.x) * w};
    uint4 a[2], b[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      if (at[i] + w <= n) {
        a[i] = *reinterpret_cast<const uint4 *>(gate + at[i]);
        b[i] = *reinterpret_cast<const uint4 *>(up + at[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
      if (at[i] + w <= n) {
        float g[w], u[w];
        unpack<T>(g, a[i]);
        unpack<T>(u, b[i]);
#pragma unroll
        for (int j = 0; j < w; j++) g[j] = activation(g[j], which) * u[j];
        *reinterpret_cast<uint4 *>(y + at[i]) = pack<T>(g);
      } else {
        for (size_t j = at[i]; j < n && j < at[i] + w; j++) store(y + j, activation(to_float(gate[j]), which) * to_float(up[j]));
      }
    }
    return;
  }
#pragma unroll 1
  for (size_t i = first + threadIdx.x; i < n && i < first + 256 * 2 * w; i += 256)
    store(y + i, activation(to_float(gate[i]), which) * to_float(up[i]));
}

#define ENTRY(name, T)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(256, 4) name(T *__restrict__ y, const T *__restrict__ gate, const T *__restrict__ up, \
                                                         int n, int which) {                                                     \
    glu(y, gate, up, n, which);                                                                                                  \
  }
ENTRY(glu_vec16, __half)
ENTRY(glu_vec16_bf16, __nv_bfloat16)
ENTRY(glu_vec16_f32, float)
