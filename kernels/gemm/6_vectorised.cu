// gemm/6_vectorised: Y[m,n] = sum over k of X[m,k]*W[n,k], with f32 accumulation, 16 bytes an access.
//
// Predecessor: 5_tile_2d moves 2 or 4 bytes a lane: for its 64 FMAs a thread issues 16 shared loads, and copies element by
//   element.
// Idea: read global memory in pieces of 16 bytes, and shared memory as float4: a thread's rows are twice 4 neighbours, 64
//   apart, and so are its columns. A piece lies along k and is stored transposed; element (k, r) is kept at row r ^ s, where
//   s depends on k's piece, so that the rows and pieces of a warp's store fall on different banks without padding, which would
//   spoil the alignment. Results leave four neighbours at once. The next tiles are on the way to registers during the
//   product; two pairs of buffers save a barrier.
// Expect: 4 shared loads for 64 FMAs instead of 16; an eighth of 5_tile_2d's global requests in f16 (a quarter in f32) for
//   the same bytes; one barrier a step; no bank conflicts.
// A profiler should show: FP32 at 75 % of its peak or more; where rows don't start on 16 bytes, the time of 5_tile_2d.
//
// The Go loop: 5_tile_2d's, with n = 4*tx + {0, 1, 2, 3, 64, 65, 66, 67}, and m alike.

#include "element.cuh"

constexpr int BM = 128, BN = 128, BK = 16, TM = 8, TN = 8, THREADS = 256;

// Tiles are BM rows of X and BN of W, BK deep, on their way through a thread's registers.
template <typename T>
struct Tiles {
  static constexpr int WIDE = 16 / sizeof(T), PIECES = BK / WIDE, ROWS = THREADS / PIECES, COUNT = BM / ROWS;
  uint4 xv[COUNT], wv[COUNT];

  // load reads the pieces of columns k0 and up.
  __device__ __forceinline__ void load(const T *x, const T *w, int m, int n, int k, int m0, int n0, int k0, bool wide) {
    int row = threadIdx.x / PIECES, column = k0 + threadIdx.x % PIECES * WIDE;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      xv[i] = load16(x, m, k, m0 + row + i * ROWS, column, wide);
      wv[i] = load16(w, n, k, n0 + row + i * ROWS, column, wide);
    }
  }

  // swizzle is what the rows of piece p are exchanged by.
  static __device__ __forceinline__ int swizzle(int p) { return p * (32 / PIECES); }

  // keep stores them, transposed and as f32.
  __device__ __forceinline__ void keep(float (&xs)[BK][BM], float (&ws)[BK][BN]) const {
    int row = threadIdx.x / PIECES, p = threadIdx.x % PIECES;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int r = (row + i * ROWS) ^ swizzle(p);
      const unsigned xw[4] = {xv[i].x, xv[i].y, xv[i].z, xv[i].w}, ww[4] = {wv[i].x, wv[i].y, wv[i].z, wv[i].w};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        if constexpr (sizeof(T) == 4) {
          xs[p * WIDE + j][r] = __uint_as_float(xw[j]);
          ws[p * WIDE + j][r] = __uint_as_float(ww[j]);
        } else {
          float2 a = pair(xw[j], T()), b = pair(ww[j], T());
          xs[p * WIDE + 2 * j][r] = a.x;
          xs[p * WIDE + 2 * j + 1][r] = a.y;
          ws[p * WIDE + 2 * j][r] = b.x;
          ws[p * WIDE + 2 * j + 1][r] = b.y;
        }
      }
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

template <typename T>
static __device__ __forceinline__ void gemm(T *__restrict__ y, const T *__restrict__ w, const T *__restrict__ x, int m, int n, int k) {
  __shared__ __align__(16) float xs[2][BK][BM], ws[2][BK][BN];
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int col = threadIdx.x % 16 * 4, row = threadIdx.x / 16 * 4;
  bool wide = aligned16(w, x, k);
  Tiles<T> next;
  float acc[TM][TN] = {};
  next.load(x, w, m, n, k, m0, n0, 0, wide);
#pragma unroll 1
  for (int k0 = 0, buffer = 0; k0 < k; k0 += BK, buffer ^= 1) {
    next.keep(xs[buffer], ws[buffer]);
    __syncthreads();  // a buffer is written again two barriers after it was read
    next.load(x, w, m, n, k, m0, n0, k0 + BK, wide);
#pragma unroll 2
    for (int kk = 0; kk < BK; kk++) {
      int s = Tiles<T>::swizzle(kk / Tiles<T>::WIDE);
      float4 a0 = *reinterpret_cast<float4 *>(&xs[buffer][kk][row ^ s]), a1 = *reinterpret_cast<float4 *>(&xs[buffer][kk][(64 + row) ^ s]);
      float4 b0 = *reinterpret_cast<float4 *>(&ws[buffer][kk][col ^ s]), b1 = *reinterpret_cast<float4 *>(&ws[buffer][kk][(64 + col) ^ s]);
      const float a[TM] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, b[TN] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }
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
