package kernels

import (
	"fmt"

	"memwall/gpu"
)

// gemms multiply a matrix by a matrix, Y = X·Wᵀ: the prefill of every linear layer, over the same weights as gemv.
// m runs along the grid's x, so that CTAs that start together share rows of W.
var gemms = []*Kernel{
	gemm("gemm/1_naive", "gemm_naive", 16, gpu.Dim(16, 16), func(d dims) counters {
		m, n, k := d.f("M"), d.f("N"), d.f("K")
		warps := ceil(m, 2) * ceil(n, 16) // a warp makes 2 rows of 16 columns
		c := counters{flopsF32: 2 * m * n * k, loadRequests: 2 * warps * k, loadBytes: 4 * m * n * k, storeRequests: warps, storeBytes: 2 * m * n}
		if d["K"] >= 16 { // neighbouring rows start in different sectors
			c[loadSectors] = ceil(m, 2)*n*k + m*ceil(n, 16)*k
		}
		return c
	}),
	gemm("gemm/2_smem_tile", "gemm_smem_tile", 32, gpu.Dim(32, 32), func(d dims) counters {
		m, n, k := d.f("M"), d.f("N"), d.f("K")
		mt, nt, steps := ceil(m, 32), ceil(n, 32), ceil(k, 32)
		c := counters{flopsF32: 2 * 32 * 32 * 32 * mt * nt * steps, barriers: 2 * 32 * mt * nt * steps,
			loadRequests: steps * (m*nt + n*mt), loadBytes: 2 * k * (m*nt + n*mt),
			sharedStores: 2 * 32 * mt * nt * steps, sharedLoads: 64 * 32 * mt * nt * steps, conflicts: 0,
			storeRequests: m * nt, storeBytes: 2 * m * n}
		if d["K"]%32 == 0 {
			c[loadSectors] = 2 * steps * (m*nt + n*mt)
		}
		return c
	}),
	gemm("gemm/3_mma", "gemm_mma", 64, gpu.Dim(128), func(d dims) counters {
		m, n, k := d.f("M"), d.f("N"), d.f("K")
		mt, nt, steps := ceil(m, 64), ceil(n, 64), ceil(k, 64)
		c := counters{flopsF32: 0, flopsTensor: 2 * 64 * 64 * 64 * mt * nt * steps, barriers: 2 * 4 * mt * nt * steps,
			loadBytes: 2 * k * (m*nt + n*mt), sharedLoads: 4 * 4 * 4 * mt * nt * steps, sharedStores: 2 * 16 * mt * nt * steps, conflicts: 0,
			storeBytes: 2 * m * n}
		if d["K"]%8 == 0 { // a request is four rows of eight 16-byte pieces
			c[loadRequests] = steps * (ceil(m, 4)*nt + ceil(n, 4)*mt)
		}
		if d["K"]%64 == 0 {
			c[loadSectors] = c[loadBytes] / 32
		}
		if d["N"]%2 == 0 { // a request is eight rows of four pairs
			c[storeRequests] = ceil(m, 8) * ceil(n, 8)
		}
		return c
	}),
	pipelined(gemm("gemm/4_cp_async", "gemm_cp_async_128x128", 128, gpu.Dim(128), func(d dims) counters {
		m, n, k := d.f("M"), d.f("N"), d.f("K")
		tile := pipelineTile(d)
		mt, nt, steps := ceil(m, tile.bm), ceil(n, tile.bn), ceil(k, 64)
		ctas, ctaSteps := mt*nt, mt*nt*steps
		parts := 4 / tile.slices // warps that divide the tile of Y; four times 16 columns a step go round the slices
		fragments := float64((tile.slices - 1) * tile.bm / 16 * tile.bn / 8)
		c := counters{flopsTensor: 2 * 64 * float64(tile.bm*tile.bn) * ctaSteps, barriers: 4 * ctaSteps,
			loadBytes: 2 * k * (m*nt + n*mt), conflicts: 0, storeBytes: 2 * m * n,
			flopsF32:     float64((tile.slices-1)*tile.bm*tile.bn) * ctas,
			sharedLoads:  float64(4*parts*(tile.wm/16+tile.wn/16))*ctaSteps + fragments*ctas,
			sharedStores: float64(tile.bm+tile.bn)/4*ctaSteps + fragments*ctas} // a copy is four rows of eight 16-byte pieces
		if tile.slices > 1 {
			c[barriers] += 2 * 4 * ctas
		}
		if d["K"]%8 == 0 {
			c[loadRequests] = steps * (ceil(m, 4)*nt + ceil(n, 4)*mt)
		}
		if d["K"]%64 == 0 {
			c[loadSectors] = c[loadBytes] / 32
		}
		if d["N"]%2 == 0 {
			c[storeRequests] = ceil(m, 8) * ceil(n, 8)
		}
		return c
	})),
}

// tile is how a CTA of four warps of gemm/4_cp_async divides its bm × bn of Y: parts of wm × wn, each by so many slices of K,
// with so many buffers.
type tile struct{ bm, bn, wm, wn, slices, stages int }

// pipelineTile is the largest tile that M fills and that gives CTAs to two fifths of the SMs at least: a large one reads
// less, but few of them leave SMs idle.
func pipelineTile(d dims) tile {
	switch {
	case d["M"] <= 16:
		return tile{16, 32, 16, 32, 4, 5}
	case d["M"] <= 64:
		return tile{64, 64, 64, 64, 4, 5}
	case 5*over(d["M"], 128)*over(d["N"], 128) < 2*d[multiprocessors]:
		return tile{128, 64, 64, 64, 2, 3}
	}
	return tile{128, 128, 64, 64, 1, 3}
}

// pipelined gives a step the geometry of gemm/4_cp_async.
func pipelined(k *Kernel) *Kernel {
	k.cases = append(k.cases, trial{dims: dims{"M": 129, "N": 3450, "K": 72}}) // enough tiles for the largest
	k.choose = func(d dims) (string, gpu.Config) {
		t := pipelineTile(d)
		return fmt.Sprintf("gemm_cp_async_%dx%d", t.bm, t.bn),
			gpu.Config{Grid: gpu.Dim(over(d["M"], t.bm), over(d["N"], t.bn)), CTA: gpu.Dim(128), Shared: t.stages * (t.bm + t.bn) * 64 * 2}
	}
	return k
}

// gemm is one step; tile is the side of the square of Y that a CTA makes.
func gemm(name, function string, tile int, cta gpu.Dim3, counts func(d dims) counters) *Kernel {
	return &Kernel{
		name: name, function: function,
		operands: []operand{
			{name: "y", output: true, dtype: gpu.F16, shape: []string{"M", "N"}},
			{name: "w", dtype: gpu.F16, shape: []string{"N", "K"}},
			{name: "x", dtype: gpu.F16, shape: []string{"M", "K"}},
		},
		pass: []string{"M", "N", "K"},
		config: func(d dims) gpu.Config {
			return gpu.Config{Grid: gpu.Dim(over(d["M"], tile), over(d["N"], tile)), CTA: cta}
		},
		bytes: formula{"2·(N·K + M·K + M·N)", func(d dims) float64 {
			return 2 * (d.f("N")*d.f("K") + d.f("M")*d.f("K") + d.f("M")*d.f("N"))
		}},
		flops: formula{"2·M·N·K", func(d dims) float64 { return 2 * d.f("M") * d.f("N") * d.f("K") }},
		terms: func(d dims) float64 { return d.f("K") },
		reference: func(d dims, in map[string][]float64) (want, scale []float64) {
			return product(in["x"], in["w"], d["M"], d["N"], d["K"])
		},
		counts: counts,
		cases: []trial{
			{dims: dims{"M": 1, "N": 1, "K": 1}}, {dims: dims{"M": 31, "N": 33, "K": 127}}, {dims: dims{"M": 33, "N": 31, "K": 64}},
			{dims: dims{"M": 1, "N": 127, "K": 512}}, {dims: dims{"M": 65, "N": 130, "K": 200}}, {dims: dims{"M": 127, "N": 33, "K": 95}},
			{dims: dims{"M": 3, "N": 66, "K": 4095}}, {dims: dims{"M": 64, "N": 64, "K": 128}}, {dims: dims{"M": 40, "N": 96, "K": 192}, inputs: outliers},
			{dims: dims{"M": 16, "N": 32, "K": 320}}, {dims: dims{"M": 130, "N": 136, "K": 64}},
			{dims: dims{"M": 2, "N": 3, "K": 0}}, {dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
		},
	}
}
