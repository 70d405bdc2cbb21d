// launch 2 64 0: x=f32:128 z=f32:128 i=64
// CTAs write 64 elements each, 32 apart.
extern "C" __global__ void kernel(const float *x, float *y, int width) {
#ifdef BROKEN
  int i = blockIdx.x * (width / 2) + threadIdx.x;
#else
  int i = blockIdx.x * width + threadIdx.x;
#endif
  y[i] = x[i];
}
