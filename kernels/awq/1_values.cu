// awq/1_values: y[k,n] = (code[k,n] - zero[g,n]) * scale[g,n] in f16, from a layer's weight as AWQ packs it: 4 bits.
//
// targets: sm_75
// Predecessor: none. A thread a value would load its word eight times over and convert code and zero to floats.
// Idea: a word has eight columns of a row in the order 0 2 4 6 1 3 5 7, so that one mask takes two neighbouring columns, 16 bits apart: one
//   lop3 puts them into the mantissas of two f16 numbers near 1024. Less the zero's pair, made alike, they are exact; the scale rounds once.
//   A thread takes a word of eight rows, and writes 16 bytes a row.
// Expect: each word loaded once, 4 bytes a lane; zeros and scales once for eight rows where a group has no fewer; stores of 16 bytes a lane,
//   2KN in all; no conversion: 2KN FLOPs in f16.
// A profiler should show: DRAM at its roof, four fifths of it with writing.
//
// The Go loop: for k := range K { for n := range N { y[k,n] = f16(float32(code(words, k, n) - zero(zeros, k/size, n)) * scale[k/size,n]) } }

#include "element.cuh"

// pair is columns 2p and 2p + 1 of a word, each 1024 more.
static __device__ __forceinline__ __half2 pair_of(unsigned word, int p) {
  unsigned v;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(v) : "r"(word >> (4 * p)), "r"(0x000f000fu), "r"(0x64006400u));
  return *reinterpret_cast<__half2 *>(&v);
}

extern "C" __global__ void __launch_bounds__(256) awq_values(__half *__restrict__ y, const unsigned *__restrict__ words,
    const unsigned *__restrict__ zeros, const __half *__restrict__ scales, int k, int n, int size) {
  long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  int columns = n / 8, part = static_cast<int>(at / columns), column = static_cast<int>(at % columns);
  if (part >= k / 8) return;
  int next = part * 8;  // where zeros and scales are due
  unsigned code[8];
#pragma unroll
  for (int j = 0; j < 8; j++) code[j] = words[static_cast<size_t>(part * 8 + j) * columns + column];
  __half2 zero[4], scale[4];
#pragma unroll
  for (int j = 0; j < 8; j++) {
    int row = part * 8 + j;
    if (row == next) {
      int group = row / size;
      next = (group + 1) * size;
      unsigned z = zeros[static_cast<size_t>(group) * columns + column];
      *reinterpret_cast<uint4 *>(scale) = *reinterpret_cast<const uint4 *>(scales + static_cast<size_t>(group) * n + column * 8);
#pragma unroll
      for (int p = 0; p < 4; p++) zero[p] = pair_of(z, p);
    }
    uint4 out;
    __half2 *v = reinterpret_cast<__half2 *>(&out);
#pragma unroll
    for (int p = 0; p < 4; p++) v[p] = __hmul2(__hsub2(pair_of(code[j], p), zero[p]), scale[p]);
    *reinterpret_cast<uint4 *>(y + static_cast<size_t>(row) * n + column * 8) = out;
  }
}
