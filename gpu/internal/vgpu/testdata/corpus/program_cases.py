"""Programs of program_sources.py through NVRTC: as nvrtc_cases.py, into programs/."""
import hashlib, math
from fractions import Fraction as F
import ml_dtypes
import numpy as np
from common import In, Out, Producer, Val
from nvrtc_compile import cases_of
import program_sources as S

rng = np.random.default_rng(17)
P = Producer("programs")
case = cases_of(P, S, ("90a",))
ALL = ("75", "90a")
f32, i32, u32, u64 = np.float32, np.int32, np.uint32, np.uint64


def words(n, t=u32):
    return rng.integers(0, 2 ** (8 * np.dtype(t).itemsize), n, dtype=u64).astype(t)


def normal(*s):
    return rng.standard_normal(s).astype(f32)


def sorts():
    k, v = words(1024), np.arange(1024, dtype=u32)
    k[100:300] = k[0]
    o = np.argsort(k, kind="stable")
    case("radix_sort", S.SORTS, "radix_sort", 1, 256, [In(k, k[o]), In(v, v[o])], archs=ALL)
    h = words(300, np.int16)
    case("odd_even", S.SORTS, "odd_even", 1, 64, [In(h, np.sort(h)), Val(i32(300))], shared=600)
    d = rng.standard_normal((64, 37))
    case("heap_sort", S.SORTS, "heap_sort", 2, 32, [In(d, np.sort(d, 1)), Val(i32(37))], archs=ALL)


def scans():
    x = rng.integers(-99, 99, 40 * 128).astype(i32)
    case("look_back", S.SCANS, "look_back", 40, 128, [In(x), Out(x.cumsum().astype(i32)), In(np.zeros(40, u64)), In(np.zeros(1, u32))], archs=ALL)
    f = rng.random(1000).astype(f32)
    # The order of warps is free on a GPU; here CTAs run in order, but only the count and the set are promised: one warp a CTA, one CTA.
    g = rng.random(32).astype(f32)
    kept = g[g > 0.25]
    case("compact", S.SCANS, "compact", 1, 32, [In(g), Out(np.append(kept, np.zeros(32 - len(kept))).astype(f32)), Out(np.array([len(kept)], i32)), Val(i32(32))], archs=ALL)
    case("compact_many", S.SCANS, "compact", 8, 128, [In(f), In(np.zeros(1000, f32)), Out(np.array([(f > 0.25).sum()], i32)), Val(i32(1000))])
    heads = (rng.random(96) < 0.2).astype(i32)
    x = rng.integers(-8, 8, 96).astype(f32)
    out = np.zeros(96, f32)
    for i in range(96):
        out[i] = x[i] + (out[i - 1] if i % 32 and not heads[i] else 0)
    case("segments", S.SCANS, "segments", 3, 32, [In(heads), In(x), Out(out), Val(i32(96))], archs=ALL)


def sparse():
    n = 50
    m = rng.integers(-9, 9, (n, n)) * (rng.random((n, n)) < 0.3)
    row = np.append(0, (m != 0).sum(1).cumsum()).astype(i32)
    col, a = np.nonzero(m)[1].astype(i32), m[m != 0].astype(np.float64)
    x = rng.integers(-9, 9, n).astype(np.float64)
    case("csr", S.SPARSE, "csr", 13, 128, [In(row), In(col), In(a), In(x), Out(m @ x), Val(i32(n))], archs=ALL)
    width = int((m != 0).sum(1).max())
    ec, ea = np.full((width, n), -1, i32), np.zeros((width, n), f32)
    for r in range(n):
        for k, c in enumerate(np.nonzero(m[r])[0]):
            ec[k, r], ea[k, r] = c, m[r, c]
    case("ell", S.SPARSE, "ell", 1, 64, [In(ec), In(ea), In(x.astype(f32)), Out((m @ x).astype(f32)), Val(i32(n)), Val(i32(width))])
    n = 300
    e = rng.integers(0, n, (220, 2)).astype(i32)
    parent = np.arange(n)
    for _ in range(n):
        for u, v in e:
            parent[u] = parent[v] = min(parent[u], parent[v])
    case("components", S.SPARSE, "components", 2, 128, [In(e), In(np.arange(n, dtype=i32)), Val(i32(220))], archs=ALL)
    full = np.arange(n, dtype=i32)
    chain = np.maximum(np.arange(n) - 1 - np.arange(n) % 3, 0).astype(i32)
    case("flatten", S.SPARSE, "flatten", 3, 128, [In(chain, np.zeros(n, i32)), Val(i32(n))])
    adj = [sorted(set(rng.integers(0, 200, 3).tolist())) for _ in range(200)]
    row = np.append(0, np.cumsum([len(x) for x in adj])).astype(i32)
    level = np.full(200, -1, i32)
    level[0], queue = 0, [0]
    for u in queue:
        for v in adj[u]:
            if level[v] < 0:
                level[v] = level[u] + 1
                queue.append(v)
    case("bfs", S.SPARSE, "bfs", 1, 96, [In(row), In(np.concatenate(adj).astype(i32)), In(np.full(200, -1, i32), level), In(np.zeros(200, i32)), Val(i32(200))], archs=ALL)
    keys = (words(500) % 60 + 1).astype(u32)
    # With one key a slot chain the table's contents depend on the order; the sum of counts does not: keys whose places do not meet.
    distinct, used = [], set()
    for k in range(1, 100000):
        h = (k * 2654435761 % 2**32) >> 12 & 255
        if h not in used:
            used.add(h)
            distinct.append(k)
        if len(distinct) == 60:
            break
    keys = np.array(distinct, u32)[rng.integers(0, 60, 500)]
    table = np.zeros(256, u64)
    for k in keys.tolist():
        h = (k * 2654435761 % 2**32) >> 12 & 255
        table[h] = (k << 32 | 1) if table[h] == 0 else int(table[h]) + 1
    case("hash_insert", S.SPARSE, "hash_insert", 4, 128, [In(keys), In(np.zeros(256, u64), table), Val(i32(500)), Val(u32(255))], archs=ALL)
    b = words(5000, np.uint8) & words(5000, np.uint8)
    case("histogram", S.SPARSE, "histogram", 3, 128, [In(b), Out(np.bincount(b, minlength=256).astype(u32)), Val(i32(5000))], archs=ALL)


def numbers():
    w, x0, y0, step = 48, -2.0, -1.25, 3.1 / 48
    out = np.zeros((32, w), i32)
    for py in range(32):
        for px in range(w):
            cx, cy, x, y, k = x0 + px * step, y0 + py * step, 0.0, 0.0, 0
            while k < 200 and x * x + y * y <= 4:
                x, y, k = x * x - y * y + cx, 2 * x * y + cy, k + 1
            out[py, px] = k
    d = np.float64
    case("mandelbrot", S.NUMBERS, "mandelbrot", (3, 4), (16, 8), [Out(out), Val(d(x0)), Val(d(y0)), Val(d(step)), Val(i32(w))], archs=ALL)
    m = rng.standard_normal((40, 8, 8))
    case("invert", S.NUMBERS, "invert", 1, 40, [In(m), Out(np.linalg.inv(m), 1e-8, 1e-9)], archs=ALL)
    z = (normal(3, 256) + 1j * normal(3, 256)).astype(np.complex64)
    case("fft", S.NUMBERS, "fft", 3, 128, [In(z.view(f32), np.fft.fft(z.astype(np.complex128)).astype(np.complex64).view(f32), 1e-5, 2e-5)], archs=ALL)
    t = words(40 * 64, np.uint8).reshape(40, 64)
    digest = np.stack([np.frombuffer(hashlib.sha256(t[i, :50 - i % 7].tobytes()).digest(), ">u4") for i in range(40)]).astype(u32)
    case("sha256", S.NUMBERS, "sha256", 1, 40, [In(t), Out(digest), Val(i32(50))], archs=ALL)
    case("queens", S.NUMBERS, "queens", 1, 32, [Out(np.array([4, 8, 16, 18, 18, 16, 8, 4], i32)), Val(i32(8))], archs=ALL)
    n = 60
    a, b = (rng.integers(97, 101, (5, n)).astype(np.int8) for _ in "ab")
    want = []
    for x, y in zip(a, b):
        row = list(range(n + 1))
        for i in range(n):
            last = row
            row = [i + 1]
            for j in range(n):
                row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + int(x[i] != y[j])))
        want.append(row[n])
    case("distance", S.NUMBERS, "distance", 5, 64, [In(a), In(b), Out(np.array(want, i32)), Val(i32(n))], archs=ALL)
    g = (rng.random((24, 24)) < 0.4).astype(np.uint8)
    h = g.astype(int)
    for _ in range(7):
        c = sum(np.roll(h, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - h
        h = ((c == 3) | ((c == 2) & (h == 1))).astype(int)
    case("life", S.NUMBERS, "life", 1, 200, [In(g), Out(h.astype(np.uint8)), Val(i32(24)), Val(i32(7))], shared=1152)
    n = 20
    dist = np.where(rng.random((n, n)) < 0.25, rng.integers(1, 50, (n, n)), 9999).astype(i32)
    np.fill_diagonal(dist, 0)
    e = dist.copy()
    for k in range(n):
        e = np.minimum(e, e[:, k:k + 1] + e[k:k + 1])
    case("floyd", S.NUMBERS, "floyd", 1, 128, [In(dist, e), Val(i32(n))])


M = 2**32


def s32(v):
    return v - M if v >> 31 & 1 else v


def lanes(v, bits, signed):
    out = [v >> k & (1 << bits) - 1 for k in range(0, 32, bits)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in out]


def pack(list, bits):
    return sum((x & (1 << bits) - 1) << k * bits for k, x in enumerate(list))


def permute(a, b, s):
    bytes = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
    return sum(bytes[s >> 4 * k & 7] << 8 * k for k in range(4))


def rev(v, n):
    return int(format(v, f"0{n}b")[::-1], 2)


def tdiv(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def bits():
    n = 96
    a, b = words(n), words(n)
    a[:6], b[:6] = [0, 1, 2**31, 2**32 - 1, 0x7f80ff00, 0x80808080], [0, 2**32 - 1, 1, 2**31, 0x80007fff, 0x7f7f7f7f]
    b[40:60] = words(20) % 64

    def row(x, y):
        sx, sy, s = s32(x), s32(y), y & 63
        u4, t4, v4 = (lambda v: lanes(v, 8, False)), (lambda v: lanes(v, 8, True)), (lambda f, g=lambda v: lanes(v, 8, False): pack([f(p, q) for p, q in zip(g(x), g(y))], 8))
        v2 = lambda f, signed: pack([f(p, q) for p, q in zip(lanes(x, 16, signed), lanes(y, 16, signed))], 16)
        clip = lambda v, bits: max(-(1 << bits - 1), min((1 << bits - 1) - 1, v))
        signed4 = lambda v: lanes(v, 8, True)
        d = y << 32 | x
        c = min(s, 32)
        r = [permute(x, y, 0x5140), permute(x, y, y), ((d << (s & 31)) >> 32), d >> (s & 31), (d << c) >> 32, d >> c,
             rev(x, 32), 32 - x.bit_length(), (x & -x).bit_length(), bin(x).count("1"), x * y >> 32, sx * sy >> 32, abs(sx - sy) + 7, abs(x - y) + 7,
             (sx + sy + 1) >> 1, (x + y) >> 1, ((sx << 8 & M - 1) - (M if sx >> 23 & 1 else 0) >> 8) * ((sy << 8 & M - 1) - (M if sy >> 23 & 1 else 0) >> 8), (x & 0xffffff) * (y & 0xffffff),
             x // (y | 1), x % (y | 1), tdiv(sx, s32(y | 1)), sx - tdiv(sx, s32(y | 1)) * s32(y | 1),
             v4(lambda p, q: p + q), v4(lambda p, q: p - q), v4(lambda p, q: abs(p - q)), v4(lambda p, q: abs(p - q), signed4), v4(max, signed4), v4(min), v4(lambda p, q: (p + q + 1) >> 1), v4(lambda p, q: -(p > q)), v4(lambda p, q: -(p == q)),
             sum(abs(p - q) for p, q in zip(u4(x), u4(y))), sum(abs(p - q) for p, q in zip(t4(x), t4(y))), v4(lambda p, q: clip(p + q, 8), signed4), v2(lambda p, q: min(p + q, 65535), False), v2(lambda p, q: clip(p - q, 16), True), v2(max, False),
             pack([-p for p in t4(x)], 8), pack([min(abs(p), 32767) for p in lanes(x, 16, True)], 16), v4(lambda p, q: (p + q) >> 1), v4(lambda p, q: int(p < q)),
             sum(p * q for p, q in zip(t4(x), t4(y))) + 5, sum(p * q for p, q in zip(u4(x), u4(y))) + 5,
             sum(p * q for p, q in zip(lanes(x, 16, True), t4(y)[:2])) + 9, sum(p * q for p, q in zip(lanes(x, 16, False), u4(y)[2:])) + 9,
             max(sx, sy, 5), min(s32((sx + 3) % M), sy), max(min(sx, sy), 0)]
        return [v % M for v in r]

    want = np.array([row(int(x), int(y)) for x, y in zip(a, b)], u32).T
    case("words", S.BITS, "words", 1, n, [In(a), In(b), Out(want)], archs=ALL)
    c, d = words(n, u64), words(n, u64)
    c[:4], d[:4] = [0, 1, 2**63, 2**64 - 1], [2**64 - 1, 2**63, 1, 2**64 - 1]
    W = 2**64
    s64 = lambda v: v - W if v >> 63 else v

    def long(x, y):
        sx, sy = s64(x), s64(y)
        q, t = y >> 20 | 1, sy >> 30 | 1
        p = (x * y + x) % (W * W)
        r = [x * y >> 64, sx * sy >> 64, rev(x, 64), 64 - x.bit_length(), (x & -x).bit_length(), bin(x).count("1"), x // q, x % q, tdiv(sx, t), sx - tdiv(sx, t) * t, x << (y & 63), x >> (y & 63), sx >> (y & 63),
             p >> 64, p, p // (x | 1), p % 1000000007, p >> (y & 127)]
        return [v % W for v in r]

    case("longs", S.BITS, "longs", 1, n, [In(c), In(d), Out(np.array([long(int(x), int(y)) for x, y in zip(c, d)], u64).T)], archs=ALL)

    def ptx(x, y):
        sx, sy = s32(x), s32(y)
        find = lambda v: v.bit_length() - 1
        sfind = lambda v: find(v if v >= 0 else ~v)
        clip = lambda v: max(-2**31, min(2**31 - 1, v))

        def bfe(v, at, n, signed):
            at, n = at & 255, n & 255
            sign = (v >> min(at + n - 1, 31) & 1) if signed and n else 0
            return sum(((v >> at + k & 1) if k < n and at + k < 32 else sign) << k for k in range(32))

        def mask(at, n, clamp):
            if clamp:
                at, n = min(at, 32), min(n, 32)
            else:
                at, n = at & 31, n & 31
            return ((1 << n) - 1) << at

        def extend(v, n, signed, clamp):
            n = min(n, 32) if clamp else n & 31
            if n == 0:
                return 0
            v &= (1 << n) - 1
            return v - (1 << n) if signed and v >> n - 1 & 1 else v

        def nth(v, base, k):
            for at in range(base, 32):
                if v >> at & 1:
                    k -= 1
                    if k == 0:
                        return at
            return M - 1

        def smear(v, w):
            return sum((0xff if ((w << 32 | v) >> 8 * (s & 7)) >> 7 & 1 else 0) << 8 * k for k, s in enumerate((8, 9, 10, 11)))

        bytes = [(y << 32 | x) >> 8 * k & 255 for k in range(8)]
        q32 = f32(f32(sx) * f32(1e-7))
        total = (y << 32 | x)
        t = x >> (y & 31)
        sat = lambda v, n: max(-(1 << n - 1), min((1 << n - 1) - 1, v))
        r = [x ^ y ^ 0x0f0f0f0f, find(x), 31 - sfind(sx) if sfind(sx) >= 0 else -1, bfe(x, 5, 9, True), bfe(x, y & 40, 40, False),
             (y & ~(0x1fff << 7)) | (x & 0x1fff) << 7, sum(bytes[3 + k & 7] << 8 * k for k in range(4)), sum(bytes[min(k, 2)] << 8 * k for k in range(4)), smear(x, y),
             x if sx >= 0 else y, abs(x - y) + 1, (x & 0xffffff) * (y & 0xffffff) + 11, (sx * sy >> 32) + 77,
             (total << 5) >> 32, total >> 32, 0, sx >> 31, int(x & 1 == 0),
             mask(x & 40, y & 40, True), mask(x & 40, y & 40, False), extend(x, y & 63, True, False), extend(x, y & 63, False, True), nth(x, y & 31, 2),
             min(sx, sy), clip(sx + sy), clip(sx - sy), x * 3 >> 32, -(sx < sy), None,
             3 if sx < sy or sx >= 0 else 4]
        r[28] = -int(x >= y and x != 0)
        one = x + y
        carry = one >> 32
        two = x + x + carry
        r += [one % M + (two >> 32), two, x - y, -int(x < y), x * y + x, (x * y >> 32) + (((x * y) % M + x) >> 32),
              max(0, min(255, int(np.rint(q32)))), sat(s32(t), 16), 0, (x << 16 | x >> 16) % M, sat((x >> 8 & 255) + (lanes(y, 16, True)[1]), 32)]
        return [v % M for v in r]

    src = S.BITS
    case("ptx", src, "ptx", 1, n, [In(a), In(b), Out(np.array([ptx(int(x), int(y)) for x, y in zip(a, b)], u32).T)], archs=ALL)


def directed(v, digits, mode, least=-10**6):
    """A Fraction rounded to so many binary digits."""
    if v == 0:
        return 0.0
    m = abs(v)
    e = math.floor(math.log2(m.numerator) - math.log2(m.denominator))
    while F(2) ** (e + 1) <= m:
        e += 1
    while F(2) ** e > m:
        e -= 1
    unit = F(2) ** (max(e - digits + 1, least))
    q = v / unit
    down = q.numerator // q.denominator
    if mode == "rn":
        r = down + (1 if q - down > F(1, 2) or q - down == F(1, 2) and down & 1 else 0)
    elif mode == "rd" or mode == "rz" and v > 0:
        r = down
    else:
        r = down if q == down else down + 1
    return float(r * unit)


def root(v, digits, mode):
    """The square root of a Fraction, rounded."""
    if v == 0:
        return 0.0
    scale = 200
    n = v * F(4) ** scale
    w = math.isqrt(n.numerator // n.denominator)
    exact = n.denominator == 1 and w * w == n.numerator
    return directed(F(w, 2 ** scale) + (0 if exact else F(1, 2 ** (scale + 1))), digits, mode)


MODES = ("rn", "rz", "rd", "ru")


def rounded():
    n = 64
    for name, t, digits in (("rounded", f32, 24), ("rounded64", np.float64, 53)):
        a, b, c = (rng.standard_normal(n).astype(t) for _ in range(3))
        b[:8], c[:8] = a[:8], -a[:8] * a[:8]
        c[8:12] = (a[8:12].astype(np.float64) * 1e-9).astype(t)
        A, B, C = ([F(float(v)) for v in w] for w in (a, b, c))
        rows = []
        each = lambda f: rows.extend([f(k, m) for k in range(n)] for m in MODES)
        r = lambda v, m: directed(v, digits, m)
        each(lambda k, m: r(A[k] * B[k] + C[k], m))
        each(lambda k, m: r(A[k] + B[k], m))
        each(lambda k, m: r(A[k] * B[k], m))
        each(lambda k, m: r(A[k] / B[k], m))
        each(lambda k, m: root(abs(A[k]), digits, m))
        each(lambda k, m: r(1 / B[k], m))
        if t is f32:
            d = [float(np.float64(x) * np.float64(y) + np.float64(z) / 3) for x, y, z in zip(a, b, c)]  # the product is exact: fused or not
            each(lambda k, m: directed(F(d[k]), 24, m))
            each(lambda k, m: directed(F(int(f32(a[k] * f32(3e8)))), 24, m))
            each(lambda k, m: directed(F(int(abs(d[k]) * 1e15)), 24, m))
        else:
            each(lambda k, m: directed(F(int(float(a[k]) * 1e18)), 53, m))
        case(name, S.ROUNDED, name, 1, n, [In(a), In(b), In(c), Out(np.array(rows, t))], archs=ALL)
    a = np.concatenate([normal(50) * 1000, [0.5, 1.5, 2.5, -0.5, -1.5, 3e9, -3e9, 5e9, 1e19, -1e19, 2147483648, -2147483648, np.inf, 0]]).astype(f32)
    d = np.concatenate([rng.standard_normal(50) * 1e5, [0.5, 1.5, 2.5, -0.5, -1.5, 2147483647.5, -2147483648.5, 5e9, 1e19, -1e19, 4294967295.5, -0.25, -np.inf, 0]])
    rows = []
    for v in (a, d):
        for low, high in ((-2**31, 2**31 - 1), (0, 2**32 - 1), (-2**63, 2**63 - 1)):
            for m in MODES:
                f = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[m]
                rows.append([max(low, min(high, int(f(x)) if np.isfinite(x) else (high if x > 0 else low))) for x in v.astype(np.float64)])
    case("integral", S.ROUNDED, "integral", 1, n, [In(a), In(d), Out(np.array(rows, np.int64))], archs=ALL)


def erfinv(y):
    """By bisection of erfc, which is exact near 1."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y)
    low, high = 0.0, 6.0
    for _ in range(200):
        mid = (low + high) / 2
        low, high = (mid, high) if math.erfc(mid) > 1 - abs(y) else (low, mid)
    return math.copysign(low, y)


def bessel(order, x, modified=False):
    t = (np.arange(400) + 0.5) * math.pi / 400
    return float(np.mean(np.exp(x * np.cos(t)) if modified else np.cos(order * t - x * np.sin(t))))


def special():
    x = np.concatenate([normal(40) * 3, [1e5, -1e5, 1e7, 123456.789, 1e10, -3e12, 1e22, 3e30, 0.1, -0.1, 1e-5, 48.5, 105615, 2 ** 20, 1.5, -2.5, 30, -30, 3, 6, 0.75, 9.5, 12, 20]]).astype(f32)
    n = len(x)
    X = x.astype(np.float64)
    p = np.abs(X)
    u = np.minimum(p, 9)
    v = np.vectorize
    half = p.astype(f32) + f32(0.5)
    quot = (x / (np.abs(x) + f32(1))).astype(np.float64)
    p1 = (np.abs(x) + f32(1)).astype(np.float64)
    u1 = (np.minimum(np.abs(x), f32(9)) + f32(0.25)).astype(np.float64)
    m2 = lambda w: np.array([math.fmod(t, 2.0) for t in w])
    r3 = np.array([math.remainder(t, 3) for t in X])
    frac = np.array([math.fmod(t, float(f32(0.7))) for t in X])
    whole = np.trunc(X)
    with np.errstate(all="ignore"):
        rows = [np.sin(X), np.cos(X), np.tan(X), np.sin(np.pi * m2(X)) * (m2(X) % 1 != 0), np.cos(np.pi * m2(X)) * (np.abs(m2(X)) % 1 != 0.5),
                v(math.erf)(X), v(math.erfc)(u), v(lambda t: math.lgamma(t))(half.astype(np.float64)), v(math.gamma)(u1), v(erfinv)(quot), 0.5 * v(math.erfc)(-np.clip(X, -8, 8) / math.sqrt(2)), v(lambda t: bessel(0, t))(u), v(lambda t: bessel(1, t))(u), v(lambda t: bessel(0, t, True))(u), v(lambda t: math.exp(t * t) * math.erfc(t))(u),
                1 / np.cbrt(p1), np.nextafter(x, 2 * x).astype(np.float64), X * 2.0 ** -140, np.floor(np.log2(p1)), np.sqrt(5 + u * u), 1 / np.hypot(3, u), np.maximum(x - f32(1), 0), np.log1p(u), np.expm1(-u), 10 ** -u, p ** -0.75, (-(np.minimum(np.abs(x), f32(9))) - f32(1)).astype(np.float64) ** 3, np.arcsinh(X), np.arccos((f32(1) / (np.abs(x) + f32(1))).astype(np.float64)),
                r3, frac, np.frexp(X)[0], np.frexp(X)[1], X - whole, whole, np.sign(X) * np.floor(p + 0.5), np.rint(X)]
    case("special", S.ROUNDED, "special", 1, n, [In(x), Out(np.stack(rows).astype(f32), 4e-6, 2e-6)], archs=ALL)
    d = X.copy()
    p, u = np.abs(d), np.minimum(np.abs(d), 9)
    # Where x/(|x|+1) rounds to near 1 the inverse is ill-conditioned.
    ratio = d / (p + 1)
    keep = np.abs(ratio) < 0.999
    d = np.where(keep, d, 1.25)
    case("special64", S.ROUNDED, "special64", 1, n, [In(d), Out(special64(d), 2e-12, 1e-13)], archs=ALL)
    big = np.array([1e5, -1e7, 1e10, 1e15, 1e22, 1e100, 1e300, 2.0**1000, -3e200, 105615.0, 1e-300, 5e-324], np.float64)
    case("sincos_big", S.ROUNDED, "special64", 1, len(big), [In(big), Out(special64(big), 2e-12, 1e-13)])


def special64(d):
    """What the kernel of that name computes."""
    v = np.vectorize
    p, u = np.abs(d), np.minimum(np.abs(d), 9)
    ratio = d / (p + 1)
    with np.errstate(all="ignore"):
        return np.stack([np.sin(d), np.cos(d), np.tan(d), v(math.erf)(d), v(math.erfc)(u), v(lambda t: math.lgamma(t))(p + 0.5), v(math.gamma)(u + 0.25), v(erfinv)(ratio), v(lambda t: bessel(0, t))(u), np.exp(-u), np.exp2(u), np.log(p + 1), np.log2(p + 1), np.log10(p + 1),
                     (p + 0.5) ** 1.3, np.cbrt(d), np.sinh(np.clip(d, -9, 9)), np.arctan2(d, 2), np.hypot(d, 3), np.array([math.fmod(t, 0.7) for t in d]), np.array([math.remainder(t, 0.7) for t in d]), np.rint(d), np.trunc(d), d / 8, np.sqrt(p), 1 / np.sqrt(p + 1), np.arcsinh(d), np.arccosh(p + 1), np.arctanh(ratio)])


def halves():
    n = 64
    f16, bf = np.float16, ml_dtypes.bfloat16

    def both(t, make):
        a, b = normal(n, 2).astype(t), (normal(n, 2) + f32(0.01)).astype(t)
        A, B = a.astype(np.float64), b.astype(np.float64)
        return a, b, [np.asarray(r).astype(f32).astype(t) if np.asarray(r).dtype != t else r for r in make(A, B)]

    def half(A, B):
        sat = lambda v: np.clip(v, 0, 1)
        r = lambda v: v.astype(f16)
        swap = lambda v: v[:, ::-1]
        return [r(A + B), r(A - B), r(A * B), r(A * B + A), r(sat(A + B)), r(-A), r(np.abs(A)), r(A / B), r(1 / B), r(np.sqrt(np.abs(A))), r(np.floor(A)), r(np.rint(A)), r(np.trunc(A)),
                r(A > B), r(A == A), r(A <= B), r(np.maximum(A, B)), r(np.minimum(A, B)), r(np.stack([A[:, 0], B[:, 0]], 1)), r(swap(A)), r(sat(A * B + B)),
                r(np.stack([A[:, 0] + B[:, 1], A[:, 1] * B[:, 0]], 1)), (np.stack([A[:, 0].astype(f32) * f32(3), B[:, 1].astype(f32) / f32(3)], 1)).astype(f16), r(np.stack([np.trunc(A[:, 0]) + 0.0, np.rint(np.abs(A[:, 1]))], 1))]

    a, b, rows = both(f16, half)
    case("half2s", S.HALF, "half2s", 1, n, [In(a.view(u32)), In(b.view(u32)), Out(np.stack(rows).view(np.uint16))], archs=ALL)

    def brain(A, B):
        r = lambda v: np.asarray([float(directed(F(float(x)), 8, "rn")) for x in np.asarray(v).ravel()]).reshape(np.shape(v)).astype(bf)
        to = lambda v, m: np.array([directed(F(float(x)), 8, m) for x in v])
        return [r(A + B), r(A - B), r(A * B), r(A * B + A), r(np.maximum(A * B + A, 0)), r(-A), r(np.abs(A)), r(A / B), r(np.maximum(A, B)), r(np.minimum(A, B)), r(A > B), r(A[:, ::-1]),
                r(np.stack([(A[:, 0].astype(f32) * f32(3)).astype(np.float64), (B[:, 1].astype(f32) / f32(3)).astype(np.float64)], 1)),
                np.stack([to(A[:, 0].astype(f32) / f32(7), "rz"), to(B[:, 1].astype(f32) / f32(7), "ru")], 1).astype(bf)]

    a, b, rows = both(bf, brain)
    case("bfloat2s", S.HALF, "bfloat2s", 1, n, [In(a.view(u32)), In(b.view(u32)), Out(np.stack(rows).view(np.uint16))])


def language():
    t = np.dtype([("m", "f8", 40), ("index", "i4", 60), ("tag", "i2"), ("pad", "V6")])
    b, c = np.zeros((), t), np.zeros((), t)
    for v in (b, c):
        v["m"], v["index"], v["tag"] = rng.integers(-99, 99, 40), rng.integers(-99, 99, 60), rng.integers(-9, 9)
    i = np.arange(100)
    lo = (b["m"][i % 40].astype(f32) + f32(b["tag"])) - (c["m"][(i + 1) % 40].astype(f32) + f32(c["tag"]))
    hi = (b["index"][i % 60].astype(np.int64) << 33) ^ (c["index"][(i + 1) % 60].astype(np.int64) << 33)
    case("by_value", S.LANGUAGE, "by_value", 1, 100, [Val(b), Val(c), Out(lo.astype(f32)), Out(hi)], archs=ALL)
    x = rng.integers(-1000, 1000, 96).astype(i32)
    o = x[::-1]
    case("several", S.LANGUAGE, "several", 1, 96, [In(x), Out(o * 0.5 + o * 3.0 + o.astype(np.int16) + (o & 127))], archs=ALL, shared=96 * 15)
    length = 40
    code = rng.choice(list(range(16)) + [20, 21, 22, 23, 25, 30, 30, 31, 31, 31, 31, 31, 31], (64, length)).astype(np.uint8)
    x = rng.integers(-1000, 1000, 64).astype(i32)
    wrap = lambda v: (v + 2**31) % M - 2**31

    def machine(op, a, b):
        if op == 3:
            return wrap(tdiv(a, b)) if b else 0
        if op == 20:
            return wrap(a * a)
        table = {0: a + b, 1: a - b, 2: a * b, 4: a & b, 5: a | b, 6: a ^ b, 7: a << (b & 7), 8: a >> (b & 7), 9: max(a, b), 10: min(a, b), 11: abs(a), 12: ~b, 13: int(a == b), 14: int(a < b), 15: bin(a % M).count("1"),
                 21: b * b + 1, 22: a - 2 * b, 23: 7}
        return wrap(table.get(op, -1))

    want = []
    for k in range(64):
        st, pc = [int(x[k]), int(x[k]) ^ 0x55], 0
        while pc < length:
            op = int(code[k, pc])
            if op == 30:
                pc += 1 + (st[-1] & 1)
                continue
            if op == 31:
                if len(st) < 15:
                    st.append(wrap(st[-1] + pc))
            elif len(st) < 2:
                st.append(pc)
            else:
                q, p = st.pop(), st.pop()
                st.append(machine(op, p, q))
            pc += 1
        s = 0
        while st:
            s = wrap(s * 31 + st.pop())
        want.append(s)
    case("interpreter", S.LANGUAGE, "interpreter", 1, 64, [In(code), In(x), Out(np.array(want, i32)), Val(i32(length))], archs=ALL)
    x = rng.integers(0, 60, 64).astype(i32)
    tiles = x.reshape(4, 16)
    rows = [np.repeat(tiles.min(1), 16), np.concatenate([np.append(0, t.cumsum()[:-1]) for t in tiles]), np.concatenate([np.bitwise_xor.accumulate(t) for t in tiles]),
            np.concatenate([np.append(t[3:], t[13:]) for t in tiles]), np.repeat((tiles > 40).any(1), 16), np.repeat([(int(sum(1 << k for k in range(16) if t[k] & 1))) for t in tiles], 16),
            np.array([sum(1 << k for k in range(16) if t[k] & 3 == t[j] & 3) for t in tiles for j in range(16)])]
    v = np.full(64, -1)
    for w in range(2):
        at = [k for k in range(32 * w, 32 * w + 32) if x[k] % 3 == 0]
        for rank, k in enumerate(at):
            v[k] = len(at) * 100 + rank + 10000 * x[at].sum()
    rows.append(v)
    parts = np.zeros(64, int)
    for k in range(64):
        same = [j for j in range(k // 16 * 16, k // 16 * 16 + 16) if x[j] & 1 == x[k] & 1]
        parts[k] = len(same) * 100 + same.index(k)
    rows.append(parts)
    k = np.arange(64)
    rows.append(k // 4 % 4 * 10 + x[k ^ 1])
    case("cooperative", S.LANGUAGE, "cooperative", 1, 64, [In(x), Out(np.stack(rows).astype(i32))], archs=ALL)
    data = [1]
    for _ in range(29):
        data.append((data[-1] * 2 + 1) % 1000003)
    case("flags", S.LANGUAGE, "flags", 30, 32, [In(np.zeros(30, i32)), In(np.zeros(30, i32)), Out(np.array(data[::-1], i32))], archs=ALL)
    case("tickets", S.LANGUAGE, "tickets", 2, 64, [In(np.zeros(1, u32)), In(np.zeros(1, u32)), Out(np.arange(128, dtype=i32)), In(np.zeros(1, i32), np.array([128], i32))], archs=ALL)
    x = rng.integers(-99, 99, (9, 64)).astype(i32)
    case("pipeline", S.LANGUAGE, "pipeline", 1, 96, [In(x), Out(x[:, :32] + x[:, 32:] + 2), Val(i32(9))], archs=ALL)
    q = normal(64, 4)
    d = rng.standard_normal((64, 2))
    k = np.arange(64)
    s = np.stack([q[k, 0] + q[k ^ 1, 0], q[k ^ 1, 1] + q[k ^ 2, 1], q[k ^ 2, 2] + q[k ^ 3, 2], q[k ^ 4, 3] + q[k ^ 5, 3]], 1)
    case("hints", S.LANGUAGE, "hints", 1, 64, [In(q), Out(s), In(d), Out(d[:, ::-1])], archs=ALL)
    case("clocks", S.LANGUAGE, "clocks", 1, 64, [Out(np.full(64, 15, np.int64))], archs=ALL)
    out = []
    for th in range(64):
        s = 0
        for j in reversed(range(6 + th % 5)):
            s = wrap(s * 3 + th * j)
        out.append(s + 7)
    case("lists", S.LANGUAGE, "lists", 2, 64, [Out(np.array(out * 2, i32)), Val(i32(6))], archs=ALL)
    x = rng.integers(0, 1000, 200).astype(i32)
    case("ways", S.LANGUAGE, "ways", 2, 128, [In(x), Out(np.array([ways(int(v)) for v in x], i32)), Val(i32(200))], archs=ALL)
    big = 123456789012345
    text = ("[   42|42    |000042|+42| 42]\n[deadbeef|DEADBEEF|0xdeadbeef|10|3735928559|000000ef]\n" + f"[{-big}|{2**64 - big}|{2**64 - big:x}|{-big}|{70000 - 65536}|{44}]\n" +
            "[1.500000|-2.25|  1000.125|1.5       |-2.250000e+00|1.250E-05|1e+20|0.1]\n[aB|text|     right|left    |abc|%]\n[     13|0.00|-5| 99.5%]\n[inf|-inf|0.000000|0x1.8p+0]\nno newline\ttab\n")
    case("formats", S.PRINTS, "formats", 1, 32, [In(np.array([1.5, -2.25, 1000.125, 0], f32)), In(np.array([1.25e-5, 1e20, 0.1])), Val(np.int64(-big)), Val(u32(0xdeadbeef))], archs=ALL, print=text)
    case("recursion", S.RECURSION, "recursion", 1, 4, [In(np.zeros(4, i32))], error="recursion")


def ways(v):
    s = 0
    for a in range(v % 13):
        if a % 5 == 3:
            continue
        for b in range(a, 20):
            if (a * b + v) % 11 == 7:
                break
            if b == 17 and v % 7 == 2:
                return -s
            c = b
            while True:
                s += c & 3
                c -= 2
                if s > 900:
                    return s
                if c <= 0:
                    break
    return s


def tensors():
    n = 48
    a, b = (rng.integers(-8, 8, (n, n)).astype(np.float16) for _ in "ab")
    case("wmma_half", S.TENSOR, "wmma_half", (3, 3), 32, [In(a), In(b), Out(2 * (a.astype(f32) @ b.astype(f32))), Val(i32(n))], archs=ALL)
    a, b = rng.integers(-128, 128, (32, 16)).astype(np.int8), rng.integers(-128, 128, (8, 16)).astype(np.int8)
    case("wmma_bytes", S.TENSOR, "wmma_bytes", 1, 32, [In(a), In(b), Out((a.astype(i32) @ b.astype(i32).T + 3).T)], archs=ALL)
    k = 80
    a, b = rng.integers(-8, 8, (16, k)).astype(ml_dtypes.bfloat16), rng.integers(-8, 8, (k, 8)).astype(ml_dtypes.bfloat16)
    case("tile_mma", S.TENSOR, "tile_mma", 1, 32, [In(a.view(np.uint16)), In(b.view(np.uint16)), Out(a.astype(f32) @ b.astype(f32)), Val(i32(k))])


def exchange():
    x = rng.integers(-2**62, 2**62, 64)
    x[:40] = x[0]
    i = np.arange(64)
    w, lane = i // 32 * 32, i % 32
    seg = lambda width, src, ok: np.where(ok, x[np.where(ok, src, i)], x)
    up = np.where(lane % 16 >= 2, i - 2, i)
    rows = [x[i ^ 9], x[up].astype(np.float64).view(np.int64), np.where(lane % 8 + 5 < 8, x[np.minimum(i + 5, 63)], x), x[w + lane // 16 * 16 + lane * 7 % 16], np.full(64, (2**32 - 1) * 2 + 1),
            np.where(i < 32, (2**32 - 1) * 2 + 1 if (x[:32] == x[0]).all() else 0, 0), np.array([sum(1 << j for j in range(32) if x[k // 32 * 32 + j] >> 60 == x[k] >> 60) for k in range(64)])]
    part = 0x92492492
    v = np.full(64, -1)
    for k in range(64):
        if lane[k] % 3 == 1:
            b = sum(1 << j for j in range(32) if part >> j & 1 and x[w[k] + j] > 0)
            v[k] = x[w[k] + (lane[k] + 3) % 31 // 3 * 3 + 1] ^ b
    rows.append(v)
    v = np.zeros(64, np.int64)
    for k in range(64):
        for j in range(lane[k] % 5):
            v[k] = v[k] * 1000 + sum(1 for l in range(32) if l % 5 > j)
    rows.append(v)
    rows.append(((1 << lane) - 1 << 32) | ((2**32 - 1) ^ ((1 << lane) - 1) ^ (1 << lane)))
    rows.append(np.where(lane < 16, x[i ^ 1], x[i ^ 2]))
    rows.append(lane + 100 * (i // 32) + 10000)
    case("lanes", S.EXCHANGE, "lanes", 1, 64, [In(x), Out(np.stack(rows).astype(np.int64))], archs=ALL)
    y = rng.integers(-1000, 1000, 32).astype(i32)
    i = np.arange(32)
    first = np.where(i & 4, y[(i & 4) != 0].sum(), y[(i & 4) == 0].max())
    same = [[j for j in range(32) if y[j] & 7 == y[k] & 7] for k in range(32)]
    case("part_reduces", S.EXCHANGE, "part_reduces", 1, 32, [In(y), Out(np.stack([first, [y[s].min() for s in same], [np.bitwise_xor.reduce(y[s]) for s in same]]).astype(i32))])
    i = np.arange(128)
    h = np.array([i[i % 3 == k].sum() for k in range(3)]).astype(np.uint16)
    s = np.array([((i - 50) * -3000000000).min(), ((i - 50) * 3000000000).max()])
    l = np.array([0, 2**48 - 1, int(np.bitwise_xor.reduce(i.astype(u64) * u64(0x100000001)))] + [2**64 - 1 - int(k) for k in i], u64)
    start = np.zeros(131, u64)
    start[0] = 2**64 - 1
    bits = np.zeros(4, u32)
    for k in i:
        bits[k // 32] |= u32(1 << k * 7 % 32)
    lowest = ((-i).astype(f32) * f32(0.25)).view(u32)
    fs = np.array([np.float32(63.5).view(u32), min(lowest.min(), 0xffffffff)], u32)
    case("odd_atomics", S.EXCHANGE, "odd_atomics", 2, 64, [Out(h), In(start, l), In(np.zeros(2, np.int64), s), In(np.array([0, 2**32 - 1], u32), fs), Out(bits)], archs=ALL)
    x = np.concatenate([normal(90) * 30, [0, -0.0, 1e-3, 2e-3, 448, 464, 465, 1e6, -1e6, 57344, 61440, 0.0625, 1.0625, 1.1875, 17, 19, 2**-9, 2**-10, 1.5 * 2**-10, 3 * 2**-17, 2**-17, 2.0**-16, np.inf, -np.inf, np.nan, 240]]).astype(f32)
    n = len(x)
    sat = lambda v, m: np.where(np.isnan(v), v, np.clip(v, -m, m))
    a, b = sat(x, 448).astype(ml_dtypes.float8_e4m3fn), sat(x, 57344).astype(ml_dtypes.float8_e5m2)
    a8, b8 = a.view(np.uint8).copy(), b.view(np.uint8).copy()
    a8[np.isnan(x)], b8[np.isnan(x)] = 0x7f, 0x7f
    back = np.stack([a.astype(f32), b.astype(f32)], 1)
    back[np.isnan(x)] = np.nan
    pair = np.stack([sat(x, 448), sat(-2 * x, 448)], 1).astype(ml_dtypes.float8_e4m3fn).astype(np.float16)
    case("small_floats", S.EXCHANGE, "small_floats", 1, n, [In(x), Out(a8), Out(b8), Out(back, 0, 0), Out(pair, 0, 0)])
    W, H, D = 13, 7, 10
    v = rng.integers(-99, 99, (D, H, W)).astype(i32)
    pad = np.zeros((14, 9, 15), int)
    pad[:D, :H, :W] = v
    out = np.zeros_like(v)
    for z in range(D):
        for y in range(H):
            for x in range(W):
                bz, by, bx = z // 7 * 7, y // 3 * 3, x // 5 * 5
                count = min(7, D - bz) * min(3, H - by) * min(5, W - bx)
                out[z, y, x] = pad[z, y, x] * 2 - pad[bz + 6 - (z - bz), by + 2 - (y - by), bx + 4 - (x - bx)] + count
    case("volumes", S.EXCHANGE, "volumes", (3, 3, 2), (5, 3, 7), [In(v), Out(out), Val(i32(W)), Val(i32(H)), Val(i32(D))], archs=ALL)


def memory():
    n = 64
    x = words(4 * n)
    q = x.reshape(n, 4).astype(np.int64)
    s = (q[:, 0] ^ q[:, 1] ^ q[:, 2] ^ q[:, 3]) + q[:, 2] - q[:, 3]
    s = ((s % M) ^ x[:n]) + x[:n]
    s = (s % M).astype(u32)
    b = x.view(np.uint8)[:n]
    c, h = x.view(np.int8)[:n].astype(int), x.view(np.int16)[:n].astype(int)
    extra = np.zeros(16 + 3 * n, u32)
    extra[0], extra[1], extra[2] = s.astype(np.int64).sum() % M, max(0, s.view(i32).max()), n % 51
    extra[16:16 + n] = ((b.astype(int) << 20) + c * 1000 + h) % M
    extra[16 + n:16 + 2 * n].view(np.uint8)[:n] = (c >> 1) & 255
    extra[16 + 2 * n:].view(np.uint16)[:n] = (h * 3) & 0xffff
    case("forms", S.MEMORY, "forms", 1, n, [In(x), Out(s), Out(extra)], archs=ALL)
    x = words(96)
    x[:8] = [0, 1, 200, 201, 202, 2**32 - 1, 2**31, 255]
    wide = np.zeros(1000, int)
    wide[:3] = [1, 2, 3]
    rows = []
    sign = lambda v, n: ((int(v) + (1 << n - 1)) % (1 << n)) - (1 << n - 1)
    for k, v in enumerate(x.tolist()):
        a = v & 7
        bb = sign(sign(v >> 3, 7) - 5, 7)
        cc = ((v * v) % 2**40 + a) % 2**40
        mixed = v | 0x3f000000
        mixed ^= 0xff
        mixed = mixed & ~0xff00 | ((mixed >> 8 & 255) + 7 & 255) << 8
        key = sorted([((v >> 5 * j) & 31, j) for j in range(6)], key=lambda t: t[0])
        h = 0
        for kk, j in key:
            h = h * 37 + kk + j
        s3 = sign(v * 3, 16)
        rows.append([a, bb, cc, v >> 4 & 1, mixed, v & 255, int(v & 255 in (201, 202)), (v & 255) ** 5, (v & 7) + 2 - 3 + 97, 3 + (v & 15) + int(2.75 + (v & 15)), wide[v % 1000], sign(v, 8) * sign(v >> 8, 8), ((v + 300) & 255) >> 1,
                     s3 - tdiv(s3, 7) * 7, -1 if v % 7 == 3 else v % 7 << 3, h, v, 0, k])
    case("language2", S.MEMORY, "language2", 1, 96, [In(x), Out(np.array(rows, np.int64).T)], archs=ALL)


def arithmetic():
    n = 40
    a, b = words((n, 8)), words((n, 8))
    a[0], b[0] = 2**32 - 1, 2**32 - 1
    number = lambda r: int.from_bytes(r.tobytes(), "little")
    c = np.stack([np.frombuffer((number(p) * number(q)).to_bytes(64, "little"), u32) for p, q in zip(a, b)])
    case("big_product", S.ARITHMETIC, "big_product", 1, n, [In(a), In(b), Out(c)], archs=ALL)
    x = np.array(list(range(40)) + [2**61 - 1, 2**61 + 1, 18446744073709551557, 18446744073709551556, 3215031751, 4759123141, 341550071728321, 3825123056546413051, 999999999989, 1000000007 * 998244353], u64)

    def prime(n):
        if n < 2:
            return 0
        for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
            if n % p == 0:
                return int(n == p)
        d, s = n - 1, 0
        while d % 2 == 0:
            d, s = d // 2, s + 1
        return int(all(pow(p, d, n) in (1, n - 1) or any(pow(p, d << j, n) == n - 1 for j in range(1, s)) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)))

    case("primes", S.ARITHMETIC, "primes", 1, len(x), [In(x), Out(np.array([prime(int(v)) for v in x], np.uint8))], archs=ALL)
    n = 2048
    bits = np.zeros(n // 32, u32)
    for k in range(4, n):
        if not prime(k):
            bits[k // 32] |= u32(1 << k % 32)
    case("sieve", S.ARITHMETIC, "sieve", 1, 64, [Out(bits), Val(i32(n))])
    import zlib
    t = words((48, 33), np.uint8)
    case("crc", S.ARITHMETIC, "crc", 1, 48, [In(t), Out(np.array([zlib.crc32(r.tobytes()) for r in t], u32)), Val(i32(33))], archs=ALL)
    out = []
    for blk in range(2):
        for th in range(40):
            c, k = [th, blk, 7, 9], [0x12345678, 0x9abcdef0]
            for _ in range(10):
                p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [q >> 32 ^ c[1] ^ k[0], q % M, p >> 32 ^ c[3] ^ k[1], p % M]
                k = [(k[0] + 0x9E3779B9) % M, (k[1] + 0xBB67AE85) % M]
            out.append(c)
    case("philox", S.ARITHMETIC, "philox", 2, 40, [Out(np.array(out, u32)), Val(np.array([0x12345678, 0x9abcdef0], u32))], archs=ALL)
    p = normal(64, 4)
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    r = 1 / np.sqrt((d * d).sum(2) + float(f32(0.01)))
    case("bodies", S.ARITHMETIC, "bodies", 2, 32, [In(p), Out((d * (q[None, :, 3] * r ** 3)[:, :, None]).sum(1).astype(f32), 2e-4, 2e-3), Val(i32(64))], archs=ALL)
    spot, strike = rng.uniform(50, 150, 48), rng.uniform(50, 150, 48)
    r, v, t = 0.03, 0.25, 1.7
    d1 = (np.log(spot / strike) + (r + v * v / 2) * t) / (v * math.sqrt(t))
    cdf = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    d = np.float64
    case("options", S.ARITHMETIC, "options", 1, 48, [In(spot), In(strike), Out(spot * cdf(d1) - strike * math.exp(-r * t) * cdf(d1 - v * math.sqrt(t)), 1e-12, 1e-12), Val(d(r)), Val(d(v)), Val(d(t))], archs=ALL)
    w, val = rng.integers(1, 30, 25).astype(i32), rng.integers(1, 99, 25).astype(i32)
    cap = 150
    dp = [0] * (cap + 1)
    for a, b in zip(w.tolist(), val.tolist()):
        dp = [max(dp[c], dp[c - a] + b) if c >= a else dp[c] for c in range(cap + 1)]
    case("knapsack", S.ARITHMETIC, "knapsack", 1, 70, [In(w), In(val), Out(np.array([dp[cap]], i32)), Val(i32(25)), Val(i32(cap))], shared=8 * (cap + 1))


def clusters():
    x = rng.integers(0, 256, 8 * 96).astype(i32)
    case("spread", S.CLUSTERS, "spread", 8, 96, [In(x), Out(np.stack([np.bincount(h, minlength=256) for h in x.reshape(2, -1)]).astype(i32))])
    out = np.zeros((4, 6), i32)
    for y in range(0, 4, 2):
        for c in range(0, 6, 2):
            v = [1, 2, 3, 4]
            for _ in range(4):
                v = [v[k] * 10 + v[k - 1] for k in range(4)]
            out[y, c], out[y, c + 1], out[y + 1, c], out[y + 1, c + 1] = v
    case("ring", S.CLUSTERS, "ring", (6, 4), 32, [Out(out)])
    x = rng.integers(-999, 999, (6, 256)).astype(i32)
    case("bulk", S.CLUSTERS, "bulk", 1, 64, [In(x), Out(x[:, ::-1] * np.arange(1, 7, dtype=i32)[:, None])])
    case("meet", S.CLUSTERS, "meet", 1, 64, [Out(np.full(64, 641, i32))], archs=ALL)
    case("waits", S.CLUSTERS, "waits", 5, 32, [Out(np.array([0, 7, 7, 7, 7], i32)), In(np.zeros(1, i32))], archs=ALL)
    x = rng.integers(-99, 99, 320).astype(i32)
    part = x.astype(int)
    for r in range(3):
        part = part + r
        part = part + np.roll(part, -37)
    case("grid_sync_sum", S.CLUSTERS, "grid_sync_sum", 5, 64, [In(x), In(np.zeros(320, i32)), Out(part.astype(i32))], archs=ALL)


for group in (sorts, scans, sparse, numbers, bits, rounded, special, halves, language, tensors, exchange, memory, arithmetic, clusters):
    group()
P.write()
