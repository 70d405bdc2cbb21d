package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"memwall/gpu"
)

// prefillCases are lengths around tiles, groups, head dims and masks.
var prefillCases = []trial{
	prefillCase("1 1 1 1 1 1", 0, 0, 0, 0),
	prefillCase("1 2 2 64 64 64", 0, 0, 0, 0),
	prefillCase("2 4 1 113 203 40", 1, 0, 0, 0),
	prefillCase("1 5 1 203 113 80", 1, 0, 0, 0), // the first 90 queries see nothing
	prefillCase("1 7 1 65 63 96", 0, 0, 30, 0.2),
	prefillCase("1 8 1 1 129 128", 1, 0, 0, 0),
	prefillCase("1 2 1 33 97 111", 1, 20, 0, 0),
	prefillCase("1 1 1 63 65 256", 1, 0, 5, 0),
	prefillCase("2 2 1 3 0 64", 0, 0, 0, 0),
	prefillCase("1 1 1 127 127 64", 1, 40, 50, 0.5),
	packedCase(5, "1 2 1 150 170 64", 1, 0),
	packedCase(3, "1 2 2 70 130 128", 0, 0),
	packedCase(4, "1 1 1 96 96 40", 1, 9),
	outlierCase(prefillCase("1 2 1 64 128 128", 1, 0, 0, 0)),
	outlierCase(prefillCase("1 1 1 16 96 80", 0, 0, 0, 0)),
}

// prefillCase has the extents "B Hq Hkv Sq Sk D" and the scalars.
func prefillCase(extents string, causal, window int, cap, scale float64) trial {
	t := packedCase(0, extents, causal, window)
	t.fractions = map[string]float64{"cap": cap, "scale": scale}
	t.without = []string{"cuQ", "cuK"}
	delete(t.dims, "N+1")
	return t
}

// prefillShapes are prompts of 4,096 tokens: as FlashAttention-2 is measured, 16,384 tokens of 2,048 wide heads, all pairs and half;
// and as a model with grouped heads has them. The aim is the least of facts' 350–390 TFLOP/s.
func prefillShapes(dtype gpu.DType) []benchShape {
	shape := func(extents string, causal int) benchShape {
		return benchShape{trial: prefillCase(extents, causal, 0, 0, 0), share: 350. / 989, aim: "≥ 35.4% (350 TFLOP/s of an H200)"}
	}
	if dtype != gpu.F16 {
		return []benchShape{shape("4 16 16 4096 4096 128", 1)}
	}
	return []benchShape{shape("4 16 16 4096 4096 128", 0), shape("4 16 16 4096 4096 128", 1), shape("4 32 32 4096 4096 64", 1), shape("1 32 8 4096 4096 128", 1)}
}

// packedCase has so many sequences one after the other.
func packedCase(sequences int, extents string, causal, window int) trial {
	t := trial{dims: namedExtents("B Hq Hkv Sq Sk D", extents), fractions: map[string]float64{"cap": 0, "scale": 0}}
	t.dims["causal"], t.dims["window"], t.dims["N+1"] = causal, window, sequences+1
	return t
}

// namedExtents gives names their numbers, in order.
func namedExtents(names, numbers string) dims {
	d := dims{}
	values := strings.Fields(numbers)
	for i, name := range strings.Fields(names) {
		n := 0
		if _, err := fmt.Sscan(values[i], &n); err != nil {
			panic(err) // written beside this
		}
		d[name] = n
	}
	return d
}

func outlierCase(t trial) trial {
	t.inputs = outliers
	return t
}

// drawPrefill is a case that nobody has chosen.
func drawPrefill(r *rand.Rand) trial {
	group := [...]int{1, 2, 4, 5, 7, 8}[r.IntN(6)]
	kv := 1 + r.IntN(2)
	d := dims{"B": 1 + r.IntN(2), "Hq": group * kv, "Hkv": kv, "Sq": 1 + r.IntN(140), "Sk": r.IntN(200), "D": 1 + r.IntN(mostHeadDim), "causal": r.IntN(2), "window": 0}
	if r.IntN(2) == 0 {
		d["D"] = [...]int{40, 64, 80, 96, 128, 256}[r.IntN(6)]
	}
	if d["causal"] == 1 && r.IntN(2) == 0 {
		d["window"] = 1 + r.IntN(100)
	}
	t := trial{dims: d, inputs: inputs(r.IntN(2)), fractions: map[string]float64{"scale": 0, "cap": 0}}
	if r.IntN(3) == 0 {
		t.fractions["scale"], t.fractions["cap"] = r.Float64()/4, 1+20*r.Float64()
	}
	if r.IntN(3) == 0 {
		d["B"], d["N+1"] = 1, 2+r.IntN(5)
	} else {
		t.without = []string{"cuQ", "cuK"}
	}
	return t
}
