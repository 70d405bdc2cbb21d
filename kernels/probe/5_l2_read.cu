// probe/5_l2_read: sums[c] = sum of all of src, by every CTA: what L2 delivers of data that it holds.
//
// Predecessor: 2_read takes each byte from DRAM once.
// Idea: every CTA reads the same few megabytes, each from another place on, past L1 (ld.global.cg), so that DRAM delivers them
//   once and L2 the rest.
// Expect: p*n*4 bytes asked of L2 by p CTAs, 512 B a request in 16 sectors; n*4 bytes from DRAM; n adds a CTA and 8*256+8.
// A profiler should show: L2 throughput at its ceiling, L2 hit rate near 100 %, DRAM nearly idle.
//
// The Go loop: for c := range sums { for j := range src { sums[c] += src[j] } }

extern "C" __global__ void __launch_bounds__(256) probe_l2_read(float *__restrict__ sums, const float *__restrict__ src, int n) {
  __shared__ float partial[8];
  const float4 *vectors = reinterpret_cast<const float4 *>(src);
  int count = n / 4;
  int at = static_cast<int>(static_cast<long long>(count) * blockIdx.x / gridDim.x) + threadIdx.x;
  float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 8
  for (int i = threadIdx.x; i < count; i += 256) {
    float4 v = __ldcg(vectors + (at < count ? at : at - count));
    at += 256;
    if (at >= 2 * count) at -= count;
    a += v.x;
    b += v.y;
    c += v.z;
    d += v.w;
  }
  float sum = (a + b) + (c + d);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < 8; w++) total += partial[w];
    sums[blockIdx.x] = total;
  }
}
