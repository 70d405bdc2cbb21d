// launch 1 64 0: x=f32:32 z=f32:32
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(b)) : "memory"); }
__device__ void wait(void *b, int parity) {
  asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(b)), "r"(parity) : "memory");
}

// One warp makes, the other takes: it must wait for the phase.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ unsigned long long full;
  __shared__ float tile[32];
  int t = threadIdx.x;
  if (t == 0) init(&full, 32);
  __syncthreads();
  if (t < 32) {
    tile[t] = x[t];
    arrive(&full);
  } else {
#ifndef BROKEN
    wait(&full, 0);
#endif
    y[t - 32] = tile[63 - t];
  }
}
