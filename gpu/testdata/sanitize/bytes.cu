// launch 1 64 0: i32=64 zi=i32:32
// Neighbouring bytes are different places; the same byte is not.
extern "C" __global__ void kernel(const int *x, int *y) {
  __shared__ unsigned char marks[64];
  int t = threadIdx.x;
#ifdef BROKEN
  marks[t / 2] = x[t] & 1;
  marks[32 + t / 2] = 0;
#else
  marks[t] = x[t] & 1;
#endif
  __syncthreads();
  if (t < 32) y[t] = marks[t] + marks[63 - t];
}
