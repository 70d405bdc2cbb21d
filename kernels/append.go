package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memwall/gpu"
)

// appends write the keys and values of new tokens into a paged KV cache: q and k turned, v as it is. Pages are
// [pages, tokens a page, KV heads, D]; slots are rows of them, page·pageSize + offset, negative for padding.
var appends = slices.Concat(kvAppend("append/1_separate", true), kvAppend("append/2_fused", false))

func kvAppend(name string, separate bool) []*Kernel {
	var variants []*Kernel
	for _, v := range elementTypes {
		t, e := v.dtype, float64(v.dtype.Bytes())
		pages := []string{"N", "S", "Hkv", "D"}
		k := &Kernel{
			name: name,
			operands: append([]operand{
				{name: "q", inout: true, partial: true, dtype: t, shape: []string{"T", "Hq", "D"}},
				{name: "keys", inout: true, partial: true, dtype: t, shape: pages},
				{name: "values", inout: true, partial: true, dtype: t, shape: pages},
				{name: "k", dtype: t, partial: true, shape: []string{"T", "Hkv", "D"}},
				{name: "v", dtype: t, partial: true, shape: []string{"T", "Hkv", "D"}},
				{name: "slots", dtype: gpu.I32, shape: []string{"T"}, fill: slotsOf},
			}, ropeTable()...),
			scalars: ropeScalars,
			contents: []contentExtent{{"stored", func(_ dims, ints func(string) []int) int {
				n := 0
				for _, slot := range ints("slots") {
					if slot >= 0 {
						n++
					}
				}
				return n
			}}},
			precondition: ropePrecondition, limits: ropeLimits,
			validate: func(d dims, ints func(string) []int) error { return checkSlots(ints("slots"), d["N"]*d["S"]) },
			bytes: formula{fmt.Sprintf("%g·T·Hq·P + %g·stored·Hkv·D + 8·T + 4·P", 4*e, 4*e), func(d dims) float64 {
				return 4*e*d.f("T")*d.f("Hq")*d.f("P") + 4*e*d.f("stored")*d.f("Hkv")*d.f("D") + 8*d.f("T") + 4*d.f("P")
			}},
			flops: formula{"6·T·(Hq + Hkv)·P (turn) + 3·T·P (angle, sine, cosine)", func(d dims) float64 {
				return 6*d.f("T")*(d.f("Hq")+d.f("Hkv"))*d.f("P") + 3*d.f("T")*d.f("P")
			}},
			terms:   func(dims) float64 { return 32 },
			results: appendReference,
			counts: func(d dims) counters {
				c := counters{storeBytes: e * (2*d.f("T")*d.f("Hq")*d.f("P") + 2*d.f("stored")*d.f("Hkv")*d.f("D"))}
				if separate {
					c[storeBytes] += e * d.f("T") * d.f("Hkv") * d.f("D")
				}
				return c
			},
			cases: appendCases(),
			bench: []benchShape{{trial: trial{dims: dims{"T": 16384, "Hq": 32, "Hkv": 8, "D": 128, "P": 64, "N": 2048, "S": 16}, fractions: map[string]float64{"magnitude": 1},
				values: map[string]func(d dims) []int{"slots": func(d dims) []int { return slotsInPages(d["T"], d["N"], d["S"]) }}}, share: .8}},
		}
		if separate {
			k.workspaces = []workspace{{name: "turned", dtype: t, shape: []string{"T", "Hkv", "D"}}}
			each := func(threads int) func(d dims) gpu.Config {
				return func(d dims) gpu.Config { return gpu.Config{Grid: gpu.Dim(d["T"]), CTA: gpu.Dim(threads)} }
			}
			turn := func(idea, to, from, heads string) stage {
				return stage{idea: idea, function: "append_turn" + v.suffix, config: each(64), args: []string{to, from, "positions", "frequencies", heads, "D", "P", "magnitude", "adjacent"}}
			}
			scatter := func(idea, to, from string) stage {
				return stage{idea: idea, function: "append_scatter" + v.suffix, config: each(256), args: []string{to, from, "slots", "Hkv", "D"}, flops: func(dims) float64 { return 0 }}
			}
			k.stages = []stage{turn("turn q", "q", "q", "Hq"), turn("turn k", "turned", "k", "Hkv"), scatter("store k", "keys", "turned"), scatter("store v", "values", "v")}
			k.stages[0].main = true
			k.stages[1].flops = func(d dims) float64 { return 6 * d.f("T") * d.f("Hkv") * d.f("P") }
		} else {
			k.function = "append_fused" + v.suffix
			k.args = []string{"q", "keys", "values", "k", "v", "positions", "slots", "frequencies", "Hq", "Hkv", "D", "P", "magnitude", "adjacent"}
			k.config = func(d dims) gpu.Config {
				return gpu.Config{Grid: gpu.Dim(d["T"], over(d["Hq"]+2*d["Hkv"], 32)), CTA: gpu.Dim(128), Shared: sineBytes(d)}
			}
		}
		variants = append(variants, k)
	}
	return variants
}

func appendCases() []trial {
	f := map[string]float64{"magnitude": 1}
	var all []trial
	for _, d := range []dims{
		{"T": 1, "Hq": 1, "Hkv": 1, "D": 2, "P": 1, "N": 1, "S": 1}, {"T": 5, "Hq": 9, "Hkv": 3, "D": 64, "P": 32, "N": 3, "S": 16},
		{"T": 33, "Hq": 4, "Hkv": 1, "D": 40, "P": 20, "N": 50, "S": 1}, {"T": 3, "Hq": 5, "Hkv": 5, "D": 111, "P": 55, "N": 2, "S": 5},
		{"T": 4, "Hq": 7, "Hkv": 1, "D": 128, "P": 64, "N": 1, "S": 256, "adjacent": 1}, {"T": 6, "Hq": 2, "Hkv": 2, "D": 80, "P": 16, "N": 7, "S": 3, "adjacent": 1},
	} {
		all = append(all, trial{dims: d, fractions: f})
	}
	return append(all, trial{dims: dims{"T": 2, "Hq": 8, "Hkv": 2, "D": 256, "P": 128, "N": 4, "S": 4}, fractions: f, inputs: special})
}

// slotsInPages are the rows of n tokens that fill shuffled pages of so many rows one after the other.
func slotsInPages(n, pages, rows int) []int {
	order := rand.New(rand.NewPCG(uint64(pages), 3)).Perm(pages)
	slots := make([]int, n)
	for t := range slots {
		slots[t] = order[t/rows%pages]*rows + t%rows
	}
	return slots
}

// slotsOf are different rows in no order, one in five missing where there is a choice, all missing where there are too few.
func slotsOf(d dims, r *rand.Rand) []float64 {
	rows := r.Perm(d["N"] * d["S"])
	values := make([]float64, d["T"])
	for t := range values {
		values[t] = -1
		if t < len(rows) && r.IntN(5) > 0 {
			values[t] = float64(rows[t])
		}
	}
	return values
}

// checkSlots refuses rows that are not there, or that two tokens would write at the same time.
func checkSlots(slots []int, rows int) error {
	taken := map[int]int{}
	for t, slot := range slots {
		if slot >= rows {
			return &gpu.Error{What: fmt.Sprintf("slots[%d] = %d, the pages have %d rows", t, slot, rows), How: "a slot is page·pageSize + offset: cache.Slots or cache.LastSlots gives them"}
		}
		if slot < 0 {
			continue
		}
		if other, twice := taken[slot]; twice {
			return &gpu.Error{What: fmt.Sprintf("slots[%d] and slots[%d] are both %d: two tokens in one place", other, t, slot), How: "give each token a slot of its own, or −1 to leave it out"}
		}
		taken[slot] = t
	}
	return nil
}

func appendReference(d dims, in map[string][]float64) map[string]result {
	keys, values := result{want: slices.Clone(in["keys"])}, result{want: slices.Clone(in["values"])}
	keys.scale, values.scale = make([]float64, len(keys.want)), make([]float64, len(keys.want))
	k, n := turned(d, in, in["k"], d["Hkv"]), d["Hkv"]*d["D"]
	for t, slot := range in["slots"] {
		if slot < 0 {
			continue
		}
		at := int(slot) * n
		copy(keys.want[at:at+n], k.want[t*n:])
		copy(keys.scale[at:at+n], k.scale[t*n:])
		copy(values.want[at:at+n], in["v"][t*n:])
	}
	return map[string]result{"q": turned(d, in, in["q"], d["Hq"]), "keys": keys, "values": values}
}
