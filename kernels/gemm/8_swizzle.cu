// gemm/8_swizzle: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 or bf16, on tensor cores, free of bank conflicts.
//
// Predecessor: 7_mma's rows of 128 bytes all start on bank 0, so that the eight rows of each ldmatrix phase wait for each other.
// Idea: piece p (16 bytes) of row r is kept at place p ^ (r % 8) of its row. Eight rows then give their piece p from eight
//   different places, all 32 banks once; a row's eight pieces still fill its 128 bytes. It costs an XOR where an address is
//   made and no memory, where padding the rows to 144 bytes would cost an eighth.
// Expect: no bank conflicts: 4 wavefronts a ldmatrix where 7_mma has 32; everything else as 7_mma's, counter by counter.
// A profiler should show: shared wavefronts an eighth of 7_mma's for loads; the tensor pipe waiting for the next tile between
//   two barriers.
//
// The Go loop: 7_mma's, with xs[r][p^(r%8)] for xs[r][p] when tiles are written and when they are read, p in pieces of 8.

#include "element.cuh"
#include "piece.cuh"
#include "tensor.cuh"

// BM and BN are equal, so that the same threads copy both tiles.
constexpr int BM = 64, BN = 64, BK = 64;

// at is the element at (row, col) of a tile, col a multiple of 8.
static __device__ __forceinline__ unsigned short *at(unsigned short (&tile)[BM][BK], int row, int col) {
  return &tile[row][col ^ row % 8 * 8];
}

// multiply adds the products of all tiles along K; WHOLE says that all rows start on 16 bytes.
template <bool WHOLE, typename T>
static __device__ __forceinline__ void multiply(float (&acc)[2][4][4], const T *w, const T *x, int m, int n, int k, int m0, int n0,
                                                unsigned short (&xs)[BM][BK], unsigned short (&ws)[BN][BK]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += BK) {
#pragma unroll(WHOLE ? BM * BK / 8 / 128 : 1)
    for (int i = 0; i < BM * BK / 8 / 128; i++) {
      int piece = threadIdx.x + i * 128, row = piece / (BK / 8), col = piece % (BK / 8) * 8;
      *reinterpret_cast<uint4 *>(at(xs, row, col)) = load_piece(x, m, k, m0 + row, k0 + col, WHOLE);
      *reinterpret_cast<uint4 *>(at(ws, row, col)) = load_piece(w, n, k, n0 + row, k0 + col, WHOLE);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < BK; kk += 16) {
      unsigned a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        // a: tiles (rows 0-7, k 0-7), (rows 8-15, k 0-7), (rows 0-7, k 8-15), (rows 8-15, k 8-15).
        ldmatrix_x4(a[i], shared_address(at(xs, wm + i * 16 + lane % 16, kk + lane / 16 * 8)));
        // b: tiles (n 0-7, k 0-7), (n 0-7, k 8-15), (n 8-15, k 0-7), (n 8-15, k 8-15): two columns of mma tiles.
        ldmatrix_x4(b[i], shared_address(at(ws, wn + i * 16 + lane / 16 * 8 + lane % 8, kk + lane / 8 % 2 * 8)));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma<T>(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
}

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ __align__(128) unsigned short xs[BM][BK], ws[BN][BK];
  int warp = threadIdx.x / 32;
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};
  if (aligned16(w, x, k)) multiply<true>(acc, w, x, m, n, k, m0, n0, xs, ws);  // the same for the whole grid
  else multiply<false>(acc, w, x, m, n, k, m0, n0, xs, ws);
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) store_fragment(y, m, n, m0 + wm + i * 16, n0 + wn + j * 8, acc[i][j]);
}

extern "C" __global__ void __launch_bounds__(128) gemm_swizzle(__half *__restrict__ y, const __half *__restrict__ w,
    const __half *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void __launch_bounds__(128) gemm_swizzle_bf16(__nv_bfloat16 *__restrict__ y, const __nv_bfloat16 *__restrict__ w,
    const __nv_bfloat16 *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
#endif
