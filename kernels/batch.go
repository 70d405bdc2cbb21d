package kernels

import (
	"fmt"

	"memwall/gpu"
)

// mostSequences is how many sequences the kernels of this family take at once; more are gemm's.
const mostSequences = 64

// batches multiply the weights with a few vectors at once, Y = X·Wᵀ: decode of several sequences together.
var batches = []*Kernel{
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
	tensorBatch(batch("batch/3_mma", "batch_mma_64", nil, func(d dims, _ gpu.DType) counters {
		n, k, tiles := d.f("N"), d.f("K"), float64(batchTile(d)/8)
		ctas := ceil(n, 16)
		c := counters{flopsTensor: 2 * 16 * 8 * 32 * tiles * ctas * ceil(k, 32), flopsF32: 3 * d.f("M") * n, barriers: 4 * ctas,
			sharedStores: 3 * 4 * tiles * ctas, conflicts: 0, storeBytes: 2 * d.f("M") * n}
		if d["M"]%8 == 0 && d["N"]%16 == 0 {
			c[sharedLoads] = 3 * 4 * d.f("M") / 8 * ctas
		}
		if d["K"]%8 == 0 { // a request is eight rows of four 16-byte pieces; what is not there repeats the last row
			c[loadRequests] = ceil(k, 32) * ctas * (2 + tiles)
			c[loadBytes] = 2 * 8 * k * ctas * (2 + tiles)
			if d["K"]%32 == 0 && d["N"]%16 == 0 && d["M"] == batchTile(d) {
				c[loadSectors] = c[loadBytes] / 32
			}
		} else {
			c[loadBytes] = 2 * k * (n + d.f("M")*ctas)
		}
		return c
	})),
}

// batchTile is how many sequences a CTA of batch/3_mma has room for.
func batchTile(d dims) int {
	tile := 8
	for tile < d["M"] {
		tile *= 2
	}
	return tile
}

// tensorBatch gives a step the geometry of batch/3_mma.
func tensorBatch(k *Kernel) *Kernel {
	k.choose = func(d dims) (string, gpu.Config) {
		return fmt.Sprintf("batch_mma_%d", batchTile(d)), gpu.Config{Grid: gpu.Dim(over(d["N"], 16)), CTA: gpu.Dim(128)}
	}
	return k
}

// batch is one step.
func batch(name, function string, config func(d dims) gpu.Config, counts func(d dims, t gpu.DType) counters) *Kernel {
	k := gemm(name, function, sixteenBits[:1], 1, 1, gpu.Dim(128), counts)[0]
	k.config = config
	k.limits = map[string]limit{"M": {mostSequences, `more sequences are kernels.Run("gemm", y, w, x)`}}
	k.bench = nil
	for _, m := range []int{1, 2, 4, 8, 16, 32, 64} {
		shape := benchShape{trial: trial{dims: dims{"M": m, "N": 14336, "K": 7168}}, base: &base{"gemv/5_split_k", dims{"N": 14336, "K": 7168}}}
		if m <= 16 {
			shape.most = 1.15
		}
		k.bench = append(k.bench, shape)
	}
	k.cases = []trial{
		{dims: dims{"M": 1, "N": 1, "K": 1}}, {dims: dims{"M": 2, "N": 33, "K": 127}}, {dims: dims{"M": 7, "N": 31, "K": 64}},
		{dims: dims{"M": 8, "N": 127, "K": 512}}, {dims: dims{"M": 9, "N": 130, "K": 200}}, {dims: dims{"M": 16, "N": 33, "K": 256}},
		{dims: dims{"M": 17, "N": 66, "K": 1023}}, {dims: dims{"M": 64, "N": 64, "K": 128}}, {dims: dims{"M": 33, "N": 96, "K": 264}, inputs: outliers},
		{dims: dims{"M": 63, "N": 17, "K": 40}}, {dims: dims{"M": 2, "N": 3, "K": 0}}, {dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special},
	}
	return k
}
