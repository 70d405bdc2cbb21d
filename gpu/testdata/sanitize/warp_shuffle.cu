// launch 1 32 0: x=f32:32 z=f32:32
// Nor does a shuffle order them.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float part[32];
  int t = threadIdx.x;
  part[t] = x[t];
  float most = __shfl_sync(~0u, x[t], 31);
#ifndef BROKEN
  __syncwarp();
#endif
  y[t] = part[31 - t] + most;
}
