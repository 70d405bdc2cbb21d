// pages.cuh: a page of a KV cache copied by CTAs, a slice of 16 KiB each.
#pragma once

constexpr int slice = 16384;

// copy_slice copies slice blockIdx.y of a page: 16 bytes a lane, four loads in flight; bytes where addresses ask for that.
static __device__ __forceinline__ void copy_slice(unsigned char *__restrict__ to, const unsigned char *__restrict__ from, int bytes) {
  int begin = blockIdx.y * slice, end = min(bytes, begin + slice);
  if (((reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes) & 15) == 0) {
    uint4 held[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      int at = begin + (threadIdx.x + i * 256) * 16;
      if (at < end) held[i] = *reinterpret_cast<const uint4 *>(from + at);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      int at = begin + (threadIdx.x + i * 256) * 16;
      if (at < end) *reinterpret_cast<uint4 *>(to + at) = held[i];
    }
    return;
  }
#pragma unroll 1
  for (int at = begin + threadIdx.x; at < end; at += 256) to[at] = from[at];
}
