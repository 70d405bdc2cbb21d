// launch 1 128 0 sm_90: x=f32:128 z=f32:128
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned long long matrix(const void *p) { return (unsigned long long)(at(p) >> 4) | 8ull << 16 | 16ull << 32; }
// wgmma reads what threads have stored only behind a fence between the two proxies.
extern "C" __global__ void __launch_bounds__(128) kernel(const float *x, float *y) {
  __shared__ __align__(128) unsigned a[512], b[64];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = 0;
  if (t < 64) b[t] = 0;
#ifndef BROKEN
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
  __syncthreads();
  float d0 = 1, d1 = 2, d2 = 3, d3 = 4;
  asm volatile("wgmma.fence.sync.aligned;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
               "wgmma.commit_group.sync.aligned;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(matrix(a)), "l"(matrix(b)) : "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
  y[t] = d0 + d1 + d2 + d3;
}
