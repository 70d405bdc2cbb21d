// launch 1 64 0: x=f32:32 z=f32:32
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(b)) : "memory"); }
__device__ void wait(void *b, int parity) {
  asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(b)), "r"(parity) : "memory");
}

// The first phase has parity 0; a wait for parity 1 is over at once.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ unsigned long long full;
  __shared__ float tile[32];
  int t = threadIdx.x;
  if (t == 0) init(&full, 32);
  __syncthreads();
  if (t < 32) {
#ifdef BROKEN
    wait(&full, 1);
#else
    wait(&full, 0);
#endif
    y[t] = tile[31 - t];
  } else {
    tile[t - 32] = x[t - 32];
    arrive(&full);
  }
}
