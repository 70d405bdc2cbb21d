// rmsnorm.cuh: one row's RMS norm by a CTA, for rmsnorm/3_vec16 and both steps of addnorm.
#pragma once
#include "rows.cuh"

// held is how many pieces of 16 bytes a thread keeps in registers: rows of up to 4 * 256 pieces are read once.
constexpr int held = 4;

// rms_row writes y = x * w / sqrt(mean(x*x) + eps). With Add, it first adds x to h and norms the sum: h is written back
// rounded, the norm takes the sum before that rounding.
template <typename T, bool Add>
static __device__ __forceinline__ void rms_row(T *__restrict__ y, T *__restrict__ h, const T *__restrict__ x, const T *__restrict__ w,
                                               int columns, float eps) {
  constexpr int n = wide<T>;
  float sum = 0;
  if (rows16<T>(columns, y, x, w, Add ? h : nullptr)) {  // uniform over the grid: rows are multiples of 16 bytes, or none is
    const uint4 *xv = reinterpret_cast<const uint4 *>(x), *wv = reinterpret_cast<const uint4 *>(w);
    uint4 *hv = reinterpret_cast<uint4 *>(h), *yv = reinterpret_cast<uint4 *>(y);
    int pieces = columns / n, step = blockDim.x;
    // take gives a piece of the row as f32: of x, or of the sum, which it also writes.
    auto take = [&](float (&v)[n], uint4 piece, int at) {
      unpack<T>(v, piece);
      if constexpr (Add) {
        float before[n];
        unpack<T>(before, hv[at]);
#pragma unroll
        for (int i = 0; i < n; i++) v[i] += before[i];
      }
    };
    uint4 kept[held];
    float value[held][n];
#pragma unroll
    for (int i = 0; i < held; i++) {
      int at = threadIdx.x + i * step;
      if (at < pieces) kept[i] = xv[at];
    }
#pragma unroll
    for (int i = 0; i < held; i++) {
      int at = threadIdx.x + i * step;
      if (at >= pieces) continue;
      take(value[i], kept[i], at);
#pragma unroll
      for (int j = 0; j < n; j++) sum = fmaf(value[i][j], value[i][j], sum);
    }
    for (int at = threadIdx.x + held * step; at < pieces; at += step) {
      float v[n];
      take(v, xv[at], at);
#pragma unroll
      for (int j = 0; j < n; j++) sum = fmaf(v[j], v[j], sum);
    }
    float scale = rsqrtf(cta_sum(sum) / static_cast<float>(columns) + eps);
    auto put = [&](float (&v)[n], int at) {
      float weight[n];
      unpack<T>(weight, wv[at]);
      if constexpr (Add) hv[at] = pack<T>(v);
#pragma unroll
      for (int j = 0; j < n; j++) v[j] = v[j] * scale * weight[j];
      yv[at] = pack<T>(v);
    };
#pragma unroll
    for (int i = 0; i < held; i++) {
      int at = threadIdx.x + i * step;
      if (at < pieces) put(value[i], at);
    }
    for (int at = threadIdx.x + held * step; at < pieces; at += step) {
      float v[n];
      take(v, xv[at], at);
      put(v, at);
    }
    return;
  }
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = to_float(x[c]);
    if constexpr (Add) v += to_float(h[c]);
    sum = fmaf(v, v, sum);
  }
  float scale = rsqrtf(cta_sum(sum) / static_cast<float>(columns) + eps);
#pragma unroll 1
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = to_float(x[c]);
    if constexpr (Add) {
      v += to_float(h[c]);
      store(h + c, v);
    }
    store(y + c, v * scale * to_float(w[c]));
  }
}
