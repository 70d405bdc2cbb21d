package kernels

import (
	"fmt"
	"slices"
	"strings"

	"memwall/gpu"
)

// tensorGEMMs are the steps on tensor cores, for f16 and bf16.
var tensorGEMMs = slices.Concat(
	gemm("gemm/7_mma", "gemm_mma", sixteenBits, 64, 64, gpu.Dim(128), func(d dims, t gpu.DType) counters {
		c := mmaCounts(d, t)
		c[conflicts] = (32 - 4) * c[sharedLoads] // eight rows on the same banks, four times a ldmatrix
		return c
	}),
	gemm("gemm/8_swizzle", "gemm_swizzle", sixteenBits, 64, 64, gpu.Dim(128), mmaCounts),
	pipelined(gemm("gemm/9_cp_async", "gemm_cp_async_128x128", sixteenBits, 128, 128, gpu.Dim(128), func(d dims, t gpu.DType) counters {
		tile := pipelineTile(d)
		ctas := ceil(d.f("M"), tile.bm) * ceil(d.f("N"), tile.bn)
		ctaSteps := ctas * ceil(d.f("K"), 64)
		parts := 4 / tile.slices // warps that divide the tile of Y; four times 16 columns a step go round the slices
		fragments := float64((tile.slices - 1) * tile.bm / 16 * tile.bn / 8)
		c := counters{flopsTensor: 2 * 64 * float64(tile.bm*tile.bn) * ctaSteps, barriers: 4 * ctaSteps, conflicts: 0,
			flopsF32:     float64((tile.slices-1)*tile.bm*tile.bn) * ctas,
			sharedLoads:  float64(4*parts*(tile.wm/16+tile.wn/16))*ctaSteps + fragments*ctas,
			sharedStores: float64(tile.bm+tile.bn)/4*ctaSteps + fragments*ctas} // a copy is four rows of eight 16-byte pieces
		if d["K"]%8 != 0 { // a copy is a row of 32 words
			c[sharedStores] = float64(tile.bm+tile.bn)*ctaSteps + fragments*ctas
		}
		if tile.slices > 1 {
			c[barriers] += 2 * 4 * ctas
		}
		return c.tensorTraffic(d, t, tile.bm, tile.bn)
	})),
)

// mmaCounts are the closed forms of the steps whose CTA of four warps makes 64 × 64 of Y, a warp 32 × 32.
func mmaCounts(d dims, t gpu.DType) counters {
	tiles := ceil(d.f("M"), 64) * ceil(d.f("N"), 64) * ceil(d.f("K"), 64)
	c := counters{flopsF32: 0, flopsTensor: 2 * 64 * 64 * 64 * tiles, barriers: 2 * 4 * tiles, sharedLoads: 4 * 4 * 4 * tiles,
		sharedStores: 2 * 16 * tiles, conflicts: 0}
	return c.tensorTraffic(d, t, 64, 64)
}

// tensorTraffic adds global loads in requests of four rows of eight 16-byte pieces, and stores as fragments lie.
func (c counters) tensorTraffic(d dims, t gpu.DType, bm, bn int) counters {
	m, n := d.f("M"), d.f("N")
	c.loads(d, t, bm, bn, 64, 4)
	if d["K"]%8 != 0 { // read element by element
		delete(c, loadRequests)
	}
	c[storeBytes] = 2 * m * n
	if d["N"]%2 == 0 { // a request is eight rows of four pairs
		c[storeRequests] = ceil(m, 8) * ceil(n, 8)
	}
	return c
}

// tile is how a CTA of four warps of gemm/9_cp_async divides its bm × bn of Y: parts of wm × wn, each by so many slices of K,
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

// pipelined gives a step the geometry of gemm/9_cp_async.
func pipelined(variants []*Kernel) []*Kernel {
	for _, k := range variants {
		suffix := strings.TrimPrefix(k.function, "gemm_cp_async_128x128")
		k.limits = map[string]limit{"N": columnLimit(32)} // of the smallest tile
		if k.far.operand == "w" {
			k.far.sample = 1 << 18 / pipelineTile(k.far.dims).bn
		}
		k.cases = append(k.cases, trial{dims: dims{"M": 129, "N": 3450, "K": 72}}) // enough tiles for the largest
		k.choose = func(d dims) (string, gpu.Config) {
			t := pipelineTile(d)
			return fmt.Sprintf("gemm_cp_async_%dx%d%s", t.bm, t.bn, suffix),
				gpu.Config{Grid: gpu.Dim(over(d["M"], t.bm), over(d["N"], t.bn)), CTA: gpu.Dim(128), Shared: t.stages * (t.bm + t.bn) * 64 * 2}
		}
	}
	return variants
}

// splitGEMMs cut K among CTAs of 64 × 64.
var splitGEMMs = splitColumns(gemm("gemm/13_split_k", "gemm_slice", sixteenBits, 64, 64, gpu.Dim(128), func(d dims, t gpu.DType) counters {
	tiles, elements := ceil(d.f("M"), 64)*ceil(d.f("N"), 64), d.f("M")*d.f("N")
	steps, ctas, adding := ceil(d.f("K"), 64), tiles*d.f("S"), ceil(elements, 32)
	c := counters{flopsTensor: 2 * 64 * 64 * 64 * tiles * steps, conflicts: 0}
	c.tensorTraffic(d, t, 64, 64)
	c[flopsF32] = 3*64*64*ctas + elements*(d.f("S")+7)
	c[barriers] = 4*tiles*steps + 2*4*ctas + 8*adding
	c[loadBytes] += 4 * elements * d.f("S")
	c[storeBytes] += 4 * elements * d.f("S")
	delete(c, loadRequests)
	delete(c, loadSectors)
	delete(c, storeRequests)
	return c
}))

// columnSlices is how many slices gemm/13_split_k cuts K into, and of how many steps of 64 columns: one for each CTA that the SMs have
// room for beside the other tiles, two of them an SM, but four steps a slice.
func columnSlices(d dims) (slices, steps int) {
	all := over(d["K"], 64)
	slices = max(min(2*d[multiprocessors]/max(over(d["M"], 64)*over(d["N"], 64), 1), all/4), 1)
	steps = max(over(all, slices), 1)
	return max(over(all, steps), 1), steps
}

// splitColumns gives a step the two launches of gemm/13_split_k.
func splitColumns(variants []*Kernel) []*Kernel {
	for _, k := range variants {
		suffix := strings.TrimPrefix(k.function, "gemm_slice")
		k.far, k.config, k.function = nil, nil, ""
		k.derived = []derivedExtent{
			{"S", func(d dims) int { slices, _ := columnSlices(d); return slices }},
			{"steps", func(d dims) int { _, steps := columnSlices(d); return steps }},
		}
		k.workspaces = []workspace{{name: "part", dtype: gpu.F32, shape: []string{"S", "M", "N"}}}
		k.stages = []stage{
			{idea: "slices", function: "gemm_slice" + suffix, args: []string{"part", "w", "x", "M", "N", "K", "steps"}, main: true, config: func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(over(d["M"], 64), over(d["N"], 64), d["S"]), CTA: gpu.Dim(128), Shared: 5 * (64 + 64) * 64 * 2}
			}},
			{idea: "sum", function: "gemm_add" + suffix, args: []string{"y", "part", "M", "N", "S"}, flops: func(dims) float64 { return 0 }, config: func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(over(d["M"]*d["N"], 32)), CTA: gpu.Dim(256)}
			}},
		}
		k.estimate = func(d dims) float64 {
			ctas := float64(over(over(d["M"], 64)*over(d["N"], 64)*d["S"], d[multiprocessors]))
			step := .36
			if ctas > 1 {
				step = .45 * ctas
			}
			if !aligned(d, 2) {
				step *= 3
			}
			elements := d.f("M") * d.f("N")
			return 2*launchTime + 2 + step*d.f("steps") + 8*elements*d.f("S")/(bandwidth*d.f(multiprocessors)) + .05*ceil(ceil(elements, 32), d[multiprocessors])
		}
		k.cases = append(k.cases, trial{dims: dims{"M": 33, "N": 66, "K": 8192}}, trial{dims: dims{"M": 64, "N": 64, "K": 2050}})
	}
	return variants
}
