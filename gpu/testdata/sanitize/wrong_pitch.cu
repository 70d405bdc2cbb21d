// launch 8 32 0: x=f32:256 z=f32:256 i=32
// Rows of 32, walked with a pitch of 33.
extern "C" __global__ void kernel(const float *x, float *y, int pitch) {
  int row = blockIdx.x, column = threadIdx.x;
#ifdef BROKEN
  int i = row * (pitch + 1) + column;
#else
  int i = row * pitch + column;
#endif
  y[i] = x[i];
}
