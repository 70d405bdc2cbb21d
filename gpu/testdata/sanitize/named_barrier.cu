// launch 1 128 0: x=f32:128 z=f32:128
// Two halves of a CTA, each with a barrier of its own: that orders nothing between the halves.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[128];
  int t = threadIdx.x, half = t / 64;
  tile[t] = x[t];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
#ifdef BROKEN
  y[t] = tile[127 - t];
#else
  y[t] = tile[64 * half + 63 - t % 64];
#endif
}
