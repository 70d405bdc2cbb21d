// launch 1 128 0: x=f32:128 z=f32:1
// 128 threads write, thread 0 sums: without the barrier 127 words of 4 bytes are hazards, 508 as racecheck counts.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float part[128];
  part[threadIdx.x] = x[threadIdx.x];
#ifndef BROKEN
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 128; i++)
      sum += part[i];
    y[0] = sum;
  }
}
