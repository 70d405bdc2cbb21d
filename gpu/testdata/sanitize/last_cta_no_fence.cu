// launch 8 32 0: x=f32:256 z=f32:8 zi=u32:1 z=f32:1
// The CTA that comes last adds up what the others wrote: each must fence its part before it counts itself.
extern "C" __global__ void kernel(const float *x, float *part, unsigned *count, float *y) {
  float v = x[blockIdx.x * 32 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = v;
#ifndef BROKEN
    __threadfence();
#endif
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      float sum = 0;
      for (int i = 0; i < gridDim.x; i++) sum += part[i];
      y[0] = sum;
    }
  }
}
