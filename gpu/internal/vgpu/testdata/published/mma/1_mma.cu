// targets: sm_80
// C = A·Bᵀ of n × n in bf16 with mma.sync m16n8k16, f32 accumulators, bf16 output: CTAs of 128 × 128 in steps of 64, eight warps
// of 64 × 32. From plain copies without padding to two stages of cp.async with a swizzle.
typedef unsigned int u32;
typedef unsigned short u16;

__device__ u32 address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void load4(u32* r, u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
__device__ void multiply(float* d, const u32* a, const u32* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void copy16(u32 to, const u16* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); }
__device__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N)); }
__device__ u32 pack(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

// PAD: elements behind a row. SWIZZLE: 16-byte pieces of a row are exchanged by its number. STAGES: tiles in flight; 0: plain loads.
template <int PAD, bool SWIZZLE, int STAGES> __device__ void gemm(const u16* A, const u16* B, u16* C, int n) {
    const int BK = 64, ROW = BK + PAD, TILE = 128 * ROW;
    extern __shared__ __align__(128) u16 tiles[];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wm = warp / 4, wn = warp % 4;
    A += (size_t)blockIdx.y * 128 * n;
    B += (size_t)blockIdx.x * 128 * n;
    float sum[4][4][4] = {};
    auto place = [&](int row, int piece) { return row * ROW + (SWIZZLE ? piece ^ (row & 7) : piece) * 8; };
    auto fetch = [&](int stage, int k) {
        u16* As = tiles + stage * 2 * TILE;
        u16* Bs = As + TILE;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int at = t + i * 256, row = at / 8, piece = at % 8;
            const u16 *a = A + (size_t)row * n + k + piece * 8, *b = B + (size_t)row * n + k + piece * 8;
            if (STAGES == 0) {
                *(uint4*)&As[place(row, piece)] = *(const uint4*)a;
                *(uint4*)&Bs[place(row, piece)] = *(const uint4*)b;
            } else {
                copy16(address(&As[place(row, piece)]), a);
                copy16(address(&Bs[place(row, piece)]), b);
            }
        }
        if (STAGES > 0) commit();
    };
    auto compute = [&](int stage) {
        u16* As = tiles + stage * 2 * TILE;
        u16* Bs = As + TILE;
#pragma unroll
        for (int kk = 0; kk < BK / 16; kk++) {
            u32 a[4][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) load4(a[i], address(&As[place(wm * 64 + i * 16 + lane % 16, kk * 2 + lane / 16)]));
#pragma unroll
            for (int j = 0; j < 2; j++) load4(b[j], address(&Bs[place(wn * 32 + j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2)]));
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) multiply(sum[i][j], a[i], &b[j / 2][j % 2 * 2]);
        }
    };
    if (STAGES < 2) {
        for (int k = 0; k < n; k += BK) {
            fetch(0, k);
            if (STAGES > 0) wait<0>();
            __syncthreads();
            compute(0);
            __syncthreads();
        }
    } else {
        fetch(0, 0);
        for (int k = 0; k < n; k += BK) {
            int stage = k / BK % 2;
            if (k + BK < n) {
                fetch(stage ^ 1, k + BK);
                wait<1>();
            } else {
                wait<0>();
            }
            __syncthreads();
            compute(stage);
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            size_t row = blockIdx.y * 128 + wm * 64 + i * 16 + lane / 4, column = blockIdx.x * 128 + wn * 32 + j * 8 + lane % 4 * 2;
            *(u32*)&C[row * n + column] = pack(sum[i][j][0], sum[i][j][1]);
            *(u32*)&C[(row + 8) * n + column] = pack(sum[i][j][2], sum[i][j][3]);
        }
}
#define STEP(name, pad, swizzle, stages)                                                                               \
    extern "C" __global__ void __launch_bounds__(256) name(const u16* A, const u16* B, u16* C, int n) { gemm<pad, swizzle, stages>(A, B, C, n); }
STEP(plain, 0, false, 0)
STEP(async_copy, 0, false, 1)
STEP(padded, 8, false, 1)
STEP(swizzled, 0, true, 1)
STEP(two_stages, 0, true, 2)
