// parts/1_all: a row with everything that a row of the registry can have, for the tests of the registry.
//
// Predecessor: none.
// Idea: rows of packed bytes are added up, each by a thread; a second launch joins the rows' sums.
// Expect: one load of each byte.
// A profiler should show: two launches.
//
// The Go loop: for r := range rows { s := scale * (sum of q[index[r]]) + bias[r]; acc[r] += s; count[r] = packed; total += s }

extern "C" __global__ void parts_rows(int *count, float *acc, const unsigned char *q, const int *index, const float *bias, float *part,
    int rows, int packed, float scale, int negate) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < packed; i++) sum += q[index[r] * packed + i];
  float s = scale * sum;
  if (bias) s += bias[r];
  if (negate) s = -s;
  acc[r] += s;
  count[r] = packed;
  part[r] = s;
}

extern "C" __global__ void parts_join(float *total, const float *part, int rows) {
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rows; r++) sum += part[r];
  total[0] = sum;
}
