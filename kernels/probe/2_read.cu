// probe/2_read: sums[c] = sum of the elements that CTA c reads, the DRAM roof of a device when it only reads.
//
// Predecessor: 1_copy turns the DRAM bus round between reads and writes.
// Idea: keep nothing but one sum a CTA, so that writes vanish; 16 bytes a lane, four vectors in flight a thread.
// Expect: 512 B a request in 16 sectors; 4n bytes read, 4 bytes written a CTA; n adds and a little for the reduction.
// A profiler should show: DRAM throughput at 92 % of the datasheet or more.
//
// The Go loop: for j := range src { sums[j/4/256%len(sums)] += src[j] }

extern "C" __global__ void __launch_bounds__(256) probe_read(float *__restrict__ sums, const float *__restrict__ src,
                                                            unsigned long long n) {
  __shared__ float partial[8];
  const float4 *vectors = reinterpret_cast<const float4 *>(src);
  unsigned long long count = n / 4;
  unsigned long long stride = gridDim.x * 256ull;
  float a = 0, b = 0, c = 0, d = 0;
  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
#pragma unroll 1
  for (; i + 3 * stride < count; i += 4 * stride) {
    float4 v[4];  // all four are asked for before the first is added
#pragma unroll
    for (int r = 0; r < 4; r++) v[r] = __ldcs(vectors + i + r * stride);
#pragma unroll
    for (int r = 0; r < 4; r++) {
      a += v[r].x;
      b += v[r].y;
      c += v[r].z;
      d += v[r].w;
    }
  }
#pragma unroll 1
  for (; i < count; i += stride) {
    float4 v = vectors[i];
    a += v.x;
    b += v.y;
    c += v.z;
    d += v.w;
  }
  // The last n mod 4 elements belong to the thread whose vector they would have been part of.
  if (count % stride == blockIdx.x * 256ull + threadIdx.x)
    for (unsigned long long last = count * 4; last < n; last++) a += src[last];
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
