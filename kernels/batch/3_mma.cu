// batch/3_mma: y[m,n] = sum over k of W[n,k]*x[m,k] for up to 64 sequences at once, on tensor cores.
//
// Predecessor: 2_registers loads a piece of x for every piece of W and sequence, and adds on the FP32 units.
// Idea: the weights are the 16 x 16 operand of mma.sync and the sequences its 8 columns. A lane loads 16 bytes of its row of
//   W and of its sequence and splits them between two mma: both operands permute k in the same way, so the sum is the same,
//   and nothing passes through shared memory. Four warps share 16 rows of W and cut K; their sums meet at the end.
// Expect: W once (NK/256 requests of 16 sectors), x once for each 16 rows: a sixteenth of 2_registers'; no FP32 FLOPs but
//   those of the meeting sums; 2NK FLOPs on tensor cores for each eight sequences, started or not.
// A profiler should show: DRAM throughput as gemv/3_vec16's up to M = 16, and little more time up to 64.
//
// The Go loop: for n := range N { for m := range M { for k := range K { y[m,n] += W[n,k] * x[m,k] } } }

#include "element.cuh"
#include "tensor.cuh"

// batch computes 16 rows of W times TILES * 8 sequences; the four warps of a CTA take every fourth piece of 32 columns.
template <int TILES>
static __device__ __forceinline__ void batch(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) {
  __shared__ float part[3][TILES * 4][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * 16 + lane / 4;
  bool wide = aligned16(w, x, k);
  float sum[TILES][4] = {};
  // step multiplies one piece of 32 columns.
  auto step = [&](uint4 low, uint4 high, const uint4 (&piece)[TILES]) {
    unsigned first[4] = {low.x, high.x, low.y, high.y}, second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
    for (int t = 0; t < TILES; t++) {
      mma(sum[t], first, piece[t].x, piece[t].y);
      mma(sum[t], second, piece[t].z, piece[t].w);
    }
  };
  uint4 piece[TILES];
  if (wide) {  // rows and sequences that are not there repeat the last one, and are not stored
    const uint4 *wl = reinterpret_cast<const uint4 *>(w + static_cast<size_t>(min(row, n - 1)) * k) + lane % 4;
    const uint4 *wh = reinterpret_cast<const uint4 *>(w + static_cast<size_t>(min(row + 8, n - 1)) * k) + lane % 4;
    const uint4 *xv[TILES];
#pragma unroll
    for (int t = 0; t < TILES; t++) xv[t] = reinterpret_cast<const uint4 *>(x + static_cast<size_t>(min(t * 8 + lane / 4, m - 1)) * k) + lane % 4;
    int at = warp * 4;  // in 16-byte pieces
#pragma unroll (TILES <= 2 ? 4 : 2)
    for (; at + 4 <= k / 8; at += 16) {
      uint4 low = __ldcs(wl + at), high = __ldcs(wh + at);
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = xv[t][at];
      step(low, high, piece);
    }
    if (at < k / 8) {  // fewer than 32 columns are left
      bool inside = at + lane % 4 < k / 8;
      uint4 zero = make_uint4(0, 0, 0, 0), low = inside ? wl[at] : zero, high = inside ? wh[at] : zero;
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = inside ? xv[t][at] : zero;
      step(low, high, piece);
    }
  } else {
#pragma unroll 1
    for (int column = warp * 32 + lane % 4 * 8, end = k + lane % 4 * 8; column < end; column += 128) {
      uint4 low = load16(w, n, k, row, column, false), high = load16(w, n, k, row + 8, column, false);
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = load16(x, m, k, t * 8 + lane / 4, column, false);
      step(low, high, piece);
    }
  }
  if (warp > 0) {
#pragma unroll
    for (int i = 0; i < TILES * 4; i++) part[warp - 1][i][lane] = sum[i / 4][i % 4];
  }
  __syncthreads();
  if (warp > 0) return;
#pragma unroll
  for (int i = 0; i < TILES * 4; i++) {
    int sequence = i / 4 * 8 + lane % 4 * 2 + i % 2, output = row + i % 4 / 2 * 8;
    volatile float *others = &part[0][i][lane];  // read where they are stored, no earlier
    if (sequence < m && output < n) {
      float s = sum[i / 4][i % 4] + others[0] + others[TILES * 4 * 32] + others[2 * TILES * 4 * 32];
      y[static_cast<size_t>(sequence) * n + output] = __float2half_rn(s);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128, 4) batch_mma_8(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<1>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128, 4) batch_mma_16(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<2>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128, 3) batch_mma_32(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<4>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128, 3) batch_mma_64(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<8>(y, w, x, m, n, k); }
