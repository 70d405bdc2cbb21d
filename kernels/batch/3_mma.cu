// batch/3_mma: y[m,n] = sum over k of W[n,k]*x[m,k] for up to 64 sequences at once, on tensor cores.
//
// Predecessor: 2_registers loads a piece of x for every piece of W and sequence, and adds on the FP32 units.
// Idea: the weights are the 16 x 16 operand of mma.sync and the sequences its 8 columns. A lane loads 16 bytes of its row of
//   W and of its sequence and splits them between two mma: both operands permute k in the same way, so the sum is the same,
//   and nothing passes through shared memory. Four warps share 16 to 112 rows of W and cut K; their sums meet at the
//   end. The launch takes the rows that give the fullest SM the least to read.
// Expect: W once (NK/256 requests of 16 sectors), x once for each 16 to 112 rows: down to a 112th of 2_registers'; no
//   FP32 FLOPs but those of the meeting sums; 2NK FLOPs on tensor cores for each eight sequences, started or not.
// A profiler should show: DRAM throughput as gemv/3_vec16's up to M = 16, and little more time up to 64.
//
// The Go loop: for n := range N { for m := range M { for k := range K { y[m,n] += W[n,k] * x[m,k] } } }

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"

// batch computes ROWS * 16 rows of W times TILES * 8 sequences; the four warps of a CTA take every fourth piece of 32 columns.
template <typename T, int TILES, int ROWS>
static __device__ __forceinline__ void batch(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ float part[3][ROWS * TILES * 4][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.x * 16 * ROWS + lane / 4;
  bool wide = aligned16(w, x, k);
  float sum[ROWS][TILES][4] = {};
  // step multiplies one piece of 32 columns: rows `row` and 8 further down of each 16, times every sequence.
  auto step = [&](const uint4 (&rows)[2 * ROWS], const uint4 (&piece)[TILES]) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      uint4 low = rows[2 * r], high = rows[2 * r + 1];
      unsigned first[4] = {low.x, high.x, low.y, high.y}, second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
      for (int t = 0; t < TILES; t++) {
        mma<T>(sum[r][t], first, piece[t].x, piece[t].y);
        mma<T>(sum[r][t], second, piece[t].z, piece[t].w);
      }
    }
  };
  uint4 rows[2 * ROWS], piece[TILES];
  if (wide) {  // rows and sequences that are not there repeat the last one, and are not stored
    const uint4 *wv[2 * ROWS], *xv[TILES];
#pragma unroll
    for (int r = 0; r < 2 * ROWS; r++) wv[r] = reinterpret_cast<const uint4 *>(w + static_cast<size_t>(min(row + r * 8, n - 1)) * k) + lane % 4;
#pragma unroll
    for (int t = 0; t < TILES; t++) xv[t] = reinterpret_cast<const uint4 *>(x + static_cast<size_t>(min(t * 8 + lane / 4, m - 1)) * k) + lane % 4;
    int at = warp * 4;  // in 16-byte pieces
#pragma unroll (ROWS * TILES <= 2 ? 4 : ROWS < 7 ? 2 : 1)
    for (; at + 4 <= k / 8; at += 16) {
#pragma unroll
      for (int r = 0; r < 2 * ROWS; r++) rows[r] = __ldcs(wv[r] + at);
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = xv[t][at];
      step(rows, piece);
    }
    if (at < k / 8) {  // fewer than 32 columns are left
      bool inside = at + lane % 4 < k / 8;
      uint4 zero = make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int r = 0; r < 2 * ROWS; r++) rows[r] = inside ? wv[r][at] : zero;
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = inside ? xv[t][at] : zero;
      step(rows, piece);
    }
  } else {
#pragma unroll 1
    for (int column = warp * 32 + lane % 4 * 8, end = k + lane % 4 * 8; column < end; column += 128) {
#pragma unroll
      for (int r = 0; r < 2 * ROWS; r++) rows[r] = load_piece(w, n, k, row + r * 8, column, false);
#pragma unroll
      for (int t = 0; t < TILES; t++) piece[t] = load_piece(x, m, k, t * 8 + lane / 4, column, false);
      step(rows, piece);
    }
  }
  if (warp > 0) {
#pragma unroll
    for (int i = 0; i < ROWS * TILES * 4; i++) part[warp - 1][i][lane] = sum[i / 4 / TILES][i / 4 % TILES][i % 4];
  }
  __syncthreads();
  if (warp > 0) return;
#pragma unroll
  for (int i = 0; i < ROWS * TILES * 4; i++) {
    int sequence = i / 4 % TILES * 8 + lane % 4 * 2 + i % 2, output = row + i / 4 / TILES * 16 + i % 4 / 2 * 8;
    volatile float *others = &part[0][i][lane];  // read where they are stored, no earlier
    if (sequence < m && output < n) {
      const int all = ROWS * TILES * 4 * 32;
      store(y + static_cast<size_t>(sequence) * n + output, sum[i / 4 / TILES][i / 4 % TILES][i % 4] + others[0] + others[all] + others[2 * all]);
    }
  }
}

#define BATCH(NAME, T, TILES, ROWS, CTAS)                                                                                   \
  extern "C" __global__ void __launch_bounds__(128, CTAS) NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, \
                                                             int m, int n, int k) { batch<T, TILES, ROWS>(y, w, x, m, n, k); }
BATCH(batch_mma_8x16, __half, 1, 1, 4)
BATCH(batch_mma_8x32, __half, 1, 2, 4)
BATCH(batch_mma_16x32, __half, 2, 2, 4)
BATCH(batch_mma_16x64, __half, 2, 4, 3)
BATCH(batch_mma_16x112, __half, 2, 7, 2)
BATCH(batch_mma_32x32, __half, 4, 2, 3)
BATCH(batch_mma_64x32, __half, 8, 2, 2)
#if __CUDA_ARCH__ >= 800
BATCH(batch_mma_8x16_bf16, __nv_bfloat16, 1, 1, 4)
BATCH(batch_mma_8x32_bf16, __nv_bfloat16, 1, 2, 4)
BATCH(batch_mma_16x32_bf16, __nv_bfloat16, 2, 2, 4)
BATCH(batch_mma_16x64_bf16, __nv_bfloat16, 2, 4, 3)
BATCH(batch_mma_16x112_bf16, __nv_bfloat16, 2, 7, 2)
BATCH(batch_mma_32x32_bf16, __nv_bfloat16, 4, 2, 3)
BATCH(batch_mma_64x32_bf16, __nv_bfloat16, 8, 2, 2)
#endif
