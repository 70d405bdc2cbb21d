// stream.cuh: rows of packed weights on their way through shared memory, a warp for itself: copied in pieces of 16 or 4 bytes while the
// tile before is worked on. With sm_80 the copies are asynchronous (cp.async, PTX ISA 9.7.9.25); before, they are loads and stores.
#pragma once

template <int BYTES>
static __device__ __forceinline__ void copy_piece(unsigned to, const unsigned char *from) {
#if __CUDA_ARCH__ >= 800
  if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#else
  if (BYTES == 16) {
    uint4 v = *reinterpret_cast<const uint4 *>(from);
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
  } else {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(*reinterpret_cast<const unsigned *>(from)) : "memory");
  }
#endif
}

// Stream has two buffers of ROWS tiles of TILE bytes at a shared address, and rows of so many bytes in memory.
template <int TILE, int ROWS>
struct Stream {
  unsigned ring;
  const unsigned char *from;
  int bytes, rows;
  bool wide;  // rows start on 16 bytes, otherwise on 4

  // start begins to copy a tile of each row: tiles that are full in pieces that the compiler has counted.
  __device__ __forceinline__ void start(int tile) const {
    int lane = threadIdx.x % 32, part = min(bytes - tile * TILE, TILE);
    unsigned to = ring + tile % 2 * (ROWS * TILE);
    const unsigned char *source = from + tile * TILE;
#pragma unroll
    for (int r = 0; r < ROWS; r++, to += TILE, source += bytes) {
      if (r >= rows) break;
      if (part == TILE && wide) {
#pragma unroll
        for (int i = 0; i < TILE; i += 512)
          if (i + 512 <= TILE || i + lane * 16 < TILE) copy_piece<16>(to + lane * 16 + i, source + lane * 16 + i);
      } else {
        int step = wide ? 16 : 4;
#pragma unroll 1
        for (int i = lane * step; i < part; i += 32 * step) {
          if (wide) copy_piece<16>(to + i, source + i);
          else copy_piece<4>(to + i, source + i);
        }
      }
    }
    end();
  }

  static __device__ __forceinline__ void end() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }

  // wait returns when all tiles but the last one begun have arrived, for the whole warp.
  static __device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    __syncwarp();
  }
};
