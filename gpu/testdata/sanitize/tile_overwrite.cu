// launch 1 64 0: x=f32:256 z=f32:64
// The next tile is loaded while others still read the last one.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; k++) {
    tile[t] = x[64 * k + t];
    __syncthreads();
    sum += tile[63 - t];
#ifndef BROKEN
    __syncthreads();
#endif
  }
  y[t] = sum;
}
