// launch 1 32 0: x=f32:32 z=f32:1
// Lanes of a warp do not run in step.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  part[t + 32] = 0;
#ifdef BROKEN
  for (int d = 16; d > 0; d /= 2)
    part[t] += part[t + d];
#else
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    float v = part[t + d];
    __syncwarp();
    part[t] += v;
    __syncwarp();
  }
#endif
  if (t == 0) y[0] = part[0];
}
