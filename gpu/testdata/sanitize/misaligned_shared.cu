// launch 1 32 0: x=f32:64 z=f32:64 i=1
// A double in shared memory at an odd float.
extern "C" __global__ void kernel(const float *x, float *y, int shift) {
  __shared__ __align__(16) float tile[68];
  int t = threadIdx.x;
  tile[2 * t] = x[2 * t];
  tile[2 * t + 1] = x[2 * t + 1];
  if (t < 4) tile[64 + t] = 0;
  __syncthreads();
#ifdef BROKEN
  float2 v = *(float2 *)(tile + 2 * t + shift);
#else
  float2 v = make_float2(tile[2 * t + shift], tile[2 * t + 1 + shift]);
#endif
  y[2 * t] = v.x;
  y[2 * t + 1] = v.y;
}
