// launch 4 32 0: i32=128 zi=i32:16
// Threads of several CTAs hit the same bin.
extern "C" __global__ void kernel(const int *x, int *bins) {
  int i = blockIdx.x * 32 + threadIdx.x;
#ifdef BROKEN
  bins[x[i] / 8]++;
#else
  atomicAdd(&bins[x[i] / 8], 1);
#endif
}
