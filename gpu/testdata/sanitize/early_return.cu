// launch 2 64 0: x=f32:100 z=f32:100 i=100
// Threads past the end return before the barrier that the others come to.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
#ifdef BROKEN
  if (i >= n) return;
  tile[t] = x[i];
  __syncthreads();
  y[i] = tile[t ^ 1];
#else
  if (i < n) tile[t] = x[i];
  __syncthreads();
  if (i < n) y[i] = tile[t ^ 1];
#endif
}
