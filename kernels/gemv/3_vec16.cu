// gemv/3_vec16: y[n] = sum over k of W[n,k]*x[k], with f32 accumulation, a warp a row, 16 bytes a lane.
//
// Predecessor: 2_warp moves 64 bytes a request; the memory path waits for the next instruction, not the other way round.
// Idea: each lane loads 16 bytes (8 weights, 4 in f32) at once, so that one request moves 512 bytes and two loops' worth is
//   in flight.
// Expect: an eighth of 2_warp's requests (NK/256 for W; a quarter in f32), 16 sectors a request, still the ideal; the same
//   2NK FLOPs. Rows whose start is not 16-byte aligned (K not a multiple of 8) take 2_warp's loop instead, four loads ahead: as fast as 2_warp.
// A profiler should show: DRAM throughput at 85 % of the datasheet or more for large W; W is the whole traffic.
//
// The Go loop: as 2_warp's, lane l adding the columns k with k/8%32 == l.

#include "element.cuh"
#include "narrow.cuh"

template <typename T>
static __device__ __forceinline__ void gemv(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int n, int k) {
  constexpr int wide = 16 / sizeof(T);
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n) return;
  const T *wrow = w + static_cast<size_t>(row) * k;
  float sums[1] = {}, &sum = sums[0];
  // Every row is 16-byte aligned, or the whole grid takes the narrow loop: the branch is uniform.
  if (aligned16(w, x, k)) {
    const uint4 *wv = reinterpret_cast<const uint4 *>(wrow);
    const uint4 *xv = reinterpret_cast<const uint4 *>(x);
#pragma unroll 2
    for (int i = lane; i < k / wide; i += 32) sum = dot16<T>(wv[i], xv[i], sum);
  } else {
    narrow_dot<32>(sums, wrow, x, k, 0, lane);
  }
  sum = warp_sum(sum);
  if (lane == 0) store(y + row, sum);
}

extern "C" __global__ void __launch_bounds__(128) gemv_vec16(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_vec16_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_vec16_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
