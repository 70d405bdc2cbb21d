// gemm/3_mma: Y[m,n] = sum over k of X[m,k]*W[n,k], f16 with f32 accumulation, on tensor cores.
//
// Predecessor: 2_smem_tile issues one FMA a lane for every two loads from shared memory; the FP32 pipe starves.
// Idea: mma.sync multiplies a 16 x 16 tile of X by a 16 x 8 tile of W in one instruction (16 x 8 on sm_75, two of them),
//   fed by ldmatrix, which hands four 8 x 8 tiles to a warp in one request. A CTA of four warps makes 64 x 64 of Y,
//   each warp 32 x 32; tiles are 64 deep and their rows padded to 72 halves (9 pieces of 16 B, an odd number), so that the
//   eight rows of an ldmatrix phase fall on different banks; a store phase is one row, 128 neighbouring bytes.
// Expect: no FP32 FLOPs; 2MNK tensor FLOPs, tiles counted whole: 2*64*64*64 a CTA and step; global loads MNK/32 elements,
//   in 16-byte pieces where K is a multiple of 8; 4 ldmatrix for 8 mma (16 on sm_75); no bank conflicts.
// A profiler should show: the tensor pipe busy a third of the time, waiting for the next tile between two barriers.
//
// The Go loop: for k0 := 0; k0 < K; k0 += 64 { copy tiles; for k := 0; k < 64; k += 16 { acc += xs[:, k:k+16] * ws[:, k:k+16]^T } }
// mma and ldmatrix: PTX ISA 9.7.14, fragments of m16n8k8 and m16n8k16 with f16.

#include <cuda_fp16.h>

// BM and BN are equal, so that the same threads copy both tiles.
constexpr int BM = 64, BN = 64, BK = 64, PITCH = 72;

// ldmatrix_x4 loads four 8 x 8 tiles of f16; lane l gives the address of row l%8 of tile l/8.
static __device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], const __half *p) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(p));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// mma adds the product of a 16 x 16 and a 16 x 8 tile to c.
static __device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

// load8 reads eight halves of row `row` from column `col` on; what lies outside the matrix is zero.
static __device__ __forceinline__ uint4 load8(const __half *matrix, int rows, int columns, int row, int col, bool wide) {
  if (row >= rows || col >= columns) return make_uint4(0, 0, 0, 0);
  const __half *p = matrix + static_cast<size_t>(row) * columns + col;
  if (wide) return *reinterpret_cast<const uint4 *>(p);
  unsigned long long low = 0, high = 0;  // the eight halves are pushed in from the top
#pragma unroll 1
  for (int i = 0; i < 8; i++) {
    unsigned long long h = col + i < columns ? __half_as_ushort(p[i]) : 0;
    low = low >> 16 | high << 48;
    high = high >> 16 | h << 48;
  }
  return make_uint4(low, low >> 32, high, high >> 32);
}

extern "C" __global__ void __launch_bounds__(128) gemm_mma(__half *__restrict__ y, const __half *__restrict__ w,
                                                          const __half *__restrict__ x, int m, int n, int k) {
  __shared__ __align__(16) __half xs[BM][PITCH];
  __shared__ __align__(16) __half ws[BN][PITCH];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;  // m runs fastest in the grid, so that CTAs side by side share W
  int wm = warp / 2 * 32, wn = warp % 2 * 32;
  // Rows of 8 halves start on 16 bytes, or every load of the grid is narrow: the branch is uniform.
  bool wide = ((reinterpret_cast<size_t>(w) | reinterpret_cast<size_t>(x) | static_cast<size_t>(k) * 2) & 15) == 0;
  float acc[2][4][4] = {};

  for (int k0 = 0; k0 < k; k0 += BK) {
#pragma unroll
    for (int i = 0; i < BM * BK / 8 / 128; i++) {
      int piece = threadIdx.x + i * 128, row = piece / (BK / 8), col = piece % (BK / 8) * 8;
      *reinterpret_cast<uint4 *>(&xs[row][col]) = load8(x, m, k, m0 + row, k0 + col, wide);
      *reinterpret_cast<uint4 *>(&ws[row][col]) = load8(w, n, k, n0 + row, k0 + col, wide);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < BK; kk += 16) {
      unsigned a[2][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        // a: tiles (rows 0-7, k 0-7), (rows 8-15, k 0-7), (rows 0-7, k 8-15), (rows 8-15, k 8-15).
        ldmatrix_x4(a[i], &xs[wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
        // b: tiles (n 0-7, k 0-7), (n 0-7, k 8-15), (n 8-15, k 0-7), (n 8-15, k 8-15): two columns of mma tiles.
        ldmatrix_x4(b[i], &ws[wn + i * 16 + lane / 16 * 8 + lane % 8][kk + lane / 8 % 2 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(acc[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }

  // c0, c1: row lane/4, columns 2*(lane%4) and the next; c2, c3: eight rows further down.
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        int row = m0 + wm + i * 16 + half * 8 + lane / 4;
        int col = n0 + wn + j * 8 + lane % 4 * 2;
        if (row >= m || col >= n) continue;
        __half *p = y + static_cast<size_t>(row) * n + col;
        __half low = __float2half_rn(acc[i][j][half * 2]), high = __float2half_rn(acc[i][j][half * 2 + 1]);
        if (((reinterpret_cast<size_t>(y) | static_cast<size_t>(n) * 2) & 3) == 0) {
          *reinterpret_cast<__half2 *>(p) = __halves2half2(low, high);
        } else {
          p[0] = low;
          if (col + 1 < n) p[1] = high;
        }
      }
}
