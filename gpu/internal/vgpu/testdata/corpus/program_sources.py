"""CUDA programs of many kinds for program_cases.py: algorithms of several warps and CTAs, and what the language has that kernels
for networks seldom use."""

SORTS = r'''
extern "C" __global__ void radix_sort(unsigned* keys, unsigned* values) {  // one CTA of 256, four keys each, four bits a pass
    __shared__ unsigned k[1024], v[1024], count[16 * 256];
    __shared__ unsigned warps[8];
    int t = threadIdx.x, lane = t & 31, w = t >> 5;
    for (int j = t; j < 1024; j += 256) { k[j] = keys[j]; v[j] = values[j]; }
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 4) {
        for (int d = 0; d < 16; d++) count[d * 256 + t] = 0;
        unsigned mk[4], mv[4];
        for (int j = 0; j < 4; j++) { mk[j] = k[4 * t + j]; mv[j] = v[4 * t + j]; count[(mk[j] >> shift & 15) * 256 + t]++; }
        __syncthreads();
        unsigned sum = 0, mine[16];
        for (int j = 0; j < 16; j++) { mine[j] = sum; sum += count[16 * t + j]; }
        unsigned s = sum;
        for (int d = 1; d < 32; d <<= 1) { unsigned o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
        if (lane == 31) warps[w] = s;
        __syncthreads();
        if (t < 8) { unsigned x = warps[t]; for (int d = 1; d < 8; d <<= 1) { unsigned o = __shfl_up_sync(0xff, x, d, 8); if (t >= d) x += o; } warps[t] = x; }
        __syncthreads();
        unsigned base = s - sum + (w ? warps[w - 1] : 0);
        for (int j = 0; j < 16; j++) count[16 * t + j] = base + mine[j];
        __syncthreads();
        for (int j = 0; j < 4; j++) { unsigned at = count[(mk[j] >> shift & 15) * 256 + t]++; k[at] = mk[j]; v[at] = mv[j]; }
        __syncthreads();
    }
    for (int j = t; j < 1024; j += 256) { keys[j] = k[j]; values[j] = v[j]; }
}
extern "C" __global__ void odd_even(short* v, int n) {
    extern __shared__ short s[];
    for (int j = threadIdx.x; j < n; j += blockDim.x) s[j] = v[j];
    for (int r = 0; r < n; r++) {
        __syncthreads();
        for (int j = 2 * threadIdx.x + (r & 1); j + 1 < n; j += 2 * blockDim.x)
            if (s[j] > s[j + 1]) { short x = s[j]; s[j] = s[j + 1]; s[j + 1] = x; }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) v[j] = s[j];
}
__device__ void swap(double& a, double& b) { double c = a; a = b; b = c; }
extern "C" __global__ void heap_sort(double* all, int n) {  // a thread sorts an array of its own
    double* v = all + (size_t)n * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int start = n / 2 - 1, end = n; end > 1;) {
        int root = 0;
        if (start >= 0) root = start--; else swap(v[0], v[--end]);
        for (int child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && v[child] < v[child + 1]) child++;
            if (v[root] >= v[child]) break;
            swap(v[root], v[child]);
        }
    }
}
'''

SCANS = r'''
struct alignas(8) State { unsigned flag; int value; };
extern "C" __global__ void look_back(const int* in, int* out, volatile unsigned long long* state, unsigned* next) {
    __shared__ int tile, prefix, warps[4];
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int t = threadIdx.x, lane = t & 31, b = tile, x = in[b * 128 + t], s = x;
    for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    if (lane == 31) warps[t / 32] = s;
    __syncthreads();
    for (int w = 0; w < t / 32; w++) s += warps[w];
    if (t == 127) {
        int total = s;
        if (b == 0) { state[0] = 2ull << 32 | (unsigned)total; prefix = 0; }
        else {
            state[b] = 1ull << 32 | (unsigned)total;
            int p = 0;
            for (int k = b - 1;; k--) {
                unsigned long long v;
                do v = state[k]; while (v >> 32 == 0);
                p += (int)(unsigned)v;
                if (v >> 32 == 2) break;
            }
            __threadfence();
            state[b] = 2ull << 32 | (unsigned)(p + total);
            prefix = p;
        }
    }
    __syncthreads();
    out[b * 128 + t] = s + prefix;
}
extern "C" __global__ void compact(const float* in, float* out, int* count, int n) {  // warp-aggregated atomics
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && in[i] > 0.25f;
    if (keep) {
        unsigned m = __activemask();
        int lane = threadIdx.x & 31, leader = __ffs(m) - 1, base;
        if (lane == leader) base = atomicAdd(count, __popc(m));
        base = __shfl_sync(m, base, leader);
        out[base + __popc(m & ((1u << lane) - 1))] = in[i];
    }
}
extern "C" __global__ void segments(const int* heads, const float* x, float* out, int n) {  // segmented inclusive scan of a warp
    int i = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.x;
    unsigned flags = __ballot_sync(~0u, heads[i]);
    int start = 31 - __clz((flags | 1) & (0xffffffffu >> (31 - lane)));
    float s = x[i];
    for (int d = 1; d < 32; d *= 2) { float o = __shfl_up_sync(~0u, s, d); if (lane - d >= start) s += o; }
    out[i] = s;
}
'''

SPARSE = r'''
extern "C" __global__ void csr(const int* __restrict__ row, const int* __restrict__ col, const double* __restrict__ a, const double* __restrict__ x, double* y, int n) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= n) return;
    double s = 0;
    for (int k = row[r] + lane; k < row[r + 1]; k += 32) s = fma(a[k], x[col[k]], s);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (!lane) y[r] = s;
}
extern "C" __global__ void ell(const int* col, const float* a, const float* x, float* y, int n, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int k = 0; k < width; k++) { int c = col[k * n + r]; if (c < 0) continue; s += a[k * n + r] * x[c]; }
        y[r] = s;
    }
}
extern "C" __global__ void components(const int2* edges, volatile int* parent, int m) {  // union-find by compare and swap
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int u = edges[i].x, v = edges[i].y;
    while (true) {
        while (parent[u] != u) u = parent[u];
        while (parent[v] != v) v = parent[v];
        if (u == v) break;
        if (u < v) { int w = u; u = v; v = w; }
        if (atomicCAS((int*)&parent[u], u, v) == u) break;
    }
}
extern "C" __global__ void flatten(volatile int* parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int r = i; while (parent[r] != r) r = parent[r]; parent[i] = r; }
}
extern "C" __global__ void bfs(const int* row, const int* col, volatile int* level, int* queue, int n) {  // one CTA
    __shared__ int head, tail, end;
    if (threadIdx.x == 0) { head = 0; tail = 1; queue[0] = 0; level[0] = 0; }
    __syncthreads();
    while (head < tail) {
        if (threadIdx.x == 0) end = tail;
        __syncthreads();
        for (int q = head + threadIdx.x; q < end; q += blockDim.x) {
            int u = queue[q];
            for (int k = row[u]; k < row[u + 1]; k++)
                if (atomicCAS((int*)&level[col[k]], -1, level[u] + 1) == -1) queue[atomicAdd(&tail, 1)] = col[k];
        }
        __syncthreads();
        if (threadIdx.x == 0) head = end;
        __syncthreads();
    }
}
extern "C" __global__ void hash_insert(const unsigned* keys, unsigned long long* table, int n, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = keys[i], h = k * 2654435761u >> 12;
    for (;; h++) {
        unsigned long long* slot = &table[h & mask];
        unsigned long long old = atomicCAS(slot, 0ull, (unsigned long long)k << 32 | 1);
        if (old == 0) break;
        if (old >> 32 == k) { atomicAdd(slot, 1ull); break; }
    }
}
extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned s[4][256];
    for (int j = threadIdx.x; j < 1024; j += blockDim.x) (&s[0][0])[j] = 0;
    __syncthreads();
    const uchar4* v = (const uchar4*)in;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 c = v[i];
        unsigned* mine = s[threadIdx.x / 32 & 3];
        atomicAdd(mine + c.x, 1); atomicAdd(mine + c.y, 1); atomicAdd(mine + c.z, 1); atomicAdd(mine + c.w, 1);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < 256; j += blockDim.x) atomicAdd(&bins[j], s[0][j] + s[1][j] + s[2][j] + s[3][j]);
}
'''

NUMBERS = r'''
extern "C" __global__ void mandelbrot(int* out, double x0, double y0, double step, int w) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    double cx = __dadd_rn(x0, __dmul_rn(px, step)), cy = __dadd_rn(y0, __dmul_rn(py, step)), x = 0, y = 0;
    int k = 0;
    for (; k < 200; k++) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4) break;
        y = __dadd_rn(__dmul_rn(__dmul_rn(2, x), y), cy);
        x = __dadd_rn(__dsub_rn(xx, yy), cx);
    }
    out[py * w + px] = k;
}
extern "C" __global__ void invert(const double* a, double* inv) {  // Gauss-Jordan of 8 × 8, a matrix a thread, in local memory
    double m[8][16];
    a += 64 * threadIdx.x; inv += 64 * threadIdx.x;
    for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { m[i][j] = a[8 * i + j]; m[i][8 + j] = i == j; }
    for (int c = 0; c < 8; c++) {
        int p = c;
        for (int i = c + 1; i < 8; i++) if (fabs(m[i][c]) > fabs(m[p][c])) p = i;
        for (int j = 0; j < 16; j++) { double x = m[c][j]; m[c][j] = m[p][j]; m[p][j] = x; }
        double d = 1 / m[c][c];
        for (int j = 0; j < 16; j++) m[c][j] *= d;
        for (int i = 0; i < 8; i++) if (i != c) { double f = m[i][c]; for (int j = 0; j < 16; j++) m[i][j] -= f * m[c][j]; }
    }
    for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) inv[8 * i + j] = m[i][8 + j];
}
extern "C" __global__ void fft(float2* v) {  // 256 points, radix 2, in shared memory
    __shared__ float2 s[256];
    int t = threadIdx.x;
    for (int j = t; j < 256; j += 128) s[__brev(j) >> 24] = v[blockIdx.x * 256 + j];
    __syncthreads();
    for (int half = 1; half < 256; half *= 2) {
        int k = t % half, at = t / half * 2 * half + k;
        float si, co;
        sincospif(-(float)k / half, &si, &co);
        float2 a = s[at], b = s[at + half], w = make_float2(b.x * co - b.y * si, b.x * si + b.y * co);
        s[at] = make_float2(a.x + w.x, a.y + w.y);
        s[at + half] = make_float2(a.x - w.x, a.y - w.y);
        __syncthreads();
    }
    for (int j = t; j < 256; j += 128) v[blockIdx.x * 256 + j] = s[j];
}
__device__ unsigned rotr(unsigned x, int n) { return __funnelshift_r(x, x, n); }
__constant__ unsigned K[64] = {
    0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,
    0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,
    0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,
    0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2};
extern "C" __global__ void sha256(const unsigned char* text, unsigned* digest, int length) {  // texts below 56 bytes, one a thread
    text += threadIdx.x * 64;
    unsigned w[64];
    int n = length - threadIdx.x % 7;
    for (int j = 0; j < 16; j++) {
        w[j] = 0;
        for (int b = 0; b < 4; b++) { int at = 4 * j + b; w[j] = w[j] << 8 | (at < n ? text[at] : at == n ? 0x80 : 0); }
    }
    w[15] = n * 8;
    for (int j = 16; j < 64; j++)
        w[j] = w[j - 16] + w[j - 7] + (rotr(w[j - 15], 7) ^ rotr(w[j - 15], 18) ^ w[j - 15] >> 3) + (rotr(w[j - 2], 17) ^ rotr(w[j - 2], 19) ^ w[j - 2] >> 10);
    unsigned h[8] = {0x6a09e667,0xbb67ae85,0x3c6ef372,0xa54ff53a,0x510e527f,0x9b05688c,0x1f83d9ab,0x5be0cd19}, v[8];
    for (int j = 0; j < 8; j++) v[j] = h[j];
    for (int j = 0; j < 64; j++) {
        unsigned x = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) + (v[4] & v[5] ^ ~v[4] & v[6]) + K[j] + w[j];
        unsigned y = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) + (v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]);
        for (int k = 7; k; k--) v[k] = v[k - 1];
        v[4] += x; v[0] = x + y;
    }
    for (int j = 0; j < 8; j++) digest[8 * threadIdx.x + j] = h[j] + v[j];
}
extern "C" __global__ void queens(int* out, int n) {  // solutions whose first queen stands at threadIdx.x; an own stack
    unsigned cols[16], left[16], right[16], open[16];
    int t = threadIdx.x, depth = 1, found = 0;
    if (t >= n) return;
    unsigned all = (1u << n) - 1, q = 1u << t;
    cols[1] = q; left[1] = q << 1; right[1] = q >> 1; open[1] = all & ~(cols[1] | left[1] | right[1]);
    while (depth) {
        if (!open[depth]) { depth--; continue; }
        q = open[depth] & -open[depth];
        open[depth] ^= q;
        if (depth == n - 1) { found++; continue; }
        cols[depth + 1] = cols[depth] | q; left[depth + 1] = (left[depth] | q) << 1; right[depth + 1] = (right[depth] | q) >> 1;
        depth++;
        open[depth] = all & ~(cols[depth] | left[depth] | right[depth]);
    }
    out[t] = found;
}
extern "C" __global__ void distance(const char* a, const char* b, int* out, int n) {  // Levenshtein, along the diagonals
    __shared__ int d[3][130];
    int t = threadIdx.x;
    for (int s = 0; s <= 2 * n; s++) {
        int i = t, j = s - t;
        if (i <= n && j >= 0 && j <= n) {
            int v;
            if (i == 0) v = j; else if (j == 0) v = i;
            else v = min(min(d[(s + 2) % 3][i - 1] + 1, d[(s + 2) % 3][i] + 1), d[(s + 1) % 3][i - 1] + (a[blockIdx.x * n + i - 1] != b[blockIdx.x * n + j - 1]));
            d[s % 3][i] = v;
            if (i == n && j == n) out[blockIdx.x] = v;
        }
        __syncthreads();
    }
}
extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int n, int steps) {  // a torus in shared memory
    extern __shared__ unsigned char s[];
    unsigned char *a = s, *b = s + n * n;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) a[i] = in[i];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int x = i % n, y = i / n, c = 0;
            for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) c += a[(y + dy + n) % n * n + (x + dx + n) % n];
            b[i] = c == 3 || c == 2 && a[i];
        }
        __syncthreads();
        unsigned char* x = a; a = b; b = x;
    }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) out[i] = a[i];
}
extern "C" __global__ void floyd(int* d, int n) {
    for (int k = 0; k < n; k++) {
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) { int v = d[i / n * n + k] + d[k * n + i % n]; if (v < d[i]) d[i] = v; }  // not in row and column k
        __syncthreads();
    }
}
'''

BITS = r'''
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void words(const unsigned* pa, const unsigned* pb, unsigned* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    unsigned a = pa[i], b = pb[i], s = b & 63;
    ROW(__byte_perm(a, b, 0x5140)); ROW(__byte_perm(a, b, b)); ROW(__funnelshift_l(a, b, s)); ROW(__funnelshift_r(a, b, s)); ROW(__funnelshift_lc(a, b, s)); ROW(__funnelshift_rc(a, b, s));
    ROW(__brev(a)); ROW(__clz(a)); ROW(__ffs(a)); ROW(__popc(a)); ROW(__umulhi(a, b)); ROW(__mulhi((int)a, (int)b)); ROW(__sad((int)a, (int)b, 7)); ROW(__usad(a, b, 7));
    ROW(__rhadd((int)a, (int)b)); ROW(__uhadd(a, b)); ROW(__mul24((int)a, (int)b)); ROW(__umul24(a, b)); ROW(a / (b | 1)); ROW(a % (b | 1)); ROW((int)a / ((int)b | 1)); ROW((int)a % ((int)b | 1));
    ROW(__vadd4(a, b)); ROW(__vsub4(a, b)); ROW(__vabsdiffu4(a, b)); ROW(__vabsdiffs4(a, b)); ROW(__vmaxs4(a, b)); ROW(__vminu4(a, b)); ROW(__vavgu4(a, b)); ROW(__vcmpgtu4(a, b)); ROW(__vcmpeq4(a, b));
    ROW(__vsadu4(a, b)); ROW(__vsads4(a, b)); ROW(__vaddss4(a, b)); ROW(__vaddus2(a, b)); ROW(__vsubss2(a, b)); ROW(__vmaxu2(a, b)); ROW(__vneg4(a)); ROW(__vabsss2(a)); ROW(__vhaddu4(a, b)); ROW(__vsetltu4(a, b));
    ROW(__dp4a((int)a, (int)b, 5)); ROW(__dp4a(a, b, 5u)); ROW(__dp2a_lo((int)a, (int)b, 9)); ROW(__dp2a_hi(a, b, 9u));
    ROW(__vimax3_s32((int)a, (int)b, 5)); ROW(__viaddmin_s32((int)a, 3, (int)b)); ROW(__vimin_s32_relu((int)a, (int)b));
}
extern "C" __global__ void longs(const unsigned long long* pa, const unsigned long long* pb, unsigned long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    unsigned long long a = pa[i], b = pb[i];
    ROW(__umul64hi(a, b)); ROW(__mul64hi((long long)a, (long long)b)); ROW(__brevll(a)); ROW(__clzll(a)); ROW(__ffsll(a)); ROW(__popcll(a)); ROW(a / (b >> 20 | 1)); ROW(a % (b >> 20 | 1));
    ROW((long long)a / ((long long)b >> 30 | 1)); ROW((long long)a % ((long long)b >> 30 | 1)); ROW(a << (b & 63)); ROW(a >> (b & 63)); ROW((long long)a >> (b & 63));
    unsigned __int128 p = (unsigned __int128)a * b + a;
    ROW((unsigned long long)(p >> 64)); ROW((unsigned long long)p); ROW((unsigned long long)(p / (a | 1))); ROW((unsigned long long)(p % 1000000007ull)); ROW((unsigned long long)(p >> (b & 127)));
}
extern "C" __global__ void ptx(const unsigned* pa, const unsigned* pb, unsigned* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    unsigned a = pa[i], b = pb[i], r, q;
#define ASM(text, ...) asm(text : "=r"(r) : __VA_ARGS__); ROW(r)
    ASM("lop3.b32 %0, %1, %2, 0x0f0f0f0f, 0x96;", "r"(a), "r"(b)); ASM("bfind.u32 %0, %1;", "r"(a)); ASM("bfind.shiftamt.s32 %0, %1;", "r"(a)); ASM("bfe.s32 %0, %1, 5, 9;", "r"(a)); ASM("bfe.u32 %0, %1, %2, 40;", "r"(a), "r"(b & 40));
    ASM("bfi.b32 %0, %1, %2, 7, 13;", "r"(a), "r"(b)); ASM("prmt.b32.f4e %0, %1, %2, 3;", "r"(a), "r"(b)); ASM("prmt.b32.ecr %0, %1, %2, 2;", "r"(a), "r"(b)); ASM("prmt.b32 %0, %1, %2, 0xba98;", "r"(a), "r"(b));
    ASM("slct.u32.s32 %0, %1, %2, %1;", "r"(a), "r"(b)); ASM("sad.u32 %0, %1, %2, 1;", "r"(a), "r"(b)); ASM("mad24.lo.u32 %0, %1, %2, 11;", "r"(a), "r"(b)); ASM("mad.hi.s32 %0, %1, %2, 77;", "r"(a), "r"(b));
    ASM("shf.l.wrap.b32 %0, %1, %2, 37;", "r"(a), "r"(b)); ASM("shf.r.clamp.b32 %0, %1, %2, 37;", "r"(a), "r"(b)); ASM("shl.b32 %0, %1, 35;", "r"(a)); ASM("shr.s32 %0, %1, 99;", "r"(a)); ASM("cnot.b32 %0, %1;", "r"(a & 1));
    ASM("bmsk.clamp.b32 %0, %1, %2;", "r"(a & 40), "r"(b & 40)); ASM("bmsk.wrap.b32 %0, %1, %2;", "r"(a & 40), "r"(b & 40)); ASM("szext.wrap.s32 %0, %1, %2;", "r"(a), "r"(b & 63)); ASM("szext.clamp.u32 %0, %1, %2;", "r"(a), "r"(b & 63)); ASM("fns.b32 %0, %1, %2, 2;", "r"(a), "r"(b & 31));
    ASM("min.s32 %0, %1, %2;", "r"(a), "r"(b)); ASM("add.sat.s32 %0, %1, %2;", "r"(a), "r"(b)); ASM("sub.sat.s32 %0, %1, %2;", "r"(a), "r"(b)); ASM("mul.hi.u32 %0, %1, 3;", "r"(a)); ASM("set.lt.u32.s32 %0, %1, %2;", "r"(a), "r"(b)); ASM("{ .reg .pred p; setp.ne.u32 p, %1, 0; set.ge.and.u32.u32 %0, %1, %2, p; }", "r"(a), "r"(b));
    asm("{ .reg .pred p, q; setp.lt.s32 q, %1, 0; setp.lt.or.s32 p|q, %1, %2, !q; selp.b32 %0, 3, 4, p; }" : "=r"(r) : "r"(a), "r"(b)); ROW(r);
    asm("add.cc.u32 %0, %2, %3; addc.cc.u32 %1, %2, %2;\n\taddc.u32 %0, %0, 0;" : "=&r"(r), "=&r"(q) : "r"(a), "r"(b)); ROW(r); ROW(q);
    asm("sub.cc.u32 %0, %2, %3; subc.u32 %1, 0, 0;" : "=&r"(r), "=&r"(q) : "r"(a), "r"(b)); ROW(r); ROW(q);
    asm("mad.lo.cc.u32 %0, %2, %3, %2; madc.hi.u32 %1, %2, %3, 0;" : "=&r"(r), "=&r"(q) : "r"(a), "r"(b)); ROW(r); ROW(q);
    asm("{ .reg .u8 x; cvt.rni.sat.u8.f32 x, %1; cvt.u32.u8 %0, x; }" : "=r"(r) : "f"((float)(int)a * 1e-7f)); ROW(r);
    asm("{ .reg .s16 x; cvt.sat.s16.s32 x, %1; cvt.s32.s16 %0, x; }" : "=r"(r) : "r"(a >> (b & 31))); ROW(r);
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(r) : "l"(pa)); ROW(r);
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l}; }" : "=r"(r) : "r"(a)); ROW(r);
    asm("vadd.s32.u32.s32.sat %0, %1.b1, %2.h1;" : "=r"(r) : "r"(a), "r"(b)); ROW(r);
}
'''

ROUNDED = r'''
#define ROW(e) out[n * k++ + i] = (e)
#define FOUR(f, ...) ROW(f##_rn(__VA_ARGS__)); ROW(f##_rz(__VA_ARGS__)); ROW(f##_rd(__VA_ARGS__)); ROW(f##_ru(__VA_ARGS__))
extern "C" __global__ void rounded(const float* pa, const float* pb, const float* pc, float* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    float a = pa[i], b = pb[i], c = pc[i];
    FOUR(__fmaf, a, b, c); FOUR(__fadd, a, b); FOUR(__fmul, a, b); FOUR(__fdiv, a, b); FOUR(__fsqrt, fabsf(a)); FOUR(__frcp, b);
    double d = (double)a * b + (double)c / 3;
    FOUR(__double2float, d); FOUR(__int2float, (int)(a * 3e8f)); FOUR(__ull2float, (unsigned long long)(fabs(d) * 1e15));
}
extern "C" __global__ void rounded64(const double* pa, const double* pb, const double* pc, double* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    double a = pa[i], b = pb[i], c = pc[i];
    FOUR(__fma, a, b, c); FOUR(__dadd, a, b); FOUR(__dmul, a, b); FOUR(__ddiv, a, b); FOUR(__dsqrt, fabs(a)); FOUR(__drcp, b); FOUR(__ll2double, (long long)(a * 1e18));
}
extern "C" __global__ void integral(const float* pa, const double* pd, long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    float a = pa[i]; double d = pd[i];
    FOUR(__float2int, a); FOUR(__float2uint, a); FOUR(__float2ll, a); FOUR(__double2int, d); FOUR(__double2uint, d); FOUR(__double2ll, d);
}
extern "C" __global__ void special(const float* px, float* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    float x = px[i], s, c, p = fabsf(x);
    sincosf(x, &s, &c); ROW(s); ROW(c); ROW(tanf(x)); sincospif(x, &s, &c); ROW(s); ROW(c);
    float u = fminf(p, 9.f);
    ROW(erff(x)); ROW(erfcf(u)); ROW(lgammaf(p + 0.5f)); ROW(tgammaf(u + 0.25f)); ROW(erfinvf(x / (p + 1))); ROW(normcdff(fminf(fmaxf(x, -8), 8))); ROW(j0f(u)); ROW(j1f(u)); ROW(cyl_bessel_i0f(u)); ROW(erfcxf(u));
    ROW(rcbrtf(p + 1)); ROW(nextafterf(x, 2 * x)); ROW(scalbnf(x, -140)); ROW(logbf(p + 1)); ROW(norm3df(1, 2, u)); ROW(rhypotf(3, u)); ROW(fdimf(x, 1)); ROW(log1pf(u)); ROW(expm1f(-u)); ROW(exp10f(-u)); ROW(powf(p, -0.75f)); ROW(powf(-u - 1, 3)); ROW(asinhf(x)); ROW(acosf(1 / (p + 1)));
    int q; ROW(remquof(x, 3, &q)); ROW(fmodf(x, 0.7f)); ROW(frexpf(x, &q)); ROW(q); ROW(modff(x, &s)); ROW(s); ROW(roundf(x)); ROW(nearbyintf(x));
}
extern "C" __global__ void special64(const double* px, double* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    double x = px[i], s, c, p = fabs(x), u = fmin(p, 9.0);
    sincos(x, &s, &c); ROW(s); ROW(c); ROW(tan(x)); ROW(erf(x)); ROW(erfc(u)); ROW(lgamma(p + 0.5)); ROW(tgamma(u + 0.25)); ROW(erfinv(x / (p + 1))); ROW(j0(u)); ROW(exp(-u)); ROW(exp2(u)); ROW(log(p + 1)); ROW(log2(p + 1)); ROW(log10(p + 1));
    ROW(pow(p + 0.5, 1.3)); ROW(cbrt(x)); ROW(sinh(fmin(fmax(x, -9.), 9.))); ROW(atan2(x, 2.0)); ROW(hypot(x, 3.0)); ROW(fmod(x, 0.7)); ROW(remainder(x, 0.7)); ROW(rint(x)); ROW(trunc(x)); ROW(ldexp(x, -3)); ROW(sqrt(p)); ROW(rsqrt(p + 1)); ROW(asinh(x)); ROW(acosh(p + 1)); ROW(atanh(x / (p + 1)));
}
'''

HALF = r'''
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void half2s(const __half2* pa, const __half2* pb, __half2* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    __half2 a = pa[i], b = pb[i];
    ROW(__hadd2(a, b)); ROW(__hsub2(a, b)); ROW(__hmul2(a, b)); ROW(__hfma2(a, b, a)); ROW(__hadd2_sat(a, b)); ROW(__hneg2(a)); ROW(__habs2(a)); ROW(__h2div(a, b)); ROW(h2rcp(b)); ROW(h2sqrt(__habs2(a))); ROW(h2floor(a)); ROW(h2rint(a)); ROW(h2trunc(a));
    ROW(__hgt2(a, b)); ROW(__heq2(a, a)); ROW(__hleu2(a, b)); ROW(__hmax2(a, b)); ROW(__hmin2(a, b)); ROW(__lows2half2(a, b)); ROW(__lowhigh2highlow(a)); ROW(__hfma2_sat(a, b, b));
    ROW(__halves2half2(__hadd(__low2half(a), __high2half(b)), __hmul(__high2half(a), __low2half(b)))); ROW(__float22half2_rn(make_float2(__low2float(a) * 3, __high2float(b) / 3)));
    ROW(__halves2half2(__int2half_rn(__half2int_rz(__low2half(a))), __ushort2half_rn(__half2ushort_rn(__habs(__high2half(a))))));
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloat2s(const __nv_bfloat162* pa, const __nv_bfloat162* pb, __nv_bfloat162* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
    __nv_bfloat162 a = pa[i], b = pb[i];
    ROW(__hadd2(a, b)); ROW(__hsub2(a, b)); ROW(__hmul2(a, b)); ROW(__hfma2(a, b, a)); ROW(__hfma2_relu(a, b, a)); ROW(__hneg2(a)); ROW(__habs2(a)); ROW(__h2div(a, b)); ROW(__hmax2(a, b)); ROW(__hmin2_nan(a, b)); ROW(__hgt2(a, b)); ROW(__lowhigh2highlow(a));
    ROW(__floats2bfloat162_rn(__low2float(a) * 3, __high2float(b) / 3)); ROW(__halves2bfloat162(__float2bfloat16_rz(__low2float(a) / 7), __float2bfloat16_ru(__high2float(b) / 7)));
}
#endif
'''

LANGUAGE = r'''
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
struct Big { double m[40]; int index[60]; short tag; };
struct Pair { float lo; long long hi; };
__device__ __noinline__ Pair split(const Big& b, int i) { Pair p; p.lo = (float)b.m[i % 40] + b.tag; p.hi = (long long)b.index[i % 60] << 33; return p; }
extern "C" __global__ void by_value(Big b, const __grid_constant__ Big c, float* lo, long long* hi) {
    int i = threadIdx.x;
    Pair p = split(b, i), q = split(c, i + 1);
    lo[i] = p.lo - q.lo; hi[i] = p.hi ^ q.hi;
}
extern "C" __global__ void several(const int* in, double* out) {  // dynamic shared memory of several types
    extern __shared__ __align__(16) unsigned char raw[];
    double* d = (double*)raw; int* w = (int*)(d + blockDim.x); short* h = (short*)(w + blockDim.x); char* c = (char*)(h + blockDim.x);
    int t = threadIdx.x, o = blockDim.x - 1 - t;
    d[t] = in[t] * 0.5; w[t] = in[t] * 3; h[t] = in[t]; c[t] = in[t] & 127;
    __syncthreads();
    out[t] = d[o] + w[o] + h[o] + c[o];
}
__device__ __noinline__ int machine(int op, int a, int b) {
    switch (op) {
    case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return b ? a / b : 0; case 4: return a & b; case 5: return a | b; case 6: return a ^ b; case 7: return a << (b & 7);
    case 8: return a >> (b & 7); case 9: return max(a, b); case 10: return min(a, b); case 11: return abs(a); case 12: return ~b; case 13: return a == b; case 14: return a < b; case 15: return __popc(a);
    case 20: return a * a; case 21: return b * b + 1; case 22: return a - 2 * b; case 23: return 7; default: return -1;
    }
}
extern "C" __global__ void interpreter(const unsigned char* code, const int* in, int* out, int length) {  // lanes run different programs
    int stack[16], top = 0, i = threadIdx.x;
    stack[top++] = in[i]; stack[top++] = in[i] ^ 0x55;
    for (int pc = 0; pc < length; pc++) {
        int op = code[i * length + pc];
        if (op == 30) { if (stack[top - 1] & 1) pc++; continue; }
        if (op == 31) { if (top < 15) { stack[top] = stack[top - 1] + pc; top++; } continue; }
        if (top < 2) { stack[top++] = pc; continue; }
        int b = stack[--top], a = stack[--top];
        stack[top++] = machine(op, a, b);
    }
    int s = 0;
    while (top) s = s * 31 + stack[--top];
    out[i] = s;
}
extern "C" __global__ void cooperative(const int* in, int* out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int i = block.thread_rank(), n = block.size(), k = 0, x = in[i];
#define ROW(e) out[n * k++ + i] = (e)
    ROW(cg::reduce(tile, x, cg::less<int>())); ROW(cg::exclusive_scan(tile, x)); ROW(cg::inclusive_scan(tile, x, cg::bit_xor<int>())); ROW(tile.shfl_down(x, 3)); ROW(tile.any(x > 40)); ROW((int)tile.ballot(x & 1)); ROW((int)tile.match_any(x & 3));
    int v = -1;
    if (x % 3 == 0) { auto g = cg::coalesced_threads(); v = g.size() * 100 + g.thread_rank() + 10000 * cg::reduce(g, x, cg::plus<int>()); }
    ROW(v);
    auto parts = cg::labeled_partition(tile, x & 1);
    ROW(parts.size() * 100 + parts.thread_rank());
    auto quad = cg::tiled_partition<4>(tile);
    ROW((int)quad.meta_group_rank() * 10 + quad.shfl_xor(x, 1));
}
extern "C" __global__ void flags(volatile int* flag, volatile int* data, int* out) {  // each CTA waits for the one behind it
    int b = blockIdx.x, last = gridDim.x - 1;
    if (threadIdx.x == 0) {
        if (b != last) { while (flag[b + 1] == 0) {} }
        __threadfence();
        data[b] = (b == last ? 1 : data[b + 1] * 2 + 1) % 1000003;
        __threadfence();
        flag[b] = 1;
        out[b] = data[b];
    }
}
extern "C" __global__ void tickets(unsigned* turn, unsigned* serving, volatile int* list, int* count) {  // a lock that lanes of a warp share
    unsigned mine = atomicAdd(turn, 1);
    bool done = false;
    while (!done) {
        if (atomicAdd(serving, 0) == mine) {
            int c = *(volatile int*)count;
            list[c] = mine;
            *(volatile int*)count = c + 1;
            __threadfence();
            atomicAdd(serving, 1);
            done = true;
        }
    }
}
extern "C" __global__ void pipeline(const int* in, int* out, int rounds) {  // producers and a consumer with named barriers
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int r = 0; r < rounds; r++) {
            if (r >= 2) asm volatile("bar.sync %0, 96;" :: "r"(3 + (r & 1)) : "memory");
            buffer[r & 1][t] = in[r * 64 + t] + 1;
            asm volatile("bar.arrive %0, 96;" :: "r"(1 + (r & 1)) : "memory");
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync %0, 96;" :: "r"(1 + (r & 1)) : "memory");
            int s = buffer[r & 1][t - 64] + buffer[r & 1][t - 32];
            if (r + 2 < rounds) asm volatile("bar.arrive %0, 96;" :: "r"(3 + (r & 1)) : "memory");
            out[r * 32 + t - 64] = s;
        }
    }
}
extern "C" __global__ void hints(const float4* in, float4* out, const double2* d, double2* e) {
    int i = threadIdx.x;
    float4 a = __ldg(&in[i]), b = __ldcs(&in[i ^ 1]), c = __ldcg(&in[i ^ 2]), f = __ldca(&in[i ^ 3]), g = __ldlu(&in[i ^ 4]), h = __ldcv(&in[i ^ 5]);
    float4 s = make_float4(a.x + b.x, b.y + c.y, c.z + f.z, g.w + h.w);
    if (i & 1) __stcs(&out[i], s); else __stwt(&out[i], s);
    double2 v = __ldg(&d[i]);
    __stcg(&e[i], make_double2(v.y, v.x));
}
extern "C" __global__ void clocks(long long* out) {
    long long a = clock64(); unsigned c = clock();
    unsigned long long g; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(g));
    __nanosleep(1000);
    unsigned long long h; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(h));
    long long b = clock64(); unsigned d = clock();
    out[threadIdx.x] = (b > a) + 2 * ((int)(d - c) > 0) + 4 * (h > g) + 8 * (b - a < 1000000);
}
struct Node { int value; Node* next; };
extern "C" __global__ void lists(int* out, int n) {
    Node* head = nullptr;
    for (int j = 0; j < n + threadIdx.x % 5; j++) { Node* x = new Node{(int)threadIdx.x * j, head}; head = x; }
    int s = 0;
    while (head) { s = s * 3 + head->value; Node* x = head; head = head->next; delete x; }
    void* p = malloc(100 + threadIdx.x);
    memset(p, 7, 100 + threadIdx.x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + ((char*)p)[99 + threadIdx.x];
    free(p);
}
extern "C" __global__ void ways(const int* in, int* out, int n) {  // breaks, continues and returns in nested loops
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    if (i >= n) return;
    for (int a = 0; a < in[i] % 13; a++) {
        if (a % 5 == 3) continue;
        for (int b = a; b < 20; b++) {
            if ((a * b + in[i]) % 11 == 7) break;
            if (b == 17 && in[i] % 7 == 2) { out[i] = -s; return; }
            int c = b;
            do { s += c & 3; c -= 2; if (s > 900) goto done; } while (c > 0);
        }
    }
done:
    out[i] = s;
}
'''

PRINTS = r'''
extern "C" __global__ void formats(const float* f, const double* d, long long l, unsigned u) {
    if (threadIdx.x == 1) {
        printf("[%5d|%-6d|%06d|%+d|% d]\n", 42, 42, 42, 42, 42);
        printf("[%x|%X|%#x|%o|%u|%08x]\n", u, u, u, 8u, u, u & 255);
        printf("[%lld|%llu|%llx|%ld|%hd|%hhd]\n", l, (unsigned long long)l, l, (long)l, (short)70000, (char)300);
        printf("[%f|%.2f|%10.3f|%-10.1f|%e|%.3E|%g|%G]\n", f[0], f[1], f[2], f[0], f[1], d[0], d[1], d[2]);
        printf("[%c%c|%s|%10s|%-8s|%.3s|%%]\n", 'a', 66, "text", "right", "left", "abcdef");
        printf("[%*d|%.*f|%i|%5.1f%%]\n", 7, 13, 2, d[0], -5, 99.5);
        printf("[%f|%f|%f|%a]\n", 1 / (f[3] - f[3]), -1 / (f[3] - f[3]), (f[3] - f[3]) / (f[3] - f[3]) > 0 ? 1.0 : 0.0, 1.5);
        printf("no newline");
        printf("\ttab\n");
    }
}
'''

RECURSION = r'''
__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }
'''

TENSOR = r'''
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;
extern "C" __global__ void wmma_half(const __half* a, const __half* b, float* c, int n) {  // A, B row-major n × n; a warp a 16 × 16 tile
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + blockIdx.x * 16, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int j = 0; j < fc.num_elements; j++) fc.x[j] *= 2;
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}
extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, int* c) {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> fc;
    wmma::fill_fragment(fc, 3);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 32, wmma::mem_col_major);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void tile_mma(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int k) {  // C 16 × 8 = A 16 × k · B k × 8, cp.async and ldmatrix
    __shared__ __align__(16) __nv_bfloat16 sa[2][16 * 16], sb[2][16 * 8];
    int lane = threadIdx.x;
    auto copy = [&](int s, int at) {
        unsigned d = __cvta_generic_to_shared(&sa[s][lane * 8]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(d), "l"(a + (lane / 2) * k + at + lane % 2 * 8));
        d = __cvta_generic_to_shared(&sb[s][(lane & 15) * 8]);
        int bytes = lane < 16 ? 16 : 0;
        if (lane < 16) asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" :: "r"(d), "l"(b + (at + lane) * 8), "r"(bytes));
        asm volatile("cp.async.commit_group;");
    };
    float f[4] = {};
    copy(0, 0);
    for (int at = 0, s = 0; at < k; at += 16, s ^= 1) {
        if (at + 16 < k) { copy(s ^ 1, at + 16); asm volatile("cp.async.wait_group 1;" ::: "memory"); } else asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncwarp();
        unsigned ra[4], rb[2], p = __cvta_generic_to_shared(&sa[s][lane % 16 * 16 + lane / 16 * 8]), q = __cvta_generic_to_shared(&sb[s][lane % 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(p) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(q) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        __syncwarp();
    }
    int r = lane / 4, x = lane % 4 * 2;
    c[r * 8 + x] = f[0]; c[r * 8 + x + 1] = f[1]; c[(r + 8) * 8 + x] = f[2]; c[(r + 8) * 8 + x + 1] = f[3];
}
#endif
'''

EXCHANGE = r'''
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#define ROW(e) out[n * k++ + i] = (e)
extern "C" __global__ void lanes(const long long* px, long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, lane = i & 31;
    long long x = px[i];
    const unsigned all = ~0u;
    ROW(__shfl_xor_sync(all, x, 9)); ROW(__double_as_longlong(__shfl_up_sync(all, (double)x, 2, 16))); ROW(__shfl_down_sync(all, x, 5, 8)); ROW(__shfl_sync(all, x, lane * 7, 16));
    int pred; unsigned m = __match_all_sync(all, x & 0, &pred); ROW(m * 2ll + pred); m = __match_all_sync(all, x, &pred); ROW(m * 2ll + pred); ROW(__match_any_sync(all, x >> 60));
    long long v = -1;
    if (lane % 3 == 1) { unsigned part = 0x92492492; v = __shfl_sync(part, x, (lane + 3) % 31 / 3 * 3 + 1) ^ __ballot_sync(part, x > 0); }
    ROW(v);
    v = 0;
    #pragma unroll 1
    for (int j = 0; j < lane % 5; j++) v = v * 1000 + __popc(__activemask());
    ROW(v);
    unsigned lt, ge, eq; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt)); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge)); asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    ROW((long long)lt << 32 | (ge ^ eq));
    if (lane < 16) v = __shfl_xor_sync(0xffff, x, 1); else v = __shfl_xor_sync(0xffff0000, x, 2);
    ROW(v);
    unsigned id, w, nw; asm("mov.u32 %0, %%laneid;" : "=r"(id)); asm volatile("mov.u32 %0, %%warpid;" : "=r"(w)); asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nw)); ROW(id + 100 * w + (nw >= 2) * 10000);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void part_reduces(const int* px, int* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0, x = px[i], v = 0;
    if (i & 4) v = __reduce_add_sync(0xf0f0f0f0, x); else v = __reduce_max_sync(0x0f0f0f0f, x);
    ROW(v);
    unsigned m = __match_any_sync(~0u, x & 7);
    ROW(__reduce_min_sync(m, x)); ROW((int)__reduce_xor_sync(m, (unsigned)x));
}
#endif
extern "C" __global__ void odd_atomics(unsigned short* h, unsigned long long* l, long long* s, float* f, unsigned* bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short old = h[i % 3], seen;
    do { seen = old; old = atomicCAS(&h[i % 3], seen, (unsigned short)(seen + i)); } while (old != seen);
    atomicMin(&s[0], (long long)(i - 50) * -3000000000ll); atomicMax(&s[1], (long long)(i - 50) * 3000000000ll); atomicAnd(&l[0], ~(1ull << i % 64)); atomicOr(&l[1], 1ull << i % 48); atomicXor(&l[2], 0x100000001ull * i); atomicExch(&l[3 + i], ~0ull - i);
    atomicMax((int*)f, __float_as_int(i * 0.5f)); atomicMin((unsigned*)f + 1, __float_as_uint(-i * 0.25f)); atomicOr(&bits[i / 32], 1u << (i * 7 % 32));
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void small_floats(const float* px, unsigned char* e4, unsigned char* e5, float* back, __half2* pair) {
    int i = threadIdx.x;
    float x = px[i];
    __nv_fp8_e4m3 a(x); __nv_fp8_e5m2 b(x);
    e4[i] = a.__x; e5[i] = b.__x;
    back[2 * i] = (float)a; back[2 * i + 1] = (float)b;
    __nv_fp8x2_e4m3 p(make_float2(x, -2 * x));
    pair[i] = (__half2)p;
}
#endif
extern "C" __global__ void volumes(const int* in, int* out, int w, int h, int d) {  // 5 × 3 × 7 threads: three warps and nine lanes
    __shared__ int s[7][3][5];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int gx = blockIdx.x * 5 + x, gy = blockIdx.y * 3 + y, gz = blockIdx.z * 7 + z;
    bool in_range = gx < w && gy < h && gz < d;
    s[z][y][x] = in_range ? in[(gz * h + gy) * w + gx] : 0;
    int count = __syncthreads_count(in_range);
    if (!in_range) return;
    int v = s[z][y][x] * 2 - s[6 - z][2 - y][4 - x] + count;
    asm volatile("" ::: "memory");
    out[(gz * h + gy) * w + gx] = v;
}
'''

MEMORY = r'''
extern "C" __global__ void forms(const unsigned* in, unsigned* out, unsigned* extra) {
    int i = threadIdx.x;
    unsigned a, b, c, d, s = 0;
    asm volatile("prefetch.global.L2 [%0];" :: "l"(in + 4 * i)); asm volatile("prefetch.global.L1 [%0];" :: "l"(in + 4 * i));
    asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + 4 * i)); s += a ^ b ^ c ^ d;
    asm volatile("ld.volatile.global.v2.u32 {%0,%1}, [%2+8];" : "=r"(a), "=r"(b) : "l"(in + 4 * i)); s += a - b;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(a) : "l"(in + i)); s ^= a;
    asm volatile("ld.relaxed.cta.u32 %0, [%1+-4];" : "=r"(a) : "l"(in + i + 1)); s += a;
    asm volatile("st.release.sys.global.u32 [%0], %1;" :: "l"(out + i), "r"(s) : "memory");
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(extra), "r"(s) : "memory");
    asm volatile("red.global.max.s32 [%0+4], %1;" :: "l"(extra), "r"(s) : "memory");
    asm volatile("atom.acq_rel.cta.global.inc.u32 %0, [%1+8], 50;" : "=r"(a) : "l"(extra) : "memory");
    unsigned char u8; signed char s8; short s16;
    u8 = ((const unsigned char*)in)[i]; s8 = ((const signed char*)in)[i]; s16 = ((const short*)in)[i];
    extra[16 + i] = (u8 << 20) + (s8 * 1000) + s16;
    ((unsigned char*)(extra + 16 + blockDim.x))[i] = s8 >> 1;
    ((unsigned short*)(extra + 16 + 2 * blockDim.x))[i] = s16 * 3;
}
struct Bits { unsigned a : 3; int b : 7; unsigned long long c : 40; bool d : 1; };
union Mixed { float f; unsigned u; unsigned short h[2]; unsigned char b[4]; };
enum class Color : unsigned char { red = 200, green = 201, blue };
__device__ int counter = 5;
__device__ double history[4];
__constant__ unsigned short wide[1000] = {1, 2, 3};
template <int N> struct Power { template <class T> static __device__ T of(T x) { if constexpr (N == 0) return 1; else return x * Power<N - 1>::of(x); } };
template <class... T> __device__ auto total(T... v) { return (v + ... + 0); }
extern "C" __global__ void language2(const unsigned* in, long long* out) {
    int i = threadIdx.x, n = blockDim.x, k = 0;
#define ROW(e) out[n * k++ + i] = (e)
    unsigned x = in[i];
    Bits b; b.a = x; b.b = x >> 3; b.c = (unsigned long long)x * x; b.d = x & 16;
    b.b -= 5; b.c += b.a;
    ROW(b.a); ROW(b.b); ROW(b.c); ROW(b.d);
    Mixed m; m.u = x | 0x3f000000; m.h[0] ^= 0xff; m.b[1] += 7; ROW(m.u);
    Color c = static_cast<Color>(x); ROW(static_cast<int>(c)); ROW(c == Color::blue || c == Color::green);
    ROW(Power<5>::of((long long)(x & 255))); ROW(total((int)(x & 7), 2ll, (short)-3, 'a'));
    auto f = [x](auto y) { return y + (x & 15); };
    ROW(f(3) + (long long)f(2.75)); ROW(wide[x % 1000]); ROW((signed char)x * (signed char)(x >> 8)); ROW((unsigned char)(x + 300) >> 1); ROW((short)(x * 3) % 7); ROW(x % 7 == 3 ? -1 : (int)(x % 7) << 3);
    struct { long long key; double value; } pairs[6];
    for (int j = 0; j < 6; j++) { pairs[j].key = (x >> j * 5) & 31; pairs[j].value = j * 0.5; }
    for (int a = 1; a < 6; a++) { auto p = pairs[a]; int at = a; while (at > 0 && pairs[at - 1].key > p.key) { pairs[at] = pairs[at - 1]; at--; } pairs[at] = p; }
    long long h = 0; for (auto& p : pairs) h = h * 37 + p.key + (int)(p.value * 2); ROW(h);
    if (i == 0) { atomicAdd(&counter, 1); history[counter & 3] = 2.5; }
    char text[16]; int len = 0; unsigned v = x; do text[len++] = '0' + v % 10; while (v /= 10); h = 0; while (len) h = h * 10 + text[--len] - '0'; ROW(h);
    const unsigned* p = in; const unsigned** q = &p; (*q) += i; ROW(**q - (long long)x); ROW((long long)(p - in));
}
'''

ARITHMETIC = r'''
typedef unsigned long long u64;
extern "C" __global__ void big_product(const unsigned* a, const unsigned* b, unsigned* c) {  // 256 × 256 bits with carries
    unsigned x[8], y[8], r[16] = {};
    for (int j = 0; j < 8; j++) { x[j] = a[8 * threadIdx.x + j]; y[j] = b[8 * threadIdx.x + j]; }
    for (int i = 0; i < 8; i++) {
        unsigned carry = 0;
        for (int j = 0; j < 8; j++) {
            unsigned lo, hi;
            asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, 0;" : "=&r"(lo), "=&r"(hi) : "r"(x[i]), "r"(y[j]), "r"(r[i + j]));
            asm("add.cc.u32 %0, %0, %2;\n\taddc.u32 %1, %1, 0;" : "+r"(lo), "+r"(hi) : "r"(carry));
            r[i + j] = lo; carry = hi;
        }
        r[i + 8] = carry;
    }
    for (int j = 0; j < 16; j++) c[16 * threadIdx.x + j] = r[j];
}
__device__ u64 mulmod(u64 a, u64 b, u64 m) { return (unsigned __int128)a * b % m; }
extern "C" __global__ void primes(const u64* in, unsigned char* out) {  // Miller and Rabin
    u64 n = in[threadIdx.x], d = n - 1, bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    int s = 0;
    if (n < 2) { out[threadIdx.x] = 0; return; }
    for (u64 b : bases) if (n % b == 0) { out[threadIdx.x] = n == b; return; }
    while (!(d & 1)) { d >>= 1; s++; }
    for (u64 b : bases) {
        u64 x = 1, y = b % n;
        for (u64 e = d; e; e >>= 1) { if (e & 1) x = mulmod(x, y, n); y = mulmod(y, y, n); }
        if (x == 1 || x == n - 1) continue;
        int j = 1;
        for (; j < s; j++) { x = mulmod(x, x, n); if (x == n - 1) break; }
        if (j == s) { out[threadIdx.x] = 0; return; }
    }
    out[threadIdx.x] = 1;
}
extern "C" __global__ void sieve(unsigned* bits, int n) {
    for (int p = 2 + threadIdx.x; p * p < n; p += blockDim.x) for (int q = p * p; q < n; q += p) atomicOr(&bits[q / 32], 1u << q % 32);
}
extern "C" __global__ void crc(const unsigned char* text, unsigned* out, int n) {
    __shared__ unsigned table[256];
    for (int j = threadIdx.x; j < 256; j += blockDim.x) { unsigned c = j; for (int b = 0; b < 8; b++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0); table[j] = c; }
    __syncthreads();
    unsigned c = ~0u;
    for (int j = 0; j < n; j++) c = c >> 8 ^ table[(c ^ text[threadIdx.x * n + j]) & 255];
    out[threadIdx.x] = ~c;
}
extern "C" __global__ void philox(uint4* out, uint2 key) {
    uint4 c = make_uint4(threadIdx.x, blockIdx.x, 7, 9);
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
        key.x += 0x9E3779B9u; key.y += 0xBB67AE85u;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = c;
}
extern "C" __global__ void bodies(const float4* p, float3* a, int n) {
    __shared__ float4 tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float4 me = p[i];
    float3 s = make_float3(0, 0, 0);
    for (int t = 0; t < n; t += 32) {
        tile[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        #pragma unroll 4
        for (int j = 0; j < 32; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f, r = rsqrtf(d), f = tile[j].w * r * r * r;
            s.x += f * dx; s.y += f * dy; s.z += f * dz;
        }
        __syncthreads();
    }
    a[i] = s;
}
extern "C" __global__ void options(const double* spot, const double* strike, double* call, double r, double v, double t) {
    int i = threadIdx.x;
    double d1 = (log(spot[i] / strike[i]) + (r + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
    call[i] = spot[i] * normcdf(d1) - strike[i] * exp(-r * t) * normcdf(d2);
}
extern "C" __global__ void knapsack(const int* weight, const int* value, int* best, int n, int cap) {
    extern __shared__ int dp[];
    int* old = dp, *now = dp + cap + 1;
    for (int c = threadIdx.x; c <= cap; c += blockDim.x) old[c] = 0;
    __syncthreads();
    for (int j = 0; j < n; j++) {
        for (int c = threadIdx.x; c <= cap; c += blockDim.x) now[c] = c >= weight[j] ? max(old[c], old[c - weight[j]] + value[j]) : old[c];
        __syncthreads();
        int* x = old; old = now; now = x;
    }
    if (threadIdx.x == 0) *best = old[cap];
}
'''

CLUSTERS = r'''
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/atomic>
namespace cg = cooperative_groups;
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 1, 1) spread(const int* in, int* bins) {  // a histogram over the shared memory of four CTAs
    __shared__ int s[64];
    auto c = cg::this_cluster();
    for (int j = threadIdx.x; j < 64; j += blockDim.x) s[j] = 0;
    c.sync();
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(c.map_shared_rank(s, v / 64) + v % 64, 1);
    c.sync();
    if (threadIdx.x < 64) bins[(blockIdx.x / 4 * 4 + c.block_rank()) * 64 + threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(int* out) {
    __shared__ int mail;
    auto c = cg::this_cluster();
    unsigned me = c.block_rank(), n = c.num_blocks();
    int v = me + 1;
    for (int r = 0; r < 4; r++) {
        if (threadIdx.x == 0) *c.map_shared_rank(&mail, (me + 1) % n) = v;
        c.barrier_arrive();
        c.barrier_wait();
        v = v * 10 + mail;
        c.sync();
    }
    if (threadIdx.x == 0) out[(blockIdx.y * gridDim.x + blockIdx.x)] = v;
}
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void bulk(const int* in, int* out) {
    __shared__ alignas(128) int s[2][256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
    if (threadIdx.x == 0) { init(&bar[0], blockDim.x); init(&bar[1], blockDim.x); asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
    __syncthreads();
    auto fetch = [&](int r) {
        if (threadIdx.x == 0) { cuda::device::experimental::cp_async_bulk_global_to_shared(s[r & 1], in + r * 256, 1024, bar[r & 1]); return cuda::device::barrier_arrive_tx(bar[r & 1], 1, 1024); }
        return bar[r & 1].arrive();
    };
    auto token = fetch(0);
    for (int r = 0; r < 6; r++) {
        auto mine = std::move(token);
        if (r < 5) token = fetch(r + 1);
        bar[r & 1].wait(std::move(mine));
        for (int j = threadIdx.x; j < 256; j += blockDim.x) out[r * 256 + j] = s[r & 1][255 - j] * (r + 1);
        __syncthreads();
    }
}
#endif
extern "C" __global__ void meet(int* out) {
    __shared__ cuda::latch<cuda::thread_scope_block>* l;
    __shared__ alignas(16) char room[64], more[64];
    __shared__ int inside, most, order;
    auto* sem = (cuda::counting_semaphore<cuda::thread_scope_block, 3>*)more;
    if (threadIdx.x == 0) { l = new (room) cuda::latch<cuda::thread_scope_block>(64); new (sem) cuda::counting_semaphore<cuda::thread_scope_block, 3>(3); inside = most = order = 0; }
    __syncthreads();
    sem->acquire();
    int now = atomicAdd(&inside, 1) + 1;
    atomicMax(&most, now);
    atomicSub(&inside, 1);
    sem->release();
    atomicAdd(&order, 1);
    l->arrive_and_wait();
    out[threadIdx.x] = order * 10 + (most >= 1 && most <= 3);
}
extern "C" __global__ void waits(int* out, int* word) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*word);
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { a.store(7, cuda::memory_order_release); a.notify_all(); } }
    else if (threadIdx.x == 0) { a.wait(0, cuda::memory_order_acquire); out[blockIdx.x] = a.load(); }
}
extern "C" __global__ void grid_sync_sum(const int* in, int* part, int* out) {
    auto g = cg::this_grid();
    int i = g.thread_rank();
    for (int round = 0; round < 3; round++) {
        part[i] = (round ? part[i] : in[i]) + round;
        g.sync();
        int other = part[(i + 37) % g.size()];
        g.sync();
        part[i] += other;
    }
    out[i] = part[i];
}
'''
