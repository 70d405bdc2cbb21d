// Transposes of an n × n matrix by tiles of 32 × 32 in shared memory, with and without a padded column; and of float4 tiles.
#define TILE(name, width)                                                                                              \
    extern "C" __global__ void name(const float* a, float* b, int n) {                                                 \
        __shared__ float tile[32][width];                                                                              \
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;                                      \
        for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = a[(size_t)(y + j) * n + x];               \
        __syncthreads();                                                                                               \
        x = blockIdx.y * 32 + threadIdx.x;                                                                             \
        y = blockIdx.x * 32 + threadIdx.y;                                                                             \
        for (int j = 0; j < 32; j += 8) b[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];               \
    }
TILE(tile32, 32)
TILE(tile33, 33)

// 64 × 64 tiles: 16-byte loads and stores, a padded tile, 16 × 16 threads.
extern "C" __global__ void padded_float4(const float* a, float* b, int n) {
    __shared__ float tile[64][65];
    int x = blockIdx.x * 64 + threadIdx.x * 4, y = blockIdx.y * 64 + threadIdx.y;
    for (int j = 0; j < 64; j += 16) {
        float4 v = *(const float4*)&a[(size_t)(y + j) * n + x];
        tile[threadIdx.y + j][threadIdx.x * 4 + 0] = v.x;
        tile[threadIdx.y + j][threadIdx.x * 4 + 1] = v.y;
        tile[threadIdx.y + j][threadIdx.x * 4 + 2] = v.z;
        tile[threadIdx.y + j][threadIdx.x * 4 + 3] = v.w;
    }
    __syncthreads();
    x = blockIdx.y * 64 + threadIdx.x * 4;
    y = blockIdx.x * 64 + threadIdx.y;
    for (int j = 0; j < 64; j += 16) {
        float4 v;
        v.x = tile[threadIdx.x * 4 + 0][threadIdx.y + j];
        v.y = tile[threadIdx.x * 4 + 1][threadIdx.y + j];
        v.z = tile[threadIdx.x * 4 + 2][threadIdx.y + j];
        v.w = tile[threadIdx.x * 4 + 3][threadIdx.y + j];
        *(float4*)&b[(size_t)(y + j) * n + x] = v;
    }
}
