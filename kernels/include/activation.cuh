// activation.cuh: the activations of gated feed-forward layers, in f32.
#pragma once

// activation is SiLU (0: x/(1+exp(-x)), SwiGLU's), GELU by tanh (1, as Gemma has it) or GELU by erf (2); which is uniform.
static __device__ __forceinline__ float activation(float x, int which) {
  if (which == 0) return __fdividef(x, 1 + __expf(-x));
  if (which == 1) {
    float u = 0.7978845608f * fmaf(0.044715f * x * x, x, x);  // sqrt(2/pi) * (x + 0.044715 x^3)
    return __fdividef(x, 1 + __expf(-2 * u));                         // x/2 * (1 + tanh(u))
  }
  return 0.5f * x * (1 + erff(0.7071067812f * x));
}
