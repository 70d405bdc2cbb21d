// launch 4 32 0 cooperative: x=f32:128 z=f32:128 z=f32:128 zi=u32:1
// A barrier of the grid made of a counter: what comes before it must be fenced.
extern "C" __global__ void kernel(const float *x, float *middle, float *y, unsigned *count) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  middle[i] = x[i];
  __syncthreads();
  if (t == 0) {
#ifndef BROKEN
    __threadfence();
#endif
    atomicAdd(count, 1);
    while (*(volatile unsigned *)count < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  y[i] = middle[127 - i];
}
