// launch 2 32 0: x=f32:32 z=f32:64 zi=i32:1
// One CTA tells another by a flag: __threadfence_block() orders what threads of the own CTA see, and no more.
extern "C" __global__ void kernel(const float *x, float *y, volatile int *flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    y[t] = x[t];
#ifdef BROKEN
    __threadfence_block();
#else
    __threadfence();
#endif
    __syncwarp();
    if (t == 0) *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    y[32 + t] = y[t];
  }
}
