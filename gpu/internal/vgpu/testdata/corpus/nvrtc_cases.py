"""CUDA C++ through NVRTC 12.9: pip install numpy ml_dtypes nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12;
python nvrtc_cases.py"""
import math
import ml_dtypes
import numpy as np
from common import In, Out, Producer, Val
from nvrtc_compile import cases_of
import nvrtc_sources as S

rng = np.random.default_rng(3)
P = Producer("nvrtc")
case = cases_of(P, S)

f32 = np.float32


def normal(*s):
    return rng.standard_normal(s).astype(f32)


def floats():
    """Every single-precision function of the CUDA math API: a column each, against float64."""
    n = 256
    x = np.concatenate([normal(n - 16) * 3, [0, -0.0, 1, -1, 0.5, 2, 1e-30, -1e-30, 1e-40, 3e4, 1e10, np.pi, 100, -100, 0.1, 10]]).astype(f32)
    y = np.concatenate([normal(n - 8) * 2, [0, 1, 2, -1, 0.5, 3, -0.0, 1e-3]]).astype(f32)
    X, Y = x.astype(np.float64), y.astype(np.float64)
    erf, erfc, lgamma, tgamma = (np.vectorize(f) for f in (math.erf, math.erfc, lambda v: math.lgamma(v), lambda v: math.gamma(v)))
    pos = np.abs(X) + 0.01
    unit = np.clip(X / 8, -1, 1)
    rows = [np.sin(X), np.cos(X), np.tan(unit * 1.5), np.exp(np.clip(X, -80, 80)), np.exp2(np.clip(X, -80, 80)), np.power(10, np.clip(X, -30, 30)), np.expm1(np.clip(X, -80, 80)),
            np.log(pos), np.log2(pos), np.log10(pos), np.log1p(pos), np.sqrt(pos), 1 / np.sqrt(pos), np.cbrt(X), np.sinh(unit * 8), np.cosh(unit * 8), np.tanh(X),
            np.arcsin(unit), np.arccos(unit), np.arctan(X), np.arctan2(X, Y), np.arcsinh(X), np.arccosh(pos + 1), np.arctanh(unit * 0.99), erf(unit * 4), erfc(unit * 4),
            tgamma(np.abs(unit) * 5 + 0.5), lgamma(pos + 1), np.power(pos, Y), np.hypot(X, Y), np.fmod(X, pos / 3), np.remainder(X, 1), X * Y + X, np.floor(X), np.ceil(X),
            np.trunc(X), np.rint(X), np.sign(X) * np.floor(np.abs(X) + 0.5), np.copysign(X, Y), np.maximum(X - Y, 0), np.fmax(X, Y), np.fmin(X, Y), np.ldexp(X, 3), X / pos, 1 / pos,
            np.sin(np.pi * (X - 2 * np.rint(X / 2))), np.cos(np.pi * (X - 2 * np.rint(X / 2)))]
    rows[31] = np.array([math.remainder(v, 1.0) for v in X])
    with np.errstate(all="ignore"):
        want = np.stack([r.astype(f32) for r in rows])
    case("floats", S.FLOATS, "floats", 1, n, [In(x), In(y), Out(want, 4e-6, 4e-6)], archs=("75", "90"))
    case("floats_fast", S.FLOATS, "fast", 1, n, [In(x), In(y), Out(np.stack([np.sin(unit), np.cos(unit), np.exp(unit), np.log(pos), np.power(pos, unit), X / pos, np.tanh(unit)]).astype(f32), 1e-5, 2e-6)],
         options=["-use_fast_math"])
    xs = x.view(np.uint32)
    fr = np.frexp(X)
    want = np.stack([np.isnan(x), np.isinf(x), np.signbit(x), fr[1], np.zeros(n), xs, np.rint(X).clip(-2**31, 2**31 - 1),
                     np.where(np.abs(X) < 1e6, np.rint(X), 0)]).astype(np.int64)
    want[4] = np.where(X == 0, -2**31, np.floor(np.log2(np.maximum(np.abs(X), 1e-300)))).astype(np.int64)
    case("floatbits", S.FLOATS, "bits", 1, n, [In(x), Out(want)], archs=("80",))
    d = np.concatenate([rng.standard_normal(n - 6) * 3, [0, -0.0, 1, -1, 1e-300, 1e6]])
    e = np.concatenate([rng.standard_normal(n - 2) * 2, [1, 2]])
    pos = np.abs(d) + 0.01
    unit = np.clip(d / 8, -1, 1)
    rows = [np.sin(d), np.cos(d), np.exp(d.clip(-50, 50)), np.log(pos), np.sqrt(pos), 1 / np.sqrt(pos), np.cbrt(d), np.power(pos, e), np.arctan2(d, e), np.tanh(d), erf(unit), d / pos,
            d * e + d, np.floor(d), np.rint(d), np.fmod(d, pos / 3), np.hypot(d, e), np.expm1(unit), np.log1p(pos), np.arcsin(unit), tgamma(np.abs(unit) * 5 + 0.5)]
    case("doubles", S.FLOATS, "doubles", 1, n, [In(d), In(e), Out(np.stack(rows), 1e-13, 1e-14)], archs=("80",))
    r = [x[:64] for _ in range(1)][0]
    r2 = y[:64]
    A, B = r.astype(np.float64), r2.astype(np.float64)

    def directed(v):
        """v as float64 rounded towards each side: exact for sums and products of f32."""
        near = v.astype(f32)
        down = np.where(near.astype(np.float64) > v, np.nextafter(near, f32(-np.inf)), near)
        up = np.where(near.astype(np.float64) < v, np.nextafter(near, f32(np.inf)), near)
        zero = np.where(v >= 0, down, up)
        return [near, zero, down, up]

    m = directed(A * B)
    case("roundings", S.FLOATS, "roundings", 1, 64, [In(r), In(r2), Out(np.stack(m + [np.rint(A), np.trunc(A), np.floor(A), np.ceil(A)]).astype(f32))])


def integers():
    n = 128
    a = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    b = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    b[:32] = a[:32] ^ rng.integers(0, 255, 32).astype(np.uint32)

    def by(fn, k, signed):
        t = {(4, False): np.uint8, (4, True): np.int8, (2, False): np.uint16, (2, True): np.int16}[k, signed]
        wide = np.int64
        u, v = a.view(t).reshape(n, k).astype(wide), b.view(t).reshape(n, k).astype(wide)
        r = fn(u, v)
        return np.ascontiguousarray(r.astype({4: np.uint8, 2: np.uint16}[k])).view(np.uint32).reshape(n)

    rows = [by(lambda u, v: u + v, 4, 0), by(lambda u, v: u - v, 4, 0), by(lambda u, v: np.minimum(u + v, 255), 4, 0), by(lambda u, v: np.clip(u + v, -128, 127), 4, 1),
            by(lambda u, v: np.abs(u - v), 4, 0), by(lambda u, v: (u + v + 1) >> 1, 4, 0), by(lambda u, v: np.maximum(u, v), 4, 0), by(lambda u, v: np.minimum(u, v), 4, 1),
            by(lambda u, v: (u == v) * 255, 4, 0), by(lambda u, v: (u < v) * 255, 4, 1), by(lambda u, v: (u > v) * 1, 4, 0), by(lambda u, v: u + v, 2, 0),
            by(lambda u, v: np.clip(u - v, -32768, 32767), 2, 1), by(lambda u, v: np.abs(u - v), 2, 0), by(lambda u, v: (u >= v) * 65535, 2, 0), by(lambda u, v: np.minimum(u, v), 2, 1),
            np.abs(a.view(np.uint8).astype(int) - b.view(np.uint8).astype(int)).reshape(n, 4).sum(1).astype(np.uint32)]
    A, B = a.astype(np.uint64), b.astype(np.uint64)
    sa, sb = a.view(np.int32).astype(np.int64), b.view(np.int32).astype(np.int64)
    brev = np.array([int(f"{v:032b}"[::-1], 2) for v in a], np.uint32)
    pop = np.array([bin(v).count("1") for v in a], np.uint32)
    clz = np.array([32 - int(v).bit_length() for v in a], np.uint32)
    ffs = np.array([(int(v) & -int(v)).bit_length() for v in a], np.uint32)
    sh = B & 31
    fl = ((A << np.uint64(32) | B) << sh >> np.uint64(32)).astype(np.uint32)
    fr = ((A << np.uint64(32) | B) >> sh).astype(np.uint32)
    perm = np.zeros(n, np.uint32)
    pool = np.stack([a, b], 1).view(np.uint8).reshape(n, 8)
    for k in range(4):
        perm |= pool[np.arange(n), (0x5140 >> (4 * k)) & 7].astype(np.uint32) << np.uint32(8 * k)
    d4 = (a.view(np.int8).reshape(n, 4).astype(int) * b.view(np.int8).reshape(n, 4).astype(int)).sum(1)
    u4 = (a.view(np.uint8).reshape(n, 4).astype(int) * b.view(np.uint8).reshape(n, 4).astype(int)).sum(1)
    lo2 = (a.view(np.int16).reshape(n, 2).astype(int) * b.view(np.int8).reshape(n, 4)[:, :2].astype(int)).sum(1)
    i24 = lambda v: ((v.astype(np.int64) << 40) >> 40)
    rows += [((A * B) >> np.uint64(32)).astype(np.uint32), ((sa * sb) >> 32).astype(np.uint32), brev, pop, clz, ffs, fl, fr, perm, (d4 + 5).astype(np.uint32), (u4 + 7).astype(np.uint32), (lo2 + 9).astype(np.uint32),
             (i24(a) * i24(b)).astype(np.uint32), np.abs(sa - sb).astype(np.uint32), ((sa + sb) >> 1).astype(np.uint32), ((sa + sb + 1) >> 1).astype(np.uint32)]
    case("integers", S.INTEGERS, "integers", 1, n, [In(a), In(b), Out(np.stack(rows))], archs=("70", "90"))
    # 128-bit arithmetic, 64-bit division
    p = rng.integers(-2**63, 2**63 - 1, n)
    q = rng.integers(1, 2**40, n) * np.where(rng.random(n) < 0.5, 1, -1)
    pi, qi = [int(v) for v in p], [int(v) for v in q]
    tr = lambda u, v: abs(u) // abs(v) * (1 if (u < 0) == (v < 0) else -1)
    s64 = lambda v: (v + 2**63) % 2**64 - 2**63
    want = np.array([[tr(u, v) for u, v in zip(pi, qi)], [u - tr(u, v) * v for u, v in zip(pi, qi)], [s64((u * v) >> 64) for u, v in zip(pi, qi)],
                     [s64(tr(u * v + u, 1000003)) for u, v in zip(pi, qi)], [s64(((u % 2**64) * (v % 2**64)) >> 64) for u, v in zip(pi, qi)]], dtype=object).astype(np.int64)
    case("wide", S.INTEGERS, "wide", 1, n, [In(p), In(q), Out(want)], archs=("80",))


def halves():
    n = 128
    x, y = (normal(n) * 4), (normal(n) * 4)
    hx, hy = x.astype(np.float16), y.astype(np.float16)
    H = hx.astype(np.float64), hy.astype(np.float64)
    f16 = lambda v: v.astype(np.float16)
    with np.errstate(all="ignore"):
        rows = [f16(H[0] + H[1]), f16(H[0] * H[1]), f16(H[0] * H[1] + H[0]), f16(H[0] / H[1]), np.maximum(hx, hy), np.minimum(hx, hy), -hx, np.abs(hx), f16(np.clip(H[0] + H[1], 0, 1)),
                f16(np.maximum(H[0] * H[1] + H[0], 0)), f16((H[0] > H[1]) * 1.0), f16(np.floor(H[0])), f16(np.sqrt(np.abs(H[0]))), f16(np.exp(H[0] / 4)), f16(np.log(np.abs(H[0]) + 1)), f16(np.sin(H[0]))]
    case("halves", S.HALVES, "halves", 1, n, [In(hx), In(hy), Out(np.stack(rows), 1.5e-3, 1e-3)], archs=("75", "90"))
    bf = ml_dtypes.bfloat16
    bx, by = x.astype(bf), y.astype(bf)
    B = bx.astype(np.float64), by.astype(np.float64)
    rows = [v.astype(f32).astype(bf).astype(f32) for v in (B[0] + B[1], B[0] * B[1], B[0] * B[1] + B[0], np.maximum(B[0], B[1]), -B[0], np.abs(B[1]), (B[0] > B[1]) * 1.0)]
    case("brains", S.HALVES, "brains", 1, n, [In(bx.view(np.uint16)), In(by.view(np.uint16)), Out(np.stack(rows), 0, 0)], archs=("80", "90"))
    e4, e5 = x.astype(ml_dtypes.float8_e4m3fn), x.astype(ml_dtypes.float8_e5m2)
    case("fp8", S.HALVES, "fp8", 1, n, [In(x), Out(e4.view(np.uint8)), Out(e5.view(np.uint8)), Out(e4.astype(f32) + e5.astype(f32), 0, 0)], archs=("80", "89", "90"))
    z = np.stack([hx, hy], 1)
    want = np.stack([z[:, ::-1].astype(np.float16), z, np.stack([hx, hx], 1), np.stack([hy, hy], 1), f16(z.astype(np.float64) * z.astype(np.float64))])
    case("pairs", S.HALVES, "pairs", 1, n, [In(z), Out(want)], archs=("75",))


def warps():
    n = 64
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    w = x.reshape(2, 32)
    lane = np.arange(32)
    bal = np.array([sum(1 << i for i in range(32) if r[i] > 0) for r in w], np.uint32)
    rows = [w[:, (lane + 1).clip(0, 31)], w[:, np.where(lane >= 3, lane - 3, lane)], w[:, lane ^ 5], w[:, (lane & 24) | 2], np.broadcast_to(w.sum(1, keepdims=True), w.shape), w.cumsum(1),
            np.broadcast_to(bal[:, None], w.shape), np.array([[sum(1 << j for j in range(32) if (r[j] & 3) == (r[i] & 3)) for i in range(32)] for r in w], np.uint32),
            np.broadcast_to((w > -2000).all(1, keepdims=True), w.shape), np.broadcast_to((w > 990).any(1, keepdims=True), w.shape)]
    want = np.stack([np.ascontiguousarray(r.reshape(-1).astype(np.int64).astype(np.uint32)) for r in rows]).view(np.int32)
    case("warps", S.WARPS, "warps", 1, n, [In(x), Out(want)], archs=("70", "90"))
    red = np.stack([np.broadcast_to(v[:, None], w.shape).reshape(-1) for v in (w.sum(1), w.min(1), w.max(1), np.bitwise_and.reduce(w, 1), np.bitwise_or.reduce(w, 1), np.bitwise_xor.reduce(w, 1))]).astype(np.int32)
    case("reduces", S.WARPS, "reduces", 1, n, [In(x), Out(red)], archs=("80",))
    t = rng.integers(-100, 100, 256).astype(np.int32)
    tiles = t.reshape(32, 8)
    want = np.stack([np.broadcast_to(tiles.sum(1, keepdims=True), tiles.shape).reshape(-1), tiles.cumsum(1).reshape(-1), np.broadcast_to(t.sum(), 256), np.broadcast_to(t.max(), 256)]).astype(np.int32)
    case("groups", S.WARPS, "groups", 1, 256, [In(t), Out(want)], archs=("75", "80", "90"))


def atomics():
    n = 256
    v = rng.integers(0, 2**16, n).astype(np.uint32)
    f = rng.integers(-100, 100, n).astype(f32)
    k = np.arange(n) % 8
    fold = lambda fn, init: np.array([[fn(v[k == j].tolist(), init)] for j in range(8)]).reshape(8)
    from functools import reduce
    u = np.zeros((9, 8), np.uint32)
    u[2] = 2**31
    u[4] = 2**32 - 1
    u[7], u[8] = 0, 0
    e = u.copy()
    for j in range(8):
        m = v[k == j].astype(np.int64)
        e[0, j], e[1, j], e[2, j] = m.sum(), m.max(), m.min()
        e[3, j] = (-m.sum()) % 2**32
        e[4, j], e[5, j], e[6, j] = np.bitwise_and.reduce(m), np.bitwise_or.reduce(m), np.bitwise_xor.reduce(m)
        # atomicInc and Dec wrap at 10 and at 12.
        e[7, j] = 32 % 11
        x = 0
        for _ in range(32):
            x = 12 if x == 0 or x > 12 else x - 1
        e[8, j] = x
    fs = np.array([f[k == j].sum() for j in range(8)], f32)
    ds = fs.astype(np.float64)
    ull = np.array([int(v[k == j].astype(np.uint64).sum()) << 20 for j in range(8)], np.uint64)
    h = np.array([f[k == j].sum() for j in range(8)], np.float16)
    small = (f / 100).astype(np.float16)
    case("atomics", S.ATOMICS, "atomics", 2, 128, [In(v), In(f), In(u, e), Out(fs), Out(ds), Out(ull)], archs=("70", "90"))
    hf = (f / 4).round().astype(np.float16)
    hs = np.array([[hf[k == j].astype(f32).sum()] * 2 for j in range(8)], np.float16)
    case("atomics_half", S.ATOMICS, "halves", 2, 128, [In(hf), Out(hs), Out(hs[:, 0].astype(f32).astype(ml_dtypes.bfloat16).view(np.uint16))], archs=("80", "90"))
    case("atomics_shared", S.ATOMICS, "shared", 2, 128, [In(v), In(f), Out(np.array([[v[b * 128:][:128][k[:128] == j].sum() for j in range(8)] for b in range(2)], np.uint32)),
                                                       Out(np.array([[f[b * 128:][:128][k[:128] == j].sum() for j in range(8)] for b in range(2)], f32))], archs=("75",))
    case("spin", S.ATOMICS, "spin", 4, 64, [In(np.zeros(1, np.int32), np.zeros(1, np.int32)), In(np.zeros(1, np.int32), np.array([256], np.int32))], archs=("75", "90"))
    case("last", S.ATOMICS, "last", 4, 64, [In(v), In(np.zeros(5, np.uint32), np.append([v[b * 64:][:64].sum() for b in range(4)], v.sum()).astype(np.uint32)), In(np.zeros(1, np.uint32))], archs=("80",))
    case("scoped", S.ATOMICS, "scoped", 2, 64, [In(np.zeros(4, np.int32), np.array([128, 128, 7 + 127, 1], np.int32))], archs=("75", "90"))


def language():
    n = 64
    x = rng.integers(1, 100, n).astype(np.int32)

    def fib(k):
        a, b = 0, 1
        for _ in range(k):
            a, b = b, a + b
        return a

    ops = [lambda v: v * 3, lambda v: v + 7, lambda v: v ^ 21, lambda v: v * v, lambda v: -v, lambda v: v // 3, lambda v: v % 5, lambda v: 1000 - v, lambda v: v << 2]
    want = np.stack([[ops[v % 9](int(v)) for v in x], [[v + 1, v * 2, v - 5][v % 3] for v in x], [[4 * v * v, 3 * v * v, v * (v + 1)][v % 3] for v in x], [fib(v % 12) for v in x],
                     [sum((v * j) % 7 for j in range(8)) for v in x]]).astype(np.int32)
    for name, options in (("language", ()), ("language_debug", ("-G",)), ("language_lines", ("-lineinfo",))):
        case(name, S.CALLS, "language", 1, n, [In(x), Out(want)], archs=("75", "90") if not options else ("80",), options=options)
    packed = np.zeros(32, np.uint8)
    packed[:12] = np.array([1, 2, 3], f32).view(np.uint8)
    packed[12:16] = np.array([n], np.int32).view(np.uint8)
    packed[16:24] = np.array([0.5]).view(np.uint8)
    packed[24:29] = [1, 2, 3, 4, 5]
    i = np.arange(n)
    case("structs", S.LANGUAGE, "structs", 1, n, [Val(packed), Out(((np.array([1, 2, 3], f32)[i % 3] * i + 0.5) + np.array([1, 2, 3, 4, 5])[i % 5]).astype(f32))], archs=("75",))
    case("constants", S.LANGUAGE, "constants", 1, n, [Out((np.array([2, 3, 5, 7, 11, 13, 17, 19])[i % 8] * 10 + i // 8 % 4 + 1).astype(np.int32))])
    case("heap", S.HEAP, "heap", 1, 32, [Out(np.arange(32, dtype=np.int32) * 6)], archs=("80",))
    case("prints", S.PRINTS, "prints", 1, 2, [Val(np.int32(7))], archs=("80",), print="thread 0 of 2: 7 1.50 text %\nthread 1 of 2: 8 2.50 text %\n")
    case("asserts", S.PRINTS, "asserts", 1, 4, [Val(np.int32(2))], archs=("80",), error="assert")
    case("asserts_pass", S.PRINTS, "asserts", 1, 4, [Val(np.int32(9))], archs=("80",))
    case("traps", S.PRINTS, "traps", 1, 4, [Val(np.int32(2))], archs=("80",), error="trap")
    case("fences", S.LANGUAGE, "fences", 2, 64, [In(np.zeros(3, np.int32), np.array([128, 2, 128], np.int32))], archs=("70", "90"))
    case("barriers", S.LANGUAGE, "barriers", 1, 128, [Out(np.array([128 * 127 // 2, 64, 1, 0], np.int32))], archs=("75", "90"))


def tiles():
    n = 64
    a, b = normal(n, n), normal(n, n)
    case("sgemm", S.TILES, "sgemm", (4, 4), (16, 16), [In(a), In(b), Out(a @ b, 1e-5, 1e-4), Val(np.int32(n))], archs=("70", "90"))
    x = normal(48, 40)
    case("transpose", S.TILES, "transpose", (2, 2), (32, 8), [In(x), Out(x.T), Val(np.int32(40)), Val(np.int32(48))], archs=("75",))
    x = normal(1000)
    case("stencil", S.TILES, "stencil", 8, 128, [In(x), Out(np.convolve(np.pad(x.astype(np.float64), 3), np.ones(7), "valid").astype(f32), 1e-5, 1e-5), Val(np.int32(1000))], archs=("80",))
    x = rng.integers(-20, 20, 512).astype(np.int32)
    case("scan", S.TILES, "scan", 2, 256, [In(x), Out(x.reshape(2, 256).cumsum(1).astype(np.int32))], archs=("80",))
    case("bitonic", S.TILES, "bitonic", 1, 256, [In(x[:256], np.sort(x[:256]))], archs=("80",), shared=1024)
    x = normal(256)
    case("async_copy", S.TILES, "async_copy", 2, 128, [In(x), Out(2 * x)], archs=("80", "90"))
    c = (normal(64) + 1j * normal(64)).astype(np.complex64)
    case("mandel", S.TILES, "mandel", 1, 64, [In(c.view(f32)), Out(mandelbrot(c))], archs=("80",))


def mandelbrot(c):
    out = np.zeros(len(c), np.int32)
    for i, v in enumerate(c):
        x = y = f32(0)
        a, b = f32(v.real), f32(v.imag)
        k = 0
        while k < 50 and f32(f32(x * x) + f32(y * y)) < 4:
            x, y = f32(f32(f32(x * x) - f32(y * y)) + a), f32(f32(f32(2) * x) * y + b)
            k += 1
        out[i] = k
    return out


def libraries():
    x = rng.integers(-50, 50, 128).astype(np.int32)
    want = np.concatenate([[x.sum()], np.append(0, x.cumsum()[:-1]), x.reshape(4, 32).cumsum(1).reshape(-1)]).astype(np.int32)
    case("cubs", S.CUB, "cubs", 1, 128, [In(x), Out(want)], archs=("75", "90"))
    k = rng.integers(0, 2**32, 256, dtype=np.uint64).astype(np.uint32)
    case("sorts", S.CUB, "sorts", 1, 64, [In(k), Out(np.sort(k)), Out(np.bincount(k & 15, minlength=16).astype(np.uint32))], archs=("75", "90"))
    x = rng.integers(-50, 50, 64).astype(np.int32)
    case("barriers2", S.LIBCU, "barriers2", 1, 64, [In(x), Out(np.stack([x[::-1] + k for k in range(3)]).astype(np.int32))], archs=("75", "80", "90"))
    f = normal(64, 4)
    case("copies", S.LIBCU, "copies", 1, 64, [In(f), Out(f[::-1])], archs=("75", "80", "90"))
    z = normal(64, 2)
    c = z[:, 0].astype(np.float64) + 1j * z[:, 1]
    c = c * c + c.conj() / (2 + 1j)
    t = np.arange(64)
    case("standard", S.LIBCU, "standard", 1, 64, [In(z), Out(np.stack([c.real, c.imag], 1).astype(f32), 1e-5, 1e-5), Out(((t % 3 + 1) * t + 32767).astype(np.int32))], archs=("80",))


for group in (floats, integers, halves, warps, atomics, language, tiles, libraries):
    group()
P.write()
