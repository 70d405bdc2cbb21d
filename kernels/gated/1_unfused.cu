// gated/1_unfused: Y = silu(X*G^T) * (X*U^T), f16 or bf16, the first half of a gated MLP: two products, then a launch for the rest.
//
// Predecessor: gemm/8_swizzle, twice.
// Idea: store both products in 16 bits, read them again, multiply.
// Expect: 4MN elements beside the products' own traffic of operands and result, three launches, X read by two of them; 4MNK
//   tensor FLOPs, tiles counted whole.
// A profiler should show: a last kernel bound by memory.
//
// The Go loop: A, B = X*G^T, X*U^T; for i { Y[i] = A[i] / (1 + exp(-A[i])) * B[i] }

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "multiply.cuh"

template <typename T>
static __device__ __forceinline__ void gate(T *__restrict__ y, const T *__restrict__ a, const T *__restrict__ b, int m, int n) {
  size_t i = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i < static_cast<size_t>(m) * n) store(y + i, silu(to_float(a[i])) * to_float(b[i]));
}

#define GATED(SUFFIX, T)                                                                                                          \
  extern "C" __global__ void __launch_bounds__(MULTIPLY_THREADS) gated_product##SUFFIX(T *p, const T *w, const T *x, int m, int n, int k) { \
    product(p, w, x, m, n, k);                                                                                                    \
  }                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) gated_multiply##SUFFIX(T *y, const T *a, const T *b, int m, int n) { gate(y, a, b, m, n); }
GATED(, __half)
#if __CUDA_ARCH__ >= 800
GATED(_bf16, __nv_bfloat16)
#endif
