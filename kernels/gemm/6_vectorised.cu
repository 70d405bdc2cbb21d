// gemm/6_vectorised: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, 16 bytes an access.
//
// Predecessor: 5_tile_2d moves 2 or 4 bytes a lane: for its 64 FMAs a thread issues 16 shared loads, and copies element by
//   element.
// Idea: read global memory in pieces of 16 bytes, and shared memory as float4: a thread's rows are twice 4 neighbours, 64
//   apart, and so are its columns; a warp's lanes lie 4 x 8, so that it reads the fewest different words. A piece lies along
//   k and is stored transposed; element (k, r) is kept at row r ^ s, where s depends on k's piece, so that the rows and pieces
//   of a warp's store fall on different banks without padding, which would spoil the alignment. Results leave four at once.
// Expect: 4 shared loads for 64 FMAs instead of 16; an eighth of 5_tile_2d's global requests in f16 (a quarter in f32) for
//   the same bytes; the same barriers; no bank conflicts.
// A profiler should show: FP32 at 70 % of its peak or more; where rows don't start on 16 bytes, about 5_tile_2d's time.
//
// The Go loop: 5_tile_2d's, with n = 4*tx + {0, 1, 2, 3, 64, 65, 66, 67}, and m alike.

#include "element.cuh"
#include "piece.cuh"

constexpr int BM = 128, BN = 128, BK = 16, TM = 8, TN = 8, THREADS = 256;

// Tile is 128 rows of a matrix, BK deep, in pieces of 16 bytes along k.
template <typename T>
struct Tile {
  static constexpr int WIDE = 16 / sizeof(T), PIECES = BK / WIDE, ROWS = THREADS / PIECES;

  // swizzle is what the rows of piece p are exchanged by.
  static __device__ __forceinline__ int swizzle(int p) { return p * (32 / PIECES); }

  // spread stores a piece as f32, each element in its row of the tile.
  static __device__ __forceinline__ void spread(float *out, uint4 v) {
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if constexpr (sizeof(T) == 4) {
        out[j * 128] = __uint_as_float(words[j]);
      } else {
        float2 f = pair(words[j], T());
        out[2 * j * 128] = f.x;
        out[(2 * j + 1) * 128] = f.y;
      }
    }
  }

  // copy stores rows first to first + 127 from column k0 on, transposed and as f32; a thread takes a piece of each ROWS-th row.
  template <bool WHOLE>
  static __device__ __forceinline__ void copy(float (&tile)[BK][128], const T *matrix, int rows, int k, int first, int k0) {
    int row = threadIdx.x / PIECES, p = threadIdx.x % PIECES;
    if (WHOLE) {
      uint4 v[128 / ROWS];
#pragma unroll
      for (int i = 0; i < 128 / ROWS; i++) v[i] = load_piece(matrix, rows, k, first + row + i * ROWS, k0 + p * WIDE, true);
#pragma unroll
      for (int i = 0; i < 128 / ROWS; i++) spread(&tile[p * WIDE][(row + i * ROWS) ^ swizzle(p)], v[i]);
    } else {  // with the registers that the other loop needs
#pragma unroll 1
      for (int i = 0; i < 128 / ROWS; i++)
        spread(&tile[p * WIDE][(row + i * ROWS) ^ swizzle(p)], load_piece(matrix, rows, k, first + row + i * ROWS, k0 + p * WIDE, false));
    }
  }
};

// store4 writes up to four neighbours of a row that has `left` elements from here on.
template <typename T>
static __device__ __forceinline__ void store4(T *p, const float (&v)[TN], int first, int left, bool wide) {
  if (wide && left >= 4) {
    if constexpr (sizeof(T) == 4) {
      *reinterpret_cast<float4 *>(p) = make_float4(v[first], v[first + 1], v[first + 2], v[first + 3]);
    } else {
      *reinterpret_cast<uint2 *>(p) = make_uint2(pack(v[first], v[first + 1], T()), pack(v[first + 2], v[first + 3], T()));
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; j++)
    if (j < left) store(p + j, v[first + j]);
}

// multiply adds the products of all tiles along K; WHOLE says that all rows start on 16 bytes.
template <bool WHOLE, typename T>
static __device__ __forceinline__ void multiply(float (&acc)[TM][TN], const T *w, const T *x, int m, int n, int k, int m0, int n0, int row, int col,
                                                float (&xs)[BK][BM], float (&ws)[BK][BN]) {
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += BK) {
    Tile<T>::template copy<WHOLE>(xs, x, m, k, m0, k0);
    Tile<T>::template copy<WHOLE>(ws, w, n, k, n0, k0);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < Tile<T>::PIECES; p++) {
      const float *xp = &xs[p * Tile<T>::WIDE][row ^ Tile<T>::swizzle(p)], *wp = &ws[p * Tile<T>::WIDE][col ^ Tile<T>::swizzle(p)];
#pragma unroll 4
      for (int kk = 0; kk < Tile<T>::WIDE; kk++, xp += BM, wp += BN) {
        float4 a0 = *reinterpret_cast<const float4 *>(xp), a1 = *reinterpret_cast<const float4 *>(xp + 64);
        float4 b0 = *reinterpret_cast<const float4 *>(wp), b1 = *reinterpret_cast<const float4 *>(wp + 64);
        const float a[TM] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, b[TN] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
      }
    }
    __syncthreads();
  }
}

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ __align__(16) float xs[BK][BM], ws[BK][BN];
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int col = warp / 4 * 32 + lane % 8 * 4, row = warp % 4 * 16 + lane / 8 * 4;
  float acc[TM][TN] = {};
  if (aligned16(w, x, k)) multiply<true>(acc, w, x, m, n, k, m0, n0, row, col, xs, ws);
  else multiply<false>(acc, w, x, m, n, k, m0, n0, row, col, xs, ws);
  bool aligned = ((reinterpret_cast<size_t>(y) | static_cast<size_t>(n) * sizeof(T)) & (4 * sizeof(T) - 1)) == 0;
#pragma unroll
  for (int i = 0; i < TM; i++) {
    int r = m0 + row + i % 4 + i / 4 * 64, c = n0 + col;
    if (r >= m) continue;
    T *p = y + static_cast<size_t>(r) * n + c;
    store4(p, acc[i], 0, n - c, aligned);
    store4(p + 64, acc[i], 4, n - c - 64, aligned);
  }
}

#define GEMM(NAME, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS, 2)                                                               \
      NAME(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) { gemm(y, w, x, m, n, k); }
GEMM(gemm_vectorised, __half)
GEMM(gemm_vectorised_bf16, __nv_bfloat16)
GEMM(gemm_vectorised_f32, float)
