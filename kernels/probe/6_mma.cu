// probe/6_mma: y[w] = iterations * A * B for every warp w, A 16 x 16 and B 16 x 8 in f16, the roof of mma.sync of a device.
//
// Predecessor: 3_fma fills the FP32 pipe and leaves the tensor cores idle.
// Idea: eight independent accumulators a warp hide the latency of an mma (33 cycles and more) behind each other; operands stay
//   in registers; y is the accumulators' mean.
// Expect: 2*16*8*16*8 tensor FLOPs an iteration and warp; 4 loads of 4 bytes a lane for A, 2 for B; 8 FP32 FLOPs for each of a
//   lane's four results.
// A profiler should show: the tensor pipe at 63 % of the datasheet on sm_90 (wgmma alone reaches more), near 100 % before.
//
// The Go loop: for w := range y { for range iterations { y[w] += A·B } }

#include "element.cuh"
#include "tensor.cuh"

extern "C" __global__ void __launch_bounds__(256) probe_mma(float *__restrict__ y, const __half *__restrict__ a,
                                                           const __half *__restrict__ b, int warps, int iterations) {
  int warp = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp >= warps) return;
  // Fragments as PTX ISA 9.7.14 draws them: rows lane/4 and 8 further down, columns 2*(lane%4) and 8 further right.
  const unsigned *rows = reinterpret_cast<const unsigned *>(a) + lane / 4 * 8 + lane % 4;
  const unsigned *columns = reinterpret_cast<const unsigned *>(b) + lane / 4 * 8 + lane % 4;
  unsigned fragment[4] = {rows[0], rows[64], rows[4], rows[68]};
  unsigned b0 = columns[0], b1 = columns[4];
  float c[8][4] = {};
#pragma unroll 1
  for (int r = 0; r < iterations; r++) {
#pragma unroll
    for (int chain = 0; chain < 8; chain++) mma(c[chain], fragment, b0, b1);
  }
  float *tile = y + static_cast<size_t>(warp) * 128;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float sum = c[0][i];
#pragma unroll
    for (int chain = 1; chain < 8; chain++) sum += c[chain][i];
    tile[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum * 0.125f;
  }
}
