package kernels

// pace is what the time of a GEMM step depends on: a CTA makes bm × bn of Y in steps of bk columns. The microseconds are
// those that the time model predicts for an H200 (MODELLED, as choose_test.go holds); other GPUs are slower by about the same
// factor for all steps, which is all that a choice among them needs.
type pace struct {
	bm, bn, bk int
	start      float64 // before the first and after the last step of K, of a CTA
	alone      float64 // a step of K of a CTA that has an SM for itself: latency
	shared     float64 // a step of K for each CTA of an SM that has several: throughput
}

// launchTime and bandwidth are of every step: microseconds, and bytes a microsecond for each SM.
const (
	launchTime = 2.4
	bandwidth  = 33e3
)

// time is the estimate for a call whose X, W and Y have elements of so many bytes.
func (p pace) time(d dims, elementBytes int) float64 {
	n := float64(over(over(d["M"], p.bm)*over(d["N"], p.bn), d[multiprocessors]))
	step := p.alone
	if n > 1 {
		step = max(step, p.shared*n)
	}
	work := p.start + ceil(d.f("K"), p.bk)*step
	m, k := d.f("M"), d.f("K")
	bytes := float64(elementBytes) * (d.f("N")*k + m*k + m*d.f("N"))
	return launchTime + max(work, bytes/(bandwidth*d.f(multiprocessors)))
}

// aligned says whether rows of K elements start on 16 bytes.
func aligned(d dims, elementBytes int) bool { return d["K"]*elementBytes%16 == 0 }

// pairRows is the rows of Y of a CTA of include/multicast.cuh: they come in pairs, also for an odd number of tiles.
func pairRows(d dims) int { return over(d["M"], 2*over(d["M"], 256)) }

// gemmPaces are the paces of the steps of gemm and of the families made of it, by name; those whose tile depends on the call work it out.
var gemmPaces = map[string]func(d dims, elementBytes int) pace{
	"gemm/1_naive": func(dims, int) pace { return pace{16, 16, 1, 0, .1, .08} },
	"gemm/2_coalesced": func(d dims, e int) pace {
		p := pace{8, 4, 32, 0, .061, .034} // a step is a warp's 32 columns
		if e == 4 {
			p.alone, p.shared = .075, .038
		}
		switch {
		case !aligned(d, e): // twice the sectors
			p.alone, p.shared = .16, .1
		case d["M"] <= 16: // W comes from DRAM
			p.shared = .05
		}
		p.start = .4 * float64(over(over(d["M"], 8)*over(d["N"], 4), d[multiprocessors]))
		return p
	},
	"gemm/3_smem_tile": func(dims, int) pace { return pace{32, 32, 32, .5, 1.5, 1.22} },
	"gemm/4_tile_1d":   func(dims, int) pace { return pace{64, 64, 16, .5, 1.35, 1.35} },
	"gemm/5_tile_2d":   func(dims, int) pace { return pace{128, 128, 16, .8, 2.7, 2.05} },
	"gemm/6_vectorised": func(d dims, e int) pace {
		if !aligned(d, e) {
			return pace{128, 128, 16, .8, 3.3, 2.4}
		}
		return pace{128, 128, 16, .8, 2.1, 1.83}
	},
	"gemm/7_mma": func(d dims, e int) pace {
		if !aligned(d, e) {
			return pace{64, 64, 64, .3, 4.1, 1.85}
		}
		return pace{64, 64, 64, .3, 1.37, 1.24}
	},
	"gemm/8_swizzle":  func(d dims, e int) pace { return swizzlePace(d, e, .3, 1) },
	"gemm/9_cp_async": pipelinePace,
	"gemm/10_wgmma": func(d dims, _ int) pace {
		if wgmmaTile(d) == 256 {
			return pace{128, 256, 64, 2, 1.1, 1.1}
		}
		rows := float64(min(d["M"], 128) + min(d["N"], 128)) // that there are to read
		return pace{128, 128, 64, 1.5, max(.4, .49*rows/256), .65}
	},
	"gemm/11_warp_specialised": func(dims, int) pace { return pace{128, 256, 64, 1.8, .73, .9} },
	"gemm/12_multicast":        func(d dims, _ int) pace { return pace{pairRows(d), 256, 64, 2, .62, .62} },
	"linear/1_unfused":         func(d dims, e int) pace { return swizzlePace(d, e, 5, 1) },
	"linear/2_fused":           func(d dims, e int) pace { return swizzlePace(d, e, .3, 1) },
	"linear/3_wgmma":           func(d dims, _ int) pace { return pace{pairRows(d), 256, 64, 2.5, .63, .63} },
	"gated/1_unfused":          func(d dims, e int) pace { return swizzlePace(d, e, 5, 2) },
	"gated/2_fused":            func(d dims, e int) pace { return swizzlePace(d, e, .3, 1.55) },
	"gated/3_wgmma":            func(d dims, _ int) pace { return pace{pairRows(d), 128, 64, 2, .64, .67} },
	"fp8gemm/1_mma":            func(dims, int) pace { return pace{64, 64, 128, .3, .8, .37} },
	"fp8gemm/2_wgmma":          func(d dims, _ int) pace { return pace{pairRows(d), 256, 128, 2, .66, .62} },
}

// swizzlePace is that of kernels made of include/multiply.cuh: so many times the steps of gemm/8_swizzle.
func swizzlePace(d dims, e int, start, times float64) pace {
	p := pace{64, 64, 64, start, .97 * times, .37 * times}
	if !aligned(d, e) {
		p.alone, p.shared = 3.9*times, 1.4*times
	}
	return p
}

// pipelinePace is that of gemm/9_cp_async. Where rows start on an even address alone, its copies are waited for.
func pipelinePace(d dims, e int) pace {
	t := pipelineTile(d)
	p := pace{t.bm, t.bn, 64, 1, .14, .1}
	switch {
	case t.bm == 64:
		p.alone, p.shared = .36, .3
	case t.bn == 64:
		p.alone, p.shared = .6, .45
	case t.bn == 128:
		p.alone, p.shared = .89, .745
	}
	if d["K"]%2 != 0 {
		p.alone, p.shared = .057*float64(t.bm+t.bn)/1.35, .02*float64(t.bm+t.bn)
	} else if !aligned(d, e) {
		p.alone, p.shared = 3*p.alone, 3*p.shared
	}
	return p
}

// estimated gives a step its estimate, where its pace is known.
func estimated(k *Kernel, elementBytes int) {
	if p := gemmPaces[k.name]; p != nil {
		k.estimate = func(d dims) float64 { return p(d, elementBytes).time(d, elementBytes) }
	}
}
