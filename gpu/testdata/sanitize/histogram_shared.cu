// launch 1 64 0: i32=64 zi=i32:16
// Two threads may hit the same bin.
extern "C" __global__ void kernel(const int *x, int *bins) {
  __shared__ int local[16];
  int t = threadIdx.x;
  if (t < 16) local[t] = 0;
  __syncthreads();
#ifdef BROKEN
  local[x[t] % 16]++;
#else
  atomicAdd(&local[x[t] % 16], 1);
#endif
  __syncthreads();
  if (t < 16) bins[t] = local[t];
}
