// launch 1 64 0: i32=64 zi=i32:16
// Shared memory begins with anything.
extern "C" __global__ void kernel(const int *x, int *bins) {
  __shared__ int local[16];
  int t = threadIdx.x;
#ifndef BROKEN
  if (t < 16) local[t] = 0;
  __syncthreads();
#endif
  atomicAdd(&local[x[t] % 16], 1);
  __syncthreads();
  if (t < 16) bins[t] = local[t];
}
