// launch 1 128 0: x=f32:128 z=f32:1
// A tree in shared memory needs a barrier a level.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float part[128];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      part[t] += part[t + half];
#ifndef BROKEN
    __syncthreads();
#endif
  }
  if (t == 0) y[0] = part[0];
}
