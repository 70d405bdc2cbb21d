// Programs whose lanes, warps and CTAs wait for each other; their results are known.
extern "C" {
__device__ int mutex;
__device__ volatile int counter;

// A lock that every thread takes once, the winner leaving the loop: needs independent thread scheduling.
__global__ void spin_lock(int *total, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    *(volatile int *)total = *(volatile int *)total + 1;
    __threadfence();
    atomicExch(lock, 0);
}
// The same with exchange and sleep.
__global__ void spin_sleep(int *total, int *lock) {
    unsigned ns = 8;
    while (atomicExch(lock, 1) != 0) { __nanosleep(ns); if (ns < 256) ns *= 2; }
    __threadfence();
    *(volatile int *)total += 1;
    __threadfence();
    *(volatile int *)lock = 0;
}
// Ticket lock: turns in order of the tickets.
__global__ void ticket(int *total, unsigned *next, volatile unsigned *serving, int *order) {
    unsigned my = atomicAdd(next, 1u);
    while (*serving != my) { }
    __threadfence();
    int t = *(volatile int *)total;
    order[t] = my;
    *(volatile int *)total = t + 1;
    __threadfence();
    *serving = my + 1;
}
// Lock in shared memory, taken by all threads of a CTA.
__global__ void shared_lock(int *out) {
    __shared__ int lock; __shared__ volatile int n;
    if (threadIdx.x == 0) { lock = 0; n = 0; }
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) { }
    n = n + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = n;
}
// Dining philosophers: two forks each, taken in order.
__global__ void philosophers(int *forks, int *meals, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i, b = (i + 1) % n;
    if (a > b) { int t = a; a = b; b = t; }
    for (int r = 0; r < rounds; r++) {
        while (atomicCAS(&forks[a], 0, 1) != 0) { }
        while (atomicCAS(&forks[b], 0, 1) != 0) { }
        __threadfence();
        ((volatile int *)meals)[i] += 1;
        __threadfence();
        atomicExch(&forks[b], 0);
        atomicExch(&forks[a], 0);
    }
}
// Lane 0 waits for a flag that lane 1 sets behind the branch.
__global__ void lanes(volatile int *flag, int *out) {
    int lane = threadIdx.x;
    if (lane == 0) { while (flag[0] == 0) { } out[0] = flag[0]; }
    else if (lane == 1) { flag[0] = 42; out[1] = 7; }
    else out[lane] = lane;
    __syncwarp();
    out[32 + lane] = out[(lane + 1) % 32];
}
// A ring of flags through all threads of a CTA: thread i waits for i-1.
__global__ void ring(volatile int *flag, int *out) {
    int i = threadIdx.x;
    if (i > 0) while (flag[i - 1] == 0) { }
    out[i] = i == 0 ? 1 : out[i - 1] + 1;
    __threadfence();
    flag[i] = 1;
}
// Lanes meet at __syncwarp on both sides of a branch.
__global__ void both_sides(int *out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    if (lane < 11) { s[lane] = lane * 3; __syncwarp(); out[lane] = s[31 - lane]; }
    else { s[lane] = lane * 5; __syncwarp(); out[lane] = s[31 - lane]; }
}
// Producer and consumer warps of one CTA through flags.
__global__ void pipe(int *out, int n) {
    __shared__ volatile int slot[4]; __shared__ volatile int full[4];
    if (threadIdx.x < 4) full[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < n; i++) { while (full[i % 4]) { } slot[i % 4] = i * i; __threadfence_block(); full[i % 4] = 1; }
    } else if (threadIdx.x == 32) {
        int sum = 0;
        for (int i = 0; i < n; i++) { while (!full[i % 4]) { } __threadfence_block(); sum += slot[i % 4]; full[i % 4] = 0; }
        *out = sum;
    }
}
// CTA 0 waits for the last CTA.
__global__ void backwards_flag(volatile int *flag, int *out) {
    int i = blockIdx.x, n = gridDim.x;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (flag[i + 1] == 0) { }
        out[i] = i + 1 < n ? out[i + 1] + 1 : 1;
        __threadfence();
        flag[i] = 1;
    }
}
// Decoupled look-back scan: one CTA a tile, tiles by ticket.
__global__ void lookback(const int *x, int *y, int n, unsigned *ticket, volatile unsigned long long *state) {
    __shared__ int tile; __shared__ int part[256]; __shared__ int before;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = tile * 256 + threadIdx.x;
    int v = i < n ? x[i] : 0;
    part[threadIdx.x] = v;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int t = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
        __syncthreads();
        part[threadIdx.x] += t;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned sum = part[255];
        state[tile] = ((unsigned long long)(tile == 0 ? 2 : 1) << 32) | sum;
        unsigned run = 0;
        for (int p = tile - 1; p >= 0; p--) {
            unsigned long long s;
            do { s = state[p]; } while (s >> 32 == 0);
            run += (unsigned)s;
            if (s >> 32 == 2) break;
        }
        before = run;
        __threadfence();
        state[tile] = (2ull << 32) | (run + sum);
    }
    __syncthreads();
    if (i < n) y[i] = part[threadIdx.x] + before;
}
// The last CTA adds up what the others left.
__global__ void last_cta(const int *x, int *part, unsigned *done, int *out) {
    __shared__ bool last; __shared__ int s[128];
    s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int t = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 128) t += ((volatile int *)part)[i];
    s[threadIdx.x] = t;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (threadIdx.x == 0) *out = s[0];
}
// Persistent CTAs with a queue of work: each item up to a limit makes two more.
__global__ void queue(int *items, unsigned *head, unsigned *tail, int *left, int *seen, int limit) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) {
            item = -1;
            for (;;) {
                if (*(volatile int *)left == 0) break;
                unsigned h = *(volatile unsigned *)head;
                if (h < *(volatile unsigned *)tail && ((volatile int *)items)[h] != 0) {
                    if (atomicCAS(head, h, h + 1) == h) { item = ((volatile int *)items)[h]; break; }
                }
            }
        }
        __syncthreads();
        if (item < 0) return;
        if (threadIdx.x == 0) {
            atomicAdd(&seen[item], 1);
            for (int c = 2 * item; c <= 2 * item + 1; c++)
                if (c <= limit) { atomicAdd(left, 1); unsigned t = atomicAdd(tail, 1u); __threadfence(); ((volatile int *)items)[t] = c; }
            __threadfence();
            atomicSub(left, 1);
        }
        __syncthreads();
    }
}
}
