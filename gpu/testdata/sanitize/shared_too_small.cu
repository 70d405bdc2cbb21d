// launch 1 64 128: x=f32:64 z=f32:64 i=2
// 128 B of dynamic shared memory hold 32 floats.
extern "C" __global__ void kernel(const float *x, float *y, int parts) {
  extern __shared__ float tile[];
  int t = threadIdx.x;
#ifdef BROKEN
  tile[t] = x[t];
  __syncthreads();
  y[t] = tile[63 - t];
#else
  for (int k = 0; k < parts; k++) {
    if (t / 32 == k) tile[t % 32] = x[t];
    __syncthreads();
    if (t / 32 == k) y[t] = tile[31 - t % 32];
    __syncthreads();
  }
#endif
}
