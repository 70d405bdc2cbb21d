// launch 1 64 0: x=f32:64 z=f32:1
// volatile keeps the compiler from holding values in registers; it does not make lanes run in step.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float part[64];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  if (t < 32) {
    volatile float *p = part;
    for (int d = 32; d > 0; d /= 2) {
      float v = p[t + d];
#ifndef BROKEN
      __syncwarp();
#endif
      if (t < d) p[t] += v;
#ifndef BROKEN
      __syncwarp();
#endif
    }
  }
  if (t == 0) y[0] = part[0];
}
