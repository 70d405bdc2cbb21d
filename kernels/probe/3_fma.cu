// probe/3_fma: y[i] = f(f(... f(x[i]))) with f(v) = 0.999*v + 0.001, the FP32 roof of a device.
//
// Predecessor: 1_copy and 2_read never touch the FP32 pipe.
// Idea: eight independent chains a thread hide the latency of an FMA (4 cycles and more) behind each other; each chain
//   starts one further on, y is their mean; 8 bytes of traffic for 16 FLOPs an iteration; eight iterations a round of the loop.
// Expect: 16*iterations + 16 FLOPs a thread (eight starts, seven sums, one mean), all FP32; intensity 2*iterations FLOP/B and a bit:
//   far right of the ridge from 50 iterations on.
// A profiler should show: the FP32 pipe at 85 % or more, DRAM nearly idle.
//
// The Go loop: for i := range y { s := 0; for c := range 8 { v := x[i] + c + 1; for range iterations { v = 0.999*v + 0.001 }; s += v }; y[i] = s / 8 }

extern "C" __global__ void __launch_bounds__(256) probe_fma(float *__restrict__ y, const float *__restrict__ x, int n,
                                                           int iterations) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float v[8];
  float start = x[i];
#pragma unroll
  for (int c = 0; c < 8; c++) {
    v[c] = start + (c + 1);
    asm volatile("" : "+f"(v[c]));  // computed once, before the loops, whichever of them runs
  }
  int r = 0;
#pragma unroll 1
  for (; r + 8 <= iterations; r += 8) {
#pragma unroll
    for (int c = 0; c < 64; c++) v[c % 8] = fmaf(v[c % 8], 0.999f, 0.001f);
  }
#pragma unroll 1
  for (; r < iterations; r++) {
#pragma unroll
    for (int c = 0; c < 8; c++) v[c] = fmaf(v[c], 0.999f, 0.001f);
  }
  float sum = v[0];
#pragma unroll
  for (int c = 1; c < 8; c++) sum += v[c];
  y[i] = sum * 0.125f;
}
