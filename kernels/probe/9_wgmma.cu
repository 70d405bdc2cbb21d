// probe/9_wgmma: y[c] = iterations * A * B^T for every CTA c, A 64 x 64 and B 256 x 64 in f16, the roof of wgmma of a device.
//
// targets: sm_90a
// Predecessor: 6_mma shows two thirds of what Hopper's tensor cores can do: mma.sync takes its operands from registers.
// Idea: one warpgroup a CTA, two CTAs an SM; both operands stay in shared memory, where TMA has put them in wgmma's swizzle. A
//   wgmma m64n256k16 adds to the accumulators of the one before without waiting for it; groups of four are two deep.
// Expect: 4*2*64*256*16 tensor FLOPs an iteration and CTA; two requests of TMA a CTA; 64 stores of 8 bytes a lane;
//   no FP32 FLOPs.
// A profiler should show: the tensor pipe above 95 % while the clock holds; power, not the pipe, limits long runs.
//
// The Go loop: for c := range y { for range iterations { y[c] += A·Bᵀ } }

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"

extern __shared__ unsigned char operands[];  // A, then B, rows of 128 bytes

extern "C" __global__ void __launch_bounds__(128, 2)
    probe_wgmma(float *__restrict__ y, const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, int iterations) {
  __shared__ __align__(8) unsigned long long arrived;
  unsigned tiles = (shared_address(operands) + 1023) & ~1023u, barrier = shared_address(&arrived);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barriers_visible();
    barrier_expect(barrier, (64 + 256) * 128);
    tma_load(tiles, a, 0, 0, barrier);
    tma_load(tiles + 64 * 128, b, 0, 0, barrier);
  }
  __syncthreads();
  barrier_wait(barrier, 0);
  unsigned long long rows = matrix_descriptor(tiles), columns = matrix_descriptor(tiles + 64 * 128);
  float acc[128];
#pragma unroll 1
  for (int r = 0; r < iterations; r++) {
    keep(acc);
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; kk++) wgmma<__half, 256>(acc, rows + 2 * kk, columns + 2 * kk, r + kk);
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
  keep(acc);
  int lane = threadIdx.x % 32;
  float *to = y + (static_cast<size_t>(blockIdx.x) * 64 + threadIdx.x / 32 * 16 + lane / 4) * 256 + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 32; j++) {
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(to + 8 * j), "f"(acc[4 * j]), "f"(acc[4 * j + 1]) : "memory");
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(to + 8 * 256 + 8 * j), "f"(acc[4 * j + 2]), "f"(acc[4 * j + 3]) : "memory");
  }
}
