// Clusters, distributed shared memory, mbarrier objects, cooperative launches; results are known.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned long long u64;
__device__ inline unsigned sh(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void bar_init(u64 *b, unsigned n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sh(b)), "r"(n) : "memory"); }
__device__ inline void bar_arrive(u64 *b) { asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(sh(b)) : "memory"); }
__device__ inline void bar_wait(u64 *b, unsigned parity) {
    asm volatile("{ .reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 1000;\n@!p bra AGAIN;\n}" ::"r"(sh(b)), "r"(parity) : "memory");
}
extern "C" {
// A histogram whose bins lie apart over the CTAs of a cluster.
__global__ void histogram(const int *x, int n, int *bins, int perCTA) {
    extern __shared__ int own[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < perCTA; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = x[i];
        int *other = cluster.map_shared_rank(own, bin / perCTA);
        atomicAdd(other + bin % perCTA, 1);
    }
    cluster.sync();
    int first = cluster.block_rank() * perCTA;
    for (int i = threadIdx.x; i < perCTA; i += blockDim.x) atomicAdd(&bins[first + i], own[i]);
}
// Each CTA reads its neighbour's shared memory; dimensions and ranks are written down.
__global__ void __cluster_dims__(2, 2, 1) ranks(int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    mine = 1000 + blockIdx.x + gridDim.x * blockIdx.y;
    cluster.sync();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    int got = *cluster.map_shared_rank(&mine, (rank + 1) % n);
    cluster.sync();
    int *o = out + 8 * (blockIdx.x + gridDim.x * blockIdx.y);
    o[0] = got; o[1] = rank; o[2] = n; o[3] = cluster.block_index().x; o[4] = cluster.block_index().y; o[5] = cluster.dim_blocks().x;
    unsigned cx, cy; asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx)); asm("mov.u32 %0, %%clusterid.y;" : "=r"(cy));
    o[6] = cx; o[7] = cy;
}
// Producer and consumer warps, a ring of four slots, two mbarriers a slot.
__global__ void ring_pipeline(const int *x, int *out, int n) {
    __shared__ u64 full[4], empty[4]; __shared__ int slot[4][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) for (int s = 0; s < 4; s++) { bar_init(&full[s], 32); bar_init(&empty[s], 32); }
    __syncthreads();
    if (warp == 0) {
        for (int i = 0; i < n; i++) {
            if (i >= 4) bar_wait(&empty[i % 4], (i / 4 - 1) & 1);
            slot[i % 4][lane] = x[32 * i + lane];
            bar_arrive(&full[i % 4]);
        }
    } else {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            bar_wait(&full[i % 4], (i / 4) & 1);
            sum += slot[i % 4][31 - lane] * (i + 1);
            bar_arrive(&empty[i % 4]);
        }
        out[lane] = sum;
    }
}
// cp.async whose arrival at an mbarrier is what is waited for.
__global__ void copy_arrive(const int *x, int *out) {
    __shared__ u64 bar; __shared__ int tile[128];
    if (threadIdx.x == 0) bar_init(&bar, 128);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sh(&tile[threadIdx.x])), "l"(x + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(sh(&bar)));
    bar_wait(&bar, 0);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
// st.async into the next CTA of the cluster, and a remote arrival.
__global__ void __cluster_dims__(4, 1, 1) send(int *out) {
    __shared__ u64 bar; __shared__ int box[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), to = (rank + 1) % 4;
    if (threadIdx.x == 0) {
        bar_init(&bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
        u64 t; asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(t) : "r"(sh(&bar)), "r"(128) : "memory");
    }
    cluster.sync();
    unsigned there, bthere;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(sh(&box[threadIdx.x])), "r"(to));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bthere) : "r"(sh(&bar)), "r"(to));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(there), "r"(100 * rank + threadIdx.x), "r"(bthere) : "memory");
    bar_wait(&bar, 0);
    out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
    cluster.sync();
}
// A stencil of the whole grid: every step needs the neighbours' last one.
__global__ void stencil(int *a, int *b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            int l = i > 0 ? a[i - 1] : 0, r = i + 1 < n ? a[i + 1] : 0;
            b[i] = l + r - a[i];
        }
        grid.sync();
        int *t = a; a = b; b = t;
    }
}
// elect.sync and the state forms of mbarrier.
__global__ void states(unsigned *out) {
    __shared__ u64 bar;
    if (threadIdx.x == 0) {
        unsigned p; u64 s0, s1;
        bar_init(&bar, 3);
        asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;" : "=l"(s0) : "r"(sh(&bar)) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(s0));
        out[0] = p;
        asm volatile("{ .reg .pred q; mbarrier.test_wait.shared::cta.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(sh(&bar)), "l"(s0) : "memory");
        out[1] = p;
        asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s1) : "r"(sh(&bar)) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(s1));
        out[2] = p;
        asm volatile("{ .reg .pred q; mbarrier.test_wait.shared::cta.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(sh(&bar)), "l"(s0) : "memory");
        out[3] = p;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 2;" : "=l"(s1) : "r"(sh(&bar)) : "memory"); // two are expected now
        asm volatile("{ .reg .pred q; mbarrier.test_wait.parity.shared::cta.b64 q, [%1], 1; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(sh(&bar)) : "memory");
        out[4] = p;
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sh(&bar)) : "memory");
    }
    unsigned leader, is;
    asm volatile("{ .reg .pred q; elect.sync %0|q, 0xffffffff; selp.u32 %1, 1, 0, q; }" : "=r"(leader), "=r"(is));
    if (is) out[5] = leader + 10 * threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;"); asm volatile("griddepcontrol.wait;" ::: "memory");
}
}
