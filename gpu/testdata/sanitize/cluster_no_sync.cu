// launch 4 32 0 sm_90 cluster: x=f32:128 z=f32:128
// A CTA reads the shared memory of its neighbour in the cluster: all must have written, and none may have left.
__device__ void sync() { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[32];
  int t = threadIdx.x;
  unsigned other, local = (unsigned)__cvta_generic_to_shared(tile + t);
  tile[t] = x[blockIdx.x * 32 + t];
#ifdef BROKEN
  __syncthreads();
#else
  sync();
#endif
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(local), "r"((blockIdx.x + 1) % 4));
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(other) : "memory");
  y[blockIdx.x * 32 + t] = v;
  sync();
}
