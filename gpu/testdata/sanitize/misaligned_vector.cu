// launch 1 16 0: x=f32:68 z=f32:64 i=1
// A float4 lies at multiples of 16 bytes.
extern "C" __global__ void kernel(const float *x, float4 *y, int shift) {
  int t = threadIdx.x;
#ifdef BROKEN
  y[t] = *(const float4 *)(x + 4 * t + shift);
#else
  const float *p = x + 4 * t + shift;
  y[t] = make_float4(p[0], p[1], p[2], p[3]);
#endif
}
