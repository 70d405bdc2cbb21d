// launch 1 64 0: x=f32:512 z=f32:64
// Two buffers take turns; one barrier a round is enough only when the load goes to the buffer that nobody reads.
extern "C" __global__ void kernel(const float *x, float *y) {
  __shared__ float buffer[2][64];
  int t = threadIdx.x;
  float sum = 0;
  buffer[0][t] = x[t];
  __syncthreads();
  for (int k = 1; k < 8; k++) {
#ifdef BROKEN
    buffer[0][t] = x[64 * k + t];
    sum += buffer[1 & (k - 1)][63 - t] * (k & 1);
#else
    buffer[k & 1][t] = x[64 * k + t];
    sum += buffer[(k - 1) & 1][63 - t];
#endif
    __syncthreads();
  }
  y[t] = sum;
}
