// launch 1 32 0: x=f32:32 z=f32:32 i=1
// The first array's end is the second one's beginning.
extern "C" __global__ void kernel(const float *x, float *y, int shift) {
  __shared__ float a[32], b[32];
  int t = threadIdx.x;
  b[t] = 1;
  a[t] = x[t];
  __syncthreads();
#ifdef BROKEN
  y[t] = a[t + shift] + b[t];
#else
  y[t] = a[(t + shift) % 32] + b[t];
#endif
}
