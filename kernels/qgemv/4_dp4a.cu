// qgemv/4_dp4a: y[n] = sum over k of W[n,k]*x[k], W in a block format and x in Q8_1: products of bytes, four at a time.
//
// Predecessor: 3_packed turns every code into f16, that into f32, and multiplies it alone: three instructions a weight, which issue
//   slots do not have at DRAM's pace when a weight takes half a byte.
// Idea: x is rounded to 8 bits too (kernels.Run("quantize", xq, x) with a gpu.Q8_1 tensor, once for all matrices that read it). dp4a
//   adds four products of signed bytes to an integer, exactly; masks alone make bytes of nibbles. Scales of both sides multiply the
//   sum of a group, and an offset or minimum meets the sum of x's codes. A lane keeps its 64 values of x in registers for all rows of
//   its warp.
// Expect: less than half of 3_packed's instructions; the FP32 FLOPs fall to a few a group; the same bytes of W.
// A profiler should show: DRAM at its roof and issue slots to spare. The price is the rounding of x, which y's NMSE shows.
//
// The Go loop: for n := range y { for g := range groups { s, t := 0, 0
//   for k := range g { s += code[n,k] * xcode[k]; t += xcode[k] }; y[n] += xscale[g] * (scale[n,g] * (s - OFFSET*t) + minimum[n,g] * t) } }
// dp4a: PTX ISA 9.7.1.23. Rows that do not begin on 4 bytes, or are no multiple of 64 values, are decoded as in 2_fused; so are, once
// more, those whose sum is infinite or NaN, as in 3_packed. Q8_1 has no code for an infinity or NaN: its 32 values are all NaN.

#include "element.cuh"
#include "formats.cuh"
#include "stream.cuh"
#include "unpack.cuh"

constexpr int TILE = 2048, WARPS = 4;

// A lane's 64 values of x: codes in words, the scale of each half, and the sum of the codes of each group.
template <int GROUPS>
struct Activations {
  unsigned q[16];
  float d[2];
  int sum[GROUPS];
};

template <typename U>
static __device__ __forceinline__ float add(float sum, const U &w, const Activations<U::GROUPS> &x) {
  constexpr int PIECES = 8 / U::GROUPS;
#pragma unroll
  for (int g = 0; g < U::GROUPS; g++) {
    int dot = 0;
#pragma unroll
    for (int p = g * PIECES; p < (g + 1) * PIECES; p++) {
      uint2 c = w.codes(p);
      dot = __dp4a(static_cast<int>(c.x), static_cast<int>(x.q[2 * p]), dot);
      dot = __dp4a(static_cast<int>(c.y), static_cast<int>(x.q[2 * p + 1]), dot);
    }
    if (U::CODE_OFFSET != 0) dot -= U::CODE_OFFSET * x.sum[g];
    float part = static_cast<float>(dot) * (w.scale(g) * U::CODE_SCALE);
    if (U::MINIMA) part = fmaf(w.minimum(g), static_cast<float>(x.sum[g]), part);
    sum = fmaf(x.d[g * 2 / U::GROUPS], part, sum);
  }
  return sum;
}

// place is where piece p, 16 codes, of a lane's 64 lies: eight neighbouring lanes meet eight groups of banks.
static __device__ __forceinline__ int place(int lane, int p) { return lane * 4 + (p ^ (lane / 2 & 3)); }

template <typename F, typename U, int ROWS>
static __device__ __forceinline__ void bytes(__half *__restrict__ y, const unsigned char *__restrict__ w, const unsigned char *__restrict__ x, int n,
    int k) {
  __shared__ __align__(16) unsigned char ring[WARPS][2][ROWS][U::TILE];
  __shared__ uint4 codes[TILE / 16];
  __shared__ float scales[TILE / 32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = (blockIdx.x * WARPS + warp) * ROWS, rows = min(n - row, ROWS);
  int bytes = k / F::BLOCK * F::BYTES;  // of a row
  const unsigned char *from = w + static_cast<size_t>(row) * bytes;
  size_t misfit = reinterpret_cast<size_t>(w) | static_cast<size_t>(bytes);
  float sum[ROWS] = {};
  bool words = k % 64 == 0 && ((misfit | reinterpret_cast<size_t>(x)) & 3) == 0;
  if (words) {
    Stream<U::TILE, ROWS> stream = {static_cast<unsigned>(__cvta_generic_to_shared(ring[warp])), from, bytes, rows, (misfit & 15) == 0};
    stream.start(0);
    // The next tile of x waits in registers, a block of Q8_1 a thread, while this one is used.
    unsigned short scale = 0;
    uint4 low = {}, high = {};
    auto fetch = [&](int tile) {
      if (static_cast<int>(threadIdx.x) >= min(k - tile * TILE, TILE) / 32) return;
      const unsigned *from = reinterpret_cast<const unsigned *>(x) + (tile * (TILE / 32) + threadIdx.x) * 9;
      scale = *reinterpret_cast<const unsigned short *>(from);
      low = make_uint4(from[1], from[2], from[3], from[4]);
      high = make_uint4(from[5], from[6], from[7], from[8]);
    };
    fetch(0);
#pragma unroll 1
    for (int tile = 0; tile * TILE < k; tile++) {
      __syncthreads();  // the tile of x before is done with
      if (threadIdx.x < TILE / 32) {
        int block = threadIdx.x;
        scales[block] = __half2float(__ushort_as_half(scale));
        codes[place(block / 2, block % 2 * 2)] = low;
        codes[place(block / 2, block % 2 * 2 + 1)] = high;
      }
      __syncthreads();
      if ((tile + 1) * TILE < k) {
        stream.start(tile + 1);
        fetch(tile + 1);
      } else {
        stream.end();
      }
      stream.wait();
      if (lane * 64 < k - tile * TILE && rows > 0) {
        Activations<U::GROUPS> a;
#pragma unroll
        for (int p = 0; p < 4; p++) {
          uint4 v = codes[place(lane, p)];
          a.q[4 * p] = v.x, a.q[4 * p + 1] = v.y, a.q[4 * p + 2] = v.z, a.q[4 * p + 3] = v.w;
        }
        a.d[0] = scales[2 * lane], a.d[1] = scales[2 * lane + 1];
        if (U::CODE_OFFSET != 0 || U::MINIMA) {
#pragma unroll
          for (int g = 0; g < U::GROUPS; g++) {
            a.sum[g] = 0;
#pragma unroll
            for (int i = g * 16 / U::GROUPS; i < (g + 1) * 16 / U::GROUPS; i++) a.sum[g] = __dp4a(0x01010101, static_cast<int>(a.q[i]), a.sum[g]);
          }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          U unpacked;
          if (r >= rows) break;
          unpacked.load(reinterpret_cast<const unsigned *>(ring[warp][tile % 2][r]), lane);
          sum[r] = add(sum[r], unpacked, a);
        }
      }
      __syncwarp();  // before the next copies into this buffer
    }
  }
  bool whole = words;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {  // all sums side by side: their shuffles wait for each other otherwise
    sum[r] = warp_sum(sum[r]);
    whole = whole && settled(sum[r]);
  }
  if (whole) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (lane == 0 && r < rows) store(y + row + r, sum[r]);
    return;
  }
#pragma unroll 1
  for (int r = 0; r < rows; r++) {
    float total = warp_sum(decoded_row<F>(from + static_cast<size_t>(r) * bytes, k, [&](int i) { return Q8_1::value(x + i / 32 * 36, i % 32); }));
    if (lane == 0) store(y + row + r, total);
  }
}

#define BYTES(NAME, F, ROWS)                                                                                                             \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) qgemv_dp4a_##NAME(__half *__restrict__ y, const unsigned char *__restrict__ w, \
      const unsigned char *__restrict__ x, int n, int k) { bytes<F, Unpack##F, ROWS>(y, w, x, n, k); }

BYTES(q8_0, Q8_0, 2)
BYTES(q4_0, Q4_0, 4)
BYTES(q4_1, Q4_1, 4)
BYTES(q4_k, Q4_K, 4)
BYTES(q6_k, Q6_K, 2)
BYTES(mxfp4, MXFP4, 4)
