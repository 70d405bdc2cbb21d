package kernels

import (
	"fmt"
	"slices"
	"strings"

	"memwall/gpu"
)

// hopperGEMMs are the steps for sm_90a: tiles come by TMA and are multiplied by warpgroups.
var hopperGEMMs = slices.Concat(
	mapped(gemm("gemm/10_wgmma", "gemm_wgmma_128x256", sixteenBits, 128, 256, gpu.Dim(256), func(d dims, t gpu.DType) counters {
		bn := wgmmaTile(d)
		tiles := ceil(d.f("M"), 128) * ceil(d.f("N"), bn)
		steps := tiles * ceil(d.f("K"), 64)
		c := counters{flopsF32: 0, flopsTensor: 2 * 128 * float64(bn) * 64 * steps, barriers: 8 * (tiles + steps), conflicts: 0,
			sharedLoads: 2 * 4 * 5 * steps, sharedStores: 2 * steps} // a wgmma reads A for each of its four warps, and B; TMA writes boxes
		c.tensorTraffic(d, t, 128, bn)
		c[loadRequests] = 2 * steps
		return c
	})),
	persistent(gemm("gemm/11_warp_specialised", "gemm_warp_specialised", sixteenBits, 128, 256, gpu.Dim(384), func(d dims, t gpu.DType) counters {
		tiles := ceil(d.f("M"), 128) * ceil(d.f("N"), 256)
		steps := tiles * ceil(d.f("K"), 64)
		c := counters{flopsF32: 0, flopsTensor: 2 * 128 * 256 * 64 * steps, barriers: 12 * min(tiles, d.f(multiprocessors)), conflicts: 0,
			sharedLoads: 2 * 4 * 5 * steps, sharedStores: 2 * steps}
		c.tensorTraffic(d, t, 128, 256)
		c[loadRequests] = 2 * steps
		if d["N"]%8 == 0 { // Y leaves in boxes
			boxes := 2 * ceil(d.f("M"), 128) * ceil(d.f("N"), 64)
			c[barriers] += 32 * tiles
			c[sharedStores] += 512 * tiles
			c[sharedLoads] += boxes
			c[storeRequests] = boxes
		}
		return c
	}), 256, func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(min(over(d["M"], 128)*over(d["N"], 256), d[multiprocessors])), CTA: gpu.Dim(384), Shared: ringBytes}
	}),
	persistent(gemm("gemm/12_multicast", "gemm_multicast", sixteenBits, 256, 256, gpu.Dim(384), func(d dims, t gpu.DType) counters {
		c := pairCounts(d, 256, 64)
		c.tensorTraffic(d, t, 256, 256)
		return c.inBoxes(d, 256)
	}), 128, pairs(256)),
)

// wgmmaTile is how many columns of Y a CTA of gemm/10_wgmma makes: 256, or 128, with which a step of K takes 9/16 of the time, where
// the SM with most CTAs is done earlier.
func wgmmaTile(d dims) int {
	rounds := func(columns int) int { return over(over(d["M"], 128)*over(d["N"], columns), d[multiprocessors]) }
	if 9*rounds(128) < 16*rounds(256) {
		return 128
	}
	return 256
}

// mapped gives a step the tensor maps and the geometry of gemm/10_wgmma.
func mapped(variants []*Kernel) []*Kernel {
	for _, k := range variants {
		suffix := strings.TrimPrefix(k.function, "gemm_wgmma_128x256")
		byTMA(k, wgmmaTile, "gemm/9_cp_async")
		k.limits = map[string]limit{"N": columnLimit(128)} // of the smaller tile
		k.choose = func(d dims) (string, gpu.Config) {
			bn := wgmmaTile(d)
			return fmt.Sprintf("gemm_wgmma_128x%d%s", bn, suffix),
				gpu.Config{Grid: gpu.Dim(over(d["M"], 128), over(d["N"], bn)), CTA: gpu.Dim(256), Shared: 4*(128+bn)*64*2 + 1024}
		}
		k.args = []string{"y", "wmap", "xmap", "M", "N", "K"}
	}
	return variants
}

// persistent gives a step the tensor maps and the stages of gemm/11_warp_specialised, whose maps of W have boxes of so many rows: as
// many CTAs as SMs, where there are tiles for all of them.
func persistent(variants []*Kernel, box int, config func(d dims) gpu.Config) []*Kernel {
	for _, k := range variants {
		byTMA(k, func(dims) int { return box }, "gemm/9_cp_async")
		k.limits = nil
		k.far = nil                                                                                                              // a CTA goes through tiles all over W and X, which TMA addresses by coordinates, as it does gemm/10_wgmma's
		k.cases = append(k.cases, trial{dims: dims{"M": 1, "N": 34000, "K": 72}}, trial{dims: dims{"M": 2100, "N": 24, "K": 8}}) // two tiles a CTA; two bands
		leaveInBoxes(k, k.function, config, []string{"y", "wmap", "xmap", "M", "N", "K"})
	}
	return variants
}

// byTMA lets a step read W and X through tensor maps, in boxes of 64 columns: rows must start on 16 bytes. The ladder leaves
// other shapes to a lower step.
func byTMA(k *Kernel, tileN func(d dims) int, lower string) {
	k.least = 0
	for i := range k.operands {
		k.operands[i].align = 16
	}
	k.multiples = map[string]int{"K": 8}
	k.precondition = func(d dims) error {
		if d["K"] == 0 {
			return &gpu.Error{What: "K = 0: there is nothing to copy", How: "use " + lower + ", which writes zeros"}
		}
		return nil
	}
	k.maps = []tensorMap{
		{name: "wmap", of: "w", config: func(d dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{tileN(d), 64}, Swizzle: 128} }},
		{name: "xmap", of: "x", config: func(d dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{128, 64}, Swizzle: 128} }},
	}
	k.cases = []trial{
		{dims: dims{"M": 1, "N": 1, "K": 8}}, {dims: dims{"M": 31, "N": 33, "K": 128}}, {dims: dims{"M": 129, "N": 31, "K": 64}},
		{dims: dims{"M": 65, "N": 257, "K": 200}}, {dims: dims{"M": 3, "N": 66, "K": 4096}}, {dims: dims{"M": 128, "N": 256, "K": 320}},
		{dims: dims{"M": 257, "N": 512, "K": 72}, inputs: outliers}, {dims: dims{"M": 130, "N": 136, "K": 384}}, {dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
	}
}
