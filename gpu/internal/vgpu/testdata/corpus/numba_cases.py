"""Numba-CUDA programs, compiled without a device: pip install numba numba-cuda numpy nvidia-cuda-nvcc-cu12==12.9.86; python numba_cases.py"""
import math, re, sys, types
import numba
import numpy as np
from numba import cuda, float32, float64, int32, int64
from numba.cuda.random import xoroshiro128p_dtype, xoroshiro128p_uniform_float32, xoroshiro128p_type
from numba.cuda import compiler, dispatcher
from common import In, Out, Producer, Val, blob

# Device functions ask the current device for its capability, and there is none.
compiler.get_current_device = dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=(8, 0))

rng = np.random.default_rng(5)
P = Producer("numba")


class Argument:
    """One of the parameters that an array becomes: meminfo, parent, items, item size, data, shape, strides."""

    def __init__(self, row):
        self.r = row

    def row(self):
        return self.r


def spread(a):
    if isinstance(a, Val):
        return [a]
    x, u = a.a, lambda v: Val(np.int64(v))
    if x.dtype.kind == "c":
        part = np.float32 if x.dtype == np.complex64 else np.float64
        flat = In(x.view(part).reshape(-1), None if a.expect is None else np.ascontiguousarray(a.expect).view(part).reshape(-1), a.rtol, a.atol)
    elif x.dtype.kind == "V" or x.dtype.kind == "b":
        flat = In(np.frombuffer(x.tobytes(), np.uint8), None if a.expect is None else np.frombuffer(np.asarray(a.expect).tobytes(), np.uint8))
    else:
        flat = a
    return [u(0), u(0), u(x.size), u(x.itemsize), flat] + [u(n) for n in x.shape] + [u(n) for n in x.strides]


def typed(a):
    if isinstance(a, Val):
        return numba.typeof(a.v)
    return numba.types.Array(numba.typeof(a.a).dtype, a.a.ndim, "C")


def case(name, fn, grid, block, args, ccs=((8, 0),), debug=False, shared=0, error=None, print_=None, **options):
    for cc in ccs:
        full = f"{name}_sm{cc[0]}{cc[1]}"
        try:
            text, _ = cuda.compile_ptx(fn, tuple(typed(a) for a in args), cc=cc, debug=debug, opt=not debug, **options)
        except Exception as e:
            sys.stderr.write(f"{full}: {type(e).__name__} {str(e)[-500:]}\n")
            continue
        P.ptx(full, text)
        entry = re.findall(r"\.entry (\S+?)\(", text)[0]
        P.case(full, full, entry, grid, block, [x for a in args for x in spread(a)], shared=shared, error=error, print=print_)


ALL = ((7, 5), (8, 0), (9, 0))


def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def saxpy2d(a, x, y):
    i, j = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = a * x[j, i] + y[i, j]


def matmul(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = float32(0)
    for k in range((a.shape[1] + 15) // 16):
        sa[ty, tx] = a[y, k * 16 + tx] if y < a.shape[0] and k * 16 + tx < a.shape[1] else 0
        sb[ty, tx] = b[k * 16 + ty, x] if x < b.shape[1] and k * 16 + ty < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(16):
            t += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = t


def block_sum(x, out):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


def scan(x, y):
    s = cuda.shared.array(256, int64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 256:
        v = s[t - d] if t >= d else 0
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d *= 2
    y[t] = s[t]


def dynamic_reverse(x):
    s = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[cuda.blockDim.x - 1 - t]


def atomics(v, f, u, fl, db, cas):
    i = cuda.grid(1)
    k = i % 4
    cuda.atomic.add(u, k, v[i])
    cuda.atomic.max(u, 4 + k, v[i])
    cuda.atomic.min(u, 8 + k, v[i])
    cuda.atomic.sub(u, 12 + k, v[i])
    cuda.atomic.and_(u, 16 + k, v[i])
    cuda.atomic.or_(u, 20 + k, v[i])
    cuda.atomic.xor(u, 24 + k, v[i])
    cuda.atomic.inc(u, 28 + k, 6)
    cuda.atomic.dec(u, 32 + k, 9)
    cuda.atomic.add(fl, k, f[i])
    cuda.atomic.max(fl, 4 + k, f[i])
    cuda.atomic.nanmin(fl, 8 + k, f[i])
    cuda.atomic.add(db, k, float64(f[i]))
    cuda.atomic.max(db, 4 + k, float64(f[i]))
    cuda.atomic.cas(cas, 0, i, i + 1)
    cuda.atomic.exch(cas, 1 + i, v[i])


def histogram(x, h):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.size:
        cuda.atomic.add(s, x[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(h, t, s[t])


def functions32(x, out):
    i = cuda.grid(1)
    v = x[i]
    a = abs(v) + float32(0.1)
    out[0, i] = math.sin(v)
    out[1, i] = math.cos(v)
    out[2, i] = math.tan(v)
    out[3, i] = math.exp(v)
    out[4, i] = math.log(a)
    out[5, i] = math.sqrt(a)
    out[6, i] = math.pow(a, v)
    out[7, i] = math.atan2(v, a)
    out[8, i] = math.tanh(v)
    out[9, i] = math.erf(v)
    out[10, i] = math.gamma(a)
    out[11, i] = math.floor(v) + math.ceil(v)
    out[12, i] = math.fmod(v, a)
    out[13, i] = a ** 3
    out[14, i] = v // a
    out[15, i] = v % a
    out[16, i] = round(v)
    out[17, i] = math.hypot(v, a)


def functions64(x, out):
    i = cuda.grid(1)
    v = x[i]
    a = abs(v) + 0.1
    out[0, i] = math.sin(v)
    out[1, i] = math.exp(v)
    out[2, i] = math.log(a)
    out[3, i] = math.sqrt(a)
    out[4, i] = math.pow(a, v)
    out[5, i] = math.acosh(a + 1)
    out[6, i] = math.lgamma(a)
    out[7, i] = 1.0 / a
    out[8, i] = cuda.fma(v, a, v)
    out[9, i] = cuda.cbrt(v)
    out[10, i] = math.copysign(a, v)
    out[11, i] = math.erfc(v)


def complexes(x, y, z):
    i = cuda.grid(1)
    z[0, i] = x[i] * y[i]
    z[1, i] = x[i] / y[i]
    z[2, i] = x[i] + y[i].conjugate()
    z[3, i] = complex(abs(x[i]), y[i].imag)


def mandel(c, out):
    i = cuda.grid(1)
    z = complex(0.0, 0.0)
    n = 0
    while n < 40 and z.real * z.real + z.imag * z.imag < 4.0:
        z = z * z + c[i]
        n += 1
    out[i] = n


def local_arrays(x, y):
    a = cuda.local.array(10, float32)
    i = cuda.grid(1)
    for k in range(10):
        a[(k * 7 + i) % 10] = x[i] * k
    s = float32(0)
    for k in range(10):
        s = s * float32(0.5) + a[k]
    y[i] = s


@cuda.jit(device=True, inline="never")
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cuda.jit(device=True, inline="never")
def divide(a, b):
    return a // b, a % b, (a + b) / 2


def devices(x, y):
    i = cuda.grid(1)
    q, r, m = divide(x[i], 7)
    y[0, i] = collatz(x[i])
    y[1, i] = q
    y[2, i] = r
    y[3, i] = int64(m)


def warps(x, y):
    i = cuda.grid(1)
    lane = cuda.laneid
    v = x[i]
    s = v
    d = 16
    while d > 0:
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, d)
        d //= 2
    y[0, i] = cuda.shfl_sync(0xFFFFFFFF, s, 0)
    y[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, 2)
    y[2, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 7)
    y[3, i] = cuda.ballot_sync(0xFFFFFFFF, v > 0)
    y[4, i] = cuda.match_any_sync(0xFFFFFFFF, v & 3)
    y[5, i] = cuda.all_sync(0xFFFFFFFF, v > -1000) + 2 * cuda.any_sync(0xFFFFFFFF, v == 99999) + 4 * cuda.eq_sync(0xFFFFFFFF, v > 1000)
    y[6, i] = cuda.popc(v) + 100 * cuda.clz(v) + 10000 * cuda.ffs(v) + cuda.brev(v) // 65536 * 0
    y[7, i] = cuda.selp(v > 0, lane, int32(-lane))


def shuffle64(x, y):
    i = cuda.grid(1)
    y[0, i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)
    y[1, i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 4)


def halves(x, y, z):
    i = cuda.grid(1)
    a = x[i]
    b = y[i]
    z[0, i] = a + b
    z[1, i] = a * b
    z[2, i] = cuda.fp16.hfma(a, b, a)
    z[3, i] = a - b
    z[4, i] = cuda.fp16.hmax(a, b)
    z[5, i] = a if a > b else -b
    z[6, i] = abs(a)
    z[7, i] = a / b


record = np.dtype([("a", np.int32), ("x", np.float64), ("b", np.int16), ("v", np.float32, (3,))], align=True)


def records(r, out):
    i = cuda.grid(1)
    out[i] = r[i]["a"] + r[i]["x"] * r[i]["b"] + r[i]["v"][i % 3]
    r[i]["a"] = i * i
    r[i]["b"] = -i


def tuples(x, t, out):
    i = cuda.grid(1)
    out[i] = x[i] * t[0] + t[1]


def small_types(a, b, c, d):
    i = cuda.grid(1)
    a[i] = a[i] * a[i] + 1
    b[i] = b[i] >> 1
    c[i] = c[i] * c[i]
    d[i] = not d[i]


def integers(x, y, z):
    i = cuda.grid(1)
    a, b = x[i], y[i]
    z[0, i] = a // b
    z[1, i] = a % b
    z[2, i] = a * b
    z[3, i] = (a << 3) ^ (b >> 2)
    z[4, i] = min(a, b) + max(a, -b)
    z[5, i] = abs(a)
    z[6, i] = a & ~b
    z[7, i] = int64(float64(a) * 0.001)


def gather_scatter(x, idx, y):
    i = cuda.grid(1)
    if i < idx.size:
        y[idx[i]] = x[idx[i], i % x.shape[1]]


def slices(x, y):
    i = cuda.grid(1)
    row = x[i]
    total = 0.0
    for v in row[1:-1:2]:
        total += v
    y[i] = total


def strided(x, y):
    start = cuda.grid(1)
    for i in range(start, x.size, cuda.gridsize(1)):
        y[i] = math.sqrt(x[i])


def spin(lock, count):
    i = cuda.grid(1)
    if i % 32 == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        count[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


def constants(y):
    t = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    y[i] = t[i % 7] * 2


TABLE = np.array([3, 1, 4, 1, 5, 9, 2], np.int32)


def counts(x, y):
    i = cuda.grid(1)
    y[0] = cuda.syncthreads_count(1 if x[i] > 0 else 0)
    if cuda.syncthreads_and(1 if x[i] > -1000 else 0) and i == 0:
        y[1] = 7
    if cuda.syncthreads_or(1 if x[i] > 1000 else 0) and i == 1:
        y[2] = 9


def uniform(states, out):
    i = cuda.grid(1)
    out[0, i] = xoroshiro128p_uniform_float32(states, i)
    out[1, i] = xoroshiro128p_uniform_float32(states, i)


def raises(x):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative")
    x[i] = x[i] * 2


def asserts(x):
    i = cuda.grid(1)
    assert x[i] > 0
    x[i] += 1


def prints(x):
    i = cuda.grid(1)
    print(i, x[i], "text")


def three_d(x, y):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        y[k, j, i] = x[i, j, k] + i + 10 * j + 100 * k


def grid_sync(x):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    for r in range(3):
        v = x[(i + 1) % x.size]
        g.sync()
        x[i] = v + 1
        g.sync()


def splitmix(z):
    m = 2**64 - 1
    z = (z + 0x9E3779B97F4A7C15) & m
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & m
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & m
    return z ^ z >> 31


def xoroshiro(s0, s1):
    """xoroshiro128+ 1.0 (rotations 55, 14, 36) as Numba has it: the sum, then the state."""
    m = 2**64 - 1
    rot = lambda v, k: (v << k | v >> (64 - k)) & m
    r = (s0 + s1) & m
    s1 ^= s0
    return r, (rot(s0, 55) ^ s1 ^ s1 << 14) & m, rot(s1, 36)


def basics():
    n = 500
    a, b = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    case("add", add, 4, 128, [In(a), In(b), Out(a + b)], ccs=ALL)
    x, y = rng.standard_normal((20, 30)).astype(np.float32), rng.standard_normal((30, 20)).astype(np.float32)
    case("saxpy2d", saxpy2d, (4, 3), (8, 8), [Val(np.float32(2.5)), In(x), In(y, np.float32(2.5) * x.T + y, 1e-6, 1e-6)])
    a, b = rng.standard_normal((40, 50)).astype(np.float32), rng.standard_normal((50, 24)).astype(np.float32)
    case("matmul", matmul, (2, 3), (16, 16), [In(a), In(b), Out(a @ b, 1e-5, 1e-4)], ccs=ALL)
    x = rng.standard_normal(500)
    case("block_sum", block_sum, 4, 128, [In(x), Out(np.array([x.sum()]), 1e-12)], ccs=((7, 5), (9, 0)))
    x = rng.integers(-50, 50, 256)
    case("scan", scan, 1, 256, [In(x), Out(x.cumsum())])
    x = np.arange(100, dtype=np.int32)
    case("dynamic_reverse", dynamic_reverse, 1, 100, [In(x, x[::-1].copy())], shared=400)
    x = rng.standard_normal((5, 6, 7))
    i, j, k = np.indices(x.shape)
    case("three_d", three_d, (2, 2, 2), (4, 4, 4), [In(x), Out(np.ascontiguousarray((x + i + 10 * j + 100 * k).transpose(2, 1, 0)))])
    x = rng.random(1000).astype(np.float32)
    case("strided", strided, 2, 64, [In(x), Out(np.sqrt(x), 1e-6)])
    x = rng.standard_normal((32, 9))
    case("slices", slices, 1, 32, [In(x), Out(x[:, 1:-1:2].sum(1), 1e-12)])
    x = rng.standard_normal((64, 4))
    idx = rng.permutation(64).astype(np.int32)
    want = np.zeros(64)
    want[idx] = x[idx, np.arange(64) % 4]
    case("gather_scatter", gather_scatter, 1, 64, [In(x), In(idx), Out(want)])
    case("constants", constants, 1, 32, [Out(TABLE[np.arange(32) % 7] * 2)])
    x = rng.integers(-100, 100, 64).astype(np.int32)
    case("counts", counts, 1, 64, [In(x), Out(np.array([(x > 0).sum(), 7, 0], np.int32))])


def atomic():
    n = 128
    v = rng.integers(0, 2**16, n).astype(np.uint32)
    f = rng.integers(-100, 100, n).astype(np.float32)
    k = np.arange(n) % 4
    u = np.zeros(36, np.uint32)
    u[8:12], u[16:20] = 2**31, 2**32 - 1
    e = u.copy()
    fl, db = np.zeros(12, np.float32), np.zeros(8)
    fe, de = fl.copy(), db.copy()
    for j in range(4):
        m, g = v[k == j].astype(np.int64), f[k == j]
        e[j], e[4 + j], e[8 + j], e[12 + j] = m.sum(), m.max(), m.min(), (-m.sum()) % 2**32
        e[16 + j], e[20 + j], e[24 + j] = np.bitwise_and.reduce(m), np.bitwise_or.reduce(m), np.bitwise_xor.reduce(m)
        e[28 + j] = 32 % 7
        x = 0
        for _ in range(32):
            x = 9 if x == 0 or x > 9 else x - 1
        e[32 + j] = x
        fe[j], fe[4 + j], fe[8 + j] = g.sum(), max(g.max(), 0), min(g.min(), 0)
        de[j], de[4 + j] = g.sum(), max(g.max(), 0)
    # The compare and swap 0 → 1 can only be the first thread's; later ones see their own number where it was set before.
    case("atomics", atomics, 2, 64, [In(v), In(f), In(u, e), In(fl, fe), In(db, de), In(np.zeros(n + 1, np.int64))], ccs=((7, 5), (9, 0)))
    x = rng.integers(0, 32, 1000).astype(np.int32)
    case("histogram", histogram, 3, 64, [In(x), Out(np.bincount(x, minlength=32).astype(np.int32))])
    case("spin", spin, 2, 64, [In(np.zeros(1, np.int32), np.zeros(1, np.int32)), In(np.zeros(1, np.int32), np.array([4], np.int32))])


def functions():
    n = 64
    x = (rng.standard_normal(n) * 2).astype(np.float32)
    X = x.astype(np.float64)
    a = np.abs(x) + np.float32(0.1)
    A = a.astype(np.float64)
    v = np.vectorize
    rows = [np.sin(X), np.cos(X), np.tan(X), np.exp(X), np.log(A), np.sqrt(A), A**X, np.arctan2(X, A), np.tanh(X), v(math.erf)(X), v(math.gamma)(A), np.floor(X) + np.ceil(X), np.fmod(X, A), A**3,
            np.floor(X / A), X % A, np.rint(X), np.hypot(X, A)]
    case("functions32", functions32, 1, n, [In(x), Out(np.stack(rows).astype(np.float32), 5e-6, 2e-6)], ccs=((7, 5), (9, 0)))
    case("functions32_fast", functions32, 1, n, [In(x), Out(np.stack(rows).astype(np.float32), 2e-3, 2e-3)], fastmath=True)
    d = rng.standard_normal(n) * 2
    a = np.abs(d) + 0.1
    rows = [np.sin(d), np.exp(d), np.log(a), np.sqrt(a), a**d, np.arccosh(a + 1), v(math.lgamma)(a), 1 / a, d * a + d, np.cbrt(d), np.copysign(a, d), v(math.erfc)(d)]
    case("functions64", functions64, 1, n, [In(d), Out(np.stack(rows), 1e-13, 1e-14)])
    z, w = rng.standard_normal(n) + 1j * rng.standard_normal(n), rng.standard_normal(n) + 1j * rng.standard_normal(n)
    case("complexes", complexes, 1, n, [In(z), In(w), Out(np.stack([z * w, z / w, z + w.conj(), np.abs(z) + 1j * w.imag]), 1e-12, 1e-13)])
    c = (rng.standard_normal(n) + 1j * rng.standard_normal(n))
    want = np.zeros(n, np.int64)
    for i in range(n):
        q, k = 0j, 0
        while k < 40 and q.real * q.real + q.imag * q.imag < 4:
            q = q * q + c[i]
            k += 1
        want[i] = k
    case("mandel", mandel, 1, n, [In(c), Out(want)])
    h, g = x.astype(np.float16), (rng.standard_normal(n) * 2).astype(np.float16)
    H, G = h.astype(np.float32), g.astype(np.float32)
    rows = [H + G, H * G, H.astype(np.float64) * G + H, H - G, np.maximum(H, G), np.where(H > G, H, -G), np.abs(H), H / G]
    case("halves", halves, 1, n, [In(h), In(g), Out(np.stack([r.astype(np.float16) for r in rows]), 2e-3, 1e-3)], error="has no body here")  # Numba links them from CUDA C++
    p, q = rng.integers(-10**6, 10**6, n), rng.integers(1, 1000, n) * np.where(rng.random(n) < 0.5, 1, -1)
    case("integers", integers, 1, n, [In(p), In(q), Out(np.stack([p // q, p % q, p * q, (p << 3) ^ (q >> 2), np.minimum(p, q) + np.maximum(p, -q), np.abs(p), p & ~q, np.trunc(p * 0.001).astype(np.int64)]))])
    i8, u16, u8, b = rng.integers(-128, 128, n).astype(np.int8), rng.integers(0, 65536, n).astype(np.uint16), rng.integers(0, 256, n).astype(np.uint8), rng.random(n) < 0.5
    w8 = i8.astype(np.int64)
    case("small_types", small_types, 1, n, [In(i8, (w8 * w8 + 1).astype(np.int8)), In(u16, u16 >> 1), In(u8, (u8.astype(np.int64)**2).astype(np.uint8)), In(b, ~b)])


def structure():
    n = 64
    x = rng.standard_normal(n).astype(np.float32)
    want = np.zeros(n, np.float32)
    for i in range(n):
        a = np.zeros(10, np.float32)
        for k in range(10):
            a[(k * 7 + i) % 10] = np.float32(x[i] * np.float32(k))
        s = np.float32(0)
        for k in range(10):
            s = np.float32(s * np.float32(0.5) + a[k])
        want[i] = s
    case("local_arrays", local_arrays, 1, n, [In(x), Out(want, 1e-6, 1e-6)], ccs=((8, 0), (9, 0)))
    v = rng.integers(1, 200, n)

    def steps(m):
        s = 0
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            s += 1
        return s

    case("devices", devices, 1, n, [In(v), Out(np.stack([np.array([steps(int(m)) for m in v]), v // 7, v % 7, ((v + 7) / 2).astype(np.int64)]))], ccs=((7, 5), (9, 0)))
    w = rng.integers(-500, 500, n).astype(np.int32)
    r = w.reshape(2, 32)
    lane = np.arange(32)
    bal = np.array([sum(1 << i for i in range(32) if q[i] > 0) for q in r], np.int64)
    pop = np.array([bin(int(q) & 0xFFFFFFFF).count("1") for q in w])
    clz = np.array([32 - (int(q) & 0xFFFFFFFF).bit_length() for q in w])
    ffs = np.array([((int(q) & -int(q)) & 0xFFFFFFFF).bit_length() for q in w])
    rows = [np.repeat(r.sum(1), 32), r[:, np.where(lane >= 2, lane - 2, lane)].reshape(-1), r[:, lane ^ 7].reshape(-1), np.repeat(bal.astype(np.uint32).view(np.int32), 32),
            np.array([[sum(1 << j for j in range(32) if (q[j] & 3) == (q[i] & 3)) for i in range(32)] for q in r]).astype(np.uint32).view(np.int32).reshape(-1), np.full(n, 1 + 4), pop + 100 * clz + 10000 * ffs, np.where(w > 0, np.tile(lane, 2), -np.tile(lane, 2))]
    case("warps", warps, 1, n, [In(w), Out(np.stack(rows).astype(np.int64))], ccs=((7, 5), (9, 0)))
    f = rng.standard_normal(n)
    r = f.reshape(2, 32)
    case("shuffle64", shuffle64, 1, n, [In(f), Out(np.stack([r[:, lane ^ 1].reshape(-1), r[:, np.where(lane < 28, lane + 4, lane)].reshape(-1)]))])
    rec = np.zeros(n, record)
    rec["a"], rec["x"], rec["b"], rec["v"] = rng.integers(-9, 9, n), f, rng.integers(-99, 99, n), rng.standard_normal((n, 3))
    after = np.zeros(n, record)  # a copy would leave the padding to chance
    after["x"], after["v"] = rec["x"], rec["v"]
    i = np.arange(n)
    after["a"], after["b"] = i * i, -i
    case("records", records, 1, n, [In(rec, after), Out(rec["a"] + rec["x"] * rec["b"] + rec["v"][i, i % 3].astype(np.float64), 1e-12, 1e-12)])
    state = np.zeros(32, xoroshiro128p_dtype)
    after, out = state.copy(), np.zeros((2, 32), np.float32)
    for t in range(32):
        s0, s1 = splitmix(t + 1), splitmix(splitmix(t + 1))
        state[t]["s0"], state[t]["s1"] = s0, s1
        for k in range(2):
            v, s0, s1 = xoroshiro(s0, s1)
            out[k, t] = np.float32((v >> 11) * (1 / (1 << 53)))
        after[t]["s0"], after[t]["s1"] = s0, s1
    case("uniform", uniform, 1, 32, [In(state, after), Out(out)])


def debugging():
    x = np.arange(1, 33, dtype=np.int64)
    case("raises", raises, 1, 32, [In(x, x * 2)], debug=True)
    case("asserts", asserts, 1, 32, [In(x, x + 1)], debug=True)
    case("add_debug", add, 1, 32, [In(x), In(x), Out(2 * x)], debug=True)
    case("add_lines", add, 1, 32, [In(x), In(x), Out(2 * x)], lineinfo=True)
    case("prints", prints, 1, 2, [In(np.array([5, -6]))], print_="0 5 text\n1 -6 text\n")
    case("grid_sync", grid_sync, 2, 32, [In(np.arange(64), ((np.arange(64) + 3) % 64) + 3)])


for group in (basics, atomic, functions, structure, debugging):
    group()
P.write()
