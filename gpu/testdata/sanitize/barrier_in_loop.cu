// launch 1 64 0: x=f32:64 z=f32:64
// Warps go round a loop with a barrier a different number of times.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[64];
  int t = threadIdx.x;
#ifdef BROKEN
  int rounds = 1 + t / 32;
#else
  int rounds = 2;
#endif
  float sum = 0;
  for (int k = 0; k < rounds; k++) {
    tile[t] = x[t] + k;
    __syncthreads();
    sum += tile[t ^ 1];
    __syncthreads();
  }
  y[t] = sum;
}
