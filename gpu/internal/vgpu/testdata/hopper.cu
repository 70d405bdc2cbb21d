// Matrix products with wgmma on tiles that tensor copies bring in: C = A·B in bf16, A row-major, B column-major, C f32,
// row-major. A producer warp fills a ring of stages, two warpgroups multiply. Compiled for sm_90a.
struct __align__(64) CUtensorMap { unsigned long long opaque[16]; }; // as in cuda.h, which NVRTC cannot include
#include <cuda_bf16.h>

#define STAGES 3

static __device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void wait(unsigned long long *bar, int parity) {
	asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(address(bar)), "r"(parity) : "memory");
}

static __device__ void arrive(unsigned long long *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(bar)) : "memory"); }

static __device__ unsigned long long descriptor(const void *p) {
	return (unsigned long long)((address(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; // rows of 128 bytes, swizzled
}

template <int N> static __device__ void multiply(float (&d)[N / 2], unsigned long long a, unsigned long long b);

template <> __device__ void multiply<64>(float (&d)[32], unsigned long long a, unsigned long long b) {
	asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
		"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
		: "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
		"+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
		"+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]) : "l"(a), "l"(b));
}

static __device__ void fetch(void *to, const CUtensorMap *map, int x, int y, unsigned long long *bar) {
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
		::"r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(address(bar)) : "memory");
}

static __device__ void fetch_all(void *to, const CUtensorMap *map, int x, int y, unsigned long long *bar, unsigned short ctas) {
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
		::"r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(address(bar)), "h"(ctas) : "memory");
}

// A tile of 128×64 a CTA, 64 deep a stage; threads 0–255 multiply, 256–287 fetch. C leaves through shared memory by a tensor copy.
extern "C" __global__ void __launch_bounds__(288) gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, int k) {
	extern __shared__ __align__(1024) char shared[];
	__nv_bfloat16 *sa = (__nv_bfloat16 *)shared, *sb = sa + STAGES * 128 * 64;
	float *sc = (float *)(sb + STAGES * 64 * 64);
	__shared__ unsigned long long full[STAGES], empty[STAGES];
	int t = threadIdx.x, group = t / 128;
	if (t == 0) {
		for (int i = 0; i < STAGES; i++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[i])));
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address(&empty[i])));
		}
		asm volatile("fence.mbarrier_init.release.cluster;");
	}
	__syncthreads();
	if (group == 2) {
		if (t % 32 == 0) {
			for (int i = 0; i < k / 64; i++) {
				int s = i % STAGES;
				wait(&empty[s], i / STAGES & 1 ^ 1);
				asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full[s])), "r"((128 + 64) * 64 * 2));
				fetch(sa + s * 128 * 64, &a, i * 64, blockIdx.y * 128, &full[s]);
				fetch(sb + s * 64 * 64, &b, i * 64, blockIdx.x * 64, &full[s]);
			}
		}
	} else {
		float d[32] = {};
		for (int i = 0; i < k / 64; i++) {
			int s = i % STAGES;
			wait(&full[s], i / STAGES & 1);
			asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
			for (int step = 0; step < 4; step++)
				multiply<64>(d, descriptor(sa + s * 128 * 64 + group * 64 * 64) + step * 2, descriptor(sb + s * 64 * 64) + step * 2);
			asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
			asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
			if (i > 0 && t % 128 == 0) arrive(&empty[(i - 1) % STAGES]);
		}
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
		for (int j = 0; j < 32; j++) {
			int row = group * 64 + t % 128 / 32 * 16 + t % 32 / 4 + j / 2 % 2 * 8, column = j / 4 * 8 + t % 4 * 2 + j % 2;
			sc[column / 32 * 128 * 32 + row * 32 + column % 32] = d[j];
		}
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		asm volatile("bar.sync 1, 256;" ::: "memory");
		if (t == 0) {
			for (int h = 0; h < 2; h++)
				asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
					::"l"(&c), "r"((int)blockIdx.x * 64 + h * 32), "r"((int)blockIdx.y * 128), "r"(address(sc + h * 128 * 32)) : "memory");
			asm volatile("cp.async.bulk.commit_group;");
			asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
		}
	}
}

// Two CTAs of a cluster share a tile of B: each fetches half of it for both. Eight warps; every thread waits for itself.
extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(128) gemm_pair(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k) {
	__shared__ __align__(1024) __nv_bfloat16 sa[64 * 64], sb[64 * 64];
	__shared__ unsigned long long full;
	int t = threadIdx.x;
	unsigned rank;
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	if (t == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full)));
		asm volatile("fence.mbarrier_init.release.cluster;");
	}
	asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	float d[32] = {};
	for (int i = 0; i < k / 64; i++) {
		if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full)), "r"((64 + 64) * 64 * 2));
		asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
		if (t == 0) {
			fetch(sa, &a, i * 64, blockIdx.y * 64, &full);
			fetch_all(sb + rank * 32 * 64, &b, i * 64, blockIdx.x * 64 + rank * 32, &full, 3);
		}
		wait(&full, i & 1);
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		for (int step = 0; step < 4; step++) multiply<64>(d, descriptor(sa) + step * 2, descriptor(sb) + step * 2);
		asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
		asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
	}
	for (int j = 0; j < 32; j++) {
		int row = blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4 + j / 2 % 2 * 8, column = blockIdx.x * 64 + j / 4 * 8 + t % 4 * 2 + j % 2;
		c[row * n + column] = d[j];
	}
}
