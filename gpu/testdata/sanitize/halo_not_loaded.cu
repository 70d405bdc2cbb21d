// launch 1 32 0: x=f32:34 z=f32:32
// A stencil reads one element on each side of what the threads load.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[34];
  int t = threadIdx.x;
  tile[t + 1] = x[t + 1];
#ifndef BROKEN
  if (t == 0) tile[0] = x[0];
  if (t == 31) tile[33] = x[33];
#endif
  __syncthreads();
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}
