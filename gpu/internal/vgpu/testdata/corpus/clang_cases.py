"""CUDA and C through clang 19, which has no CUDA headers: apt-get install clang-19; python clang_cases.py [CLANG]"""
import subprocess, sys
import numpy as np
from common import In, Out, Producer, Val

CLANG = sys.argv[1] if len(sys.argv) > 1 else "clang++-19"
rng = np.random.default_rng(7)
P = Producer("clang")
seen = {}

SOURCE = r'''
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define tid __nvvm_read_ptx_sreg_tid_x()
#define ntid __nvvm_read_ptx_sreg_ntid_x()
#define bid __nvvm_read_ptx_sreg_ctaid_x()
#define sync() __syncthreads()
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
extern "C" {
__global__ void vadd(const float4* a, const float4* b, float4* c, int n) { int i = bid * ntid + tid; if (i < n) c[i] = a[i] + b[i]; }
__global__ void reduce(const float* x, float* out, int n) {
    __shared__ float s[32];
    float v = 0;
    for (int i = tid; i < n; i += ntid) v += x[i];
    for (int d = 16; d; d >>= 1) v += __nvvm_shfl_sync_bfly_f32(~0u, v, d, 31);
    if (tid % 32 == 0) s[tid / 32] = v;
    sync();
    if (tid == 0) { float t = 0; for (int w = 0; w < ntid / 32; w++) t += s[w]; *out = t; }
}
__global__ void choose(const int* x, int* y) {
    int v = x[tid], r;
    switch (v) {
    case 0: r = v * 5 + 1; break; case 1: r = v - 77; break; case 2: r = v ^ 0x55; break; case 3: r = 9; __nvvm_membar_cta(); break; case 4: r = v << 7; break;
    case 5: r = tid; break; case 6: r = tid * tid; break; case 7: r = -v; break; case 8: r = v / 3; break; case 9: r = 1000000; break;
    default: r = -1;
    }
    y[tid] = r;
}
__global__ void halves(const _Float16* x, const _Float16* y, _Float16* z, half2* w) {
    int i = tid, n = ntid;
    _Float16 a = x[i], b = y[i];
    z[i] = a + b; z[n + i] = a * b; z[2 * n + i] = a > b ? a : b; z[3 * n + i] = (_Float16)((float)a * 3.f); z[4 * n + i] = (_Float16)(int)a; z[5 * n + i] = -a; z[6 * n + i] = a / b;
    half2 p = {a, b}, q = {b, a};
    w[i] = p * q + p;
}
__global__ void brains(const __bf16* x, float* y) { y[tid] = (float)x[tid] * 2.f; }
__global__ void wide(const long long* a, const long long* b, long long* c) {
    int i = tid, n = ntid;
    __int128 p = (__int128)a[i] * b[i];
    c[i] = (long long)(p >> 20); c[n + i] = (long long)((p + a[i]) >> 64); c[2 * n + i] = a[i] / b[i]; c[3 * n + i] = (unsigned long long)a[i] % (unsigned long long)b[i];
    unsigned __int128 q = ((unsigned __int128)(unsigned long long)a[i] << 64 | (unsigned long long)b[i]) - 12345;
    c[4 * n + i] = (long long)(q >> 37);
}
__global__ void bits(const unsigned* a, unsigned* c) {
    int i = tid, n = ntid; unsigned x = a[i];
    c[i] = __builtin_popcount(x); c[n + i] = x ? __builtin_clz(x) : 32; c[2 * n + i] = x ? __builtin_ctz(x) : 32; c[3 * n + i] = __builtin_bitreverse32(x); c[4 * n + i] = __builtin_bswap32(x);
    c[5 * n + i] = __builtin_rotateleft32(x, 7); c[6 * n + i] = __builtin_rotateright32(x, x & 31); int r; c[7 * n + i] = __builtin_add_overflow((int)x, 1 << 30, &r); c[8 * n + i] = __builtin_elementwise_add_sat((int)x, (int)0x60000000);
}
__global__ void atomics(int* p, float* f, double* d, unsigned long long* u) {
    __nvvm_atom_add_gen_i(p, 1); __nvvm_atom_max_gen_i(p + 1, tid); __nvvm_atom_min_gen_i(p + 2, -(int)tid); __nvvm_atom_xor_gen_i(p + 3, tid); __nvvm_atom_cas_gen_i(p + 4, 0, 7); __nvvm_atom_inc_gen_ui((unsigned*)p + 5, 5);
    __nvvm_atom_add_gen_f(f, 0.5f); __nvvm_atom_add_gen_d(d, 0.25); __nvvm_atom_add_gen_ll((long long*)u, 1ll << 33);
    __atomic_fetch_add(p + 6, 2, __ATOMIC_SEQ_CST); __atomic_fetch_or(p + 7, 1 << (tid & 15), __ATOMIC_RELAXED);
    short* h = (short*)(p + 8); __atomic_fetch_add(h + 1, 1, __ATOMIC_RELAXED);
}
struct Big { int n; float w[8]; long long k; };
__global__ void byvalue(Big b, float* out, int j) { out[tid] = b.w[(tid + j) % 8] * b.n + (float)b.k; }
__constant__ float table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__device__ int counter = 3;
__global__ void globals(float* out) { out[tid] = table[tid % 8] + counter; }
__device__ __attribute__((noinline)) float poly(float x, int n) { float r = 0; for (int i = 0; i < n; i++) r = r * x + i; return r; }
__device__ __attribute__((noinline)) Big make(int n) { Big b; b.n = n; for (int i = 0; i < 8; i++) b.w[i] = i * n; b.k = n * 3; return b; }
__global__ void calls(const float* x, float* y) { Big b = make(tid); y[tid] = poly(x[tid], 1 + tid % 5) + b.w[tid % 8] + b.k; }
__global__ void locals(const int* x, int* y) { int a[16]; for (int i = 0; i < 16; i++) a[(i * 5 + x[tid]) & 15] = i * x[tid]; int s = 0; for (int i = 0; i < 16; i++) s = s * 3 + a[i]; y[tid] = s; }
__global__ void doubles(const double* x, double* y) {
    int i = tid, n = ntid; double v = x[i];
    y[i] = __builtin_sqrt(v * v + 1); y[n + i] = __builtin_fma(v, v, 1.5); y[2 * n + i] = 1 / (v * v + 2); y[3 * n + i] = __builtin_floor(v) + __builtin_rint(v); y[4 * n + i] = (double)(float)v; y[5 * n + i] = (double)(long long)(v * 1e6); y[6 * n + i] = __builtin_fmax(v, 0.25) + __builtin_fabs(v);
}
__global__ void chars(signed char* a, unsigned char* b, short* c, unsigned short* d) { int i = tid; a[i] = a[i] * 3 - b[i]; b[i] = b[i] >> 1 | b[i] << 7; c[i] = c[i] / 3 + a[i]; d[i] = d[i] * d[i] + c[i]; }
__global__ void votes(const int* x, unsigned* y) { int i = tid; y[i] = __nvvm_vote_ballot_sync(~0u, x[i] > 0); y[ntid + i] = __nvvm_match_any_sync_i32(~0u, x[i] & 1); y[2 * ntid + i] = __nvvm_vote_all_sync(~0u, x[i] > -99) + 2 * __nvvm_bar0_popc(x[i] > 0); }
}
'''


def build(arch, features, options):
    key = (arch, features, options)
    if key not in seen:
        cmd = [CLANG, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", f"--cuda-gpu-arch=sm_{arch}", "-Xclang", "-target-feature", "-Xclang", f"+{features}", "-std=c++17",
               "-Wno-unknown-cuda-version", *options, "-S", "-o", "-", "-"]
        r = subprocess.run(cmd, input=SOURCE, capture_output=True, text=True)
        if r.returncode:
            sys.exit(r.stderr[:3000])
        seen[key] = P.ptx(f"sm{arch}_{features}{''.join(options).replace('-', '_')}", r.stdout)
    return seen[key]


BUILDS = [("70", "ptx60", ("-O2",)), ("80", "ptx80", ("-O0",)), ("90", "ptx85", ("-O3", "-ffast-math", "-g"))]


def case(entry, grid, block, args, builds=BUILDS):
    for b in builds:
        ptx = build(*b)
        P.case(f"{entry}_{ptx}", ptx, entry, grid, block, args)


def main():
    n = 64
    f32 = np.float32
    a, b = rng.standard_normal((n, 4)).astype(f32), rng.standard_normal((n, 4)).astype(f32)
    case("vadd", 2, 32, [In(a), In(b), Out(a + b), Val(np.int32(n))])
    x = rng.standard_normal(1000).astype(f32)
    case("reduce", 1, 128, [In(x), Out(np.array([x.sum(dtype=np.float64)], f32), 1e-5, 1e-5), Val(np.int32(1000))])
    t = np.arange(n)
    v = rng.integers(0, 12, n).astype(np.int32)
    r = np.array([[q * 5 + 1, q - 77, q ^ 0x55, 9, q << 7, i, i * i, -q, q // 3, 1000000, -1, -1][q] for i, q in enumerate(v.tolist())], np.int32)
    case("choose", 1, n, [In(v), Out(r)])
    h, g = rng.standard_normal(n).astype(np.float16) * 3, rng.standard_normal(n).astype(np.float16) * 3
    H, G = h.astype(f32), g.astype(f32)
    rows = [H + G, H * G, np.where(H > G, H, G), (H * 3), np.trunc(H), -H, H / G]
    case("halves", 1, n, [In(h), In(g), Out(np.stack([q.astype(np.float16) for q in rows]), 1e-3, 1e-6), Out(np.stack([(H.astype(np.float64) * G + H), (G.astype(np.float64) * H + G)], 1).astype(np.float16), 2e-3, 2e-3)])
    u = rng.standard_normal(n).astype(f32).view(np.uint32) & 0xFFFF0000
    case("brains", 1, n, [In((u >> 16).astype(np.uint16)), Out(u.view(f32) * 2)])
    p, q = rng.integers(-2**62, 2**62, n), rng.integers(1, 2**50, n)
    s = lambda z: (int(z) + 2**63) % 2**64 - 2**63
    pq = list(zip(p.tolist(), q.tolist()))
    tr = lambda c, d: abs(c) // abs(d) * (1 if (c < 0) == (d < 0) else -1)
    want = np.array([[s(c * d >> 20) for c, d in pq], [s((c * d + c) >> 64) for c, d in pq], [tr(c, d) for c, d in pq], [s((c % 2**64) % (d % 2**64)) for c, d in pq],
                     [s(((((c % 2**64) << 64 | d) - 12345) % 2**128) >> 37) for c, d in pq]], dtype=object).astype(np.int64)
    case("wide", 1, n, [In(p), In(q), Out(want)])
    w = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    w[0] = 0
    one = lambda f: np.array([f(int(z)) for z in w], np.uint32)
    rot = lambda z, k: ((z << k) | (z >> (32 - k) if k else 0)) & 0xFFFFFFFF
    sg = lambda z: z - 2**32 if z >= 2**31 else z
    rows = [one(lambda z: bin(z).count("1")), one(lambda z: 32 - z.bit_length()), one(lambda z: (z & -z).bit_length() - 1 if z else 32), one(lambda z: int(f"{z:032b}"[::-1], 2)), w.byteswap(),
            one(lambda z: rot(z, 7)), one(lambda z: rot(z, (32 - (z & 31)) % 32)), one(lambda z: sg(z) + 2**30 > 2**31 - 1), one(lambda z: min(sg(z) + 0x60000000, 2**31 - 1) % 2**32)]
    case("bits", 1, n, [In(w), Out(np.stack(rows))])
    after = np.array([64, 63, -63, 0, 7, 64 % 6, 128, 65535, 64 << 16], np.int32)
    case("atomics", 1, n, [In(np.zeros(9, np.int32), after), Out(np.array([32], f32)), Out(np.array([16.0])), Out(np.array([64 << 33], np.uint64))], builds=BUILDS[:1] + BUILDS[2:])
    big = np.zeros(48, np.uint8)
    big[:4] = np.array([3], np.int32).view(np.uint8)
    big[4:36] = np.arange(8, dtype=f32).view(np.uint8)
    big[40:48] = np.array([100], np.int64).view(np.uint8)
    case("byvalue", 1, n, [Val(big), Out(((t + 2) % 8 * 3 + 100).astype(f32)), Val(np.int32(2))])
    case("globals", 1, n, [Out((2.0**(t % 8) + 3).astype(f32))])
    x = rng.integers(-3, 4, n).astype(f32)
    y = []
    for i in range(n):
        z = 0
        for k in range(1 + i % 5):
            z = z * x[i] + k
        y.append(z + (i % 8) * i + 3 * i)
    case("calls", 1, n, [In(x), Out(np.array(y, f32))])
    v = rng.integers(-50, 50, n).astype(np.int32)
    y = []
    for q in v.tolist():
        m = [0] * 16
        for i in range(16):
            m[(i * 5 + q) & 15] = i * q
        z = 0
        for i in range(16):
            z = (z * 3 + m[i] + 2**31) % 2**32 - 2**31
        y.append(z)
    case("locals", 1, n, [In(v), Out(np.array(y, np.int32))])
    d = rng.standard_normal(n) * 3
    case("doubles", 1, n, [In(d), Out(np.stack([np.sqrt(d * d + 1), d * d + 1.5, 1 / (d * d + 2), np.floor(d) + np.rint(d), d.astype(f32).astype(float), np.trunc(d * 1e6), np.fmax(d, 0.25) + np.abs(d)]), 1e-14, 1e-14)], builds=BUILDS[:2])  # fast-math takes sqrt.approx.ftz
    a, b, c, e = rng.integers(-128, 128, n).astype(np.int8), rng.integers(0, 256, n).astype(np.uint8), rng.integers(-2**15, 2**15, n).astype(np.int16), rng.integers(0, 2**16, n).astype(np.uint16)
    L = lambda z: z.astype(np.int64)
    a2 = (L(a) * 3 - L(b)).astype(np.int8)
    c2 = (np.trunc(L(c) / 3).astype(np.int64) + L(a2)).astype(np.int16)
    case("chars", 1, n, [In(a, a2), In(b, (L(b) >> 1 | L(b) << 7).astype(np.uint8)), In(c, c2), In(e, (L(e) * L(e) + L(c2)).astype(np.uint16))])
    v = rng.integers(-90, 90, n).astype(np.int32)
    r = v.reshape(2, 32)
    bal = np.repeat([sum(1 << i for i in range(32) if z[i] > 0) for z in r], 32)
    mt = np.array([[sum(1 << j for j in range(32) if (z[j] & 1) == (z[i] & 1)) for i in range(32)] for z in r]).reshape(-1)
    case("votes", 1, n, [In(v), Out(np.stack([bal, mt, np.full(n, 1 + 2 * (v > 0).sum())]).astype(np.uint32))])


main()
P.write()
