// launch 1 32 0: x=f32:32 z=f32:32 i=9
// An index runs past the end of an array on the stack.
extern "C" __global__ void kernel(const float *x, float *y, int n) {
  float list[8];
  int t = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 8; i++) list[i] = x[t] * i;
#ifdef BROKEN
  y[t] = list[t < n ? t : 0];
#else
  y[t] = list[t < n ? t % 8 : 0];
#endif
}
