// launch 1 128 0 sm_90: x=f32:128 z=f32:128
// A bulk copy reads what threads have stored only behind a fence between the two proxies.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ __align__(128) float tile[128];
  int t = threadIdx.x;
  tile[t] = 2 * x[t];
#ifndef BROKEN
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;" ::"l"(y), "r"((unsigned)__cvta_generic_to_shared(tile)) : "memory");
  }
}
