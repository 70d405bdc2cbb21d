// launch 1 32 0: x=f32:32 z=f32:32
// Lanes that read from each other must all be in the mask.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[32];
  int t = threadIdx.x;
  tile[t] = x[t];
#ifdef BROKEN
  if (t < 16) __syncwarp(0x0000ffff);
#else
  __syncwarp();
#endif
  if (t < 16) y[t] = tile[t + 16];
}
