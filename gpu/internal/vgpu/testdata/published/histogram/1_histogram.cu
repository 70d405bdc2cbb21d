// Histograms of 256 bins: atomics on global memory, and on a copy of the CTA in shared memory.
typedef unsigned int u32;
extern "C" {
__global__ void global_atomics(const u32* in, u32* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[in[i] & 255], 1);
}
__global__ void shared_atomics(const u32* in, u32* bins, int n) {
    __shared__ u32 own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[in[i] & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
}
