// Calls: functions that are not inlined, pointers to functions, virtual functions, switch tables, printf, assert, malloc.

struct big { int v[10]; };
__device__ __noinline__ int collatz(int n) {
    int steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; }
    return steps;
}
__device__ __noinline__ big fill(int a, double f) { big b; for (int i = 0; i < 10; i++) b.v[i] = a * i + (int)f; return b; }
__device__ __noinline__ int fold(big b, int k) { int s = 0; for (int i = 0; i < 10; i++) s = s * 3 + b.v[(i + k) % 10]; return s; }
typedef int (*binary)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ int weird(int a, int b) { if (a > b) return collatz(a); return add(a, b) * 2; }
__device__ binary table[4] = {add, sub, mul, weird};
struct shape { int w; __device__ virtual int area(int k) const = 0; __device__ virtual ~shape() {} };
struct square : shape { __device__ int area(int k) const override { return w * w * k; } };
struct circle : shape { __device__ int area(int k) const override { return 3 * w * w + k; } };
struct cross : square { __device__ int area(int k) const override { return square::area(k) + 1; } };
#define A(n, m) __device__ __noinline__ unsigned f##n(unsigned x) { unsigned a = f##m(x + n); return f##m(a ^ n) + f##m(x * 3); }
__device__ __noinline__ unsigned f0(unsigned x) { return x * 2654435761u + 1; }
A(1, 0) A(2, 1) A(3, 2) A(4, 3) A(5, 4) A(6, 5) A(7, 6) A(8, 7)
extern "C" {
__global__ void plain(int *out) { int i = threadIdx.x; out[i] = collatz(i + 1) + fold(fill(i, 2.5 * i), i % 3); }
__global__ void pointers(int *out, const int *which) { int i = threadIdx.x; out[i] = table[which[i]](i, 40 - i); }
__global__ void virtuals(int *out) {
    int i = threadIdx.x;
    square s; circle c; cross x;
    s.w = i; c.w = i + 1; x.w = i + 2;
    shape *p = i % 3 == 0 ? (shape *)&s : i % 3 == 1 ? (shape *)&c : (shape *)&x;
    shape *q = new square; q->w = 5;
    out[i] = p->area(i) + q->area(2);
    delete q;
}
__global__ void deep(unsigned *out) { out[threadIdx.x] = f8(threadIdx.x); }
__global__ void prints(const char *unused) {
    if (threadIdx.x < 3)
        printf("cta %d thread %u: %5.2f|%-6d|%06d|%+d|%x|%#X|%o|%c|%s|%%|%lld|%llu|%e|%g|%G|%8s|%-8s|%.3s|%ld\n", blockIdx.x, threadIdx.x, 3.14159 * threadIdx.x, 42, -42, 7, 255, 255, 8,
               'A' + threadIdx.x, "text", -1234567890123ll, 18446744073709551615ull, 12345.678, 0.0001, 1e20, "right", "left", "abcdef", 5000000000l);
}
__global__ void specials() { printf("%f %f %g %i %hd %5c| %*d %.*f %p\n", 1.0 / 0.0, -(1.0 / 0.0), 100000.0, -1, 70000, 'z', 6, 12, 2, 2.0 / 3, (void *)0x1234); }
__global__ void asserts(int n) { assert(threadIdx.x < n && "too many threads"); }
__global__ void heap(int *out, int n) {
    int *p = (int *)malloc(n * sizeof(int));
    if (!p) { out[threadIdx.x] = -1; return; }
    for (int i = 0; i < n; i++) p[i] = i * threadIdx.x;
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    out[threadIdx.x] = s;
    free(p);
}
}
