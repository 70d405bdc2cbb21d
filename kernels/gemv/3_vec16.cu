// gemv/3_vec16: y[n] = sum over k of W[n,k]*x[k], f16 with f32 accumulation, a warp a row, 16 bytes a lane.
//
// Predecessor: 2_warp moves 64 bytes a request; the memory path waits for the next instruction, not the other way round.
// Idea: each lane loads 16 bytes (8 weights) at once, so that one request moves 512 bytes and two loops' worth is in flight.
// Expect: an eighth of 2_warp's requests (NK/256 for W), 16 sectors a request, still the ideal; the same 2NK FLOPs.
//   Rows whose start is not 16-byte aligned (K not a multiple of 8) take 2_warp's loop instead: right, not faster.
// A profiler should show: DRAM throughput at 85 % of the datasheet or more for large W; W is the whole traffic.
//
// The Go loop: as 2_warp's, lane l adding the columns k with k/8%32 == l.

#include <cuda_fp16.h>

// dot8 is the product of eight neighbouring weights and inputs, added in f32.
static __device__ __forceinline__ float dot8(uint4 a, uint4 b, float sum) {
  const __half2 *pa = reinterpret_cast<const __half2 *>(&a);
  const __half2 *pb = reinterpret_cast<const __half2 *>(&b);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 fa = __half22float2(pa[i]), fb = __half22float2(pb[i]);
    sum = fmaf(fa.x, fb.x, sum);
    sum = fmaf(fa.y, fb.y, sum);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(128) gemv_vec16(__half *__restrict__ y, const __half *__restrict__ w,
                                                            const __half *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n) return;
  const __half *wrow = w + static_cast<size_t>(row) * k;
  float sum = 0;
  // Every row is 16-byte aligned, or the whole grid takes the narrow loop: the branch is uniform.
  if (((reinterpret_cast<size_t>(w) | reinterpret_cast<size_t>(x) | static_cast<size_t>(k) * 2) & 15) == 0) {
    const uint4 *wv = reinterpret_cast<const uint4 *>(wrow);
    const uint4 *xv = reinterpret_cast<const uint4 *>(x);
#pragma unroll 2
    for (int i = lane; i < k / 8; i += 32) sum = dot8(wv[i], xv[i], sum);
  } else {
#pragma unroll 1
    for (int i = lane; i < k; i += 32) sum = fmaf(__half2float(wrow[i]), __half2float(x[i]), sum);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) y[row] = __float2half_rn(sum);
}
