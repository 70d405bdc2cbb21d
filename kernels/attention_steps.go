package kernels

import (
	"fmt"

	"memwall/gpu"
)

// naiveAttention is three launches with the matrix of scores, then of weights, in memory.
func naiveAttention(k *Kernel, suffix string) {
	dtype := k.operands[0].dtype
	matrix := []string{"B", "Hq", "Sq", "Sk"}
	k.workspaces = []workspace{{name: "s", dtype: dtype, shape: matrix}, {name: "p", dtype: dtype, shape: matrix}}
	some := func(d dims) bool { return d["Sk"] > 0 }
	perHead := func(d dims, tiles int, cta gpu.Dim3) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(tiles, d["Hq"], d["B"]), CTA: cta}
	}
	k.stages = []stage{
		{idea: "scores", function: "attention_scores" + suffix, when: some,
			args:   []string{"s", "q", "k", "cuQ", "cuK", "Hq", "Hkv", "Sq", "Sk", "D", "N", "scale", "causal", "window", "cap"},
			config: func(d dims) gpu.Config { return perHead(d, over(d["Sq"], 16)*over(d["Sk"], 16), gpu.Dim(16, 16)) },
			flops:  func(d dims) float64 { return prefillFLOPs(d) / 2 }},
		{idea: "softmax", function: "attention_softmax" + suffix, when: some, args: []string{"p", "s", "rows", "Sk"},
			config: func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(over(d["rows"], 4)), CTA: gpu.Dim(128)} },
			flops:  func(dims) float64 { return 0 }},
		{idea: "product", function: "attention_product" + suffix, args: []string{"o", "p", "v", "Hq", "Hkv", "Sq", "Sk", "D"},
			config: func(d dims) gpu.Config { return perHead(d, over(d["Sq"], 4)*over(d["D"], 32), gpu.Dim(128)) }},
	}
	k.reference = func(d dims, in map[string][]float64) (want, scale []float64) {
		return prefillReference(d, in, dtype, true)
	}
	k.counts = naiveAttentionCounts
	heads := k.precondition
	k.precondition = func(d dims) error {
		if err := heads(d); err != nil {
			return err
		}
		if bytes := d.elements(matrix) * 4; bytes > 1<<36 {
			return &gpu.Error{What: fmt.Sprintf("two matrices of %d × %d × %d × %d are %.0f GB", d["B"], d["Hq"], d["Sq"], d["Sk"], bytes/1e9),
				How: `that is the trouble with them: use "attention"`}
		}
		return nil
	}
}

// naiveAttentionCounts has the S × S terms: each of the two matrices is written once and read at least once.
func naiveAttentionCounts(d dims) counters {
	pairs, width := d.f("rows")*d.f("Sk"), d.f("D")
	matrix := ceil(2*pairs, 32)
	k := 2 * ceil(2*width*d.f("B")*d.f("Hkv")*d.f("Sk"), 32) // K and V
	q := ceil(2*width*d.f("rows"), 32)
	c := counters{
		storeBytes:    2*pairs + 2*pairs + 2*width*d.f("rows"),
		distinctWrite: 2*matrix + q,
	}
	if !d.has("cuQ") {
		c[loadBytes] = 2 * (2*pairs*width /* q and k for each score */ + 3*pairs + 2*pairs*width /* p and v for each element */)
		c[distinctRead] = q + k + 2*matrix
		if d["Sk"] == 0 {
			c[distinctRead] = 0
		}
		if d["Sk"]%16 == 0 && d["Sq"]%16 == 0 && d["D"]%32 == 0 && d["Sk"]%32 == 0 {
			c[loadRequests] = 2*pairs*width/32 + 3*pairs/32 + 2*pairs*width/32
		}
	}
	return c
}

// tiledAttention is the fused step on FP32 units.
func tiledAttention(k *Kernel, suffix string) {
	k.choose = func(d dims) (string, gpu.Config) {
		n := paddedHead(d)
		return fmt.Sprintf("attention_tiled_%d%s", n, suffix), fusedConfig(d, 32, 2*(2*32*(n+8))+4*32*36)
	}
	k.function = "attention_tiled_128" + suffix
	k.counts = func(d dims) counters {
		n := float64(paddedHead(d))
		c, ctas, tiles := fusedCounts(d, 32, 32)
		c[barriers] = 4 * 4 * tiles
		c[conflicts] = 0
		requests := n / 8 // for 32 rows of Q, K or V in 16-byte pieces
		if d["D"]%8 != 0 {
			requests = n / 2 // in words
		}
		c[sharedStores] = requests*(ctas+2*tiles) + 32*tiles // then the weights
		return c
	}
}

// fusedConfig is a CTA of 128 threads for each tile of bm queries of each head.
func fusedConfig(d dims, bm, shared int) gpu.Config {
	tiles := over(d["Sq"], bm)
	if d.has("cuQ") { // no lengths make more
		tiles = d["Sq"]/bm + d["N"]
	}
	return gpu.Config{Grid: gpu.Dim(tiles, d["Hq"], d["B"]), CTA: gpu.Dim(128), Shared: shared}
}

// tensorAttention is the fused step on tensor cores.
func tensorAttention(k *Kernel, suffix string) {
	shape := func(d dims) (n, bn, shared int) {
		if n = paddedHead(d); n == 256 {
			return n, 16, 2 * (n + 8) * (64 + 2*16)
		}
		return n, 64, 2 * (n + 8) * 2 * 64
	}
	k.choose = func(d dims) (string, gpu.Config) {
		n, _, shared := shape(d)
		return fmt.Sprintf("attention_mma_%d%s", n, suffix), fusedConfig(d, 64, shared)
	}
	k.function = "attention_mma_128" + suffix
	if k.operands[0].dtype == gpu.BF16 {
		k.least = 80 // sm_75 has no mma of bf16
	}
	k.counts = func(d dims) counters {
		n, bn, _ := shape(d)
		c, ctas, tiles := fusedCounts(d, 64, bn)
		c[flopsTensor] = 4 * 64 * float64(bn*n) * tiles
		c[barriers] = 4 * (ctas + 2*tiles)
		c[conflicts] = 0
		queries := 4 * float64(n) / 16 // ldmatrix of Q, once or for each tile
		c[sharedLoads] = queries*ctas + 4*float64(2*bn/16*n/16)*tiles
		if n == 256 {
			c[sharedLoads] += queries*tiles - queries*ctas
		}
		return c
	}
}

// asyncShape is a CTA of attention_async.cuh: queries and keys of a tile, ldmatrix tiles of queries a warp, shared memory.
func asyncShape(d dims) (width, bm, bn, shared int) {
	switch width = paddedHead(d); width {
	case 64:
		bm, bn = 128, 64
	case 128:
		bm, bn = 128, 32
	default:
		bm, bn = 64, 32
	}
	return width, bm, bn, 2 * width * (bm + 4*bn)
}

// asyncAttention is the fused step on tensor cores with the next tile in flight.
func asyncAttention(k *Kernel, suffix string) {
	k.choose = func(d dims) (string, gpu.Config) {
		width, bm, _, shared := asyncShape(d)
		return fmt.Sprintf("attention_async_%d%s", width, suffix), fusedConfig(d, bm, shared)
	}
	k.function = "attention_async_128" + suffix
	// Where there are few tiles, 3_mma's smaller ones keep more SMs busy.
	k.prefer = func(d dims) bool {
		_, bm, _, _ := asyncShape(d)
		return bm == 64 || 2*over(d["Sq"], bm)*d["B"]*d["Hq"] >= d[multiprocessors]
	}
	k.counts = func(d dims) counters {
		width, bm, bn, _ := asyncShape(d)
		c, ctas, tiles := fusedCounts(d, bm, bn)
		asyncCounts(c, ctas, tiles, width, bm, bn)
		return c
	}
}

// asyncCounts adds what attention_async.cuh executes, tiles counted whole.
func asyncCounts(c counters, ctas, tiles float64, width, bm, bn int) {
	pieces := float64(width) / 8
	c[flopsTensor] = 4 * float64(bm*bn*width) * tiles
	c[barriers] = 4 * (ctas + tiles)
	c[conflicts] = 0
	c[sharedStores] = float64(bm)*pieces/32*ctas + float64(2*bn)*pieces/32*tiles + float64(bm)/8*pieces*ctas
}
