// logsoftmax/2_online: y[r,c] = x[r,c] - log of the sum over the row of exp(x), f32, a CTA a row, maximum and sum in one pass.
//
// Predecessor: 1_warp reads every element three times, by one warp.
// Idea: 512 threads a row, 16 bytes a lane; a running maximum and the sum relative to it, as softmax/3_online.
// Expect: two reads and one write an element in place of three and one, a sixth of the load requests, 16 sectors each. Rows
//   that are no multiple of 16 bytes go an element at a time.
// A profiler should show: sixteen warps on a row in place of one; the second read hits L2 while the rows under way fit into it.
//
// The Go loop: m, s := -inf, 0; for c { n := max(m, x[c]); s = s*exp(m-n) + exp(x[c]-n); m = n }; for c { y[c] = x[c] - m - log(s) }

#include "rows.cuh"

// rescale is exp(from - to), where -inf (nothing seen yet) counts nothing.
static __device__ __forceinline__ float rescale(float from, float to) {
  return from == __int_as_float(0xff800000) ? 0 : __expf(from - to);
}

struct Online {
  float top, sum;
  __device__ __forceinline__ void add(float other, float others) {
    float next = fmaxf(top, other);
    sum = sum * rescale(top, next) + others * rescale(other, next);
    top = next;
  }
};

extern "C" __global__ void __launch_bounds__(512) logsoftmax_online(float *__restrict__ y, const float *__restrict__ x, int columns) {
  __shared__ Online part[16];
  const float *in = x + static_cast<size_t>(blockIdx.x) * columns;
  float *out = y + static_cast<size_t>(blockIdx.x) * columns;
  const float inf = __int_as_float(0x7f800000);
  Online all = {-inf, 0};
  bool whole = rows16<float>(columns, x, y);
  if (whole) {
#pragma unroll 2
    for (int i = threadIdx.x; i < columns / 4; i += 512) {
      float4 v = reinterpret_cast<const float4 *>(in)[i];
      float top = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
      all.add(top, rescale(v.x, top) + rescale(v.y, top) + rescale(v.z, top) + rescale(v.w, top));
    }
  } else {
#pragma unroll 1
    for (int c = threadIdx.x; c < columns; c += 512) all.add(in[c], 1);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, all.top, lanes), others = __shfl_xor_sync(0xffffffffu, all.sum, lanes);
    all.add(other, others);
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = all;
  __syncthreads();
  all = part[0];
  for (int i = 1; i < 16; i++) all.add(part[i].top, part[i].sum);
  float top = all.top == -inf ? 0 : all.top, rest = logf(all.sum);
  if (rest == -inf) rest = 0;
  if (whole) {
#pragma unroll 2
    for (int i = threadIdx.x; i < columns / 4; i += 512) {
      float4 v = reinterpret_cast<const float4 *>(in)[i];
      reinterpret_cast<float4 *>(out)[i] = make_float4(v.x - top - rest, v.y - top - rest, v.z - top - rest, v.w - top - rest);
    }
  } else {
#pragma unroll 1
    for (int c = threadIdx.x; c < columns; c += 512) out[c] = in[c] - top - rest;
  }
}
