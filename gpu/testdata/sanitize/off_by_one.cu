// launch 2 64 0: x=f32:100 z=f32:100 i=100
// The last index is n - 1.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BROKEN
  if (i <= n)
#else
  if (i < n)
#endif
    y[i] = 2 * x[i];
}
