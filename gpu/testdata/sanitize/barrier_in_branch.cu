// launch 1 64 0: x=f32:64 z=f32:64 i=48
// 48 of 64 threads come to the barrier.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
#ifdef BROKEN
  if (t < n) {
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[n - 1 - t];
  }
#else
  if (t < n) tile[t] = x[t];
  __syncthreads();
  if (t < n) y[t] = tile[n - 1 - t];
#endif
}
