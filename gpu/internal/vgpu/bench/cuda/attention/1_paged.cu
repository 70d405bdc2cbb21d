// attention/1_paged: one decode step of attention over a paged KV cache, f16 with head dimension 64 and pages of 16 tokens:
// out[h] = sum over t of softmax(scale·q[h]·k[t])·v[t]. A CTA of four warps a head; eight lanes share a token, 16 bytes each.
// A page holds, for each head, 16 rows of 64; table[i] is the page of tokens 16·i to 16·i+15.
// The Go loop: for h { for t { s[t] = exp(scale*dot(q[h], k[t]) - max) }; for d { out[h][d] = sum(s[t]*v[t][d]) / sum(s) } }
// targets: sm_80

#include <cuda_fp16.h>

static __device__ __forceinline__ float dot8(uint4 a, const float (&q)[8]) {
  const __half2 *h = reinterpret_cast<const __half2 *>(&a);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 f = __half22float2(h[i]);
    sum = fmaf(f.x, q[2 * i], sum);
    sum = fmaf(f.y, q[2 * i + 1], sum);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(128) paged_attention(float *__restrict__ out, const __half *__restrict__ q,
                                                                 const __half *__restrict__ keys, const __half *__restrict__ values,
                                                                 const int *__restrict__ table, int heads, int tokens, float scale) {
  __shared__ float scores[1024], part[4][64], most[4], total[4];
  int head = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = threadIdx.x / 8, piece = lane % 8;
  float mine[8];
  {
    uint4 v = *reinterpret_cast<const uint4 *>(q + head * 64 + piece * 8);
    const __half2 *h = reinterpret_cast<const __half2 *>(&v);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float2 f = __half22float2(h[i]);
      mine[2 * i] = f.x * scale;
      mine[2 * i + 1] = f.y * scale;
    }
  }
  float top = __int_as_float(0xff800000);
  for (int t = group; t < tokens; t += 16) {
    size_t row = (static_cast<size_t>(table[t / 16]) * heads + head) * 16 + t % 16;
    float s = dot8(*reinterpret_cast<const uint4 *>(keys + row * 64 + piece * 8), mine);
    for (int lanes = 4; lanes > 0; lanes /= 2) s += __shfl_xor_sync(0xffffffffu, s, lanes);
    if (piece == 0) scores[t] = s;
    top = fmaxf(top, s);
  }
  for (int lanes = 16; lanes >= 8; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, lanes));
  if (lane == 0) most[warp] = top;
  __syncthreads();
  top = fmaxf(fmaxf(most[0], most[1]), fmaxf(most[2], most[3]));
  float sum = 0;
  for (int t = threadIdx.x; t < tokens; t += 128) {
    float e = __expf(scores[t] - top);
    scores[t] = e;
    sum += e;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) total[warp] = sum;
  __syncthreads();
  float acc[8];
#pragma unroll
  for (int i = 0; i < 8; i++) acc[i] = 0;
  for (int t = group; t < tokens; t += 16) {
    size_t row = (static_cast<size_t>(table[t / 16]) * heads + head) * 16 + t % 16;
    uint4 v = *reinterpret_cast<const uint4 *>(values + row * 64 + piece * 8);
    const __half2 *h = reinterpret_cast<const __half2 *>(&v);
    float e = scores[t];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float2 f = __half22float2(h[i]);
      acc[2 * i] = fmaf(f.x, e, acc[2 * i]);
      acc[2 * i + 1] = fmaf(f.y, e, acc[2 * i + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    acc[i] += __shfl_xor_sync(0xffffffffu, acc[i], 8);
    acc[i] += __shfl_xor_sync(0xffffffffu, acc[i], 16);
    if (lane < 8) part[warp][piece * 8 + i] = acc[i];
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    float all = total[0] + total[1] + total[2] + total[3];
    int d = threadIdx.x;
    out[head * 64 + d] = (part[0][d] + part[1][d] + part[2][d] + part[3][d]) / all;
  }
}
