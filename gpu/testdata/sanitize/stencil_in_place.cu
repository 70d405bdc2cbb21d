// launch 2 32 0: x=f32:66 z=f32:66
// Neighbouring CTAs read what this one overwrites.
extern "C" __global__ void kernel(float *x, float *y) {
  int i = blockIdx.x * 32 + threadIdx.x + 1;
#ifdef BROKEN
  float v = x[i - 1] + x[i + 1];
  x[i] = v;
#else
  y[i] = x[i - 1] + x[i + 1];
#endif
}
