// gemm/1_bf16_mma: C = A·Bᵀ for square bf16 matrices with f32 results, n a multiple of 64: a CTA of four warps makes a
// 64 × 64 tile of C, each warp 32 × 32 of it, from tiles of 64 × 32 that ldmatrix reads out of shared memory.
// The Go loop: for i { for j { for k { c[i*n+j] += a[i*n+k] * b[j*n+k] } } }
// targets: sm_80

extern "C" __global__ void __launch_bounds__(128) gemm_bf16_mma(float *__restrict__ c, const unsigned short *__restrict__ a,
                                                               const unsigned short *__restrict__ b, int n) {
  const int BK = 32, PITCH = BK + 8;  // 80 bytes a row: the eight rows of an ldmatrix lie in different banks
  __shared__ __align__(16) unsigned short as[64 * PITCH], bs[64 * PITCH];
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, wr = warp / 2 * 32, wc = warp % 2 * 32;
  float sum[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int r = 0; r < 4; r++) sum[i][j][r] = 0;
  unsigned abase = static_cast<unsigned>(__cvta_generic_to_shared(as)), bbase = static_cast<unsigned>(__cvta_generic_to_shared(bs));
  for (int k0 = 0; k0 < n; k0 += BK) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      int piece = t + i * 128, row = piece / 4, at = piece % 4 * 8;
      *reinterpret_cast<uint4 *>(&as[row * PITCH + at]) = *reinterpret_cast<const uint4 *>(a + (row0 + row) * n + k0 + at);
      *reinterpret_cast<uint4 *>(&bs[row * PITCH + at]) = *reinterpret_cast<const uint4 *>(b + (col0 + row) * n + k0 + at);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      unsigned x[2][4], y[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        unsigned from = abase + 2 * ((wr + i * 16 + lane % 16) * PITCH + k + lane / 16 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                     : "r"(from)
                     : "memory");
        from = bbase + 2 * ((wc + i * 16 + lane / 16 * 8 + lane % 8) * PITCH + k + lane / 8 % 2 * 8);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(y[i][0]), "=r"(y[i][1]), "=r"(y[i][2]), "=r"(y[i][3])
                     : "r"(from)
                     : "memory");
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j / 2][j % 2 * 2]), "r"(y[j / 2][j % 2 * 2 + 1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float *to = c + (row0 + wr + i * 16 + lane / 4) * n + col0 + wc + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2 *>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
      *reinterpret_cast<float2 *>(to + 8 * n) = make_float2(sum[i][j][2], sum[i][j][3]);
    }
}
