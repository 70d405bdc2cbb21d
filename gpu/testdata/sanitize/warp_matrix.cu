// launch 1 32 0: x=f32:128 z=f32:32
// ldmatrix brings the lanes of a warp together, and orders none of their stores.
extern "C" __global__ void kernel(const float *x, unsigned *y) {
  __shared__ __align__(16) float tile[128];
  int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) tile[i] = x[i];
#ifndef BROKEN
  __syncwarp();
#endif
  unsigned a, at = (unsigned)__cvta_generic_to_shared(tile + 4 * t);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at) : "memory");
  y[t] = a;
}
