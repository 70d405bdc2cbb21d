// launch 1 32 0: null z=f32:32
// A pointer that may be null must be asked.
extern "C" __global__ void kernel(const float *bias, float *y) {
#ifdef BROKEN
  y[threadIdx.x] = bias[threadIdx.x];
#else
  y[threadIdx.x] = bias ? bias[threadIdx.x] : 0;
#endif
}
