// C = A·B of n × n in f32: the steps of the public ladders, from one thread an element to warp tiles.
extern "C" {
// A warp's lanes take different rows: loads of A and stores of C are scattered.
__global__ void scattered(const float* A, const float* B, float* C, int n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += A[x * n + i] * B[i * n + y];
        C[x * n + y] = sum;
    }
}
__global__ void coalesced(const float* A, const float* B, float* C, int n) {
    unsigned x = blockIdx.x * 32 + threadIdx.x / 32, y = blockIdx.y * 32 + threadIdx.x % 32;
    if (x < n && y < n) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += A[x * n + i] * B[i * n + y];
        C[x * n + y] = sum;
    }
}
__global__ void shared_tile(const float* A, const float* B, float* C, int n) {
    __shared__ float As[32 * 32], Bs[32 * 32];
    unsigned row = threadIdx.x / 32, column = threadIdx.x % 32;
    A += blockIdx.x * 32 * n;
    B += blockIdx.y * 32;
    C += blockIdx.x * 32 * n + blockIdx.y * 32;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        As[row * 32 + column] = A[row * n + column];
        Bs[row * 32 + column] = B[row * n + column];
        __syncthreads();
        A += 32;
        B += 32 * n;
        for (int i = 0; i < 32; ++i) sum += As[row * 32 + i] * Bs[i * 32 + column];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
// Each thread has one element in each of four tiles side by side.
__global__ void coarsened(const float* A, const float* B, float* C, int n) {
    __shared__ float As[32][32], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, start = blockIdx.x * 128 + tx;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < n / 32; ++k) {
        As[ty][tx] = A[row * n + k * 32 + tx];
        for (int c = 0; c < 4; ++c) {
            int column = start + c * 32;
            Bs[ty][tx] = B[(k * 32 + ty) * n + column];
            __syncthreads();
            for (int i = 0; i < 32; ++i) sum[c] += As[ty][i] * Bs[i][tx];
            __syncthreads();
        }
    }
    for (int c = 0; c < 4; ++c) C[row * n + start + c * 32] = sum[c];
}
__global__ void tile_1d(const float* A, const float* B, float* C, int n) {
    const int BM = 64, BN = 64, BK = 8, TM = 8;
    __shared__ float As[BM * BK], Bs[BK * BN];
    unsigned column = threadIdx.x % BN, row = threadIdx.x / BN;
    A += blockIdx.y * BM * n;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * n + blockIdx.x * BN;
    unsigned ca = threadIdx.x % BK, ra = threadIdx.x / BK, cb = threadIdx.x % BN, rb = threadIdx.x / BN;
    float sum[TM] = {0};
    for (unsigned k = 0; k < n; k += BK) {
        As[ra * BK + ca] = A[ra * n + ca];
        Bs[rb * BN + cb] = B[rb * n + cb];
        __syncthreads();
        A += BK;
        B += BK * n;
        for (unsigned i = 0; i < BK; ++i) {
            float b = Bs[i * BN + column];
            for (unsigned m = 0; m < TM; ++m) sum[m] += As[(row * TM + m) * BK + i] * b;
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < TM; ++m) C[(row * TM + m) * n + column] = sum[m];
}
__global__ void __launch_bounds__(256, 1) tile_2d(const float* A, const float* B, float* C, int n) {
    const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
    __shared__ float As[BM * BK], Bs[BK * BN];
    unsigned column = threadIdx.x % (BN / TN), row = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * n;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * n + blockIdx.x * BN;
    unsigned ra = threadIdx.x / BK, ca = threadIdx.x % BK, rb = threadIdx.x / BN, cb = threadIdx.x % BN;
    float sum[TM * TN] = {0}, a[TM], b[TN];
    for (unsigned k = 0; k < n; k += BK) {
        for (unsigned o = 0; o < BM; o += 32) As[(ra + o) * BK + ca] = A[(ra + o) * n + ca];
        for (unsigned o = 0; o < BK; o += 2) Bs[(rb + o) * BN + cb] = B[(rb + o) * n + cb];
        __syncthreads();
        A += BK;
        B += BK * n;
        for (unsigned i = 0; i < BK; ++i) {
            for (unsigned m = 0; m < TM; ++m) a[m] = As[(row * TM + m) * BK + i];
            for (unsigned m = 0; m < TN; ++m) b[m] = Bs[i * BN + column * TN + m];
            for (unsigned m = 0; m < TM; ++m)
                for (unsigned o = 0; o < TN; ++o) sum[m * TN + o] += a[m] * b[o];
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < TM; ++m)
        for (unsigned o = 0; o < TN; ++o) C[(row * TM + m) * n + column * TN + o] = sum[m * TN + o];
}
}

// Two-dimensional tiles with 16-byte global loads; with A stored transposed, both fragments are 16-byte shared loads too.
template <bool TRANSPOSED> __device__ void vectors(const float* A, const float* B, float* C, int n) {
    const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
    __shared__ __align__(16) float As[BM * BK];
    __shared__ __align__(16) float Bs[BK * BN];
    unsigned column = threadIdx.x % (BN / TN), row = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * n;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * n + blockIdx.x * BN;
    unsigned ra = threadIdx.x / (BK / 4), ca = threadIdx.x % (BK / 4), rb = threadIdx.x / (BN / 4), cb = threadIdx.x % (BN / 4);
    float sum[TM * TN] = {0}, a[TM], b[TN];
    for (unsigned k = 0; k < n; k += BK) {
        float4 t = *(const float4*)&A[ra * n + ca * 4];
        if (TRANSPOSED) {
            As[(ca * 4 + 0) * BM + ra] = t.x;
            As[(ca * 4 + 1) * BM + ra] = t.y;
            As[(ca * 4 + 2) * BM + ra] = t.z;
            As[(ca * 4 + 3) * BM + ra] = t.w;
        } else {
            *(float4*)&As[ra * BK + ca * 4] = t;
        }
        *(float4*)&Bs[rb * BN + cb * 4] = *(const float4*)&B[rb * n + cb * 4];
        __syncthreads();
        A += BK;
        B += BK * n;
        for (unsigned i = 0; i < BK; ++i) {
            for (unsigned m = 0; m < TM; ++m) a[m] = TRANSPOSED ? As[i * BM + row * TM + m] : As[(row * TM + m) * BK + i];
            for (unsigned m = 0; m < TN; ++m) b[m] = Bs[i * BN + column * TN + m];
            for (unsigned m = 0; m < TM; ++m)
                for (unsigned o = 0; o < TN; ++o) sum[m * TN + o] += a[m] * b[o];
        }
        __syncthreads();
    }
    for (unsigned m = 0; m < TM; ++m)
        for (unsigned o = 0; o < TN; o += 4)
            *(float4*)&C[(row * TM + m) * n + column * TN + o] =
                make_float4(sum[m * TN + o], sum[m * TN + o + 1], sum[m * TN + o + 2], sum[m * TN + o + 3]);
}
extern "C" __global__ void __launch_bounds__(256, 1) float4_loads(const float* A, const float* B, float* C, int n) {
    vectors<false>(A, B, C, n);
}
extern "C" __global__ void __launch_bounds__(256, 1) transposed(const float* A, const float* B, float* C, int n) {
    vectors<true>(A, B, C, n);
}

// Each warp has a tile of 64 × 64, each thread 4 × 1 pieces of 8 × 4 in it; 128 threads.
extern "C" __global__ void __launch_bounds__(128) warp_tile(const float* A, const float* B, float* C, int n) {
    const int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, ITER = 4, TM = 8, TN = 4;
    const int MITER = (WM * WN) / (32 * TM * TN * ITER), SM = WM / MITER, SN = WN / ITER;
    __shared__ __align__(16) float As[BM * BK];
    __shared__ __align__(16) float Bs[BK * BN];
    unsigned warp = threadIdx.x / 32, wc = warp % (BN / WN), wr = warp / (BN / WN);
    unsigned lane = threadIdx.x % 32, tc = lane % (SN / TN), tr = lane / (SN / TN);
    A += blockIdx.y * BM * n;
    B += blockIdx.x * BN;
    C += (blockIdx.y * BM + wr * WM) * n + blockIdx.x * BN + wc * WN;
    unsigned ra = threadIdx.x / (BK / 4), ca = threadIdx.x % (BK / 4), rb = threadIdx.x / (BN / 4), cb = threadIdx.x % (BN / 4);
    float sum[MITER * TM * ITER * TN] = {0}, a[MITER * TM], b[ITER * TN];
    for (unsigned k = 0; k < n; k += BK) {
        for (unsigned o = 0; o < BM; o += 32) {
            float4 t = *(const float4*)&A[(ra + o) * n + ca * 4];
            As[(ca * 4 + 0) * BM + ra + o] = t.x;
            As[(ca * 4 + 1) * BM + ra + o] = t.y;
            As[(ca * 4 + 2) * BM + ra + o] = t.z;
            As[(ca * 4 + 3) * BM + ra + o] = t.w;
        }
        for (unsigned o = 0; o < BK; o += 4) *(float4*)&Bs[(rb + o) * BN + cb * 4] = *(const float4*)&B[(rb + o) * n + cb * 4];
        __syncthreads();
        for (unsigned i = 0; i < BK; ++i) {
            for (unsigned s = 0; s < MITER; ++s)
                for (unsigned m = 0; m < TM; ++m) a[s * TM + m] = As[i * BM + wr * WM + s * SM + tr * TM + m];
            for (unsigned s = 0; s < ITER; ++s)
                for (unsigned m = 0; m < TN; ++m) b[s * TN + m] = Bs[i * BN + wc * WN + s * SN + tc * TN + m];
            for (unsigned s = 0; s < MITER; ++s)
                for (unsigned q = 0; q < ITER; ++q)
                    for (unsigned m = 0; m < TM; ++m)
                        for (unsigned o = 0; o < TN; ++o)
                            sum[(s * TM + m) * (ITER * TN) + q * TN + o] += a[s * TM + m] * b[q * TN + o];
        }
        A += BK;
        B += BK * n;
        __syncthreads();
    }
    for (unsigned s = 0; s < MITER; ++s)
        for (unsigned q = 0; q < ITER; ++q)
            for (unsigned m = 0; m < TM; ++m) {
                const float* v = &sum[(s * TM + m) * (ITER * TN) + q * TN];
                *(float4*)&C[(s * SM + tr * TM + m) * n + q * SN + tc * TN] = make_float4(v[0], v[1], v[2], v[3]);
            }
}
