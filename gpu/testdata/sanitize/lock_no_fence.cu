// launch 4 32 0: zi=u32:1 z=f32:1
// A lock that is given back without a fence protects nothing.
extern "C" __global__ void kernel(unsigned *lock, float *sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *sum += 1;
#ifndef BROKEN
    __threadfence();
#endif
    atomicExch(lock, 0);
  }
}
