// glu/1_separate: y = act(gate) * up, element by element, f32 inside: SiLU (SwiGLU), GELU by tanh or by erf; two launches.
//
// Predecessor: none; an activation and a product, as a framework that knows both calls them (Shazeer, 2020).
// Idea: each operation is a CUDA kernel of its own; the activation goes through memory between them, rounded.
// Expect: reads of gate, the activation and up, writes of the activation and y: five elements' worth of traffic for each.
// A profiler should show: both at the DRAM roof, one after the other, with a gap between them.
//
// The Go loop: for i { a[i] = act(gate[i]) }; for i { y[i] = a[i] * up[i] }

#include "activation.cuh"
#include "element.cuh"

#define ENTRY(suffix, T)                                                                                                         \
  extern "C" __global__ void __launch_bounds__(256) glu_act##suffix(T *__restrict__ a, const T *__restrict__ gate, int n, int which) { \
    size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;                                                              \
    if (i < n) store(a + i, activation(to_float(gate[i]), which));                                                               \
  }                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) glu_mul##suffix(T *__restrict__ y, const T *__restrict__ a,                  \
                                                                    const T *__restrict__ up, int n) {                           \
    size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;                                                              \
    if (i < n) store(y + i, to_float(a[i]) * to_float(up[i]));                                                                   \
  }
ENTRY(, __half)
ENTRY(_bf16, __nv_bfloat16)
ENTRY(_f32, float)
