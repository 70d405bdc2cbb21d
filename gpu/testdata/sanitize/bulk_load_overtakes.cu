// launch 2 32 0 sm_90: x=f32:64 z=f32:64
// A bulk copy reads what another CTA writes in the same launch.
extern "C" __global__ void kernel(float *x, float *y) {
  __shared__ __align__(128) float tile[32];
  __shared__ __align__(8) unsigned long long bar;
  int t = threadIdx.x;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
#ifdef BROKEN
  x[blockIdx.x * 32 + t] += 1;
#endif
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n fence.proxy.async;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 128, [%0];" ::"r"(b),
                 "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(x + (1 - blockIdx.x) * 32) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(b) : "memory");
  y[blockIdx.x * 32 + t] = tile[t];
}
