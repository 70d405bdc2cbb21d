package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memwall/gpu"
)

// mostSequences is how many sequences the kernels of this family take at once; more are gemm's.
const mostSequences = 64

// batches multiply the weights with a few vectors at once, Y = X·Wᵀ: decode of several sequences together.
var batches = slices.Concat(
	batch("batch/1_looped", "batch_looped", func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(d["M"], over(d["N"], 4)), CTA: gpu.Dim(128)}
	}, func(d dims, _ gpu.DType) counters {
		m, n, k := d.f("M"), d.f("N"), d.f("K")
		c := counters{flopsF32: 2*m*n*k + 5*32*m*n, loadBytes: 4 * m * n * k, storeRequests: m * n, storeBytes: 2 * m * n, storeSectors: m * n}
		switch {
		case d["K"]%256 == 0:
			c[loadRequests], c[loadSectors] = 2*m*n*k/256, 32*m*n*k/256
		case d["K"]%8 != 0:
			c[loadRequests] = 2 * m * n * ceil(k, 32)
		}
		return c
	}),
	batch("batch/2_registers", "batch_registers", func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(over(d["M"], 8), over(d["N"], 4)), CTA: gpu.Dim(128)}
	}, func(d dims, _ gpu.DType) counters {
		m, n, k, groups := d.f("M"), d.f("N"), d.f("K"), ceil(d.f("M"), 8)
		reads := 9 * groups * n // rows of W, and eight of x for each
		c := counters{flopsF32: 8 * groups * (2*n*k + 5*32*n), loadBytes: 2 * k * reads, storeRequests: m * n, storeBytes: 2 * m * n, storeSectors: m * n}
		switch {
		case d["K"]%256 == 0:
			c[loadRequests], c[loadSectors] = reads*k/256, 16*reads*k/256
		case d["K"]%8 != 0:
			c[loadRequests] = reads * ceil(k, 32)
		}
		return c
	}),
	tensorBatch(batch("batch/3_mma", "batch_mma_64x32", nil, func(d dims, _ gpu.DType) counters {
		n, k, tiles, rows := d.f("N"), d.f("K"), float64(batchTile(d)/8), float64(batchRows(d)/16)
		ctas := ceil(n, batchRows(d))
		c := counters{flopsTensor: 2 * 16 * 8 * 32 * tiles * rows * ctas * ceil(k, 32), flopsF32: 3 * d.f("M") * n, barriers: 4 * ctas,
			sharedStores: 3 * 4 * tiles * rows * ctas, conflicts: 0, storeBytes: 2 * d.f("M") * n}
		if d["M"]%8 == 0 && d["N"]%batchRows(d) == 0 {
			c[sharedLoads] = 3 * 4 * d.f("M") / 8 * rows * ctas
		}
		if d["K"]%8 == 0 { // a request is eight rows of four 16-byte pieces; what is not there repeats the last row
			c[loadRequests] = ceil(k, 32) * ctas * (2*rows + tiles)
			c[loadBytes] = 2 * 8 * k * ctas * (2*rows + tiles)
			if d["K"]%32 == 0 && d["N"]%batchRows(d) == 0 && d["M"] == batchTile(d) {
				c[loadSectors] = c[loadBytes] / 32
			}
		} else {
			c[loadBytes] = 2 * k * (n + d.f("M")*ctas)
		}
		return c
	})),
)

// batchTile is how many sequences a CTA of batch/3_mma has room for.
func batchTile(d dims) int {
	tile := 8
	for tile < d["M"] {
		tile *= 2
	}
	return tile
}

// batchRows is how many rows of W a CTA of batch/3_mma takes: of those that there is an entry for, the ones with which the SM
// that has most CTAs reads least, weights counted twice because they come from DRAM. Few rows spread evenly, many read the
// sequences less often.
func batchRows(d dims) int {
	tile := batchTile(d)
	choices := map[int][]int{8: {16, 32}, 16: {32, 64, 112}}[tile]
	best, least := 32, math.MaxInt
	for _, rows := range choices {
		if reads := over(over(d["N"], rows), d[multiprocessors]) * (2*rows + tile); reads < least {
			best, least = rows, reads
		}
	}
	return best
}

// tensorBatch gives a step the geometry of batch/3_mma.
func tensorBatch(variants []*Kernel) []*Kernel {
	for _, k := range variants {
		suffix := strings.TrimPrefix(k.function, "batch_mma_64x32")
		if suffix != "" {
			k.least = 80
		}
		k.cases = append(k.cases, trial{dims: dims{"M": 5, "N": 2130, "K": 40}}, trial{dims: dims{"M": 12, "N": 8500, "K": 24}})
		delete(k.limits, "N") // rows of W go along the grid's x
		k.choose = func(d dims) (string, gpu.Config) {
			return fmt.Sprintf("batch_mma_%dx%d%s", batchTile(d), batchRows(d), suffix), gpu.Config{Grid: gpu.Dim(over(d["N"], batchRows(d))), CTA: gpu.Dim(128)}
		}
	}
	return variants
}

// batch is one step, for f16 and bf16, which the steps without tensor cores take on any device.
func batch(name, function string, config func(d dims) gpu.Config, counts func(d dims, t gpu.DType) counters) []*Kernel {
	variants := gemm(name, function, anyElements[:2], 1, 1, gpu.Dim(128), counts)
	for i, k := range variants {
		k.config, k.far = config, nil
		k.limits = map[string]limit{"M": {mostSequences, `more sequences are kernels.Run("gemm", y, w, x)`}, "N": columnLimit(4)}
		k.bench = batchShapes(i == 0)
		k.cases = []trial{
			{dims: dims{"M": 1, "N": 1, "K": 1}}, {dims: dims{"M": 2, "N": 33, "K": 127}}, {dims: dims{"M": 7, "N": 31, "K": 64}},
			{dims: dims{"M": 8, "N": 127, "K": 512}}, {dims: dims{"M": 9, "N": 130, "K": 200}}, {dims: dims{"M": 16, "N": 33, "K": 256}},
			{dims: dims{"M": 17, "N": 66, "K": 1023}}, {dims: dims{"M": 64, "N": 64, "K": 128}}, {dims: dims{"M": 33, "N": 96, "K": 264}, inputs: outliers},
			{dims: dims{"M": 63, "N": 17, "K": 40}}, {dims: dims{"M": 2, "N": 3, "K": 0}}, {dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
		}
	}
	return variants
}

// batchShapes are the numbers of sequences that share a layer's weights, or a single one; up to 16 they should take hardly
// longer than one.
func batchShapes(all bool) []benchShape {
	numbers := []int{1, 2, 4, 8, 16, 32, 64}
	if !all {
		numbers = []int{16}
	}
	var shapes []benchShape
	for _, m := range numbers {
		shape := benchShape{trial: trial{dims: dims{"M": m, "N": 14336, "K": 7168}}, base: &base{step: "gemv/5_split_k", trial: trial{dims: dims{"N": 14336, "K": 7168}}}}
		if m <= 16 {
			shape.most = 1.15
		}
		shapes = append(shapes, shape)
	}
	return shapes
}
