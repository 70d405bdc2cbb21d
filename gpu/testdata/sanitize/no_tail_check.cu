// launch 3 32 0: x=f32:70 z=f32:70 i=70
// The last CTA is rarely full.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
#ifndef BROKEN
  if (i >= n) return;
#endif
  y[i] = x[i] + 1;
}
