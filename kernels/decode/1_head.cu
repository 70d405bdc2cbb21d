// decode/1_head: o = softmax(scale*q*k^T)*v for one new query a sequence, a CTA for each query head.
//
// Predecessor: none. Decode reads the whole KV cache for one token: 2 bytes an element, 2 FLOPs, whatever the batch.
// Idea: four warps take turns at the keys; a warp's lanes share the D products of a dot product, add them by shuffles, and
//   keep the running maximum, sum and result of an online softmax. The warps' results meet at the end.
// Expect: K and V are requested once for each QUERY head, Hq/Hkv times what is there; 2 sectors a request, 2*Hq*S*D/32 of
//   them; FP32 FLOPs: 4*Hq*S*D and 5*32 adds a score for the shuffles.
// A profiler should show: few loads in flight, L2 serving what other heads of the group have fetched.
//
// The Go loop: for h { m, l, o := -inf, 0, 0; for j { s := scale * dot(q[h], k[h/group][j]); n := max(m, s); l = l*exp(m-n) + exp(s-n); o = o*exp(m-n) + exp(s-n)*v[j]; m = n }; o /= l }

#include "element.cuh"
#include "attention.cuh"

// head computes one head; a lane has elements lane, lane + 32 and so on of up to 32 * N.
template <typename T, int N>
static __device__ __forceinline__ void head(T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
    const int *__restrict__ lengths, int hq, int hkv, int s, int d, float scale, int window, float cap) {
  __shared__ float results[4][32 * N], tops[4], sums[4];
  int h = blockIdx.x, b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int to = lengths == nullptr ? s : lengths[b], from = window > 0 ? max(0, to - window) : 0;
  size_t first = (static_cast<size_t>(b) * hkv + h / (hq / hkv)) * s;
  q += (static_cast<size_t>(b) * hq + h) * d;
  o += (static_cast<size_t>(b) * hq + h) * d;
  Scores score(scale, cap, d);
  float query[N], acc[N] = {}, top = -infinity(), sum = 0;
#pragma unroll
  for (int x = 0; x < N; x++) query[x] = lane + x * 32 < d ? to_float(q[lane + x * 32]) : 0;
#pragma unroll 2
  for (int j = from + warp; j < to; j += 4) {
    const T *key = k + (first + j) * d + lane, *value = v + (first + j) * d + lane;
    float dot = 0;
#pragma unroll
    for (int x = 0; x < N; x++) dot = fmaf(query[x], lane + x * 32 < d ? to_float(key[x * 32]) : 0, dot);
    float weight = score(warp_sum(dot));
    float next = fmaxf(top, weight), base = next == -infinity() ? 0 : next;  // -inf - -inf would be NaN
    float fade = ex2(top - base);
    weight = ex2(weight - base);
    top = next;
    sum = fmaf(sum, fade, weight);
#pragma unroll
    for (int x = 0; x < N; x++) acc[x] = fmaf(acc[x], fade, weight * (lane + x * 32 < d ? to_float(value[x * 32]) : 0));
  }
#pragma unroll
  for (int x = 0; x < N; x++) results[warp][lane + x * 32] = acc[x];
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
  __syncthreads();
  for (int x = threadIdx.x; x < d; x += 128) {
    float most = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3])), total = 0, result = 0;
    float base = most == -infinity() ? 0 : most;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      float weight = ex2(tops[w] - base);
      total = fmaf(weight, sums[w], total);
      result = fmaf(weight, results[w][x], result);
    }
    store(o + x, total == 0 ? 0 : result / total);
  }
}

#define HEAD(NAME, T, N)                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128, 8) NAME(                                                               \
      T *__restrict__ o, const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,                        \
      const int *__restrict__ lengths, int b, int hq, int hkv, int s, int d, float scale, int window, float cap) {         \
    head<T, N>(o, q, k, v, lengths, hq, hkv, s, d, scale, window, cap);                                                    \
  }

HEAD(decode_head_64, __half, 2)
HEAD(decode_head_128, __half, 4)
HEAD(decode_head_256, __half, 8)
HEAD(decode_head_64_bf16, __nv_bfloat16, 2)
HEAD(decode_head_128_bf16, __nv_bfloat16, 4)
HEAD(decode_head_256_bf16, __nv_bfloat16, 8)
