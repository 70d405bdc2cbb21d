// layernorm/3_vec16: y[r,c] = (x[r,c] - mean) * w[c] / sqrt(variance + eps) + b[c] over each row, in f32, a CTA a row read once.
//
// Predecessor: 2_warp moves 64 bytes a request and reads every element of x three times.
// Idea: up to 256 threads take a row, 16 bytes a lane, and keep their pieces in registers for all three passes (four pieces a
//   thread: 8,192 halves); longer rows read the rest again.
// Expect: three reads (x, w, b) and one write an element in place of five and one, an eighth of the requests a byte (a quarter
//   in f32), 16 sectors each, the ideal. Four barriers a row, none where a warp is enough. Rows whose length is no multiple of
//   16 bytes take 2_warp's loops, a CTA a row.
// A profiler should show: DRAM throughput at 80 % of the datasheet or more for large inputs; w and b come from L2.
//
// The Go loop: 1_naive's, thread t taking the columns c with c/8%threads == t.

#include "rows.cuh"

constexpr int held = 4;  // pieces of 16 bytes that a thread keeps

// each calls f with every piece of this thread, from registers where it is there.
template <typename T, typename F>
static __device__ __forceinline__ void each(const uint4 (&kept)[held], const uint4 *__restrict__ row, int pieces, F f) {
#pragma unroll
  for (int i = 0; i < held; i++) {
    int at = threadIdx.x + i * blockDim.x;
    float v[wide<T>];
    unpack<T>(v, kept[i]);
    if (at < pieces) f(v, at);
  }
  for (int at = threadIdx.x + held * blockDim.x; at < pieces; at += blockDim.x) {
    float v[wide<T>];
    unpack<T>(v, row[at]);
    f(v, at);
  }
}

template <typename T>
static __device__ __forceinline__ void norm(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, const T *__restrict__ b,
                                            int columns, float eps) {
  constexpr int n = wide<T>;
  float sum = 0, squares = 0;
  if (rows16<T>(columns, y, x, w, b)) {
    const uint4 *xv = reinterpret_cast<const uint4 *>(x), *wv = reinterpret_cast<const uint4 *>(w), *bv = reinterpret_cast<const uint4 *>(b);
    uint4 *yv = reinterpret_cast<uint4 *>(y);
    int pieces = columns / n;
    uint4 kept[held];
#pragma unroll
    for (int i = 0; i < held; i++) {
      int at = threadIdx.x + i * blockDim.x;
      kept[i] = at < pieces ? xv[at] : make_uint4(0, 0, 0, 0);
    }
    each<T>(kept, xv, pieces, [&](float (&v)[n], int) {
#pragma unroll
      for (int i = 0; i < n; i++) sum += v[i];
    });
    float mean = cta_sum(sum) / static_cast<float>(columns);
    each<T>(kept, xv, pieces, [&](float (&v)[n], int) {
#pragma unroll
      for (int i = 0; i < n; i++) squares = fmaf(v[i] - mean, v[i] - mean, squares);
    });
    float scale = rsqrtf(cta_sum(squares) / static_cast<float>(columns) + eps);
    each<T>(kept, xv, pieces, [&](float (&v)[n], int at) {
      float weight[n], bias[n] = {};
      unpack<T>(weight, wv[at]);
      if (b) unpack<T>(bias, bv[at]);
#pragma unroll
      for (int i = 0; i < n; i++) v[i] = fmaf((v[i] - mean) * scale, weight[i], bias[i]);
      yv[at] = pack<T>(v);
    });
    return;
  }
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += to_float(x[c]);
  float mean = cta_sum(sum) / static_cast<float>(columns);
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float d = to_float(x[c]) - mean;
    squares = fmaf(d, d, squares);
  }
  float scale = rsqrtf(cta_sum(squares) / static_cast<float>(columns) + eps);
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += blockDim.x) store(y + c, fmaf((to_float(x[c]) - mean) * scale, to_float(w[c]), b ? to_float(b[c]) : 0));
}

#define ENTRY(name, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256, 3) name(T *__restrict__ y, const T *__restrict__ x, const T *__restrict__ w, \
                                                         const T *__restrict__ b, int columns, float eps) {                   \
    size_t at = static_cast<size_t>(blockIdx.x) * columns;                                                                    \
    norm(y + at, x + at, w, b, columns, eps);                                                                                 \
  }
ENTRY(layernorm_vec16, __half)
ENTRY(layernorm_vec16_bf16, __nv_bfloat16)
ENTRY(layernorm_vec16_f32, float)
