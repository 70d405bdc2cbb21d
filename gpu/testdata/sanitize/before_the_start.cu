// launch 1 32 0: x=f32:32 z=f32:32
// The first thread has no left neighbour.
extern "C" __global__ void kernel(const float *x, float *y) {
  int t = threadIdx.x;
#ifdef BROKEN
  y[t] = x[t] - x[t - 1];
#else
  y[t] = x[t] - (t > 0 ? x[t - 1] : 0);
#endif
}
