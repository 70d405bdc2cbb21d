package kernels

import "memwall/gpu"

// ringBytes is the shared memory of a CTA with four stages of 128 rows of X and 256 of W, 128 bytes each, and four boxes of results.
const ringBytes = 4*(128+256)*128 + 4*64*64*2 + 1024

// pairs is the geometry of kernels made of include/multicast.cuh: clusters of two CTAs that make 256 rows and so many columns of Y,
// as many as there are tiles or pairs of SMs.
func pairs(columns int) func(d dims) gpu.Config {
	return func(d dims) gpu.Config {
		return gpu.Config{Grid: gpu.Dim(2 * min(over(d["M"], 256)*over(d["N"], columns), max(d[multiprocessors]/2, 1))), CTA: gpu.Dim(384),
			Cluster: gpu.Dim(2), Shared: ringBytes}
	}
}

// pairCounts are the closed forms of the product of such a kernel, whose tile has so many columns of Y; a step has bk of K.
func pairCounts(d dims, columns, bk int) counters {
	steps := ceil(d.f("M"), 256) * ceil(d.f("N"), columns) * ceil(d.f("K"), bk)
	return counters{flopsF32: 0, flopsTensor: 2 * 256 * 256 * float64(bk) * steps, conflicts: 0, sharedLoads: 2 * 2 * 4 * 5 * steps, sharedStores: 4 * steps,
		loadRequests: 4 * steps, barriers: 2 * 2 * float64(12*pairs(columns)(d).Grid.X)} // a cluster's threads meet twice, arriving and waiting
}

// inBoxes adds how results of 16 bits leave through shared memory, where rows of Y start on 16 bytes.
func (c counters) inBoxes(d dims, columns int) counters {
	c[loadRequests] = c[sharedStores] // tensorTraffic has those of threads
	if d["N"]%8 != 0 {
		return c
	}
	tiles, boxes := ceil(d.f("M"), 256)*ceil(d.f("N"), columns), 4*ceil(d.f("M"), 256)*ceil(d.f("N"), 64)
	halves := float64(columns / 128)
	c[barriers] += 2 * 8 * 2 * halves * tiles
	c[sharedStores] += 2 * 8 * 32 * halves * tiles
	c[sharedLoads] += boxes
	c[storeRequests] = boxes
	return c
}

// leaveInBoxes gives a step a stage whose results leave by TMA, in place of the first argument, and one, of a function with the name's
// end _ragged, for rows of Y that do not start on 16 bytes.
func leaveInBoxes(k *Kernel, function string, config func(d dims) gpu.Config, args []string) {
	k.maps = append(k.maps, tensorMap{name: "ymap", of: "y", config: func(dims) gpu.TensorMapConfig { return gpu.TensorMapConfig{Box: []int{64, 64}, Swizzle: 128} }})
	boxes := func(d dims) bool { return d["N"]%8 == 0 }
	k.stages = []stage{
		{function: function, config: config, args: append([]string{"ymap"}, args[1:]...), when: boxes},
		{function: function + "_ragged", config: config, args: args, when: func(d dims) bool { return !boxes(d) }},
	}
}

// onPairs makes of a row of an epilogue a step of include/multicast.cuh, whose tile has so many columns of Y: the weights in boxes of
// 128 rows, K a multiple of 8.
func onPairs(k *Kernel, function string, columns int, weights, args []string, lower string) {
	byTMA(k, func(dims) int { return 128 }, lower)
	k.maps = k.maps[1:] // X's
	for _, w := range weights {
		k.maps = append(k.maps, tensorMap{name: w + "map", of: w, config: k.maps[0].config})
	}
	k.cases = []trial{
		{dims: dims{"M": 1, "N": 1, "K": 8}}, {dims: dims{"M": 31, "N": 33, "K": 128}}, {dims: dims{"M": 129, "N": 31, "K": 64}},
		{dims: dims{"M": 65, "N": 257, "K": 200}}, {dims: dims{"M": 128, "N": 256, "K": 320}}, {dims: dims{"M": 257, "N": 512, "K": 72}, inputs: outliers},
		{dims: dims{"M": 20, "N": 24, "K": 40}, inputs: special}, {dims: dims{"M": 2100, "N": 24, "K": 8}},
	}
	k.config = nil
	leaveInBoxes(k, function, pairs(columns), args)
}
