// launch 1 64 0: x=f32:64 z=f32:64
// One warp tells the other by a flag in shared memory: what the flag announces must be fenced before it.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float value;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = x[5];
#ifndef BROKEN
    __threadfence_block();
#endif
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {}
    y[0] = value;
  }
}
