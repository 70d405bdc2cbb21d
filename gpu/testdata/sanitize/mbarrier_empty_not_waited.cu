// launch 1 64 0: x=f32:128 z=f32:32
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(void *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at(b)) : "memory"); }
__device__ void wait(void *b, int parity) {
  asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(b)), "r"(parity) : "memory");
}

// A buffer that is filled again must have been emptied: that takes a second mbarrier.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ unsigned long long full, empty;
  __shared__ float tile[32];
  int t = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init(&full, 32);
    init(&empty, 32);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int k = 0; k < 4; k++) {
#ifndef BROKEN
      if (k > 0) wait(&empty, (k - 1) & 1);
#endif
      tile[t] = x[32 * k + t];
      arrive(&full);
#ifdef BROKEN
      wait(&full, k & 1);
#endif
    }
  } else {
    float sum = 0;
    for (int k = 0; k < 4; k++) {
#ifdef BROKEN
      if (k == 3) wait(&full, 1);
#else
      wait(&full, k & 1);
#endif
      sum += tile[31 - t];
      arrive(&empty);
    }
    y[t] = sum;
  }
}
