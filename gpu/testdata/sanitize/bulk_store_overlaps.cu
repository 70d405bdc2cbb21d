// launch 2 32 0 sm_90: x=f32:64 z=f32:64
// Bulk copies write device memory too: two CTAs must not write the same.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ __align__(128) float tile[32];
  int t = threadIdx.x;
  tile[t] = x[blockIdx.x * 32 + t];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
#ifdef BROKEN
  float *to = y + blockIdx.x * 28;
#else
  float *to = y + blockIdx.x * 32;
#endif
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;" ::"l"(to), "r"((unsigned)__cvta_generic_to_shared(tile)) : "memory");
  }
}
