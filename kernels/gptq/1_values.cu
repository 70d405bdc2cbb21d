// gptq/1_values: y[k,n] = (code[k,n] - zero[g,n]) * scale[g,n] in f16, from a layer's weight as GPTQ packs it: 2, 3, 4 or 8 bits.
//
// targets: sm_75
// Predecessor: none. Codes lie along K, 32 of a column in as many words as a code has bits, so that a thread a value would read its word
//   32 / bits times over and take a shift by a number that only it knows.
// Idea: a thread takes 32 values of two neighbouring columns: their words are loaded once, the shifts are constants, and what a warp reads
//   and writes are neighbouring columns of a row.
// Expect: each word loaded once, 8 bytes a lane; of zeros and scales a request each for 32 rows where a group has no fewer; stores of 4 bytes
//   a lane, 2KN in all, 4 sectors a request.
// A profiler should show: DRAM busy, four fifths of it with writing what packing had saved: a product should read the codes instead.
//
// The Go loop: for k := range K { for n := range N { y[k,n] = f16(float32(code(words, k, n) - zero(zeros, g(k), n)) * scale[g(k),n]) } }
// groups (g_idx) is null where g(k) is k / size. The first format stores zero - 1: less is 1.

#include "element.cuh"

// zero_of gives the zeros of columns c, which is even, and c + 1: fields of a row of words along N.
template <int BITS>
static __device__ __forceinline__ int2 zero_of(const unsigned *row, int c, int less) {
  constexpr int MASK = (1 << BITS) - 1;
  int at = c * BITS;
  unsigned long long v = row[at / 32];
  if (BITS == 3 && at % 32 + 2 * BITS > 32) v |= static_cast<unsigned long long>(row[at / 32 + 1]) << 32;
  unsigned both = static_cast<unsigned>(v >> at % 32);
  return make_int2((both + less) & MASK, ((both >> BITS) + less) & MASK);
}

// code is field j of 32 in the words of a column.
template <int BITS>
static __device__ __forceinline__ int code(const unsigned (&words)[BITS], int j) {
  int at = j * BITS;
  unsigned v = words[at / 32] >> at % 32;
  if (at % 32 + BITS > 32) v |= words[at / 32 + 1] << (32 - at % 32);
  return v & ((1 << BITS) - 1);
}

template <int BITS>
static __device__ __forceinline__ void values(__half *__restrict__ y, const unsigned *__restrict__ words, const unsigned *__restrict__ zeros,
    const __half *__restrict__ scales, const int *__restrict__ groups, int k, int n, int size, int less) {
  long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  int pairs = n / 2, chunk = static_cast<int>(at / pairs), column = static_cast<int>(at % pairs) * 2;
  if (chunk >= k / 32) return;
  unsigned first[BITS], second[BITS];
#pragma unroll
  for (int b = 0; b < BITS; b++) {
    uint2 v = *reinterpret_cast<const uint2 *>(words + (static_cast<size_t>(chunk) * BITS + b) * n + column);
    first[b] = v.x, second[b] = v.y;
  }
  int group = -1, own = chunk * 32 / size, next = (own + 1) * size;  // the group by place, and where the next begins
  int2 zero = {};
  float2 scale = {};
#pragma unroll
  for (int j = 0; j < 32; j++) {
    int row = chunk * 32 + j;
    if (row == next) own++, next += size;
    int g = groups != nullptr ? groups[row] : own;
    if (g != group) {
      group = g;
      zero = zero_of<BITS>(zeros + static_cast<size_t>(g) * (n / 32 * BITS), column, less);
      scale = __half22float2(*reinterpret_cast<const __half2 *>(scales + static_cast<size_t>(g) * n + column));
    }
    *reinterpret_cast<__half2 *>(y + static_cast<size_t>(row) * n + column) = __floats2half2_rn(
        __fmul_rn(static_cast<float>(code(first, j) - zero.x), scale.x), __fmul_rn(static_cast<float>(code(second, j) - zero.y), scale.y));
  }
}

#define VALUES(BITS)                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256, 1) gptq_values_##BITS(__half *__restrict__ y, const unsigned *__restrict__ words, \
      const unsigned *__restrict__ zeros, const __half *__restrict__ scales, const int *__restrict__ groups, int k, int n, int size, \
      int less) { values<BITS>(y, words, zeros, scales, groups, k, n, size, less); }

VALUES(2)
VALUES(3)
VALUES(4)
VALUES(8)
