// launch 1 32 0: x=f32:32 z=f32:32
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(b)) : "memory"); }
__device__ void wait(void *b, int parity) {
  asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(b)), "r"(parity) : "memory");
}

// Shared memory holds no mbarrier until somebody makes one.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ unsigned long long done;
  int t = threadIdx.x;
#ifdef BROKEN
  if (t == 0) done = 0;
#else
  if (t == 0) init(&done, 32);
#endif
  __syncthreads();
  arrive(&done);
  wait(&done, 0);
  y[t] = x[t];
}
