// launch 1 64 0: z=i32:1 zi=i32:64
// A counter that others add to is read by an atomic, or behind a barrier.
extern "C" __global__ void kernel(int *unused, int *y) {
  __shared__ int count;
  int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
#ifndef BROKEN
  __syncthreads();
#endif
  y[t] = count;
}
