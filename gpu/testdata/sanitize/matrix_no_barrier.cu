// launch 1 64 0: x=f32:256 z=f32:64
// ldmatrix reads what the other warp stored.
extern "C" __global__ void kernel(const float *x, unsigned *y) {
  __shared__ __align__(16) float tile[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) tile[i] = x[i];
#ifndef BROKEN
  __syncthreads();
#endif
  unsigned a, at = (unsigned)__cvta_generic_to_shared(tile + 4 * (t % 32));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at) : "memory");
  y[t] = a;
}
