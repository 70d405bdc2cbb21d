// linear/1_unfused: Y = X*W^T + bias + residual, f16 or bf16: a product, then its additions in a launch of their own.
//
// Predecessor: gemm/8_swizzle, which knows no bias and no residual.
// Idea: store the product in 16 bits, read it again, add what there is to add, store the sum.
// Expect: beside the product's traffic 2MN elements more, written once and read once, and one more launch; 2MNK tensor FLOPs,
//   tiles counted whole.
// A profiler should show: a second kernel bound by memory, as long as the first one where K is small.
//
// The Go loop: P = X*W^T; for m { for n { Y[m,n] = P[m,n] + bias[n] + residual[m,n] } }

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "multiply.cuh"

template <typename T>
static __device__ __forceinline__ void add(T *__restrict__ y, const T *__restrict__ p, const T *__restrict__ bias, const T *__restrict__ residual, int m, int n) {
  size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= static_cast<size_t>(m) * n) return;
  float v = to_float(p[i]);
  if (bias) v += to_float(bias[i % n]);
  if (residual) v += to_float(residual[i]);
  store(y + i, v);
}

#define LINEAR(SUFFIX, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(MULTIPLY_THREADS) linear_product##SUFFIX(T *p, const T *w, const T *x, int m, int n, int k) { \
    product(p, w, x, m, n, k);                                                                                                     \
  }                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) linear_add##SUFFIX(T *y, const T *p, const T *bias, const T *residual, int m, int n) { \
    add(y, p, bias, residual, m, n);                                                                                               \
  }
LINEAR(, __half)
#if __CUDA_ARCH__ >= 800
LINEAR(_bf16, __nv_bfloat16)
#endif
