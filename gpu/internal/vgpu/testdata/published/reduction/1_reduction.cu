// Sums: the seven classic steps of one CTA's tree, and a grid-stride sum.
typedef unsigned int u32;
extern "C" {
__global__ void interleaved(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
// As before for CTAs of 256 threads, which the compiler knows: its loop is unrolled and nothing is divided.
__global__ void interleaved_256(const u32* in, u32* out) {
    __shared__ u32 s[256];
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (u32 d = 1; d < 256; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void strided_index(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d *= 2) {
        u32 x = 2 * d * t;
        if (x < blockDim.x) s[x] += s[x + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void sequential(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void first_add(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
    s[t] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (u32 d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__device__ void last_warp(volatile u32* s, u32 t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
__global__ void unrolled_warp(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
    s[t] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (u32 d = blockDim.x / 2; d > 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) last_warp(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}
__device__ void tree512(u32* s, u32 t) {
    if (t < 256) s[t] += s[t + 256];
    __syncthreads();
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) last_warp(s, t);
}
__global__ void unrolled(const u32* in, u32* out) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = in[i] + in[i + 512];
    __syncthreads();
    tree512(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void several(const u32* in, u32* out, u32 n) {
    extern __shared__ u32 s[];
    u32 t = threadIdx.x, grid = 1024 * gridDim.x, a = 0;
    for (u32 i = blockIdx.x * 1024 + t; i < n; i += grid) a += in[i] + in[i + 512];
    s[t] = a;
    __syncthreads();
    tree512(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void grid_stride(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float a = 0;
    for (size_t i = blockIdx.x * blockDim.x + t; i < n; i += (size_t)blockDim.x * gridDim.x) a += in[i];
    s[t] = a;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
}
