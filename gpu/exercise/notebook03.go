package exercise

import (
	"fmt"

	"memwall/gpu/perf"
)

// The numbers of notebook 03.
const (
	ldmatrixRows   = 8.0    // of a tile, which fill all banks once where they lie well
	ldmatrixTiles  = 4.0    // of ldmatrix.x4
	largeTile      = 128.0  // rows and columns of Y that a CTA makes in 03.2 and 03.4
	l2Rate         = 7.4e12 // bytes a second that the H200's L2 delivers in the time model, from public streaming benchmarks
	tileDepth      = 64     // columns of X and W in a stage of 03.5
	tileThreads    = 128
	tileOverhead   = 100 // registers of a thread of 03.5 besides its accumulators: fragments and addresses
	tileIntensity  = 64.0
	tileCTAs       = 2
	tileStages     = 3
	tileSide       = 32 // BM and BN are multiples of it
	mostTileSide   = 256
	mostTileStages = 16
)

// reuse is the FLOPs for each byte of 16-bit elements that a CTA reads for bm × bn of Y: 2·bm·bn a column, and bm + bn elements.
func reuse(bm, bn float64) float64 { return 2 * bm * bn / (halfBytes * (bm + bn)) }

// climbing are the exercises of notebook 03.
var climbing = []exercise{
	{
		id: "03.1", unit: "FLOP/B", within: 0.01,
		question: "Each multiplication and addition loads its two f16 numbers anew. How many FLOPs come on each byte asked for?",
		answer:   func() float64 { return 2 / (2 * halfBytes) },
		formula: func() string {
			return "A multiplication and an addition, 2 FLOPs, for 2 · 2 B: half a FLOP for each byte."
		},
		start: "How many FLOPs are a multiplication and an addition, and how many bytes are two f16 numbers?",
		mistakes: []mistake{
			{func() float64 { return 1 }, "Two numbers are loaded, one of X and one of W: 4 bytes for 2 FLOPs."},
			{func() float64 { return 2 }, "Turn it round: FLOPs divided by bytes."},
			{func() float64 { return 0.25 }, "That is one FLOP for 4 bytes. The sum is a FLOP too."},
		},
	},
	{
		id: "03.2", unit: "FLOP/B", within: 0.01,
		question: "A CTA makes 128 × 128 of Y and reads 128 rows of X and 128 rows of W, f16, each once. How many FLOPs for each byte that it reads?",
		answer:   func() float64 { return reuse(largeTile, largeTile) },
		formula: func() string {
			return "For each column: 2 · 128 · 128 = 32,768 FLOPs, and (128 + 128) · 2 B = 512 B. 64 FLOP/B, 128 times as much as without reuse."
		},
		start: "Take one column k: how many products does it give, and how many numbers does it bring?",
		mistakes: []mistake{
			{func() float64 { return largeTile }, "Each element serves 128 times, but X and W are both read, and an element has 2 bytes: 2 · 128 · 128 FLOPs for 256 · 2 B."},
			{func() float64 { return largeTile / 4 }, "That would be f32, with 4 bytes an element."},
			{func() float64 { return largeTile * largeTile }, "That is the number of products a column. Divide their FLOPs by the bytes of that column."},
		},
	},
	{
		id: "03.3", unit: "", within: 0.01,
		question: "ldmatrix reads four tiles of eight rows of 16 B. The rows lie 128 B apart, so that all start on the same bank. How many wavefronts does it take?",
		answer:   func() float64 { return ldmatrixRows * ldmatrixTiles },
		formula: func() string {
			return "The eight rows of a tile want the same four banks and come one after the other: 8 wavefronts, for each of 4 tiles 32. Without conflicts they would be 4."
		},
		start: "In one wavefront each of the 32 banks gives 4 bytes. How many rows of one tile can come at once, if all of them want the same banks?",
		mistakes: []mistake{
			{func() float64 { return ldmatrixTiles }, "That is the best case, where the eight rows of a tile lie on different banks. Here they lie on the same ones."},
			{func() float64 { return ldmatrixRows }, "That is one tile. ldmatrix.x4 reads four of them."},
			{func() float64 { return ldmatrixRows*ldmatrixTiles - ldmatrixTiles }, "Those are the ones too many: what the profiler calls bank conflicts. The 4 that are necessary come on top."},
		},
	},
	{
		id: "03.4", unit: "FLOP/s", within: 0.02,
		question: "The L2 of an H200 delivers about 7.4 TB/s. How many FLOP/s can CTAs reach at most that make 128 × 128 tiles, with 64 FLOP/B?",
		answer:   func() float64 { return reuse(largeTile, largeTile) * l2Rate },
		formula: func() string {
			return "64 FLOP/B · 7.4 TB/s = 474 TFLOP/s, less than half of 989. Tiles of 128 × 256 have 85 FLOP/B, and get 631."
		},
		start: "Bytes a second, times FLOPs for each byte.",
		mistakes: []mistake{
			{func() float64 { return reuse(largeTile, largeTile) * profile("h200").DRAMBytesPerSecond }, "That is with the 4.8 TB/s of the DRAM. What several CTAs read comes from the L2."},
			{func() float64 { return profile("h200").TensorFLOPs }, "That is what the tensor cores could do. Do 64 FLOP/B at 7.4 TB/s suffice for it?"},
			{func() float64 { return l2Rate / reuse(largeTile, largeTile) }, "Turn it round: each byte brings 64 FLOPs."},
		},
	},
	{
		id: "03.5", question: "Choose a tile: BM, BN and the number of stages, so that an H200's SM holds two CTAs.",
		start:  "Begin with exercise.Check(\"03.5\", []int{128, 128, 4}) and read what is too much.",
		choose: chooseTile, choices: 3,
	},
}

// chooseTile judges BM, BN and stages: multiples of 32, at least 64 FLOP/B, three stages of 64 columns, and two CTAs of 128
// threads on an SM of an H200.
func chooseTile(values []int) (right bool, headline, why string) {
	bm, bn, stages := values[0], values[1], values[2]
	for _, side := range []int{bm, bn} {
		if side < tileSide || side > mostTileSide || side%tileSide != 0 {
			return false, fmt.Sprintf("Not a tile yet: %d rows or columns.", side), fmt.Sprintf("BM and BN are multiples of %d from %d to %d, so that four warps can share them.", tileSide, tileSide, mostTileSide)
		}
	}
	if stages < 1 || stages > mostTileStages {
		return false, fmt.Sprintf("Not a ring yet: %d stages.", stages), fmt.Sprintf("Take 1 to %d.", mostTileStages)
	}
	accumulators := bm * bn / tileThreads
	registers, shared := accumulators+tileOverhead, stages*(bm+bn)*tileDepth*2
	lies := fmt.Sprintf("A thread holds %d · %d ÷ %d = %d sums and %d other registers, %d in all; %d stages take %d · (%d + %d) · %d · 2 B = %s of shared memory.",
		bm, bn, tileThreads, accumulators, tileOverhead, registers, stages, stages, bm, bn, tileDepth, perf.Format(float64(shared), "B"))
	if registers > perf.MaxRegisters {
		return false, fmt.Sprintf("Too many registers: %d a thread, %d is the most.", registers, perf.MaxRegisters), lies + " Take a smaller tile."
	}
	limits := profile("h200").Limits()
	occupancy, err := perf.OccupancyOf(limits, tileThreads, registers, 0, shared)
	switch {
	case err != nil:
		return false, "Not yet: " + err.Error() + ".", lies
	case occupancy.CTAsPerSM < tileCTAs:
		mend := "Fewer stages, or a smaller tile."
		if occupancy.Limiter == perf.LimitRegisters {
			mend = "A smaller tile has fewer sums."
		}
		return false, fmt.Sprintf("Not yet: an SM holds %d CTA; what limits it: %s.", occupancy.CTAsPerSM, occupancy.Limiter), lies + " " + mend
	case reuse(float64(bm), float64(bn)) < tileIntensity:
		return false, fmt.Sprintf("Two CTAs fit, but each byte is used for %s only.", perf.Format(reuse(float64(bm), float64(bn)), "FLOP/B")),
			"It should be 64 FLOP/B: BM · BN ÷ (BM + BN). A square uses its rows and columns best."
	case stages < tileStages:
		return false, fmt.Sprintf("Two CTAs fit, but %d stages are too few.", stages), "One is multiplied, so at least two should be on their way. " + lies
	}
	return true, fmt.Sprintf("Right: %d CTAs an SM, %s.", occupancy.CTAsPerSM, perf.Format(reuse(float64(bm), float64(bn)), "FLOP/B")), lies
}
