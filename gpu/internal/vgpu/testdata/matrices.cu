// Matrix products through the warp-level tensor core interfaces of CUDA C++: nvcuda::wmma, and mma.sync with ldmatrix and
// cp.async. C = A·B, row-major, sizes multiples of the tiles. Compiled for sm_80.
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using namespace nvcuda;

// One warp a 16×16 tile, straight from global memory.
extern "C" __global__ void wmma_half(const half *a, const half *b, float *c, int m, int n, int k) {
	int row = blockIdx.y * 16, column = blockIdx.x * 16;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
	wmma::fill_fragment(fc, 0.0f);
	for (int i = 0; i < k; i += 16) {
		wmma::load_matrix_sync(fa, a + row * k + i, k);
		wmma::load_matrix_sync(fb, b + i * n + column, n);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 0.5f;
	wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// Four warps a 64×32 tile of bf16 in m32n8k16 fragments, through shared memory; B is column-major.
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int m, int n, int k) {
	__shared__ __nv_bfloat16 sa[64][24], sb[32][24];
	__shared__ float sc[64][36];
	int row = blockIdx.y * 64, column = blockIdx.x * 32, warp = threadIdx.x / 32;
	wmma::fragment<wmma::accumulator, 32, 8, 16, float> fc[2];
	wmma::fill_fragment(fc[0], 0.0f);
	wmma::fill_fragment(fc[1], 0.0f);
	for (int i = 0; i < k; i += 16) {
		for (int j = threadIdx.x; j < 64 * 16; j += blockDim.x) sa[j / 16][j % 16] = a[(row + j / 16) * k + i + j % 16];
		for (int j = threadIdx.x; j < 32 * 16; j += blockDim.x) sb[j / 16][j % 16] = b[(column + j / 16) * k + i + j % 16];
		__syncthreads();
		wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> fa;
		wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> fb;
		wmma::load_matrix_sync(fa, &sa[warp / 2 * 32][0], 24);
		for (int j = 0; j < 2; j++) {
			wmma::load_matrix_sync(fb, &sb[(warp % 2 * 2 + j) * 8][0], 24);
			wmma::mma_sync(fc[j], fa, fb, fc[j]);
		}
		__syncthreads();
	}
	for (int j = 0; j < 2; j++) wmma::store_matrix_sync(&sc[warp / 2 * 32][(warp % 2 * 2 + j) * 8], fc[j], 36, wmma::mem_row_major);
	__syncthreads();
	for (int j = threadIdx.x; j < 64 * 32; j += blockDim.x) c[(row + j / 32) * n + column + j % 32] = sc[j / 32][j % 32];
}

// One warp an 8×32 tile of signed bytes; B is column-major, C stored by columns.
extern "C" __global__ void wmma_byte(const signed char *a, const signed char *b, int *c, int m, int n, int k) {
	int row = blockIdx.y * 8, column = blockIdx.x * 32;
	wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 8, 32, 16, int> fc;
	wmma::fill_fragment(fc, 0);
	for (int i = 0; i < k; i += 16) {
		wmma::load_matrix_sync(fa, a + row * k + i, k);
		wmma::load_matrix_sync(fb, b + column * k + i, k);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// One warp a 16×16 tile of f32 rounded to tf32, and one of doubles 8×8.
extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c, int m, int n, int k) {
	int row = blockIdx.y * 16, column = blockIdx.x * 16;
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
	wmma::fill_fragment(fc, 0.0f);
	for (int i = 0; i < k; i += 8) {
		wmma::load_matrix_sync(fa, a + row * k + i, k);
		wmma::load_matrix_sync(fb, b + i * n + column, n);
		for (int t = 0; t < fa.num_elements; t++) fa.x[t] = wmma::__float_to_tf32(fa.x[t]);
		for (int t = 0; t < fb.num_elements; t++) fb.x[t] = wmma::__float_to_tf32(fb.x[t]);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_double(const double *a, const double *b, double *c, int m, int n, int k) {
	int row = blockIdx.y * 8, column = blockIdx.x * 8;
	wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
	wmma::fill_fragment(fc, 0.0);
	for (int i = 0; i < k; i += 4) {
		wmma::load_matrix_sync(fa, a + row * k + i, k);
		wmma::load_matrix_sync(fb, b + i * n + column, n);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// Four warps a 64×64 tile: cp.async in two stages, ldmatrix of swizzled rows, mma.m16n8k16.
extern "C" __global__ void __launch_bounds__(128) mma_half(const half *a, const half *b, float *c, int m, int n, int k) {
	__shared__ __align__(128) half sa[2][64 * 32], sb[2][32 * 64];
	int t = threadIdx.x, warp = t / 32, lane = t % 32;
	int row = blockIdx.y * 64, column = blockIdx.x * 64;
	float sum[8][4] = {};
	auto fetch = [&](int stage, int i) {
		for (int j = t; j < 256; j += 128) {
			int r = j / 4, q = j % 4;
			unsigned to = __cvta_generic_to_shared(&sa[stage][r * 32 + (q ^ r / 2 % 4) * 8]);
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(a + (row + r) * k + i + q * 8));
			r = j / 8, q = j % 8;
			to = __cvta_generic_to_shared(&sb[stage][r * 64 + (q ^ r % 8) * 8]);
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(b + (i + r) * n + column + q * 8));
		}
		asm volatile("cp.async.commit_group;");
	};
	fetch(0, 0);
	for (int i = 0, stage = 0; i < k; i += 32, stage ^= 1) {
		if (i + 32 < k) {
			fetch(stage ^ 1, i + 32);
			asm volatile("cp.async.wait_group 1;");
		} else {
			asm volatile("cp.async.wait_group 0;");
		}
		__syncthreads();
		for (int step = 0; step < 2; step++) {
			unsigned fa[4], fb[4];
			int r = warp * 16 + lane % 16, q = step * 2 + lane / 16;
			unsigned at = __cvta_generic_to_shared(&sa[stage][r * 32 + (q ^ r / 2 % 4) * 8]);
			asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at));
			for (int j = 0; j < 4; j++) {
				r = step * 16 + lane % 16, q = j * 2 + lane / 16;
				at = __cvta_generic_to_shared(&sb[stage][r * 64 + (q ^ r % 8) * 8]);
				asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(at));
				for (int h = 0; h < 2; h++) {
					float *s = sum[2 * j + h];
					asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
						: "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
						: "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
				}
			}
		}
		__syncthreads();
	}
	for (int j = 0; j < 8; j++) {
		int r = row + warp * 16 + lane / 4, q = column + j * 8 + lane % 4 * 2;
		*(float2 *)&c[r * n + q] = make_float2(sum[j][0], sum[j][1]);
		*(float2 *)&c[(r + 8) * n + q] = make_float2(sum[j][2], sum[j][3]);
	}
}
