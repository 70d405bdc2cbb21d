// gemv/5_split_k: y[n] = sum over k of W[n,k]*x[k], with f32 accumulation, as many warps a row as fill the GPU.
//
// Predecessor: 4_rows has a warp for four rows: a matrix with few rows leaves most SMs without work, however long they are.
// Idea: cut each row into slices of K, a warp a slice; the slices' sums meet in shared memory. The launch takes the fewest
//   slices (1, 2, 4, 8) that give every SM 16 warps, and CTAs of 4 to 16 warps, whichever leave the fullest SM the fewest rows:
//   a partial last wave costs a DRAM-bound kernel as much as a whole one. With one slice it is 3_vec16 with 4_rows' streaming loads.
// Expect: as 3_vec16's requests and FLOPs, plus 32*5 adds for each slice; slices times as many warps as rows; with more than
//   one slice a barrier and 4 bytes of shared memory a warp.
// A profiler should show: for N = 512 rows DRAM throughput several times 4_rows', from 8 times the loads in flight.
//
// The Go loop: for n := range y { for s := range slices { y[n] += sum of W[n,k]*x[k] over k in slice s } }

#include "element.cuh"
#include "narrow.cuh"

constexpr int MOST_WARPS = 16;  // of a CTA

template <typename T, int SLICES>
static __device__ __forceinline__ void gemv(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int n, int k) {
  constexpr int wide = 16 / sizeof(T);
  __shared__ float part[MOST_WARPS];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slice = warp % SLICES;
  int row = blockIdx.x * (blockDim.x / 32 / SLICES) + warp / SLICES;
  float sums[1] = {}, &sum = sums[0];
  if (row < n) {
    const T *wrow = w + static_cast<size_t>(row) * k;
    if (aligned16(w, x, k)) {
      const uint4 *wv = reinterpret_cast<const uint4 *>(wrow);
      const uint4 *xv = reinterpret_cast<const uint4 *>(x);
#pragma unroll 4
      for (int i = slice * 32 + lane; i < k / wide; i += 32 * SLICES) sum = dot16<T>(__ldcs(wv + i), xv[i], sum);
    } else {
      narrow_dot<32 * SLICES>(sums, wrow, x, k, slice * 32, lane);
    }
    sum = warp_sum(sum);
  }
  if (SLICES > 1) {
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (slice > 0) return;
#pragma unroll
    for (int s = 1; s < SLICES; s++) sum += part[warp + s];
  }
  if (row < n && lane == 0) store(y + row, sum);
}

extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_1(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv<__half, 1>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_2(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv<__half, 2>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_4(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv<__half, 4>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_8(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv<__half, 8>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_1_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv<__nv_bfloat16, 1>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_2_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv<__nv_bfloat16, 2>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_4_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv<__nv_bfloat16, 4>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_8_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv<__nv_bfloat16, 8>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_1_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv<float, 1>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_2_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv<float, 2>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_4_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv<float, 4>(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(32 * MOST_WARPS) gemv_split_8_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv<float, 8>(y, w, x, n, k); }
