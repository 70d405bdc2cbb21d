// linear/3_wgmma: Y = X*W^T + bias + residual, f16 or bf16, by warpgroups, TMA and pairs of CTAs.
//
// targets: sm_90a
// Predecessor: 2_fused adds where the product is, but its product is gemm/8_swizzle's: small tiles, waited-for copies, mma.sync.
// Idea: gemm/12_multicast, whose accumulators begin with bias + residual in place of zero: all of their loads are under way at once,
//   while the producer fills the ring, and wgmma does the addition.
// Expect: gemm/12_multicast's tensor FLOPs, requests of TMA and barriers; bias and residual read by the threads that add them, each
//   element of the residual once, of the bias 128 times for 256 rows of Y, out of L1.
// A profiler should show: the tensor pipe above 70 % for a long K; the additions hidden for K of 1024 and more.
//
// The Go loop: for m { for n { s := residual[m,n] + bias[n]; for k { s += X[m,k] * W[n,k] }; Y[m,n] = s } }
// K a multiple of 8 and addresses of 16 bytes, for TMA; where N is no multiple of 8 threads store their fragments.

#include "element.cuh"
#include "tensor.cuh"
#include "hopper.cuh"
#include "multicast.cuh"

// two reads neighbouring elements from a column on: a word, or one by one; what lies outside is zero.
template <bool WORDS, typename T>
static __device__ __forceinline__ float2 two(const T *__restrict__ row, int column, int n) {
  if constexpr (WORDS) return column < n ? pair(*reinterpret_cast<const unsigned *>(row + column), T()) : make_float2(0, 0);
  else return make_float2(column < n ? to_float(row[column]) : 0.0f, column + 1 < n ? to_float(row[column + 1]) : 0.0f);
}

// Addends begins a warpgroup's 64 x 256 sums with bias and residual. WORDS says that rows start on words.
template <bool WORDS, typename T>
struct Addends {
  static constexpr bool ADDS = true;
  const T *bias, *residual;
  int m, n;

  __device__ __forceinline__ void operator()(float (&acc)[128], int row, int tile) const {
    int lane = threadIdx.x % 32, r = row + threadIdx.x / 32 % 4 * 16 + lane / 4, column = tile * 256 + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const T *from = residual + static_cast<size_t>(r + 8 * half) * n;
      bool reads = residual && r + 8 * half < m;
#pragma unroll
      for (int j = 0; j < 32; j++) {
        float2 v = reads ? two<WORDS>(from, column + 8 * j, n) : make_float2(0, 0);
        acc[4 * j + 2 * half] = v.x, acc[4 * j + 2 * half + 1] = v.y;
      }
    }
    if (!bias) return;
#pragma unroll
    for (int j = 0; j < 32; j++) {
      float2 v = two<WORDS>(bias, column + 8 * j, n);
      acc[4 * j] += v.x, acc[4 * j + 1] += v.y, acc[4 * j + 2] += v.x, acc[4 * j + 3] += v.y;
    }
  }
};

#define MAP const __grid_constant__ TensorMap
#define LINEAR(NAME, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1)                                                                 \
      NAME(MAP y, MAP w, MAP x, const T *bias, const T *residual, int m, int n, int k) {                                        \
    Addends<true, T> addends{bias, residual, m, n};                                                                            \
    pair_product<T>(x, w, w, m, k, (n + 255) / 256, 256, 128, addends, [&](float (&acc)[128], int row, int tile, unsigned boxes, int id) { \
      leave_boxes<T, 256>(acc, y, row, tile * 256, n, boxes, id);                                                              \
    });                                                                                                                        \
  }                                                                                                                            \
  extern "C" __global__ void __launch_bounds__(PAIR_THREADS, 1)                                                                 \
      NAME##_ragged(T *__restrict__ y, MAP w, MAP x, const T *bias, const T *residual, int m, int n, int k) {                   \
    Addends<false, T> addends{bias, residual, m, n};                                                                           \
    pair_product<T>(x, w, w, m, k, (n + 255) / 256, 256, 128, addends, [&](float (&acc)[128], int row, int tile, unsigned, int) { \
      leave_fragments<T, 256>(acc, y, row, tile * 256, m, n);                                                                  \
    });                                                                                                                        \
  }
LINEAR(linear_wgmma, __half)
LINEAR(linear_wgmma_bf16, __nv_bfloat16)
