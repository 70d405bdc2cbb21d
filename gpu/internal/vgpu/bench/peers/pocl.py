"""Jobs of memwall's benchmark as OpenCL on PoCL, one core: prints a line of JSON a job with the least CPU time of several runs.

Usage: pocl.py JOB…   (sgemm, gemv, softmax). Every result is compared with a float64 reference of numpy.
"""

import json
import os
import sys

# One worker thread: the figures are CPU time on one core, as memwall's are.
os.environ.update(POCL_MAX_PTHREAD_COUNT="1", POCL_CPU_MAX_CU_COUNT="1", PYOPENCL_NO_CACHE="1")

import resource

import numpy as np
import pyopencl as cl

SOURCE = """
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void sgemm(__global float *restrict c, __global const float *restrict a, __global const float *restrict b, int n) {
  __local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    as[ty][tx] = a[row * n + k0 + tx];
    bs[ty][tx] = b[(k0 + ty) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) sum = fma(as[ty][k], bs[k][tx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void gemv(__global half *restrict y, __global const half *restrict w, __global const half *restrict x, int n, int k) {
  __local float part[128];
  int t = get_local_id(0), lane = t % 32, row = get_group_id(0) * 4 + t / 32;
  float sum = 0;
  for (int i = lane; i < k / 8; i += 32) {
    float8 a = vload_half8((size_t)row * (k / 8) + i, w), b = vload_half8(i, x);
    sum = fma(a.s0, b.s0, sum); sum = fma(a.s1, b.s1, sum); sum = fma(a.s2, b.s2, sum); sum = fma(a.s3, b.s3, sum);
    sum = fma(a.s4, b.s4, sum); sum = fma(a.s5, b.s5, sum); sum = fma(a.s6, b.s6, sum); sum = fma(a.s7, b.s7, sum);
  }
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    if (lane < lanes) part[t] += part[t + lanes];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) vstore_half(part[t], row, y);
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void softmax(__global float *restrict y, __global const float *restrict x, int rows, int columns) {
  __local float tops[128], sums[128];
  int t = get_local_id(0), lane = t % 32, row = get_group_id(0) * 4 + t / 32;
  __global const float *in = x + (size_t)row * columns;
  __global float *out = y + (size_t)row * columns;
  float top = -INFINITY, sum = 0;
  for (int c = lane; c < columns; c += 32) {
    float v = in[c], next = fmax(top, v);
    sum = sum * (top == -INFINITY ? 0 : native_exp(top - next)) + native_exp(v - next);
    top = next;
  }
  tops[t] = top;
  sums[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    if (lane < lanes) {
      float next = fmax(tops[t], tops[t + lanes]);
      sums[t] = sums[t] * native_exp(tops[t] - next) + sums[t + lanes] * native_exp(tops[t + lanes] - next);
      tops[t] = next;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  top = tops[t - lane];
  float scale = 1 / sums[t - lane];
  for (int c = lane; c < columns; c += 32) out[c] = native_exp(in[c] - top) * scale;
}
"""


def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (used.ru_utime + used.ru_stime)


class Device:
    def __init__(self):
        platform = next(p for p in cl.get_platforms() if "Portable" in p.name or "pocl" in p.name.lower())
        self.context = cl.Context(platform.get_devices())
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, SOURCE).build()

    def buffer(self, array):
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def least(self, name, groups, local, out, *args):
        """Runs a kernel several times; gives the result and the least CPU time in ms."""
        kernel = cl.Kernel(self.program, name)
        target = self.buffer(out)
        kernel.set_args(target, *args)
        size = tuple(g * l for g, l in zip(groups, local))
        least = float("inf")
        for _ in range(8):
            start = cpu_ms()
            cl.enqueue_nd_range_kernel(self.queue, kernel, size, local)
            self.queue.finish()
            least = min(least, cpu_ms() - start)
        cl.enqueue_copy(self.queue, out, target).wait()
        return out, least


def close(got, want, scale):
    worst = float(np.max(np.abs(got.astype(np.float64) - want) / scale))
    if not worst <= 1:
        raise ArithmeticError("a result is %.3g times as far from the float64 reference as rounding allows" % worst)


def sgemm(device, random):
    n = 512
    a, b = (random.uniform(-1, 1, (n, n)).astype(np.float32) for _ in range(2))
    c, ms = device.least("sgemm", (n // 16, n // 16), (16, 16), np.zeros((n, n), np.float32), device.buffer(a), device.buffer(b), np.int32(n))
    a, b = a.astype(np.float64), b.astype(np.float64)
    close(c, a @ b, n * 2.0**-24 * (np.abs(a) @ np.abs(b)))
    return ms


def gemv(device, random):
    n = 4096
    w, x = random.uniform(-1, 1, (n, n)).astype(np.float16), random.uniform(-1, 1, n).astype(np.float16)
    y, ms = device.least("gemv", (n // 4,), (128,), np.zeros(n, np.float16), device.buffer(w), device.buffer(x), np.int32(n), np.int32(n))
    w, x = w.astype(np.float64), x.astype(np.float64)
    want = w @ x
    close(y, want, n * 2.0**-24 * (np.abs(w) @ np.abs(x)) + 2.0**-11 * np.abs(want) + 2.0**-25)
    return ms


def softmax(device, random):
    rows, columns = 512, 4096
    x = random.uniform(-8, 8, (rows, columns)).astype(np.float32)
    y, ms = device.least("softmax", (rows // 4,), (128,), np.zeros_like(x), device.buffer(x), np.int32(rows), np.int32(columns))
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    want = e / e.sum(axis=1, keepdims=True)
    close(y, want, 1e-5 * want)
    return ms


def main():
    device, random = Device(), np.random.default_rng(1)
    for name in sys.argv[1:]:
        try:
            job = {"sgemm": sgemm, "gemv": gemv, "softmax": softmax}[name]
            print(json.dumps({"job": name, "cpu_ms": job(device, random)}))
        except Exception as e:  # one job must not take the others with it
            print(json.dumps({"job": name, "error": str(e).strip().splitlines()[-1]}))


main()
