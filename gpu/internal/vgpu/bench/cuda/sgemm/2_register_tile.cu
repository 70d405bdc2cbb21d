// sgemm/2_register_tile: C = A·B for square f32 matrices, n a multiple of 128: a CTA of 256 threads makes a 128 × 128 tile of
// C, each thread 8 × 8 of it in registers; A's tile lies transposed in shared memory, so that both operands are read in rows.
// The Go loop: for i { for j { for k { c[i*n+j] += a[i*n+k] * b[k*n+j] } } }
// targets: sm_80

extern "C" __global__ void __launch_bounds__(256) sgemm_register_tile(float *__restrict__ c, const float *__restrict__ a,
                                                                     const float *__restrict__ b, int n) {
  const int BK = 8;
  __shared__ float as[BK][128 + 4], bs[BK][128];
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  int row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
  float sum[8][8];
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) sum[i][j] = 0;
  int ar = t / 2, ac = t % 2 * 4, br = t / 32, bc = t % 32 * 4;
  for (int k0 = 0; k0 < n; k0 += BK) {
    float4 av = *reinterpret_cast<const float4 *>(a + (row0 + ar) * n + k0 + ac);
    as[ac][ar] = av.x;
    as[ac + 1][ar] = av.y;
    as[ac + 2][ar] = av.z;
    as[ac + 3][ar] = av.w;
    *reinterpret_cast<float4 *>(&bs[br][bc]) = *reinterpret_cast<const float4 *>(b + (k0 + br) * n + col0 + bc);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        *reinterpret_cast<float4 *>(&x[i]) = *reinterpret_cast<const float4 *>(&as[k][ty * 8 + i]);
        *reinterpret_cast<float4 *>(&y[i]) = *reinterpret_cast<const float4 *>(&bs[k][tx * 4 + i * 16]);
      }
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 8; j += 4)
      *reinterpret_cast<float4 *>(c + (row0 + ty * 8 + i) * n + col0 + tx * 4 + j * 16) =
          make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
