// launch 1 64 0: x=f32:64 z=f32:64
// A scan in one buffer: each level must read before any thread of it writes.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float sums[64];
  int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    float v = t >= d ? sums[t - d] : 0;
#ifndef BROKEN
    __syncthreads();
#endif
    sums[t] += v;
    __syncthreads();
  }
  y[t] = sums[t];
}
