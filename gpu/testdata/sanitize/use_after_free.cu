// launch 1 32 0: freed=f32:32 z=f32:32
// The address outlives the allocation.
extern "C" __global__ void kernel(const float *x, float *y) {
  y[threadIdx.x] = x[threadIdx.x];
}
