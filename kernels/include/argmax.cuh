// argmax.cuh: the largest element of a stretch and where it stands first, by a CTA.
#pragma once

// ranked orders by value, then by the smaller index; NaN is below everything, and 0 is nothing.
static __device__ __forceinline__ unsigned long long ranked(float x, int index) {
  if (x != x) return 0;
  unsigned bits = __float_as_uint(x + 0.0f);  // -0 equals 0
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(bits) << 32 | static_cast<unsigned>(~index);
}

// place is the index of what ranked gave, -1 for nothing.
static __device__ __forceinline__ int place(unsigned long long best) { return best ? static_cast<int>(~static_cast<unsigned>(best)) : -1; }

// cta_best is the largest of a CTA's values; thread 0 has it.
static __device__ __forceinline__ unsigned long long cta_best(unsigned long long best) {
  __shared__ unsigned long long part[32];
  for (int lanes = 16; lanes > 0; lanes /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, lanes));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = best;
  __syncthreads();
  for (int i = 0; i < static_cast<int>(blockDim.x / 32); i++) best = max(best, part[i]);
  return best;
}
