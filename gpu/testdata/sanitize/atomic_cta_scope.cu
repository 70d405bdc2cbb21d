// launch 4 64 0: x=f32:4 zi=i32:1
// Every CTA counts in one word of device memory: an atomic of the scope of a CTA is none for the others.
extern "C" __global__ void kernel(const float *x, int *count) {
#ifdef BROKEN
  atomicAdd_block(count, 1);
#else
  atomicAdd(count, 1);
#endif
}
