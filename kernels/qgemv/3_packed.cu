// qgemv/3_packed: y[n] = sum over k of W[n,k]*x[k], W in a block format, streamed through shared memory and unpacked in words.
//
// Predecessor: 2_fused spends two or three loads, a bit field and a conversion from integer (a quarter of the rate of other
//   instructions) on every value.
// Idea: a warp streams tiles of 2048 values of two rows into shared memory, 16 bytes a lane, one tile ahead; a lane takes 64
//   neighbouring values, scale and all, in whole words. lop3 puts two codes at once into the mantissas of a pair of f16 numbers
//   near 1024, prmt does so for bytes: subtracting 1024 leaves the exact code without a conversion. The scale multiplies a group's sum.
// Expect: W is loaded once, 16 sectors a request; a tile of x serves the rows of eight warps (four where a
//   weight has more bits); less than half of 2_fused's instructions.
// A profiler should show: DRAM busy; issue slots the next limit, which for four bits come close: this is what a 4-bit weight costs.
//
// The Go loop: for n := range y { for g := range groups { y[n] += scale[n,g] * sum of code[n,k]*x[k] over k in g, + minimum * sum of x } }
// Rows that do not begin on 4 bytes, or are no multiple of 64 values, are decoded as in 2_fused; so are, once more, those whose sum is
// infinite or NaN: codes and minimum apart say nothing of what an infinite x or scale makes of the weight.

#include "element.cuh"
#include "formats.cuh"
#include "stream.cuh"
#include "unpack.cuh"

constexpr int TILE = 2048, PANEL = 2, ROWS = 2;  // values, tiles of x in shared memory, rows a warp

// place is where piece p of a lane's 64 values of x lies: eight neighbouring lanes meet eight different groups of banks.
static __device__ __forceinline__ int place(int lane, int p) { return lane * 8 + (p ^ (lane & 7)); }

// add multiplies a lane's 64 values of each row by x.
template <typename U>
static __device__ __forceinline__ void add(float (&sum)[ROWS], const U (&w)[ROWS], const uint4 *x, int lane) {
  constexpr int PIECES = 8 / U::GROUPS;
#pragma unroll
  for (int g = 0; g < U::GROUPS; g++) {
    float part[ROWS] = {}, all = 0;
#pragma unroll
    for (int p = g * PIECES; p < (g + 1) * PIECES; p++) {
      uint4 piece = x[place(lane, p)];
      const unsigned words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float2 a = __half22float2(as_half2(words[2 * half])), b = __half22float2(as_half2(words[2 * half + 1]));
        if (U::MINIMA) all += (a.x + a.y) + (b.x + b.y);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          __half2 v[4];
          w[r].pairs(p, v);
          float2 even = __half22float2(v[2 * half]), odd = __half22float2(v[2 * half + 1]);
          part[r] = fmaf(even.x, a.x, part[r]);
          part[r] = fmaf(odd.x, a.y, part[r]);
          part[r] = fmaf(even.y, b.x, part[r]);
          part[r] = fmaf(odd.y, b.y, part[r]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      sum[r] = fmaf(w[r].scale(g), part[r], sum[r]);
      if (U::MINIMA) sum[r] = fmaf(w[r].minimum(g), all, sum[r]);
    }
  }
}

template <typename F, typename U>
static __device__ __forceinline__ void packed(__half *__restrict__ y, const unsigned char *__restrict__ w, const __half *__restrict__ x, int n, int k) {
  __shared__ __align__(16) unsigned char ring[U::WARPS][2][ROWS][U::TILE];
  __shared__ uint4 panel[PANEL][TILE / 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = (blockIdx.x * U::WARPS + warp) * ROWS, rows = min(n - row, ROWS);
  int bytes = k / F::BLOCK * F::BYTES;  // of a row
  const unsigned char *from = w + static_cast<size_t>(row) * bytes;
  size_t misfit = reinterpret_cast<size_t>(w) | static_cast<size_t>(bytes);
  float sum[ROWS] = {};
  bool words = k % 64 == 0 && (misfit & 3) == 0;
  if (words) {
    Stream<U::TILE, ROWS> stream = {static_cast<unsigned>(__cvta_generic_to_shared(ring[warp])), from, bytes, rows, (misfit & 15) == 0};
    bool wide = (reinterpret_cast<size_t>(x) & 15) == 0;
    stream.start(0);
#pragma unroll 1
    for (int tile = 0; tile * TILE < k; tile++) {
      if (tile % PANEL == 0) {
        __syncthreads();  // the panel before is done with
        int first = tile * TILE / 8, pieces = min(k / 8 - first, PANEL * TILE / 8);
#pragma unroll 1
        for (int i = threadIdx.x; i < pieces; i += U::WARPS * 32) {
          uint4 v;
          if (wide) {
            v = reinterpret_cast<const uint4 *>(x)[first + i];
          } else {
            const unsigned short *h = reinterpret_cast<const unsigned short *>(x) + (first + i) * 8;
            v = make_uint4(h[0] | h[1] << 16, h[2] | h[3] << 16, h[4] | h[5] << 16, h[6] | h[7] << 16);
          }
          panel[i / (TILE / 8)][place(i / 8 % 32, i % 8)] = v;
        }
        __syncthreads();
      }
      if ((tile + 1) * TILE < k) stream.start(tile + 1);
      else stream.end();
      stream.wait();
      if (lane * 64 < k - tile * TILE && rows > 0) {
        U unpacked[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) unpacked[r].load(reinterpret_cast<const unsigned *>(ring[warp][tile % 2][min(r, rows - 1)]), lane);
        add(sum, unpacked, panel[tile % PANEL], lane);
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
    float total = warp_sum(decoded_row<F>(from + static_cast<size_t>(r) * bytes, k, [&](int i) { return to_float(x[i]); }));
    if (lane == 0) store(y + row + r, total);
  }
}

#define PACKED(NAME, F)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(Unpack##F::WARPS * 32) qgemv_packed_##NAME(__half *__restrict__ y,                         \
      const unsigned char *__restrict__ w, const __half *__restrict__ x, int n, int k) { packed<F, Unpack##F>(y, w, x, n, k); }

PACKED(q8_0, Q8_0)
PACKED(q4_0, Q4_0)
PACKED(q4_1, Q4_1)
PACKED(q4_k, Q4_K)
PACKED(q6_k, Q6_K)
PACKED(mxfp4, MXFP4)
