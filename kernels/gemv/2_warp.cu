// gemv/2_warp: y[n] = sum over k of W[n,k]*x[k], with f32 accumulation, a warp a row.
//
// Predecessor: 1_naive's lanes walk along 32 rows at once, so each 2-byte load costs a 32-byte sector.
// Idea: the 32 lanes of a warp stand side by side on one row; at the end five shuffles add their sums.
// Expect: a request of W covers 64 neighbouring bytes in 2 sectors (3 where a row starts off a sector; 128 bytes in 4 with
//   f32), the ideal, in place of 32; as many requests as before (NK/32). 2NK FLOPs and 32*5 adds a row. 32 times as many
//   warps.
// A profiler should show: sectors a request 2, DRAM throughput several times 1_naive's, now limited by loads in flight:
//   2 bytes a lane leave most of the path to memory empty.
//
// The Go loop: for n := range y { var s [32]float32; for k := range x { s[k%32] += W[n*K+k] * x[k] }; y[n] = sum(s) }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void gemv(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n) return;
  const T *wrow = w + static_cast<size_t>(row) * k;
  float sum = 0;
#pragma unroll 4
  for (int i = lane; i < k; i += 32) sum = fmaf(to_float(wrow[i]), to_float(x[i]), sum);
  sum = warp_sum(sum);
  if (lane == 0) store(y + row, sum);
}

extern "C" __global__ void __launch_bounds__(128) gemv_warp(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_warp_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
extern "C" __global__ void __launch_bounds__(128) gemv_warp_f32(float *__restrict__ y, const float *__restrict__ w,
    const float *__restrict__ x, int n, int k) { gemv(y, w, x, n, k); }
