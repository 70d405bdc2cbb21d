// launch 1 64 0: s=f32:64:128 z=f32:64 i=64
// The tensor is a window of a larger allocation: what lies behind it is not this tensor's.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  int t = threadIdx.x;
#ifdef BROKEN
  y[t] = x[t + 1];
#else
  y[t] = x[t + 1 < n ? t + 1 : t];
#endif
}
