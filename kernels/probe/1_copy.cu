// probe/1_copy: dst[i] = src[i], the DRAM roof of a device when it reads and writes.
//
// Predecessor: none; a probe defines a ceiling, it does not climb to one.
// Idea: 16 bytes a lane, neighbouring lanes at neighbouring addresses, one vector a thread, no reuse.
// Expect: 512 B a request in 16 sectors, the ideal; bytes 4n read and 4n written; no FLOPs.
// A profiler should show: DRAM throughput at 80-92 % of the datasheet, issue slots nearly idle.
//
// The Go loop: for i := range dst { dst[i] = src[i] }

extern "C" __global__ void __launch_bounds__(256) probe_copy(float *__restrict__ dst, const float *__restrict__ src,
                                                            unsigned long long n) {
  unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  unsigned long long vectors = n / 4;
  if (i < vectors) reinterpret_cast<float4 *>(dst)[i] = reinterpret_cast<const float4 *>(src)[i];
  unsigned long long tail = vectors * 4 + i;  // the last n mod 4 elements: the first three threads take one each
  if (i < 4 && tail < n) dst[tail] = src[tail];
}
