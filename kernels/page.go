package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// pages move whole pages of a KV cache: to other pages (copy-on-write), together (to the host) and apart again. They copy
// bytes, so every element type has the same entry.
var pages = slices.Concat(
	pageMove("page/1_copy", "page_copy", func(k *Kernel, t gpu.DType, whole []string) {
		k.operands = []operand{
			{name: "pages", inout: true, exact: true, partial: true, dtype: t, shape: whole},
			{name: "pairs", dtype: gpu.I32, shape: []string{"M", "2"}, fill: func(d dims, r *rand.Rand) []float64 {
				order := r.Perm(d["N"]) // sources from the front, which may be taken twice, targets from the back
				values := make([]float64, 2*d["M"])
				for i := range d["M"] {
					values[2*i], values[2*i+1] = float64(order[r.IntN(d["N"]-d["M"])]), float64(order[d["N"]-1-i])
				}
				return values
			}},
		}
		k.precondition = func(d dims) error {
			if d["M"] >= d["N"] && d["M"] > 0 {
				return &gpu.Error{What: fmt.Sprintf("%d copies among %d pages: each target is another page, and no source", d["M"], d["N"]), How: "give fewer pairs"}
			}
			return nil
		}
		k.validate = func(d dims, ints func(string) []int) error { return checkPairs(ints("pairs"), d["N"]) }
		k.results = func(d dims, in map[string][]float64) map[string]result {
			out, n := slices.Clone(in["pages"]), d["page"]
			for i := 0; i < len(in["pairs"]); i += 2 {
				from, to := int(in["pairs"][i])*n, int(in["pairs"][i+1])*n
				copy(out[to:to+n], in["pages"][from:from+n])
			}
			return map[string]result{"pages": {want: out}}
		}
	}),
	pageMove("page/2_gather", "page_gather", func(k *Kernel, t gpu.DType, whole []string) {
		k.operands = []operand{
			{name: "out", output: true, exact: true, dtype: t, shape: []string{"M", "S", "Hkv", "D"}},
			{name: "pages", partial: true, dtype: t, shape: whole},
			{name: "list", dtype: gpu.I32, shape: []string{"M"}, fill: func(d dims, r *rand.Rand) []float64 {
				values := make([]float64, d["M"])
				for i := range values {
					values[i] = float64(r.IntN(d["N"]))
				}
				return values
			}},
		}
		k.validate = func(d dims, ints func(string) []int) error { return checkList(ints("list"), d["N"], true) }
		k.results = func(d dims, in map[string][]float64) map[string]result {
			var out []float64
			for _, p := range in["list"] {
				out = append(out, in["pages"][int(p)*d["page"]:(int(p)+1)*d["page"]]...)
			}
			return map[string]result{"out": {want: out}}
		}
	}),
	pageMove("page/3_scatter", "page_scatter", func(k *Kernel, t gpu.DType, whole []string) {
		k.operands = []operand{
			{name: "pages", inout: true, exact: true, partial: true, dtype: t, shape: whole},
			{name: "in", dtype: t, shape: []string{"M", "S", "Hkv", "D"}},
			{name: "list", dtype: gpu.I32, shape: []string{"M"}, fill: func(d dims, r *rand.Rand) []float64 {
				values := make([]float64, 0, d["M"])
				for _, p := range r.Perm(d["N"])[:min(d["M"], d["N"])] {
					values = append(values, float64(p))
				}
				return values
			}},
		}
		k.precondition = func(d dims) error {
			if d["M"] > d["N"] {
				return &gpu.Error{What: fmt.Sprintf("%d pages for %d places", d["M"], d["N"]), How: "give as many as the list names, each once"}
			}
			return nil
		}
		k.validate = func(d dims, ints func(string) []int) error { return checkList(ints("list"), d["N"], false) }
		k.results = func(d dims, in map[string][]float64) map[string]result {
			out, n := slices.Clone(in["pages"]), d["page"]
			for i, p := range in["list"] {
				copy(out[int(p)*n:(int(p)+1)*n], in["in"][i*n:])
			}
			return map[string]result{"pages": {want: out}}
		}
	}),
)

func pageMove(name, function string, rest func(k *Kernel, t gpu.DType, whole []string)) []*Kernel {
	var variants []*Kernel
	for _, t := range []gpu.DType{gpu.F16, gpu.BF16, gpu.F32, gpu.U8, gpu.I8} {
		e := t.Bytes()
		k := &Kernel{
			name: name, function: function,
			derived: []derivedExtent{{"page", func(d dims) int { return d["S"] * d["Hkv"] * d["D"] }}, {"bytes", func(d dims) int { return d["page"] * e }}},
			pass:    []string{"bytes"},
			config: func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(d["M"], over(max(d["bytes"], 1), 16384)), CTA: gpu.Dim(256)}
			},
			bytes: formula{"2·M·bytes + the list", func(d dims) float64 {
				list := 4 * d.f("M")
				if name == "page/1_copy" {
					list *= 2
				}
				return 2*d.f("M")*d.f("bytes") + list
			}},
			flops:  formula{"0", func(dims) float64 { return 0 }},
			limits: map[string]limit{"M": {1 << 20, "split the list"}},
			counts: func(d dims) counters {
				c := counters{storeBytes: d.f("M") * d.f("bytes")}
				if d["bytes"]%512 == 0 { // whole requests of 16 bytes a lane
					c[storeRequests], c[storeSectors] = d.f("M")*d.f("bytes")/512, d.f("M")*d.f("bytes")/32
				}
				return c
			},
			cases: []trial{
				{dims: dims{"M": 1, "N": 2, "S": 1, "Hkv": 1, "D": 1}}, {dims: dims{"M": 3, "N": 8, "S": 16, "Hkv": 2, "D": 64}}, {dims: dims{"M": 2, "N": 5, "S": 7, "Hkv": 3, "D": 111}},
				{dims: dims{"M": 9, "N": 33, "S": 16, "Hkv": 1, "D": 40}}, {dims: dims{"M": 1, "N": 3, "S": 128, "Hkv": 1, "D": 80}},
			},
		}
		if t == gpu.F16 { // bytes are bytes
			k.bench = large(dims{"M": 4096, "N": 16384, "S": 16, "Hkv": 8, "D": 128}, nil)
		}
		rest(k, t, []string{"N", "S", "Hkv", "D"})
		for i := range k.operands {
			if o := &k.operands[i]; !t.Float() && o.dtype == t && o.read() {
				o.fill = bytesOf(t, o.shape)
			}
		}
		variants = append(variants, k)
	}
	return variants
}

// bytesOf are random values of a type of one byte.
func bytesOf(t gpu.DType, shape []string) func(d dims, r *rand.Rand) []float64 {
	least := 0
	if t == gpu.I8 {
		least = -128
	}
	return func(d dims, r *rand.Rand) []float64 {
		values := make([]float64, int(d.elements(shape)))
		for i := range values {
			values[i] = float64(least + r.IntN(256))
		}
		return values
	}
}

// checkPairs refuses pages that are not there, targets that stand twice, and targets that are also sources: the copies run in
// any order.
func checkPairs(pairs []int, pages int) error {
	sources, targets := map[int]int{}, map[int]int{}
	for i, p := range pairs {
		if p < 0 || p >= pages {
			return &gpu.Error{What: fmt.Sprintf("pairs[%d] = %d → %d, there are %d pages", i/2, pairs[i/2*2], pairs[i/2*2+1], pages), How: "give pairs of pages, from and to"}
		}
		if i%2 == 0 {
			sources[p] = i / 2
		} else if other, twice := targets[p]; twice {
			return &gpu.Error{What: fmt.Sprintf("pairs[%d] and pairs[%d] both write page %d", other, i/2, p), How: "give each target once"}
		} else {
			targets[p] = i / 2
		}
	}
	for p, i := range targets {
		if j, is := sources[p]; is {
			return &gpu.Error{What: fmt.Sprintf("pairs[%d] writes page %d, which pairs[%d] reads, and they run in any order", i, p, j), How: "copy them in two calls"}
		}
	}
	return nil
}

func checkList(list []int, pages int, again bool) error {
	seen := map[int]int{}
	for i, p := range list {
		if p < 0 || p >= pages {
			return &gpu.Error{What: fmt.Sprintf("list[%d] = %d, there are %d pages", i, p, pages), How: "give numbers of pages: cache.Pages(id)"}
		}
		if other, twice := seen[p]; twice && !again {
			return &gpu.Error{What: fmt.Sprintf("list[%d] and list[%d] both name page %d", other, i, p), How: "give each page once"}
		}
		seen[p] = i
	}
	return nil
}
