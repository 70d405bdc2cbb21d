// sgemm/1_tile16: C = A·B for square f32 matrices, n a multiple of 16: a CTA of 16 × 16 threads makes a 16 × 16 tile of C.
// The Go loop: for i { for j { for k { c[i*n+j] += a[i*n+k] * b[k*n+j] } } }
// targets: sm_80

extern "C" __global__ void __launch_bounds__(256) sgemm_tile16(float *__restrict__ c, const float *__restrict__ a,
                                                              const float *__restrict__ b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    as[ty][tx] = a[row * n + k0 + tx];
    bs[ty][tx] = b[(k0 + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) sum = fmaf(as[ty][k], bs[k][tx], sum);
    __syncthreads();
  }
  c[row * n + col] = sum;
}
