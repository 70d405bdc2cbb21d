"""The CUDA C++ of nvrtc_cases.py."""

FLOATS = r'''
extern "C" __global__ void floats(const float* px, const float* py, float* out) {
    int i = threadIdx.x, n = blockDim.x;
    float x = px[i], y = py[i], p = fabsf(x) + 0.01f, u = fminf(fmaxf(x / 8, -1.f), 1.f), t;
    double pd = fabs((double)x) + 0.01;
    (void)pd;
    int k = 0;
#define ROW(e) out[n * k++ + i] = (e)
    ROW(sinf(x)); ROW(cosf(x)); ROW(tanf(u * 1.5f)); ROW(expf(fminf(fmaxf(x, -80.f), 80.f))); ROW(exp2f(fminf(fmaxf(x, -80.f), 80.f))); ROW(exp10f(fminf(fmaxf(x, -30.f), 30.f)));
    ROW(expm1f(fminf(fmaxf(x, -80.f), 80.f))); ROW(logf(p)); ROW(log2f(p)); ROW(log10f(p)); ROW(log1pf(p)); ROW(sqrtf(p)); ROW(rsqrtf(p)); ROW(cbrtf(x)); ROW(sinhf(u * 8)); ROW(coshf(u * 8));
    ROW(tanhf(x)); ROW(asinf(u)); ROW(acosf(u)); ROW(atanf(x)); ROW(atan2f(x, y)); ROW(asinhf(x)); ROW(acoshf(p + 1)); ROW(atanhf(u * 0.99f)); ROW(erff(u * 4)); ROW(erfcf(u * 4));
    ROW(tgammaf(fabsf(u) * 5 + 0.5f)); ROW(lgammaf(p + 1)); ROW(powf(p, y)); ROW(hypotf(x, y)); ROW((float)fmod((double)x, pd / 3)); ROW(remainderf(x, 1)); ROW(fmaf(x, y, x)); ROW(floorf(x)); ROW(ceilf(x));
    ROW(truncf(x)); ROW(rintf(x)); ROW(roundf(x)); ROW(copysignf(x, y)); ROW(fdimf(x, y)); ROW(fmaxf(x, y)); ROW(fminf(x, y)); ROW(ldexpf(x, 3)); ROW(x / p); ROW(__frcp_rn(p)); ROW(sinpif(x)); ROW(cospif(x));
    (void)t;
}
extern "C" __global__ void fast(const float* px, const float* py, float* out) {
    int i = threadIdx.x, n = blockDim.x;
    float x = px[i], p = fabsf(x) + 0.01f, u = fminf(fmaxf(x / 8, -1.f), 1.f);
    int k = 0;
    ROW(__sinf(u)); ROW(cosf(u)); ROW(expf(u)); ROW(logf(p)); ROW(powf(p, u)); ROW(__fdividef(x, p)); ROW(tanhf(u));
}
extern "C" __global__ void bits(const float* px, long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, e;
    float x = px[i];
    frexpf(x, &e);
    ROW(isnan(x)); ROW(isinf(x)); ROW(signbit(x) != 0); ROW(e); ROW(ilogbf(x) == -2147483647 - 1 || x == 0 ? -2147483648LL : ilogbf(x)); ROW(__float_as_uint(x)); ROW(__float2int_rn(x)); ROW(fabsf(x) < 1e6f ? llrintf(x) : 0);
}
extern "C" __global__ void doubles(const double* px, const double* py, double* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    double x = px[i], y = py[i], p = fabs(x) + 0.01, u = fmin(fmax(x / 8, -1.), 1.);
    ROW(sin(x)); ROW(cos(x)); ROW(exp(fmin(fmax(x, -50.), 50.))); ROW(log(p)); ROW(sqrt(p)); ROW(rsqrt(p)); ROW(cbrt(x)); ROW(pow(p, y)); ROW(atan2(x, y)); ROW(tanh(x)); ROW(erf(u)); ROW(x / p); ROW(fma(x, y, x));
    ROW(floor(x)); ROW(rint(x)); ROW(fmod(x, p / 3)); ROW(hypot(x, y)); ROW(expm1(u)); ROW(log1p(p)); ROW(asin(u)); ROW(tgamma(fabs(u) * 5 + 0.5));
}
extern "C" __global__ void roundings(const float* px, const float* py, float* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    float x = px[i], y = py[i];
    ROW(__fmul_rn(x, y)); ROW(__fmul_rz(x, y)); ROW(__fmul_rd(x, y)); ROW(__fmul_ru(x, y)); ROW(rintf(x)); ROW(truncf(x)); ROW(floorf(x)); ROW(ceilf(x));
}
'''

INTEGERS = r'''
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void integers(const unsigned* pa, const unsigned* pb, unsigned* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    unsigned a = pa[i], b = pb[i];
    ROW(__vadd4(a, b)); ROW(__vsub4(a, b)); ROW(__vaddus4(a, b)); ROW(__vaddss4(a, b)); ROW(__vabsdiffu4(a, b)); ROW(__vavgu4(a, b)); ROW(__vmaxu4(a, b)); ROW(__vmins4(a, b)); ROW(__vcmpeq4(a, b));
    ROW(__vcmplts4(a, b)); ROW(__vsetgtu4(a, b)); ROW(__vadd2(a, b)); ROW(__vsubss2(a, b)); ROW(__vabsdiffu2(a, b)); ROW(__vcmpgeu2(a, b)); ROW(__vmins2(a, b)); ROW(__vsadu4(a, b));
    ROW(__umulhi(a, b)); ROW(__mulhi((int)a, (int)b)); ROW(__brev(a)); ROW(__popc(a)); ROW(__clz(a)); ROW(__ffs(a)); ROW(__funnelshift_l(b, a, b)); ROW(__funnelshift_r(b, a, b)); ROW(__byte_perm(a, b, 0x5140));
    ROW(__dp4a((int)a, (int)b, 5)); ROW(__dp4a(a, b, 7u)); int2 w = {(int)a, (int)b}; ROW(__dp2a_lo(w.x, w.y, 9)); ROW(__mul24(a, b)); ROW(__sad((int)a, (int)b, 0u)); ROW(__hadd((int)a, (int)b)); ROW(__rhadd((int)a, (int)b));
}
extern "C" __global__ void wide(const long long* pa, const long long* pb, long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    long long a = pa[i], b = pb[i];
    __int128 p = (__int128)a * b + a;
    ROW(a / b); ROW(a % b); ROW(__mul64hi(a, b)); ROW((long long)(p / 1000003)); ROW((long long)__umul64hi(a, b));
}
'''

HALVES = r'''
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void halves(const __half* px, const __half* py, __half* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    __half x = px[i], y = py[i];
    ROW(x + y); ROW(__hmul(x, y)); ROW(__hfma(x, y, x)); ROW(x / y); ROW(__hmax(x, y)); ROW(__hmin(x, y)); ROW(-x); ROW(__habs(x)); ROW(__hadd_sat(x, y)); ROW(__hfma_relu(x, y, x)); ROW(__float2half(x > y)); ROW(hfloor(x));
    ROW(hsqrt(__habs(x))); ROW(hexp(x / __float2half(4))); ROW(hlog(__habs(x) + __float2half(1))); ROW(hsin(x));
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void brains(const __nv_bfloat16* px, const __nv_bfloat16* py, float* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    __nv_bfloat16 x = px[i], y = py[i];
    ROW(__bfloat162float(x + y)); ROW(__bfloat162float(x * y)); ROW(__bfloat162float(__hfma(x, y, x))); ROW(__bfloat162float(__hmax(x, y))); ROW(__bfloat162float(-x)); ROW(__bfloat162float(__habs(y))); ROW(x > y);
}
#endif
extern "C" __global__ void fp8(const float* px, unsigned char* e4, unsigned char* e5, float* sum) {
    int i = threadIdx.x;
    __nv_fp8_e4m3 a(px[i]);
    __nv_fp8_e5m2 b(px[i]);
    e4[i] = a.__x;
    e5[i] = b.__x;
    sum[i] = (float)a + (float)b;
}
extern "C" __global__ void pairs(const __half2* px, __half2* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    __half2 x = px[i];
    ROW(__lowhigh2highlow(x)); ROW(__halves2half2(__low2half(x), __high2half(x))); ROW(__low2half2(x)); ROW(__high2half2(x)); ROW(__hmul2(x, x));
}
'''

WARPS = r'''
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void warps(const int* px, int* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, lane = i & 31, x = px[i];
    const unsigned all = 0xffffffff;
    ROW(__shfl_down_sync(all, x, 1)); ROW(__shfl_up_sync(all, x, 3)); ROW(__shfl_xor_sync(all, x, 5)); ROW(__shfl_sync(all, x, 2, 8));
    int s = x;
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(all, s, d);
    ROW(s);
    s = x;
    for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(all, s, d); if (lane >= d) s += o; }
    ROW(s); ROW(__ballot_sync(all, x > 0)); ROW(__match_any_sync(all, x & 3)); ROW(__all_sync(all, x > -2000)); ROW(__any_sync(all, x > 990));
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reduces(const int* px, int* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, x = px[i];
    const unsigned all = 0xffffffff;
    ROW(__reduce_add_sync(all, x)); ROW(__reduce_min_sync(all, x)); ROW(__reduce_max_sync(all, x)); ROW((int)__reduce_and_sync(all, (unsigned)x)); ROW((int)__reduce_or_sync(all, (unsigned)x)); ROW((int)__reduce_xor_sync(all, (unsigned)x));
}
#endif
extern "C" __global__ void groups(const int* px, int* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, x = px[i];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    ROW(cg::reduce(tile, x, cg::plus<int>())); ROW(cg::inclusive_scan(tile, x));
    __shared__ int sum, most;
    if (block.thread_rank() == 0) { sum = 0; most = -1000000; }
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    int s = cg::reduce(warp, x, cg::plus<int>()), m = cg::reduce(warp, x, cg::greater<int>());
    if (warp.thread_rank() == 0) { atomicAdd(&sum, s); atomicMax(&most, m); }
    block.sync();
    ROW(sum); ROW(most);
}
'''

ATOMICS = r'''
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda/atomic>
extern "C" __global__ void atomics(const unsigned* pv, const float* pf, unsigned* u, float* f, double* d, unsigned long long* l) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % 8;
    unsigned v = pv[i];
    atomicAdd(&u[k], v); atomicMax(&u[8 + k], v); atomicMin(&u[16 + k], v); atomicSub(&u[24 + k], v); atomicAnd(&u[32 + k], v); atomicOr(&u[40 + k], v); atomicXor(&u[48 + k], v); atomicInc(&u[56 + k], 10); atomicDec(&u[64 + k], 12);
    atomicAdd(&f[k], pf[i]); atomicAdd(&d[k], (double)pf[i]); atomicAdd(&l[k], (unsigned long long)v << 20);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void halves(const __half* ph, __half2* h, __nv_bfloat16* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % 8;
    atomicAdd(&h[k], __half2half2(ph[i]));
    atomicAdd(&b[k], __float2bfloat16(__half2float(ph[i])));
}
#endif
extern "C" __global__ void shared(const unsigned* pv, const float* pf, unsigned* u, float* f) {
    __shared__ unsigned su[8];
    __shared__ float sf[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8) { su[t] = 0; sf[t] = 0; }
    __syncthreads();
    atomicAdd(&su[t % 8], pv[i]);
    float *p = &sf[t % 8];  // compare and swap, as hand-written atomics do
    int old = __float_as_int(*p), seen;
    do { seen = old; old = atomicCAS((int*)p, seen, __float_as_int(pf[i] + __int_as_float(seen))); } while (old != seen);
    __syncthreads();
    if (t < 8) { u[blockIdx.x * 8 + t] = su[t]; f[blockIdx.x * 8 + t] = sf[t]; }
}
extern "C" __global__ void spin(int* lock, int* count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int*)count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
extern "C" __global__ void last(const unsigned* v, volatile unsigned* sums, unsigned* ticket) {
    __shared__ unsigned s;
    __shared__ bool isLast;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, v[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = s;
        __threadfence();
        isLast = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) { unsigned t = 0; for (int b = 0; b < gridDim.x; b++) t += sums[b]; sums[gridDim.x] = t; }
}
extern "C" __global__ void scoped(int* p) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(p[0]);
    a.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_system> b(p[1]);
    b.fetch_add(1, cuda::memory_order_seq_cst);
    cuda::atomic_ref<int, cuda::thread_scope_device> c(p[2]);
    c.fetch_max(7 + blockIdx.x * blockDim.x + threadIdx.x, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_block> d(p[3]);
    if (d.load(cuda::memory_order_acquire) == 0) d.store(1, cuda::memory_order_release);
}
'''

LANGUAGE = r'''
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ const int steps[4] = {1, 2, 3, 4};
struct Parameters { float a[3]; int n; double s; unsigned char c[5]; };
extern "C" __global__ void structs(const Parameters p, float* out) {
    int i = threadIdx.x;
    if (i < p.n) out[i] = p.a[i % 3] * i + (float)p.s + p.c[i % 5];
}
extern "C" __global__ void constants(int* out) { int i = threadIdx.x; out[i] = primes[i % 8] * 10 + steps[i / 8 % 4]; }
extern "C" __global__ void fences(int* p) {
    __threadfence_block(); atomicAdd_block(&p[0], 1); __threadfence_system(); atomicAdd_system(&p[2], 1);
    __nanosleep(20);
    if (threadIdx.x == 0) atomicAdd(&p[1], 1);
}
extern "C" __global__ void barriers(int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int odd = __syncthreads_count(t & 1), all = __syncthreads_and(t < 128), any = __syncthreads_or(t > 128);
    for (int d = 64; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) { out[0] = s[0]; out[1] = odd; out[2] = all != 0; out[3] = any; }
}
'''

CALLS = r'''
__device__ int pick(int v) {
    switch (v % 9) {
    case 0: return v * 3; case 1: return v + 7; case 2: return v ^ 21; case 3: return v * v; case 4: return -v; case 5: return v / 3; case 6: return v % 5; case 7: return 1000 - v;
    default: return v << 2;
    }
}
__device__ __noinline__ int one(int v) { return v + 1; }
__device__ __noinline__ int two(int v) { return v * 2; }
__device__ __noinline__ int three(int v) { return v - 5; }
__device__ int (*const table[3])(int) = {one, two, three};
struct Shape { int v; __device__ Shape(int v) : v(v) {} __device__ virtual int area() const = 0; };
struct Square : Shape { __device__ Square(int v) : Shape(v) {} __device__ int area() const override { return 4 * v * v; } };
struct Triangle : Shape { __device__ Triangle(int v) : Shape(v) {} __device__ int area() const override { return 3 * v * v; } };
struct Strip : Shape { __device__ Strip(int v) : Shape(v) {} __device__ int area() const override { return v * (v + 1); } };
__device__ __noinline__ int measure(const Shape* s) { return s->area(); }
__device__ __noinline__ int fib(int k) { int a = 0, b = 1; for (int j = 0; j < k; j++) { int c = a + b; a = b; b = c; } return a; }
extern "C" __global__ void language(const int* px, int* out) {
    int i = threadIdx.x, n = blockDim.x, x = px[i];
    out[i] = pick(x);
    out[n + i] = table[x % 3](x);
    Square q(x); Triangle t(x); Strip s(x);
    const Shape* all[3] = {&q, &t, &s};
    out[2 * n + i] = measure(all[x % 3]);
    out[3 * n + i] = fib(x % 12);
    int local[8];
    for (int j = 0; j < 8; j++) local[(j * 3 + x) % 8] = (x * j) % 7;
    int sum = 0;
    for (int j = 0; j < 8; j++) sum += local[j];
    out[4 * n + i] = sum;
}
'''

HEAP = r'''
extern "C" __global__ void heap(int* out) {
    int* p = (int*)malloc(16);
    for (int j = 0; j < 4; j++) p[j] = threadIdx.x * j;
    int s = 0;
    for (int j = 0; j < 4; j++) s += p[j];
    free(p);
    out[threadIdx.x] = s;
}
'''

PRINTS = r'''
extern "C" __global__ void prints(int v) { printf("thread %d of %u: %d %.2f %s %%\n", threadIdx.x, blockDim.x, v + threadIdx.x, threadIdx.x + 1.5, "text"); }
extern "C" __global__ void asserts(int v) { assert((int)threadIdx.x < v); }
extern "C" __global__ void traps(int v) { if ((int)threadIdx.x >= v) __trap(); }
'''

TILES = r'''
#include <cuda_pipeline.h>
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
    __shared__ float sa[16][16], sb[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float s = 0;
    for (int k = 0; k < n; k += 16) {
        sa[y][x] = a[row * n + k + x];
        sb[y][x] = b[(k + y) * n + col];
        __syncthreads();
        #pragma unroll
        for (int j = 0; j < 16; j++) s += sa[y][j] * sb[j][x];
        __syncthreads();
    }
    c[row * n + col] = s;
}
extern "C" __global__ void transpose(const float* in, float* out, int w, int h) {
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8) if (x < w && y0 + j < h) t[j][threadIdx.x] = in[(y0 + j) * w + x];
    __syncthreads();
    int ox = y0 + threadIdx.x, oy0 = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += 8) if (ox < h && oy0 + j < w) out[(oy0 + j) * h + ox] = t[threadIdx.x][j];
}
extern "C" __global__ void stencil(const float* in, float* out, int n) {
    __shared__ float t[134];
    int i = blockIdx.x * 128 + threadIdx.x;
    auto at = [&](int j) { return j >= 0 && j < n ? in[j] : 0.f; };
    t[threadIdx.x + 3] = at(i);
    if (threadIdx.x < 3) { t[threadIdx.x] = at(i - 3); t[threadIdx.x + 131] = at(i + 128); }
    __syncthreads();
    float s = 0;
    for (int j = 0; j < 7; j++) s += t[threadIdx.x + j];
    if (i < n) out[i] = s;
}
extern "C" __global__ void scan(const int* in, int* out) {
    __shared__ int s[2][256];
    int t = threadIdx.x, p = 0;
    s[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) { s[1 - p][t] = t >= d ? s[p][t] + s[p][t - d] : s[p][t]; p = 1 - p; __syncthreads(); }
    out[blockIdx.x * 256 + t] = s[p][t];
}
extern "C" __global__ void bitonic(int* v) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = v[t];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            int o = t ^ j;
            if (o > t && (s[t] > s[o]) == ((t & k) == 0)) { int x = s[t]; s[t] = s[o]; s[o] = x; }
            __syncthreads();
        }
    v[t] = s[t];
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void async_copy(const float* in, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    __pipeline_memcpy_async(&s[t], &in[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = 2 * s[t];
}
#endif
extern "C" __global__ void mandel(const float2* c, int* out) {
    float2 z = c[threadIdx.x];
    float x = 0, y = 0;
    int k = 0;
    while (k < 50 && __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 4) {
        float u = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), z.x);
        y = __fadd_rn(__fmul_rn(__fmul_rn(2.f, x), y), z.y);
        x = u;
        k++;
    }
    out[threadIdx.x] = k;
}
'''

CUB = r'''
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
extern "C" __global__ void cubs(const int* in, int* out) {
    int t = threadIdx.x;
    __shared__ typename cub::BlockReduce<int, 128>::TempStorage r;
    __shared__ typename cub::BlockScan<int, 128>::TempStorage s;
    __shared__ typename cub::WarpScan<int>::TempStorage w[4];
    int x = in[t], scanned, warp;
    int sum = cub::BlockReduce<int, 128>(r).Sum(x);
    cub::BlockScan<int, 128>(s).ExclusiveSum(x, scanned);
    cub::WarpScan<int>(w[t / 32]).InclusiveSum(x, warp);
    if (t == 0) out[0] = sum;
    out[1 + t] = scanned;
    out[129 + t] = warp;
}
extern "C" __global__ void sorts(const unsigned* in, unsigned* out, unsigned* hist) {
    typedef cub::BlockLoad<unsigned, 64, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockRadixSort<unsigned, 64, 4> Sort;
    typedef cub::BlockStore<unsigned, 64, 4, cub::BLOCK_STORE_TRANSPOSE> Store;
    typedef cub::BlockHistogram<unsigned char, 64, 4, 16> Histogram;
    __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; typename Store::TempStorage store; typename Histogram::TempStorage histogram; } temp;
    __shared__ unsigned counts[16];
    unsigned keys[4];
    unsigned char bins[4];
    Load(temp.load).Load(in, keys);
    __syncthreads();
    for (int j = 0; j < 4; j++) bins[j] = keys[j] & 15;
    Histogram(temp.histogram).Histogram(bins, counts);
    __syncthreads();
    Sort(temp.sort).Sort(keys);
    __syncthreads();
    Store(temp.store).Store(out, keys);
    if (threadIdx.x < 16) hist[threadIdx.x] = counts[threadIdx.x];
}
'''

LIBCU = r'''
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/complex>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/limits>
#include <cuda/annotated_ptr>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void barriers2(const int* in, int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&b, block.size());
    block.sync();
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        s[t] = in[t] + k;
        auto token = b.arrive();
        b.wait(cuda::std::move(token));
        out[k * 64 + t] = s[63 - t];
        b.arrive_and_wait();
    }
}
extern "C" __global__ void copies(const float4* in, float4* out) {
    __shared__ float4 s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(s));
    cg::wait(block);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void standard(const float2* in, float2* out, int* l) {
    int t = threadIdx.x;
    cuda::std::complex<float> z(in[t].x, in[t].y);
    z = z * z + cuda::std::conj(z) / cuda::std::complex<float>(2, 1);
    out[t] = make_float2(z.real(), z.imag());
    cuda::std::array<int, 3> a = {t, 2 * t, 3 * t};
    auto [p, q] = cuda::std::make_tuple(a[t % 3], cuda::std::numeric_limits<short>::max());
    l[t] = p + q;
}
'''
