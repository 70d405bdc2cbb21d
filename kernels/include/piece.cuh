// piece.cuh: 16 bytes of a row of a matrix, whatever the row starts on. A source includes element.cuh before it.
#pragma once

// words says whether rows of k elements of two matrices start on 4 bytes.
template <typename T>
static __device__ __forceinline__ bool words(const T *a, const T *b, int k) {
  return ((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b) | static_cast<size_t>(k) * sizeof(T)) & 3) == 0;
}

// load_piece reads the 16 bytes of row `row` from column `col` on; what lies outside the matrix is zero. wide says that all rows
// start on 16 bytes, so that a piece that begins inside also ends inside. Else the loads are of words, or of single elements where
// rows of an odd number of them start on 2 bytes: none waits for the one before.
template <typename T>
static __device__ __forceinline__ uint4 load_piece(const T *matrix, int rows, int columns, int row, int col, bool wide) {
  constexpr int EACH = 4 / sizeof(T);
  if (row >= rows || col >= columns) return make_uint4(0, 0, 0, 0);
  const T *p = matrix + static_cast<size_t>(row) * columns + col;
  if (wide) return *reinterpret_cast<const uint4 *>(p);
  unsigned v[4];
  if (EACH == 1 || words(matrix, matrix, columns)) {
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = col + i * EACH < columns ? reinterpret_cast<const unsigned *>(p)[i] : 0;
  } else {
    const unsigned short *h = reinterpret_cast<const unsigned short *>(p);
    unsigned short halves[8];
#pragma unroll
    for (int i = 0; i < 8; i++) halves[i] = col + i < columns ? h[i] : static_cast<unsigned short>(0);
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = halves[2 * i] | static_cast<unsigned>(halves[2 * i + 1]) << 16;
  }
  return make_uint4(v[0], v[1], v[2], v[3]);
}
