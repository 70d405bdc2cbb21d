"""Triton programs, compiled for sm_80 and sm_90 without a device: pip install triton numpy; python triton_cases.py"""
import sys
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra.cuda import libdevice
from common import In, Out, Producer, Val

rng = np.random.default_rng(1)
P = Producer("triton")


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def bf16(a):
    """float32 rounded to bfloat16, as uint16 and as float32."""
    u = np.ascontiguousarray(a, np.float32).view(np.uint32)
    h = ((u + 0x7FFF + (u >> 16 & 1)) >> 16).astype(np.uint16)
    return h, (h.astype(np.uint32) << 16).view(np.float32)


def build(fn, signature, constexprs, arch, warps=4, stages=3):
    full = {a: signature.get(a, "constexpr") for a in fn.arg_names}
    k = triton.compile(ASTSource(fn=fn, signature=full, constexprs=constexprs), target=GPUTarget("cuda", arch, 32),
                       options={"num_warps": warps, "num_stages": stages})
    return k


def case(name, fn, signature, constexprs, grid, args, archs=(80, 90), warps=4, stages=3):
    for arch in archs:
        try:
            k = build(fn, signature, constexprs, arch, warps, stages)
        except Exception as e:
            print(name, arch, "does not compile:", str(e)[-300:], file=sys.stderr)
            continue
        full = f"{name}_sm{arch}"
        ptx = k.asm["ptx"]
        P.ptx(full, ptx)
        missing = ptx[:ptx.index("{\n", ptx.index(".entry"))].count(".param") - len(args)
        P.case(full, full, k.metadata.name, grid, k.metadata.num_warps * 32, list(args) + scratch(k, grid, missing), shared=k.metadata.shared, arch=arch)


def scratch(k, grid, missing):
    """The hidden parameters: memory for tensor descriptors, and for profiles."""
    size = k.metadata.global_scratch_size * int(np.prod(grid))
    first = In(np.zeros(size, np.uint8)) if size else Val(np.uint64(0))
    return ([first] + [Val(np.uint64(0))] * missing)[:missing]


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    tl.store(z + o, tl.load(x + o, mask=m) + tl.load(y + o, mask=m), mask=m)


@triton.jit
def softmax(x, y, cols, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    m = o < cols
    v = tl.load(x + r * cols + o, mask=m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * cols + o, e / tl.sum(e, 0), mask=m)


@triton.jit
def layer_norm(x, y, w, b, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    m = o < cols
    v = tl.load(x + r * cols + o, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / cols
    d = tl.where(m, v - mean, 0.0)
    inv = 1 / tl.sqrt(tl.sum(d * d, 0) / cols + eps)
    tl.store(y + r * cols + o, (d * inv * tl.load(w + o, mask=m) + tl.load(b + o, mask=m)).to(y.dtype.element_ty), mask=m)


@triton.jit
def rms_norm_bf16(x, y, w, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    m = o < cols
    v = tl.load(x + r * cols + o, mask=m, other=0.0).to(tl.float32)
    s = tl.rsqrt(tl.sum(v * v, 0) / cols + eps)
    tl.store(y + r * cols + o, (v * s * tl.load(w + o, mask=m, other=0.0).to(tl.float32)).to(tl.bfloat16), mask=m)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=c.dtype.element_ty)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_ieee(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(a + rm[:, None] * K + rk[None, :] + k), tl.load(b + (k + rk[:, None]) * N + rn[None, :]), input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_fp8_up(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """e5m2 operands widened to f16 before the dot."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + rk[None, :] + k).to(tl.float16)
        y = tl.load(b + (k + rk[:, None]) * N + rn[None, :]).to(tl.float16)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_int4(a, q, s, c, M, N, K, G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """q packs eight 4-bit weights of one column, along K, in an int32; s is a scale a group of G rows."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + rk[None, :] + k)
        w = tl.load(q + ((k + rk[:, None]) // 8) * N + rn[None, :])
        w = ((w >> ((rk[:, None] % 8) * 4)) & 15) - 8
        sc = tl.load(s + ((k + rk[:, None]) // G) * N + rn[None, :])
        acc = tl.dot(x, (w.to(tl.float32) * sc).to(tl.float16), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def attention(q, k, v, o, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal flash attention of one head: q, k, v, o are [T][D], f16."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    x = tl.load(q + rm[:, None] * D + rd[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, (tl.program_id(0) + 1) * BM, BN):
        rn = n + tl.arange(0, BN)
        y = tl.load(k + rn[:, None] * D + rd[None, :])
        s = tl.dot(x, tl.trans(y)) * scale
        s = tl.where(rm[:, None] >= rn[None, :], s, -float("inf"))
        up = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - up[:, None])
        alpha = tl.exp2(most - up)
        total = total * alpha + tl.sum(p, 1)
        z = tl.load(v + rn[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), z, acc * alpha[:, None])
        most = up
    tl.store(o + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def scan(x, y, z, cols, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    v = tl.load(x + r * cols + o)
    tl.store(y + r * cols + o, tl.cumsum(v, 0))
    tl.store(z + r * cols + o, tl.associative_scan(v, 0, larger, reverse=True))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def arg_extremes(x, hi, lo, top, B: tl.constexpr):
    r = tl.program_id(0)
    v = tl.load(x + r * B + tl.arange(0, B))
    tl.store(hi + r, tl.argmax(v, 0))
    tl.store(lo + r, tl.argmin(v, 0))
    tl.store(top + r, tl.min(v, 0) + tl.xor_sum((v * 16).to(tl.int32), 0))


@triton.jit
def sort_rows(x, y, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    tl.store(y + r * B + o, tl.sort(tl.load(x + r * B + o)))


@triton.jit
def topk_rows(x, y, B: tl.constexpr, K: tl.constexpr):
    r = tl.program_id(0)
    v = tl.load(x + r * B + tl.arange(0, B))
    tl.store(y + r * K + tl.arange(0, K), tl.topk(v, K))


@triton.jit
def histogram(x, h, n, B: tl.constexpr, BINS: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.histogram(tl.load(x + o), BINS)
    tl.atomic_add(h + tl.arange(0, BINS), c)


@triton.jit
def atomics(x, s, mx, mn, c, e, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    v = tl.load(x + o, mask=m, other=0)
    tl.atomic_add(s + o % 7, v.to(tl.float32), mask=m)
    tl.atomic_max(mx + o % 5, v, mask=m)
    tl.atomic_min(mn + o % 5, v, mask=m)
    tl.atomic_or(c + o * 0, 1 << (v & 31), mask=m)
    tl.atomic_xor(c + 1 + o * 0, v, mask=m)
    tl.atomic_and(c + 2 + o * 0, v | 0xFF, mask=m)
    tl.atomic_xchg(e + o, v, mask=m)


@triton.jit
def atomic_f16(x, s, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.atomic_add(s + o, tl.load(x + tl.program_id(0) * B + o), sem="relaxed")


@triton.jit
def spin_sum(x, lock, total, B: tl.constexpr):
    s = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + s)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def gather(x, i, y, cols, B: tl.constexpr, D: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    row = tl.load(i + o)
    d = tl.arange(0, D)
    tl.store(y + o[:, None] * D + d[None, :], tl.load(x + row[:, None] * D + d[None, :]))


@triton.jit
def gather_lanes(x, i, y, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o, tl.gather(tl.load(x + o), tl.load(i + o), 0))


@triton.jit
def dropout(x, y, n, p, seed, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    keep = tl.rand(seed, o) > p
    tl.store(y + o, tl.where(keep, tl.load(x + o, mask=m) / (1 - p), 0.0), mask=m)


@triton.jit
def philox4(y, seed, B: tl.constexpr):
    o = tl.arange(0, B)
    a, b, c, d = tl.randint4x(seed, o)
    tl.store(y + o, a)
    tl.store(y + B + o, b)
    tl.store(y + 2 * B + o, c)
    tl.store(y + 3 * B + o, d)


@triton.jit
def math_functions(x, y, n: tl.constexpr, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    a = tl.abs(v) + 0.01
    tl.store(y + o, tl.sin(v))
    tl.store(y + n + o, tl.cos(v))
    tl.store(y + 2 * n + o, tl.log(a))
    tl.store(y + 3 * n + o, tl.log2(a))
    tl.store(y + 4 * n + o, tl.erf(v))
    tl.store(y + 5 * n + o, tl.floor(v) + 8 * tl.ceil(v))
    tl.store(y + 6 * n + o, tl.fma(v, a, v))
    tl.store(y + 7 * n + o, tl.sigmoid(v))
    tl.store(y + 8 * n + o, tl.div_rn(v, a))
    tl.store(y + 9 * n + o, tl.sqrt_rn(a))


@triton.jit
def integer_functions(x, y, z, B: tl.constexpr):
    o = tl.arange(0, B)
    a = tl.load(x + o)
    b = tl.load(y + o)
    tl.store(z + o, a // b)
    tl.store(z + B + o, a % b)
    tl.store(z + 2 * B + o, tl.umulhi(a, b))
    tl.store(z + 3 * B + o, (a >> (b & 31)) ^ (a << (b & 7)))
    tl.store(z + 4 * B + o, tl.clamp(a.to(tl.float32), -5.0, 5.0).to(tl.int32))
    tl.store(z + 5 * B + o, tl.cdiv(a, 3) + tl.where(a > b, a, b))


@triton.jit
def casts(x, h, b, e, i8, u8, back, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    tl.store(h + o, v.to(tl.float16))
    tl.store(b + o, v.to(tl.bfloat16))
    tl.store(e + o, v.to(tl.float8e5))
    tl.store(i8 + o, v.to(tl.int8))
    tl.store(u8 + o, tl.abs(v).to(tl.uint8))
    tl.store(back + o, v.to(tl.float16).to(tl.float8e5).to(tl.float32))


@triton.jit
def casts_e4m3(x, e, back, B: tl.constexpr):
    o = tl.arange(0, B)
    q = tl.load(x + o).to(tl.float8e4nv)
    tl.store(e + o, q)
    tl.store(back + o, q.to(tl.float32))


@triton.jit
def double_dot(x, y, s, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(s, tl.sum(tl.load(x + o) * tl.load(y + o), 0))


@triton.jit
def transpose(x, y, M: tl.constexpr, N: tl.constexpr):
    rm, rn = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + rm[:, None] * N + rn[None, :])
    tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(v))


@triton.jit
def welford(x, mean, var, cols, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    v = tl.load(x + r * cols + o, mask=o < cols, other=0.0)
    n = (o < cols).to(tl.float32)
    m, s, c = tl.reduce((v, v * 0.0, n), 0, join)
    tl.store(mean + r, m)
    tl.store(var + r, s / c)


@triton.jit
def join(m1, s1, n1, m2, s2, n2):
    d = m2 - m1
    n = n1 + n2
    w = tl.where(n == 0.0, 0.0, n2 / n)
    return m1 + d * w, s1 + s2 + d * d * n1 * w, n


@triton.jit
def rope(x, c, s, y, T, H: tl.constexpr):
    t = tl.program_id(0)
    o = tl.arange(0, H)
    a = tl.load(x + t * 2 * H + o)
    b = tl.load(x + t * 2 * H + H + o)
    co = tl.load(c + t * H + o)
    si = tl.load(s + t * H + o)
    tl.store(y + t * 2 * H + o, a * co - b * si)
    tl.store(y + t * 2 * H + H + o, b * co + a * si)


@triton.jit
def checked(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    i = tl.load(x + o)
    tl.device_assert((i >= 0) & (i < n), "index out of range")
    tl.store(y + o, i * 2)


@triton.jit
def descriptors(a, b, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    e = tl.make_tensor_descriptor(b, [M, N], [N, 1], [BM, BN])
    for n in range(0, N, BN):
        e.store([tl.program_id(0) * BM, n], d.load([tl.program_id(0) * BM, n]) * 2)


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(da.load([tl.program_id(0) * BM, k]), db.load([k, tl.program_id(1) * BN]), acc)
    dc.store([tl.program_id(0) * BM, tl.program_id(1) * BN], acc.to(tl.float16))


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    for t in tl.range(tl.program_id(0), (M // BM) * (N // BN), G, flatten=True):
        rm = (t // (N // BN)) * BM + tl.arange(0, BM)
        rn = (t % (N // BN)) * BN + tl.arange(0, BN)
        rk = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :] + k), tl.load(b + (k + rk[:, None]) * N + rn[None, :]), acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def square_dot(a, b, c, N: tl.constexpr, P: tl.constexpr):
    r = tl.arange(0, N)
    s = r[:, None] * N + r[None, :]
    tl.store(c + s, tl.dot(tl.load(a + s), tl.load(b + s), input_precision=P, out_dtype=c.dtype.element_ty))


@triton.jit
def hints(x, y, z, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + o, cache_modifier=".cg") + tl.load(x + o, eviction_policy="evict_last") + tl.load(x + o, eviction_policy="evict_first")
    tl.store(y + o, a + tl.load(x + o, volatile=True) + tl.load(x + o, cache_modifier=".ca"), cache_modifier=".cs")
    tl.store(z + o, a, eviction_policy="evict_first")


@triton.jit
def inline_asm(x, y, z, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.inline_asm_elementwise("{ .reg .b32 t; prmt.b32 t, $1, $2, 0x5410; lop3.b32 $0, t, $1, $2, 0xCA; }", "=r,r,r", [tl.load(x + o), tl.load(y + o)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(z + o, v)


@triton.jit
def interleaved(x, y, z, w, B: tl.constexpr):
    o = tl.arange(0, B)
    j = tl.interleave(tl.load(x + o), tl.load(y + o))
    tl.store(z + tl.arange(0, 2 * B), j)
    p, q = tl.split(tl.reshape(j, (B, 2)))
    tl.store(w + o, p * q + tl.flip(p))


@triton.jit
def device_functions(x, y, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o)
    tl.store(y + o, libdevice.asin(v))
    tl.store(y + B + o, libdevice.tgamma(v + 1))
    tl.store(y + 2 * B + o, libdevice.pow(v + 1, v))
    tl.store(y + 3 * B + o, libdevice.atan2(v, v + 2))
    tl.store(y + 4 * B + o, libdevice.cbrt(v))
    tl.store(y + 5 * B + o, libdevice.erfinv(v))
    tl.store(y + 6 * B + o, libdevice.rint(v * 9) + libdevice.fmod(v, 0.3))


@triton.jit
def orderings(x, y, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.atomic_add(x + o, 1.0, sem="acquire")
    tl.atomic_add(x + o, 1.5, sem="release", scope="cta")
    tl.atomic_max(x + o, 1.0, sem="acq_rel", scope="sys")
    tl.atomic_min(x + o, 2.25)
    tl.atomic_cas(y + o, o % 3, o + 7, sem="relaxed")


def philox_reference(seed, offset):
    """Philox 4x32, ten rounds, as Triton's tl.philox: key (seed low, seed high), counter (offset, 0, 0, 0)."""
    c = [offset.astype(np.uint64) & 0xFFFFFFFF] + [np.zeros_like(offset, np.uint64) for _ in range(3)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), b & np.uint64(0xFFFFFFFF), (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), a & np.uint64(0xFFFFFFFF)]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [x.astype(np.uint32) for x in c]


def uniform(u):
    """tl.rand: an int32's magnitude scaled into [0, 1)."""
    x = u.view(np.int32)
    return (np.where(x < 0, -x - 1, x).astype(np.float32) * np.float32(4.6566127342e-10)).astype(np.float32)


F = {"x": "*fp32", "y": "*fp32"}


def elementwise():
    n = 1000
    x, y = normal(n), normal(n)
    case("add", add, {**F, "z": "*fp32", "n": "i32"}, {"B": 256}, 4, [In(x), In(y), Out(x + y), Val(np.int32(n))])
    h = normal(n).astype(np.float16)
    case("add_f16", add, {"x": "*fp16", "y": "*fp16", "z": "*fp16", "n": "i32"}, {"B": 512}, 2, [In(h), In(h[::-1]), Out(h + h[::-1]), Val(np.int32(n))])
    hb, fb = bf16(normal(n))
    case("add_bf16", add, {"x": "*bf16", "y": "*bf16", "z": "*bf16", "n": "i32"}, {"B": 512}, 2, [In(hb), In(hb), Out(bf16(fb + fb)[0]), Val(np.int32(n))])
    i = rng.integers(-2**62, 2**62, n)
    case("add_i64", add, {"x": "*i64", "y": "*i64", "z": "*i64", "n": "i32"}, {"B": 512}, 2, [In(i), In(i[::-1]), Out(i + i[::-1]), Val(np.int32(n))])
    b = rng.integers(-128, 128, n).astype(np.int8)
    case("add_i8", add, {"x": "*i8", "y": "*i8", "z": "*i8", "n": "i32"}, {"B": 1024}, 1, [In(b), In(b[::-1]), Out(b + b[::-1]), Val(np.int32(n))])
    x = (normal(128) * 4)
    a = np.abs(x) + np.float32(0.01)
    X, A = x.astype(np.float64), a.astype(np.float64)
    from math import erf
    want = np.stack([np.sin(X), np.cos(X), np.log(A), np.log2(A), np.array([erf(t) for t in X]), np.floor(X) + 8 * np.ceil(X), X * A + X,
                     1 / (1 + np.exp(-X)), X / A, np.sqrt(A)]).astype(np.float32)
    case("math", math_functions, F, {"n": 128, "B": 128}, 1, [In(x), Out(want, 2e-6, 1e-6)])
    p, q = rng.integers(-10**9, 10**9, 128).astype(np.int32), rng.integers(1, 1000, 128).astype(np.int32)
    P_, Q_ = p.astype(np.int64), q.astype(np.int64)
    trunc = (np.sign(P_) * (np.abs(P_) // Q_))
    high = ((p.view(np.uint32).astype(np.uint64) * q.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32).view(np.int32)
    want = np.stack([trunc, P_ - trunc * Q_, high, (p >> (q & 31)) ^ (p << (q & 7)), np.clip(P_, -5, 5),
                     np.trunc((P_ + 2) / 3).astype(np.int64) + np.maximum(p, q)]).astype(np.int32)
    case("integers", integer_functions, {"x": "*i32", "y": "*i32", "z": "*i32"}, {"B": 128}, 1, [In(p), In(q), Out(want)])
    x = normal(256) * 30
    import ml_dtypes
    e5 = x.astype(ml_dtypes.float8_e5m2)
    e5h = x.astype(np.float16).astype(ml_dtypes.float8_e5m2)
    case("casts", casts, {"x": "*fp32", "h": "*fp16", "b": "*bf16", "e": "*fp8e5", "i8": "*i8", "u8": "*u8", "back": "*fp32"}, {"B": 256}, 1,
         [In(x), Out(x.astype(np.float16)), Out(bf16(x)[0]), Out(e5.view(np.uint8)), Out(np.trunc(x).astype(np.int32).astype(np.int8)),
          Out(np.trunc(np.abs(x)).astype(np.int32).astype(np.uint8)), Out(e5h.astype(np.float32))])
    e4 = x.astype(ml_dtypes.float8_e4m3fn)
    case("casts_e4m3", casts_e4m3, {"x": "*fp32", "e": "*fp8e4nv", "back": "*fp32"}, {"B": 256}, 1,
         [In(x), Out(e4.view(np.uint8)), Out(e4.astype(np.float32))], archs=(90,))
    t, H = 4, 64
    x, th = normal(t, 2 * H), normal(t, H)
    c, s = np.cos(th), np.sin(th)
    want = np.concatenate([x[:, :H] * c - x[:, H:] * s, x[:, H:] * c + x[:, :H] * s], 1)
    case("rope", rope, {"x": "*fp32", "c": "*fp32", "s": "*fp32", "y": "*fp32", "T": "i32"}, {"H": H}, t, [In(x), In(c), In(s), Out(want, 1e-5, 1e-6), Val(np.int32(t))], warps=2)


def rows():
    x = normal(8, 200)
    e = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    case("softmax", softmax, {**F, "cols": "i32"}, {"B": 256}, 8, [In(x), Out((e / e.sum(1, keepdims=True)).astype(np.float32), 1e-5), Val(np.int32(200))])
    w, b = normal(200), normal(200)
    X = x.astype(np.float64)
    y = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) * w + b
    case("layer_norm", layer_norm, {**F, "w": "*fp32", "b": "*fp32", "cols": "i32", "eps": "fp32"}, {"B": 256}, 8,
         [In(x), Out(y.astype(np.float32), 1e-5, 1e-5), In(w), In(b), Val(np.int32(200)), Val(np.float32(1e-5))])
    xh, xf = bf16(x)
    wh, wf = bf16(w)
    y = xf / np.sqrt((xf.astype(np.float64)**2).mean(1, keepdims=True) + 1e-6) * wf
    yh = bf16(y)[0].astype(np.uint32) << 16
    # One bf16 step of slack would hide nothing: compare widened values in a second kernel is not needed, results are far from ties.
    case("rms_norm_bf16", rms_norm_bf16, {"x": "*bf16", "y": "*bf16", "w": "*bf16", "cols": "i32", "eps": "fp32"}, {"B": 256}, 8,
         [In(xh), Out((yh >> 16).astype(np.uint16)), In(wh), Val(np.int32(200)), Val(np.float32(1e-6))])
    v = rng.integers(-50, 50, (4, 128)).astype(np.float32)
    case("scan", scan, {**F, "z": "*fp32", "cols": "i32"}, {"B": 128}, 4,
         [In(v), Out(v.cumsum(1)), Out(np.maximum.accumulate(v[:, ::-1], 1)[:, ::-1]), Val(np.int32(128))])
    x = rng.permutation(4 * 128).reshape(4, 128).astype(np.float32)
    hi, lo = x.argmax(1).astype(np.int32), x.argmin(1).astype(np.int32)
    xs = np.bitwise_xor.reduce((x * 16).astype(np.int32), 1)
    case("argmax", arg_extremes, {"x": "*fp32", "hi": "*i32", "lo": "*i32", "top": "*fp32"}, {"B": 128}, 4,
         [In(x), Out(hi), Out(lo), Out((x.min(1) + xs).astype(np.float32))])
    case("sort", sort_rows, F, {"B": 128}, 4, [In(x), Out(np.sort(x, 1))])
    case("topk", topk_rows, F, {"B": 128, "K": 8}, 4, [In(x), Out(np.sort(x, 1)[:, ::-1][:, :8])], archs=(80,))
    x = normal(8, 200)
    X = x.astype(np.float64)
    case("welford", welford, {"x": "*fp32", "mean": "*fp32", "var": "*fp32", "cols": "i32"}, {"B": 256}, 8,
         [In(x), Out(X.mean(1).astype(np.float32), 1e-5, 1e-6), Out(X.var(1).astype(np.float32), 1e-5, 1e-6), Val(np.int32(200))])
    x = normal(32, 64)
    case("transpose", transpose, F, {"M": 32, "N": 64}, 1, [In(x), Out(x.T)])
    xh = x.astype(np.float16)
    case("transpose_f16", transpose, {"x": "*fp16", "y": "*fp16"}, {"M": 32, "N": 64}, 1, [In(xh), Out(xh.T)])
    d, f = rng.standard_normal(512), rng.standard_normal(512)
    case("double_dot", double_dot, {"x": "*fp64", "y": "*fp64", "s": "*fp64"}, {"B": 128}, 4, [In(d), In(f), Out(np.array([d @ f]), 1e-12)])


def products():
    M, N, K = 64, 64, 96
    one = (1, 1)
    sig = {"M": "i32", "N": "i32", "K": "i32"}
    dims = [Val(np.int32(v)) for v in (M, N, K)]
    block = {"BM": 64, "BN": 64, "BK": 32}
    a, b = normal(M, K), normal(K, N)
    ah, bh = a.astype(np.float16), b.astype(np.float16)
    case("matmul_f16", matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", **sig}, block, one,
         [In(ah), In(bh), Out(ah.astype(np.float32) @ bh.astype(np.float32), 1e-4, 1e-3)] + dims)
    (au, af), (bu, bf) = bf16(a), bf16(b)
    case("matmul_bf16", matmul, {"a": "*bf16", "b": "*bf16", "c": "*fp32", **sig}, block, one, [In(au), In(bu), Out(af @ bf, 1e-4, 1e-3)] + dims)
    case("matmul_tf32", matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", **sig}, block, one, [In(a), In(b), Out(a @ b, 5e-3, 5e-2)] + dims)
    case("matmul_ieee", matmul_ieee, {"a": "*fp32", "b": "*fp32", "c": "*fp32", **sig}, {"BM": 32, "BN": 32, "BK": 16}, (2, 2), [In(a), In(b), Out(a @ b, 1e-5, 1e-4)] + dims, archs=(80,))
    ai, bi = rng.integers(-128, 128, (M, K)).astype(np.int8), rng.integers(-128, 128, (K, N)).astype(np.int8)
    case("matmul_s8", matmul, {"a": "*i8", "b": "*i8", "c": "*i32", **sig}, block, one, [In(ai), In(bi), Out(ai.astype(np.int32) @ bi.astype(np.int32))] + dims)
    import ml_dtypes
    a8, b8 = a.astype(ml_dtypes.float8_e5m2), b.astype(ml_dtypes.float8_e5m2)
    case("matmul_e5m2_up", matmul_fp8_up, {"a": "*fp8e5", "b": "*fp8e5", "c": "*fp32", **sig}, block, one,
         [In(a8.view(np.uint8)), In(b8.view(np.uint8)), Out(a8.astype(np.float32) @ b8.astype(np.float32), 1e-4, 1e-3)] + dims)
    a8, b8 = a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fn)
    case("matmul_e4m3", matmul, {"a": "*fp8e4nv", "b": "*fp8e4nv", "c": "*fp32", **sig}, block, one,
         [In(a8.view(np.uint8)), In(b8.view(np.uint8)), Out(a8.astype(np.float32) @ b8.astype(np.float32), 1e-2, 5e-2)] + dims, archs=(90,))
    w = rng.integers(-8, 8, (K, N))
    packed = np.zeros((K // 8, N), np.uint32)
    for k in range(K):
        packed[k // 8] |= ((w[k] + 8).astype(np.uint32) << np.uint32(k % 8 * 4))
    s = (np.abs(normal(K // 32, N)) * 0.1).astype(np.float32)
    wf = (w * np.repeat(s, 32, 0)).astype(np.float16).astype(np.float32)
    case("matmul_int4", matmul_int4, {"a": "*fp16", "q": "*i32", "s": "*fp32", "c": "*fp32", **sig}, {**block, "G": 32}, one,
         [In(ah), In(packed), In(s), Out(ah.astype(np.float32) @ wf, 1e-4, 1e-3)] + dims)
    f16 = np.float16
    case("matmul_tma", matmul_tma, {"a": "*fp16", "b": "*fp16", "c": "*fp16", **sig}, {"BM": 64, "BN": 64, "BK": 32}, one,
         [In(ah), In(bh), Out((ah.astype(np.float32) @ bh.astype(np.float32)).astype(f16), 1e-3, 1e-2)] + dims, archs=(90,))
    x, y = normal(128, 64).astype(f16), normal(64, 128).astype(f16)
    case("matmul_persistent", matmul_persistent, {"a": "*fp16", "b": "*fp16", "c": "*fp16", **sig}, {"BM": 64, "BN": 64, "BK": 32, "G": 3}, 3,
         [In(x), In(y), Out((x.astype(np.float32) @ y.astype(np.float32)).astype(f16), 1e-3, 1e-2)] + [Val(np.int32(v)) for v in (128, 128, 64)])
    x, y = normal(32, 64), normal(32, 64)
    case("descriptors", descriptors, {"a": "*fp32", "b": "*fp32", "M": "i32", "N": "i32"}, {"BM": 16, "BN": 32}, 2, [In(x), Out(2 * x), Val(np.int32(32)), Val(np.int32(64))], archs=(90,))
    d, e = rng.standard_normal((32, 32)), rng.standard_normal((32, 32))
    square = {"a": "*fp64", "b": "*fp64", "c": "*fp64"}
    case("dot_f64", square_dot, square, {"N": 32, "P": "ieee"}, 1, [In(d), In(e), Out(d @ e, 1e-12, 1e-12)])
    d, e = d.astype(np.float32), e.astype(np.float32)
    case("dot_tf32x3", square_dot, {k: "*fp32" for k in "abc"}, {"N": 32, "P": "tf32x3"}, 1, [In(d), In(e), Out(d @ e, 1e-5, 1e-5)], archs=(80,))
    d, e = d.astype(f16), e.astype(f16)
    case("dot_f16_sums", square_dot, {k: "*fp16" for k in "abc"}, {"N": 32, "P": "ieee"}, 1, [In(d), In(e), Out((d.astype(np.float32) @ e.astype(np.float32)).astype(f16), 2e-2, 5e-2)], archs=(75, 80))
    T, D = 128, 64
    q, k, v = [normal(T, D).astype(np.float16) for _ in range(3)]
    S = q.astype(np.float64) @ k.astype(np.float64).T / 8
    S[np.triu_indices(T, 1)] = -np.inf
    p = np.exp(S - S.max(1, keepdims=True))
    o = (p / p.sum(1, keepdims=True)) @ v.astype(np.float64)
    case("attention", attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "T": "i32", "scale": "fp32"}, {"D": D, "BM": 64, "BN": 32}, 2,
         [In(q), In(k), In(v), Out(o.astype(np.float16), 4e-3, 2e-3), Val(np.int32(T)), Val(np.float32(np.log2(np.e) / 8))])


def scattered():
    n = 500
    v = rng.integers(0, 2**20, n).astype(np.int32)
    s = np.zeros(7, np.float32)
    mx, mn = np.full(5, -1, np.int32), np.full(5, 2**30, np.int32)
    smx, smn = mx.copy(), mn.copy()
    for k in range(n):
        s[k % 7] += v[k]
        mx[k % 5], mn[k % 5] = max(mx[k % 5], v[k]), min(mn[k % 5], v[k])
    c0 = np.array([0, 0, -1], np.int32)
    c = np.array([np.bitwise_or.reduce((1 << (v & 31).astype(np.int64))).astype(np.uint32).view(np.int32), np.bitwise_xor.reduce(v), np.bitwise_and.reduce(v | 255)], np.int32)
    case("atomics", atomics, {"x": "*i32", "s": "*fp32", "mx": "*i32", "mn": "*i32", "c": "*i32", "e": "*i32", "n": "i32"}, {"B": 256}, 2,
         [In(v), Out(s, 1e-6), In(smx, mx), In(smn, mn), In(c0, c), Out(v), Val(np.int32(n))])
    h = rng.integers(-20, 20, (4, 256)).astype(np.float16)
    case("atomic_f16", atomic_f16, {"x": "*fp16", "s": "*fp16"}, {"B": 256}, 4, [In(h), Out(h.sum(0).astype(np.float16))])
    x = rng.integers(0, 100, (6, 128)).astype(np.float32)
    case("spin_sum", spin_sum, {"x": "*fp32", "lock": "*i32", "total": "*fp32"}, {"B": 128}, 6, [In(x), In(np.zeros(1, np.int32), np.zeros(1, np.int32)), Out(np.array([x.sum()], np.float32))])
    t = rng.integers(0, 32, 1024).astype(np.int32)
    case("histogram", histogram, {"x": "*i32", "h": "*i32", "n": "i32"}, {"B": 256, "BINS": 32}, 4, [In(t), Out(np.bincount(t, minlength=32).astype(np.int32)), Val(np.int32(1024))])
    x, i = normal(50, 32), rng.integers(0, 50, 64).astype(np.int64)
    case("gather", gather, {"x": "*fp32", "i": "*i64", "y": "*fp32", "cols": "i32"}, {"B": 32, "D": 32}, 2, [In(x), In(i), Out(x[i]), Val(np.int32(32))])
    x, i = normal(128), rng.integers(0, 128, 128).astype(np.int32)
    case("gather_lanes", gather_lanes, {"x": "*fp32", "i": "*i32", "y": "*fp32"}, {"B": 128}, 1, [In(x), In(i), Out(x[i])])
    x = normal(512)
    case("hints", hints, {**F, "z": "*fp32"}, {"B": 256}, 2, [In(x), Out(5 * x, 1e-6), Out(3 * x, 1e-6)])
    p, q = rng.integers(0, 2**32, 128, dtype=np.uint64).astype(np.uint32), rng.integers(0, 2**32, 128, dtype=np.uint64).astype(np.uint32)
    t = (p & 0xFFFF) | (q << np.uint32(16))
    case("inline_asm", inline_asm, {"x": "*i32", "y": "*i32", "z": "*i32"}, {"B": 128}, 1, [In(p), In(q), Out((t & p) | (~t & q))], archs=(80,))
    x, y = normal(128), normal(128)
    case("interleaved", interleaved, {**F, "z": "*fp32", "w": "*fp32"}, {"B": 128}, 1, [In(x), In(y), Out(np.stack([x, y], 1)), Out(x * y + x[::-1], 1e-6, 1e-6)])
    x = (rng.random(128) * 1.8 - 0.9).astype(np.float32)
    X = x.astype(np.float64)
    import math
    lo, hi = np.full(128, -6.0), np.full(128, 6.0)
    for _ in range(80):  # the inverse of erf by bisection
        mid = (lo + hi) / 2
        up = np.array([math.erf(m) for m in mid]) < X
        lo, hi = np.where(up, mid, lo), np.where(up, hi, mid)
    rows = [np.arcsin(X), [math.gamma(m + 1) for m in X], (X + 1)**X, np.arctan2(X, X + 2), np.cbrt(X), lo, np.rint(x * np.float32(9)) + np.fmod(X, np.float64(np.float32(0.3)))]
    case("device_functions", device_functions, F, {"B": 128}, 1, [In(x), Out(np.stack(rows).astype(np.float32), 2e-6, 1e-6)], archs=(80, 90))
    x, y = np.zeros(128, np.float32), np.zeros(128, np.int32)
    o = np.arange(128)
    case("orderings", orderings, {"x": "*fp32", "y": "*i32"}, {"B": 128}, 1, [In(x, np.full(128, 2.25, np.float32)), In(y, np.where(o % 3 == 0, o + 7, 0).astype(np.int32))])
    x = normal(600)
    p, seed = np.float32(0.3), 123456789
    keep = uniform(philox_reference(seed, np.arange(600))[0]) > p
    case("dropout", dropout, {**F, "n": "i32", "p": "fp32", "seed": "i32"}, {"B": 256}, 3,
         [In(x), Out(np.where(keep, x / (1 - p), 0).astype(np.float32), 1e-6), Val(np.int32(600)), Val(p), Val(np.int32(seed))])
    case("philox", philox4, {"y": "*i32", "seed": "i64"}, {"B": 128}, 1, [Out(np.concatenate(philox_reference(0x123456789ABCDEF, np.arange(128))).view(np.int32)), Val(np.int64(0x123456789ABCDEF))])


elementwise()
rows()
products()
scattered()
P.write()
