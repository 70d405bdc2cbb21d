// tile.cuh: what GEMMs on the FP32 units share: tiles of a matrix in shared memory, transposed and as f32. A source includes
// element.cuh before it.
#pragma once

// copy_transposed copies rows first to first + ROWS - 1, columns k0 to k0 + BK - 1 of a matrix, lanes along a row; what lies
// outside the matrix is zero. A PITCH of 2 words more than a multiple of 32 keeps the 2 rows and 16 columns of a warp's
// store on different banks.
template <int ROWS, int BK, int THREADS, int PITCH, typename T>
static __device__ __forceinline__ void copy_transposed(float (&tile)[BK][PITCH], const T *matrix, int rows, int columns, int first, int k0) {
  int column = threadIdx.x % BK;
#pragma unroll
  for (int i = 0; i < ROWS; i += THREADS / BK) {
    int row = i + threadIdx.x / BK;
    bool inside = first + row < rows && k0 + column < columns;
    tile[column][row] = inside ? to_float(matrix[static_cast<size_t>(first + row) * columns + k0 + column]) : 0.0f;
  }
}
