// A matrix of f32 times a vector, a thread a row.
extern "C" __global__ void row_a_thread(const float* a, const float* x, float* y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < columns; c++) sum += a[(size_t)r * columns + c] * x[c];
    y[r] = sum;
}
