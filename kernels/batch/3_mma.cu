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

#include "tensor.cuh"

// batch computes 16 rows of W times TILES * 8 sequences; the four warps of a CTA take every fourth piece of 32 columns.
template <int TILES>
static __device__ __forceinline__ void batch(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) {
  __shared__ float part[3][TILES * 4][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * 16 + lane / 4;
  bool wide = rows_start_on_16_bytes(w, x, k);
  float sum[TILES][4] = {};
#pragma unroll 1
  for (int at = warp * 32; at < k; at += 128) {
    int column = at + lane % 4 * 8;
    uint4 low = load8(w, n, k, row, column, wide), high = load8(w, n, k, row + 8, column, wide);
    unsigned first[4] = {low.x, high.x, low.y, high.y}, second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
    for (int t = 0; t < TILES; t++) {
      uint4 piece = load8(x, m, k, t * 8 + lane / 4, column, wide);
      mma(sum[t], first, piece.x, piece.y);
      mma(sum[t], second, piece.z, piece.w);
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

extern "C" __global__ void __launch_bounds__(128) batch_mma_8(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<1>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128) batch_mma_16(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<2>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128) batch_mma_32(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<4>(y, w, x, m, n, k); }
extern "C" __global__ void __launch_bounds__(128) batch_mma_64(__half *__restrict__ y, const __half *__restrict__ w, const __half *__restrict__ x, int m, int n, int k) { batch<8>(y, w, x, m, n, k); }
