// attention_fill.cuh: tiles of queries, keys and values in padded rows of shared memory, for a CTA of four warps. Needs
// element.cuh, piece.cuh, words.cuh and tensor.cuh.
#pragma once

// Width says how rows of d elements of several matrices can be read: in 16-byte pieces, or else in words.
struct Width {
  bool wide, even;

  template <typename T>
  __device__ __forceinline__ Width(const T *q, const T *k, const T *v, int d) {
    wide = aligned16(q, k, d) && aligned16(v, v, d);
    even = words(q, k, d) && words(v, v, d);
  }
};

// fill copies N rows of up to DP elements to shared memory, zeros where there is nothing; rows are 16 bytes longer there, so
// that the same piece of eight rows lies in different banks.
template <int DP, int N, typename T>
static __device__ __forceinline__ void fill(T *tile, const T *matrix, int rows, int d, int first, Width width) {
  if (width.wide) {
    int row = threadIdx.x / (DP / 8), piece = threadIdx.x % (DP / 8) * 8;
    uint4 *to = reinterpret_cast<uint4 *>(tile + row * (DP + 8) + piece);
    constexpr int STEP = 128 / (DP / 8);
#pragma unroll
    for (int i = 0; i < N; i += STEP) to[i * (DP + 8) / 8] = load_piece(matrix, rows, d, first + row + i, piece, true);
  } else {
    unsigned start = shared_address(tile);
    copy_words<DP, N, 4, false>(
        threadIdx.x / 32, d, width.even, matrix, [&](int r, int i) { return start + (r * (DP + 8) + i * 2) * 2; },
        [&](int r) { return first + r < rows ? matrix + static_cast<size_t>(first + r) * d : nullptr; });
  }
}
