// atomics/1_histogram: counts the lowest byte of n words: each CTA in shared memory, an atomic a word, then into global memory.
// The Go loop: for i { bins[v[i]&255]++ }
// targets: sm_80

extern "C" __global__ void __launch_bounds__(256) histogram(unsigned *__restrict__ bins, const unsigned *__restrict__ v, int n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[v[i] & 255], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
