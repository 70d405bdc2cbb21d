"""Triton's add, softmax, layer norm, matrix product and flash attention on the CUDA driver that is there, checked against NumPy in
float64. Triton runs unmodified and without PyTorch: buffers are handed over by their data_ptr(), as its launcher asks."""
import ctypes
import numpy as np
import triton
import triton.language as tl

cuda = ctypes.CDLL("libcuda.so.1")


class DType:
    """What Triton asks a buffer's element type for: its name."""

    kept = {}  # Triton keeps what it learned of a type by its identity

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Buffer:
    """Device memory with the contents of an array."""

    def __init__(self, array):
        self.array, self.pointer = np.ascontiguousarray(array), ctypes.c_uint64()
        self.dtype = DType.kept.setdefault(array.dtype.name, DType(array.dtype.name))
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(array.nbytes)))
        check(cuda.cuMemcpyHtoD_v2(self.pointer, self.array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)))

    def data_ptr(self):
        return self.pointer.value

    def get(self):
        check(cuda.cuMemcpyDtoH_v2(self.array.ctypes.data_as(ctypes.c_void_p), self.pointer, ctypes.c_size_t(self.array.nbytes)))
        return self.array


def check(result):
    if result:
        raise RuntimeError("the driver answers %d" % result)


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * columns + at, e / tl.sum(e, 0), mask=inside)


@triton.jit
def layer_norm_kernel(x, w, b, y, columns, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(v, 0) / columns
    d = tl.where(inside, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / columns + eps)
    tl.store(y + row * columns + at, d * scale * tl.load(w + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa, pb = a + (rm % M)[:, None] * K + rk[None, :], b + rk[:, None] * N + (rn % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        right = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        total = tl.dot(left, right, total)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], total, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def flash_kernel(q, k, v, o, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * N * D
    rows, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + depth[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    below = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        columns = start + tl.arange(0, BN)
        keys = tl.load(k + head + columns[None, :] * D + depth[:, None])
        s = tl.dot(query, keys) * scale
        highest = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - highest[:, None])
        shrink = tl.exp(top - highest)
        below = below * shrink + tl.sum(p, 1)
        values = tl.load(v + head + columns[:, None] * D + depth[None, :])
        out = out * shrink[:, None] + tl.dot(p.to(tl.float16), values)
        top = highest
    tl.store(o + head + rows[:, None] * D + depth[None, :], out / below[:, None])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def add():
    n = 100_003
    x, y = np.random.rand(2, n).astype("f4")
    z = Buffer(np.zeros(n, "f4"))
    add_kernel[(triton.cdiv(n, 1024),)](Buffer(x), Buffer(y), z, n, BLOCK=1024)
    np.testing.assert_array_equal(z.get(), x + y)


def rows():
    x = np.random.randn(64, 781).astype("f4")
    y = Buffer(np.zeros_like(x))
    softmax_kernel[(64,)](Buffer(x), y, 781, BLOCK=1024)
    np.testing.assert_allclose(y.get(), softmax(x.astype("f8")), rtol=1e-5)


def layer_norm():
    x, w, b = np.random.randn(32, 1000).astype("f4") + 3, np.random.randn(1000).astype("f4"), np.random.randn(1000).astype("f4")
    y = Buffer(np.zeros_like(x))
    layer_norm_kernel[(32,)](Buffer(x), Buffer(w), Buffer(b), y, 1000, 1e-5, BLOCK=1024)
    d = x.astype("f8")
    want = (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(y.get(), want, rtol=1e-4, atol=1e-4)


def matmul():
    M, N, K = 200, 136, 328
    a, b = np.random.randn(M, K).astype("f2"), np.random.randn(K, N).astype("f2")
    c = Buffer(np.zeros((M, N), "f4"))
    matmul_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](Buffer(a), Buffer(b), c, M, N, K, BM=64, BN=64, BK=32)
    np.testing.assert_allclose(c.get(), a.astype("f8") @ b.astype("f8"), rtol=1e-3, atol=1e-2)


def flash_attention():
    heads, N, D = 2, 256, 64
    q, k, v = np.random.randn(3, heads, N, D).astype("f2")
    o = Buffer(np.zeros((heads, N, D), "f4"))
    flash_kernel[(N // 64, heads)](Buffer(q), Buffer(k), Buffer(v), o, D**-0.5, N, D=D, BM=64, BN=64)
    want = softmax(q.astype("f8") @ k.astype("f8").transpose(0, 2, 1) * D**-0.5) @ v.astype("f8")
    np.testing.assert_allclose(o.get(), want, rtol=2e-2, atol=2e-2)


if __name__ == "__main__":
    np.random.seed(1)
    target = triton.runtime.driver.active.get_current_target()
    for test in (add, rows, layer_norm, matmul, flash_attention):
        test()
        print("triton sm_%s: %s ok" % (target.arch, {"rows": "softmax"}.get(test.__name__, test.__name__)), flush=True)
