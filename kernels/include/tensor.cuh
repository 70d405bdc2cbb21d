// tensor.cuh: what every kernel on tensor cores shares. f16 in, f32 accumulation; fragments as PTX ISA 9.7.14 draws them.
#pragma once
#include <cuda_fp16.h>

// ldmatrix_x4 loads four 8 x 8 tiles of f16; lane l gives the address of row l%8 of tile l/8, and then holds columns
// 2*(l%4) and 2*(l%4)+1 of row l/4 of each tile.
static __device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// shared_address is the address of p within shared memory.
static __device__ __forceinline__ unsigned shared_address(const void *p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// mma adds the product of a 16 x 16 tile (row-major) and a 16 x 8 tile (column-major) to c; sm_75 does it in two halves.
// The Go loop: for i := range 16 { for j := range 8 { for k := range 16 { c[i][j] += a[i][k] * b[j][k] } } }
static __device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
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

// load8 reads eight halves of row `row` from column `col` on; what lies outside the matrix is zero. wide says that all
// rows start on 16 bytes.
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

// rows_start_on_16_bytes says whether two matrices with k columns of f16 can be read in 16-byte pieces.
static __device__ __forceinline__ bool rows_start_on_16_bytes(const __half *a, const __half *b, int k) {
  return ((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b) | static_cast<size_t>(k) * 2) & 15) == 0;
}

// store_fragment writes a warp's 16 x 8 tile of accumulators to y [m, n] from (row, col) on: c0 and c1 are row lane/4,
// columns 2*(lane%4) and the next; c2 and c3 lie eight rows further down.
static __device__ __forceinline__ void store_fragment(__half *y, int m, int n, int row, int col, const float (&c)[4]) {
  int lane = threadIdx.x % 32;
  row += lane / 4;
  col += lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; half++, row += 8) {
    if (row >= m || col >= n) continue;
    __half *p = y + static_cast<size_t>(row) * n + col;
    __half low = __float2half_rn(c[half * 2]), high = __float2half_rn(c[half * 2 + 1]);
    if (((reinterpret_cast<size_t>(y) | static_cast<size_t>(n) * 2) & 3) == 0) {
      *reinterpret_cast<__half2 *>(p) = __halves2half2(low, high);
    } else {
      p[0] = low;
      if (col + 1 < n) p[1] = high;
    }
  }
}
