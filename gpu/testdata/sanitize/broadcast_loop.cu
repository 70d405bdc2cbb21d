// launch 1 64 0: x=f32:8 z=f32:64
// Thread 0 tells the others a number a round: they must have read it before the next.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float told;
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 8; k++) {
    if (t == 0) told = x[k];
    __syncthreads();
    sum += told * t;
#ifndef BROKEN
    __syncthreads();
#endif
  }
  y[t] = sum;
}
