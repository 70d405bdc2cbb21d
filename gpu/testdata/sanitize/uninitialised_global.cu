// launch 1 64 0: x=f32:64 e=f32:64
// The sum begins with what happens to lie in memory.
extern "C" __global__ void kernel(const float *x, float *y) {
  int t = threadIdx.x;
#ifdef BROKEN
  y[t] += x[t];
#else
  y[t] = x[t];
#endif
}
