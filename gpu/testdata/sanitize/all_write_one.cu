// launch 1 64 0: x=f32:64 z=f32:1
// Who of 64 threads wins is anyone's guess.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float last;
  int t = threadIdx.x;
#ifdef BROKEN
  last = x[t];
#else
  if (t == 63) last = x[t];
#endif
  __syncthreads();
  if (t == 0) y[0] = last;
}
