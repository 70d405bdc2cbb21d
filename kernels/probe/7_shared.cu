// probe/7_shared: y[i] = sum of vectors of a tile in shared memory, the bandwidth of a device's shared memory.
//
// Predecessor: 5_l2_read is bound by the path from L2 to the SMs.
// Idea: a CTA keeps 4 KiB of src in shared memory; each thread reads 16 bytes an iteration, neighbouring lanes neighbouring
//   bytes, so that all 32 banks deliver in every cycle.
// Expect: 16 B a lane and iteration, 4 wavefronts a request, no bank conflicts; 4 FP32 FLOPs an iteration and lane.
// A profiler should show: the shared-memory pipe near 128 B a cycle and SM, DRAM idle.
//
// The Go loop: for i := range y { for r := range iterations { for e := range 4 { y[i] += src[((i+32*r)%256)*4+e] } } }

extern "C" __global__ void __launch_bounds__(256) probe_shared(float *__restrict__ y, const float *__restrict__ src, int iterations) {
  __shared__ float4 tile[256];
  tile[threadIdx.x] = reinterpret_cast<const float4 *>(src)[threadIdx.x];
  __syncthreads();
  float a = 0, b = 0, c = 0, d = 0;
  int at = threadIdx.x;
#pragma unroll 8
  for (int r = 0; r < iterations; r++) {
    float4 v = tile[at];
    at = (at + 32) % 256;
    a += v.x;
    b += v.y;
    c += v.z;
    d += v.w;
  }
  y[blockIdx.x * 256 + threadIdx.x] = (a + b) + (c + d);
}
