// launch 1 32 0: x=f32:32 z=f32:32 i=3
// An array on the stack, of which one element is never written.
extern "C" __global__ void kernel(const float *x, float *y, int at) {
  float list[8];
  int t = threadIdx.x;
#ifdef BROKEN
  for (int i = 0; i < at; i++)
#else
  for (int i = 0; i < 8; i++)
#endif
    list[(i * at) % 8] = x[t] + i;
  y[t] = list[(t + at) % 8 == 7 ? 7 : 0];
}
