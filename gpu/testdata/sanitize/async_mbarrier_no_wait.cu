// launch 1 64 0: x=f32:256 z=f32:64
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(b)) : "memory"); }
__device__ void wait(void *b, int parity) {
  asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(b)), "r"(parity) : "memory");
}

// Copies that arrive at an mbarrier are there when its phase is over.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ unsigned long long full;
  __shared__ __align__(16) float tile[256];
  int t = threadIdx.x;
  if (t == 0) init(&full, 64);
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(tile + 4 * t)), "l"(x + 4 * t) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&full)) : "memory");
#ifdef BROKEN
  __syncthreads();
#else
  wait(&full, 0);
#endif
  y[t] = tile[255 - t];
}
