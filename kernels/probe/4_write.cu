// probe/4_write: dst[i] = value, the DRAM roof of a device when it only writes.
//
// Predecessor: 1_copy turns the DRAM bus round between reads and writes; 2_read never writes.
// Idea: as 1_copy, with nothing to read, and eight vectors a thread, so that CTAs live long enough to hide their start.
// Expect: 512 B a request in 16 sectors, stores only; 4n bytes written; no FLOPs.
// A profiler should show: DRAM throughput at 80-92 % of the datasheet, all of it writes; no loads.
//
// The Go loop: for i := range dst { dst[i] = value }

extern "C" __global__ void __launch_bounds__(256) probe_write(float *__restrict__ dst, unsigned long long n, float value) {
  unsigned long long vectors = n / 4, first = blockIdx.x * 2048ull + threadIdx.x;
  float4 v = make_float4(value, value, value, value);
#pragma unroll
  for (int r = 0; r < 8; r++)
    if (first + r * 256 < vectors) reinterpret_cast<float4 *>(dst)[first + r * 256] = v;
  unsigned long long tail = vectors * 4 + first;  // the last n mod 4 elements: the first three threads take one each
  if (first < 4 && tail < n) dst[tail] = value;
}
