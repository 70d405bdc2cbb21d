// batch/1_looped: y[m,n] = sum over k of W[n,k]*x[m,k] for a few sequences at once, with f32 accumulation: GEMV in a loop.
//
// Predecessor: gemv/3_vec16, once for each sequence.
// Idea: put the loop over the sequences into the grid; every sequence still reads all weights.
// Expect: M times gemv/3_vec16's requests, bytes and FLOPs. CTAs that share rows of W run side by side, so that the caches
//   may catch some of the repetition; nothing in the program asks for it.
// A profiler should show: time that grows with M as soon as L2 or L1 is busy; the same intensity per sequence as decode alone.
//
// The Go loop: for m := range M { gemv(y[m], W, x[m]) }

#include "element.cuh"

template <typename T>
static __device__ __forceinline__ void batch(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  int row = blockIdx.y * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;  // the sequences run fastest
  if (row >= n) return;
  const T *wrow = w + static_cast<size_t>(row) * k;
  const T *xrow = x + static_cast<size_t>(blockIdx.x) * k;
  float sum = 0;
  if (aligned16(w, x, k)) {
    const uint4 *wv = reinterpret_cast<const uint4 *>(wrow);
    const uint4 *xv = reinterpret_cast<const uint4 *>(xrow);
#pragma unroll 2
    for (int i = lane; i < k / 8; i += 32) sum = dot16<T>(wv[i], xv[i], sum);
  } else {
#pragma unroll 1
    for (int i = lane; i < k; i += 32) sum = fmaf(to_float(wrow[i]), to_float(xrow[i]), sum);
  }
  sum = warp_sum(sum);
  if (lane == 0) store(y + static_cast<size_t>(blockIdx.x) * n + row, sum);
}

extern "C" __global__ void __launch_bounds__(128) batch_looped(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int m, int n, int k) { batch(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128) batch_looped_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int m, int n, int k) { batch(y, w, x, m, n, k); }
