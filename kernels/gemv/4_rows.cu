// gemv/4_rows: y[n] = sum over k of W[n,k]*x[k], with f32 accumulation, a warp four rows, weights that pass through.
//
// Predecessor: 3_vec16 loads x once a row: half of its requests bring no weight, and each weight that it has used pushes
//   x and its neighbours out of the caches.
// Idea: a warp takes four rows at once, so that one piece of x serves four pieces of W and four independent loads are in
//   flight; the weights are loaded as streaming (evict first), since nothing reads them again.
// Expect: requests fall to 5/8 of 3_vec16's (NK/256 for W and a quarter of that for x), the same bytes of W, a quarter of
//   x's, the same FLOPs; a quarter of the warps. The last, ragged group of rows goes row by row.
// A profiler should show: DRAM throughput near the ceiling of probe/2_read with a quarter of the warps; x stays in L1.
//
// The Go loop: as 3_vec16's, four values of n at a time.

#include "element.cuh"
#include "narrow.cuh"

// rows_dot adds R rows of W times x; every lane has its part of each sum.
template <typename T, int R>
static __device__ __forceinline__ void rows_dot(float (&sum)[R], const T *__restrict__ w, const T *__restrict__ x, int k, int lane, bool wide) {
  if (wide) {
    const uint4 *xv = reinterpret_cast<const uint4 *>(x);
#pragma unroll 1
    for (int i = lane; i < k / (16 / static_cast<int>(sizeof(T))); i += 32) {
      uint4 piece[R];
#pragma unroll
      for (int r = 0; r < R; r++) piece[r] = __ldcs(reinterpret_cast<const uint4 *>(w + static_cast<size_t>(r) * k) + i);
      uint4 v = xv[i];
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] = dot16<T>(piece[r], v, sum[r]);
    }
    return;
  }
  narrow_dot<32>(sum, w, x, k, 0, lane);
}

template <typename T>
static __device__ __forceinline__ void gemv(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int n, int k) {
  int row = (blockIdx.x * 4 + threadIdx.x / 32) * 4;
  int lane = threadIdx.x % 32;
  bool wide = aligned16(w, x, k);
  if (row + 4 <= n) {
    float sum[4] = {};
    rows_dot<T, 4>(sum, w + static_cast<size_t>(row) * k, x, k, lane, wide);
#pragma unroll
    for (int r = 0; r < 4; r++) sum[r] = warp_sum(sum[r]);
    if (lane == 0) {
#pragma unroll
      for (int r = 0; r < 4; r++) store(y + row + r, sum[r]);
    }
    return;
  }
#pragma unroll 1
  for (; row < n; row++) {
    float sum[1] = {};
    rows_dot<T, 1>(sum, w + static_cast<size_t>(row) * k, x, k, lane, wide);
    sum[0] = warp_sum(sum[0]);
    if (lane == 0) store(y + row, sum[0]);
  }
}

extern "C" __global__ void __launch_bounds__(128, 8) gemv_rows(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128, 8) gemv_rows_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128, 8) gemv_rows_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
