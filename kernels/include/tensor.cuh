// tensor.cuh: what every kernel on tensor cores shares. f16 or bf16 in, f32 accumulation; fragments as PTX ISA 9.7.14 draws
// them. A source includes element.cuh before it.
#pragma once

// is_f16 tells the two element types of tensor cores apart.
template <typename T>
constexpr bool is_f16 = false;
template <>
constexpr bool is_f16<__half> = true;

// ldmatrix_x4 loads four 8 x 8 tiles of 16-bit elements; lane l gives the address of row l%8 of tile l/8, and then holds columns
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

// mma adds the product of a 16 x 16 tile (row-major) and a 16 x 8 tile (column-major) to c; sm_75, which has no bf16, does
// it in two halves.
// The Go loop: for i := range 16 { for j := range 8 { for k := range 16 { c[i][j] += a[i][k] * b[j][k] } } }
template <typename T = __half>
static __device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if constexpr (is_f16<T>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
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

// store_fragment writes a warp's 16 x 8 tile of accumulators to y [m, n] from (row, col) on: c0 and c1 are row lane/4,
// columns 2*(lane%4) and the next; c2 and c3 lie eight rows further down.
template <typename T>
static __device__ __forceinline__ void store_fragment(T *y, int m, int n, int row, int col, const float (&c)[4]) {
  int lane = threadIdx.x % 32;
  row += lane / 4;
  col += lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; half++, row += 8) {
    if (row >= m || col >= n) continue;
    T *p = y + static_cast<size_t>(row) * n + col;
    if (((reinterpret_cast<size_t>(y) | static_cast<size_t>(n) * 2) & 3) == 0) {
      *reinterpret_cast<unsigned *>(p) = pack(c[half * 2], c[half * 2 + 1], T());
    } else {
      store(p, c[half * 2]);
      if (col + 1 < n) store(p + 1, c[half * 2 + 1]);
    }
  }
}
