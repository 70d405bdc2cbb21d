// launch 1 64 0: x=f32:64 z=f32:64
// Each thread takes its neighbour's element from a tile that another thread loads.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = x[t];
#ifndef BROKEN
  __syncthreads();
#endif
  y[t] = tile[(t + 33) % 64];
}
