package kernels

import (
	"slices"

	"memwall/gpu"
)

// simtGEMMs are the steps on the FP32 units, for f16, bf16 and f32. f32 ends here: tensor cores would round it.
var simtGEMMs = slices.Concat(
	gemm("gemm/1_naive", "gemm_naive", anyElements, 16, 16, gpu.Dim(16, 16), func(d dims, t gpu.DType) counters {
		m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
		warps := ceil(m, 2) * ceil(n, 16) // a warp makes 2 rows of 16 columns
		c := counters{flopsF32: 2 * m * n * k, loadRequests: 2 * warps * k, loadBytes: 2 * e * m * n * k, storeRequests: warps, storeBytes: e * m * n}
		if d["K"]*t.Bytes() >= 32 { // neighbouring rows start in different sectors
			c[loadSectors] = ceil(m, 2)*n*k + m*ceil(n, 16)*k
		}
		return c
	}),
	gemm("gemm/2_coalesced", "gemm_coalesced", anyElements, 8, 4, gpu.Dim(1024), func(d dims, t gpu.DType) counters {
		m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
		c := counters{flopsF32: 2*m*n*k + 5*32*m*n, loadBytes: 2 * e * m * n * k, storeRequests: m * n, storeBytes: e * m * n, storeSectors: m * n}
		if d["K"]%32 == 0 { // a ragged row ends in extra requests of the unrolled loop's remainder
			c[loadRequests] = 2 * m * n * k / 32
			c[loadSectors] = e * c[loadRequests]
		}
		return c
	}),
	gemm("gemm/3_smem_tile", "gemm_smem_tile", anyElements, 32, 32, gpu.Dim(32, 32), func(d dims, t gpu.DType) counters {
		m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
		tiles := ceil(m, 32) * ceil(n, 32) * ceil(k, 32)
		c := counters{flopsF32: 2 * 32 * 32 * 32 * tiles, barriers: 2 * 32 * tiles, sharedStores: 2 * 32 * tiles, sharedLoads: 64 * 32 * tiles,
			conflicts: 0, storeRequests: m * ceil(n, 32), storeBytes: e * m * n}
		return c.loads(d, t, 32, 32, 32, 1)
	}),
	gemm("gemm/4_tile_1d", "gemm_tile_1d", anyElements, 64, 64, gpu.Dim(512), func(d dims, t gpu.DType) counters {
		m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
		tiles := ceil(m, 64) * ceil(n, 64) * ceil(k, 16)
		c := counters{flopsF32: 2 * 64 * 64 * 16 * tiles, barriers: 2 * 16 * tiles, sharedStores: 16 * 4 * tiles, sharedLoads: 16 * 16 * 9 * tiles,
			conflicts: 0, storeRequests: m * ceil(n, 32), storeBytes: e * m * n}
		return c.loads(d, t, 64, 64, 16, 2)
	}),
	gemm("gemm/5_tile_2d", "gemm_tile_2d", anyElements, 128, 128, gpu.Dim(256), func(d dims, t gpu.DType) counters {
		m, n, k, e := d.f("M"), d.f("N"), d.f("K"), float64(t.Bytes())
		tiles := ceil(m, 128) * ceil(n, 128) * ceil(k, 16)
		c := counters{flopsF32: 2 * 128 * 128 * 16 * tiles, barriers: 2 * 8 * tiles, sharedStores: 8 * 16 * tiles, sharedLoads: 8 * 16 * 16 * tiles,
			conflicts: 0, storeRequests: among(d["M"], 8, 16) * ceil(n, 16), storeBytes: e * m * n}
		return c.loads(d, t, 128, 128, 16, 2)
	}),
	gemm("gemm/6_vectorised", "gemm_vectorised", anyElements, 128, 128, gpu.Dim(256), func(d dims, t gpu.DType) counters {
		m, n, k, wide := d.f("M"), d.f("N"), d.f("K"), 16/t.Bytes()
		tiles := ceil(m, 128) * ceil(n, 128) * ceil(k, 16)
		c := counters{flopsF32: 2 * 128 * 128 * 16 * tiles, barriers: 2 * 8 * tiles, sharedStores: 8 * 16 * tiles, sharedLoads: 8 * 16 * 4 * tiles,
			conflicts: 0, storeBytes: float64(t.Bytes()) * m * n}
		c.loads(d, t, 128, 128, 16, 2*wide)
		if d["K"]%wide != 0 { // read element by element
			delete(c, loadRequests)
		}
		if d["N"]%4 == 0 { // a request is four rows, 4 apart, of 32 columns
			c[storeRequests] = among(d["M"], 4, 16) * ceil(n, 32)
		}
		return c
	}),
)

// among is how many of m rows are among the first so many of their group.
func among(m, first, group int) float64 { return float64(m/group*first + min(m%group, first)) }
