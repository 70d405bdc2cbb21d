// gemm/13_split_k: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, for few results of long rows: K is cut among CTAs.
//
// targets: sm_80
// Predecessor: 9_cp_async gives each tile of Y one CTA, which goes through all of K: 64 x 64 results of K = 16384 are one CTA, and
//   131 SMs idle. Larger tiles, of the steps on warpgroups, make it worse.
// Idea: as many CTAs as the SMs hold share the columns of K, at least four steps each. Each writes its sums in f32 to a slice of a
//   workspace; a second launch adds the slices up, eight threads an element, and rounds once.
// Expect: 9_cp_async's loads for tiles of 64 x 64, tensor FLOPs of whole steps; 4MN bytes a slice written, and read once more; MN
//   FP32 adds a slice in the second launch, and those of the warps that share a CTA's columns in the first.
// A profiler should show: all SMs busy for a few microseconds, DRAM near its roof, the second launch nearly for free.
//
// The Go loop: for s := range S { for k in slice s { part[s][m][n] += X[m,k] * W[n,k] } }; for s { Y[m,n] += part[s][m][n] }

#include "async.cuh"
#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"
#include "pipeline.cuh"

// slice multiplies the columns of a slice, so many steps of 64, into part [slices, m, n].
template <typename T>
static __device__ __forceinline__ void slice(float *__restrict__ part, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k, int steps) {
  int from = blockIdx.z * steps * BK, lane = threadIdx.x % 32;
  Multiplier<T, 64, 64, 1, 1, 4, 5> multiplier{
      w, x, m, n, k, from, min(k, from + steps * BK), int(blockIdx.x) * 64, int(blockIdx.y) * 64, words(w, x, k), shared_address(ring)};
  float *to = part + static_cast<size_t>(blockIdx.z) * m * n;
  auto store = [&](int row, int column, const float(&c)[4]) {
    row += lane / 4, column += lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (row + i / 2 * 8 < m && column + i % 2 < n) to[static_cast<size_t>(row + i / 2 * 8) * n + column + i % 2] = c[i];
  };
  if (aligned16(w, x, k)) multiplier.template run<true>(store);
  else multiplier.template run<false>(store);
}

// add makes 32 elements of y a CTA: eight warps add every eighth slice, the first of them their sums.
template <typename T>
static __device__ __forceinline__ void add(T *__restrict__ y, const float *__restrict__ part, int m, int n, int slices) {
  __shared__ float sums[8][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  size_t elements = static_cast<size_t>(m) * n, at = static_cast<size_t>(blockIdx.x) * 32 + lane;
  float sum = 0;
  if (at < elements) {
#pragma unroll 4
    for (int s = warp; s < slices; s += 8) sum += part[s * elements + at];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || at >= elements) return;
#pragma unroll
  for (int i = 1; i < 8; i++) sum += sums[i][lane];
  store(y + at, sum);
}

#define SPLIT(SUFFIX, T)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(128) gemm_slice##SUFFIX(float *part, const T *w, const T *x, int m, int n, int k, int steps) { \
    slice(part, w, x, m, n, k, steps);                                                                                             \
  }                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) gemm_add##SUFFIX(T *y, const float *part, int m, int n, int slices) {           \
    add(y, part, m, n, slices);                                                                                                    \
  }
SPLIT(, __half)
SPLIT(_bf16, __nv_bfloat16)
