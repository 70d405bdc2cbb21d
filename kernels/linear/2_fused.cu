// linear/2_fused: Y = X*W^T + bias + residual, f16 or bf16: the additions where the product is, in registers.
//
// Predecessor: 1_unfused writes the product only to read it again, and rounds it once more than necessary.
// Idea: a thread holds its elements of Y in f32 when the product is done (the epilogue): add bias and residual there, and store
//   the sum, rounded once.
// Expect: one launch; 2MN elements fewer through memory than 1_unfused; the same tensor FLOPs and reads of X and W.
// A profiler should show: gemm/8_swizzle's time and hardly more.
//
// The Go loop: for m { for n { s := bias[n] + residual[m,n]; for k { s += X[m,k] * W[n,k] }; Y[m,n] = s } }

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "multiply.cuh"

template <typename T>
static __device__ __forceinline__ void linear(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, const T *__restrict__ bias,
                                              const T *__restrict__ residual, int m, int n, int k) {
  __shared__ __align__(128) MultiplyTile xs, ws[1];
  int m0 = blockIdx.x * MULTIPLY_SIDE, n0 = blockIdx.y * MULTIPLY_SIDE, lane = threadIdx.x % 32;
  const T *const weights[1] = {w};
  float acc[1][2][4][4] = {};
  multiply(acc, x, weights, m, n, k, m0, n0, xs, ws, aligned16(w, x, k));
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int row = multiply_row(m0) + i * 16, col = multiply_column(n0) + j * 8;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        int r = row + lane / 4 + c / 2 * 8, q = col + lane % 4 * 2 + c % 2;
        if (r >= m || q >= n) continue;
        if (bias) acc[0][i][j][c] += to_float(bias[q]);
        if (residual) acc[0][i][j][c] += to_float(residual[static_cast<size_t>(r) * n + q]);
      }
      store_fragment(y, m, n, row, col, acc[0][i][j]);
    }
}

#define LINEAR(SUFFIX, T)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(MULTIPLY_THREADS) linear_fused##SUFFIX(T *y, const T *w, const T *x, const T *bias, \
                                                                                      const T *residual, int m, int n, int k) { \
    linear(y, w, x, bias, residual, m, n, k);                                                                               \
  }
LINEAR(, __half)
#if __CUDA_ARCH__ >= 800
LINEAR(_bf16, __nv_bfloat16)
#endif
