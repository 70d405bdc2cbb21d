// gemv/1_int4: y[n] = sum over k of (q[n,k] - 8)·s[n,k/128]·x[k]: weights of 4 bits, eight in a word with the first in its
// lowest bits, f16 scales of groups of 128, f16 x, f32 sums; a warp a row, 16 bytes (32 weights) a lane. k a multiple of 128.
// The Go loop: for n { for g { t := 0; for k of group g { t += float32(q[n,k]-8) * x[k] }; y[n] += s[n,g] * t } }
// targets: sm_80

#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(128) gemv_int4(float *__restrict__ y, const unsigned *__restrict__ q,
                                                           const __half *__restrict__ s, const __half *__restrict__ x, int n, int k) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const uint4 *words = reinterpret_cast<const uint4 *>(q + static_cast<size_t>(row) * (k / 8));
  const __half *scales = s + static_cast<size_t>(row) * (k / 128);
  float sum = 0;
  for (int i = lane; i < k / 32; i += 32) {
    uint4 four = words[i];
    unsigned w[4] = {four.x, four.y, four.z, four.w};
    const uint4 *xs = reinterpret_cast<const uint4 *>(x + i * 32);
    float part = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      uint4 v = xs[j];
      const __half2 *h = reinterpret_cast<const __half2 *>(&v);
#pragma unroll
      for (int b = 0; b < 4; b++) {
        float2 f = __half22float2(h[b]);
        part = fmaf(static_cast<float>(static_cast<int>(w[j] >> (8 * b) & 15) - 8), f.x, part);
        part = fmaf(static_cast<float>(static_cast<int>(w[j] >> (8 * b + 4) & 15) - 8), f.y, part);
      }
    }
    sum = fmaf(__half2float(scales[i / 4]), part, sum);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) y[row] = sum;
}
