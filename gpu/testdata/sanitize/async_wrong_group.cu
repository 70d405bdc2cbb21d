// launch 1 32 0: x=f32:256 z=f32:32
__device__ void copy16(void *to, const void *from) {
  unsigned a = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// Two groups are in flight; the second is read when only the first is waited for.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ __align__(16) float tile[256];
  int t = threadIdx.x;
  copy16(tile + 4 * t, x + 4 * t);
  commit();
  copy16(tile + 128 + 4 * t, x + 128 + 4 * t);
  commit();
#ifdef BROKEN
  wait<1>();
#else
  wait<0>();
#endif
  __syncthreads();
  y[t] = tile[t] + tile[255 - t];
}
