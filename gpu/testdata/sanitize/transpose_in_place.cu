// launch 1 64 0: x=f32:64 z=f32:64
// Element (i, j) and (j, i) change places: the one that reads second reads what was written.
extern "C" __global__ void kernel(float *x, float *y) {
  int t = threadIdx.x, row = t / 8, column = t % 8;
#ifdef BROKEN
  x[column * 8 + row] = x[t];
#else
  float v = x[t];
  __syncthreads();
  x[column * 8 + row] = v;
#endif
}
