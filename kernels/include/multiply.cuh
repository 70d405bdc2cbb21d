// multiply.cuh: gemm/8_swizzle's product of tiles, for kernels that do something with the result before they store it. A
// source includes element.cuh, piece.cuh and tensor.cuh before it.
#pragma once

constexpr int MULTIPLY_SIDE = 64, MULTIPLY_THREADS = 128;

// MultiplyTile is 64 rows of 64 16-bit elements; piece p (8 elements) of row r lies at p ^ (r % 8).
using MultiplyTile = unsigned short[MULTIPLY_SIDE][MULTIPLY_SIDE];

static __device__ __forceinline__ unsigned short *multiply_at(MultiplyTile &tile, int row, int col) { return &tile[row][col ^ row % 8 * 8]; }

// multiply_tiles is multiply; WHOLE says that all rows start on 16 bytes.
template <bool WHOLE, int COUNT, typename T>
static __device__ __forceinline__ void multiply_tiles(float (&acc)[COUNT][2][4][4], const T *x, const T *const (&w)[COUNT], int m, int n, int k,
                                                      int m0, int n0, MultiplyTile &xs, MultiplyTile (&ws)[COUNT]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += MULTIPLY_SIDE) {
#pragma unroll(WHOLE ? 4 : 1)
    for (int i = 0; i < 4; i++) {
      int piece = threadIdx.x + i * MULTIPLY_THREADS, row = piece / 8, col = piece % 8 * 8;
      *reinterpret_cast<uint4 *>(multiply_at(xs, row, col)) = load_piece(x, m, k, m0 + row, k0 + col, WHOLE);
#pragma unroll
      for (int c = 0; c < COUNT; c++) *reinterpret_cast<uint4 *>(multiply_at(ws[c], row, col)) = load_piece(w[c], n, k, n0 + row, k0 + col, WHOLE);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < MULTIPLY_SIDE; kk += 16) {
      unsigned a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) ldmatrix_x4(a[i], shared_address(multiply_at(xs, wm + i * 16 + lane % 16, kk + lane / 16 * 8)));
#pragma unroll
      for (int c = 0; c < COUNT; c++) {
#pragma unroll
        for (int i = 0; i < 2; i++) ldmatrix_x4(b[i], shared_address(multiply_at(ws[c], wn + i * 16 + lane / 16 * 8 + lane % 8, kk + lane / 8 % 2 * 8)));
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
          for (int j = 0; j < 4; j++) mma<T>(acc[c][i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
    __syncthreads();
  }
}

// multiply adds to each of COUNT accumulators the product of rows m0 and up of x [m, k] with rows n0 and up of one of the
// matrices w [n, k], 64 x 64 a CTA of four warps. A warp has 32 x 32 from (multiply_row, multiply_column) on, as
// store_fragment takes them: acc[c][i][j] is 16 i rows and 8 j columns further.
template <int COUNT, typename T>
static __device__ __forceinline__ void multiply(float (&acc)[COUNT][2][4][4], const T *x, const T *const (&w)[COUNT], int m, int n, int k, int m0,
                                                int n0, MultiplyTile &xs, MultiplyTile (&ws)[COUNT], bool wide) {
  if (wide) multiply_tiles<true>(acc, x, w, m, n, k, m0, n0, xs, ws);
  else multiply_tiles<false>(acc, x, w, m, n, k, m0, n0, xs, ws);
}

static __device__ __forceinline__ int multiply_row(int m0) { return m0 + threadIdx.x / 64 * 32; }
static __device__ __forceinline__ int multiply_column(int n0) { return n0 + threadIdx.x / 32 % 2 * 32; }

// product is y [m, n] = x [m, k] * w [n, k]^T, 64 x 64 a CTA.
template <typename T>
static __device__ __forceinline__ void product(T *y, const T *w, const T *x, int m, int n, int k) {
  __shared__ __align__(128) MultiplyTile xs, ws[1];
  int m0 = blockIdx.x * MULTIPLY_SIDE, n0 = blockIdx.y * MULTIPLY_SIDE;
  const T *const weights[1] = {w};
  float acc[1][2][4][4] = {};
  multiply(acc, x, weights, m, n, k, m0, n0, xs, ws, aligned16(w, x, k));
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) store_fragment(y, m, n, multiply_row(m0) + i * 16, multiply_column(n0) + j * 8, acc[0][i][j]);
}

// silu is v * sigmoid(v).
static __device__ __forceinline__ float silu(float v) { return v / (1.0f + expf(-v)); }
