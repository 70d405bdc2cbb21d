// divergence/1_branches: a thousand steps of a Collatz-like walk, whose way at each step its own bits decide: `mixed` gives the
// lanes of a warp different numbers, so that both ways run at nearly every step; its twin `uniform` gives all lanes of a warp
// the same one, so that one does. asm volatile keeps the compiler from turning the branches into selects.
// The Go loop: for step { if v&1 != 0 { v = v*3 + 1 ^ v>>7; … } else { v = v>>1 + 0x9e3779b9; … } }
// targets: sm_80

static __device__ __forceinline__ unsigned walk(unsigned v, int steps) {
  unsigned sum = 0;
  for (int s = 0; s < steps; s++) {
    if (v >> 13 & 1) {
      asm volatile("" ::: "memory");
      v = v * 3 + 1;
      v ^= v >> 7;
      sum += v;
      v = v * 5 + (sum & 255);
      sum ^= v << 3;
    } else {
      asm volatile("" ::: "memory");
      v = (v >> 1) + 0x9e3779b9u;
      v ^= v << 5;
      sum -= v;
      v = v * 9 + (sum >> 24);
      sum ^= v >> 3;
    }
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(128) mixed(unsigned *__restrict__ out, const unsigned *__restrict__ in, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = walk(in[i], steps);
}

extern "C" __global__ void __launch_bounds__(128) uniform(unsigned *__restrict__ out, const unsigned *__restrict__ in, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = walk(in[i / 32 * 32], steps);
}
