// narrow.cuh: products of rows that don't start on 16 bytes, element by element, with as many loads in flight as pieces of 16
// bytes have. A source includes element.cuh before it.
#pragma once

// narrow_dot adds to each of R sums the products of a row of w [R, k] with x, over the columns first + lane, then every STEP further on;
// first is the same for the warp. Four columns a lane are loaded before any is multiplied, as long as the whole warp has them, so
// that no request is split between the unrolled loop and the rest. The weights are loaded as streaming (evict first).
// The Go loop: for r := range R { for i := first + lane; i < k; i += STEP { sum[r] += w[r*k+i] * x[i] } }
template <int STEP, int R, typename T>
static __device__ __forceinline__ void narrow_dot(float (&sum)[R], const T *w, const T *x, int k, int first, int lane) {
  constexpr int AHEAD = 4;
#pragma unroll 1
  for (; k - first >= STEP * (AHEAD - 1) + 32; first += STEP * AHEAD) {
    float a[AHEAD][R], b[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; j++) {
      int i = first + lane + j * STEP;
      b[j] = to_float(x[i]);
#pragma unroll
      for (int r = 0; r < R; r++) a[j][r] = to_float(__ldcs(w + static_cast<size_t>(r) * k + i));
    }
#pragma unroll
    for (int j = 0; j < AHEAD; j++)
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] = fmaf(a[j][r], b[j], sum[r]);
  }
#pragma unroll 1
  for (int i = first + lane; i < k; i += STEP) {
    float v = to_float(x[i]);
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = fmaf(to_float(__ldcs(w + static_cast<size_t>(r) * k + i)), v, sum[r]);
  }
}
