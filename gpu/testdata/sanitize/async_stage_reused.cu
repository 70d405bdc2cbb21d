// launch 1 32 0: x=f32:1024 z=f32:32
__device__ void copy16(void *to, const void *from) {
  unsigned a = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// A pipeline of two stages: the stage that is refilled must have been read by all.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ __align__(16) float stage[2][128];
  int t = threadIdx.x;
  float sum = 0;
  copy16(&stage[0][4 * t], x + 4 * t);
  commit();
  for (int k = 0; k < 8; k++) {
    if (k < 7)
      copy16(&stage[(k + 1) & 1][4 * t], x + 128 * (k + 1) + 4 * t);
    commit();
    wait<1>();
    __syncthreads();
    sum += stage[k & 1][127 - t];
#ifndef BROKEN
    __syncthreads();
#endif
  }
  y[t] = sum;
}
