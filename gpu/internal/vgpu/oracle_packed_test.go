package vgpu

import (
	"math/big"
	"slices"
	"strings"
)

// packedOracle expects the operations of packed integers and floats, of mixed precision, of three operands and .oob.
func (c *opCase) packedOracle(v [4]uint64) (want uint64, approximate func(got uint64) bool, ok bool) {
	f32 := formats["f32"]
	n := len(c.mods)
	switch {
	case c.op == "fns":
		return fnsOracle(uint32(v[0]), uint32(v[1]), int32(uint32(v[2]))), nil, true
	case c.t == "three": // min and max of three: the pick of the pick
		ftz, abs := c.has("ftz"), c.has("abs")
		for k := range 3 {
			v[k] = flushed(f32, v[k], ftz)
			if abs {
				v[k] &^= f32.sign()
			}
		}
		return f32.pick(c.op, f32.pick(c.op, v[0], v[1], c.has("NaN")), v[2], c.has("NaN")), nil, true
	case c.t == "f32x2":
		part := opCase{c.op, c.mods, "f32", "f32"}
		half := func(shift int) uint64 {
			w, _, _ := part.float(f32, [4]uint64{v[0] >> shift & 0xffffffff, v[1] >> shift & 0xffffffff, v[2] >> shift & 0xffffffff})
			return w
		}
		return half(0) | half(32)<<32, nil, true
	case n >= 2 && c.mods[n-2] == "f32" && (c.t == "f16" || c.t == "bf16") && (c.op == "add" || c.op == "sub" || c.op == "fma"):
		narrow := formats[c.t]
		x := []value{narrow.decode(v[0]&0xffff, false), f32.decode(v[1]&0xffffffff, false)}
		if c.op == "fma" {
			x = []value{x[0], narrow.decode(v[1]&0xffff, false), f32.decode(v[2]&0xffffffff, false)}
		}
		return f32.finish(f32.arithmetic(c.op, c.rounding(), x), false, c.has("sat"), false), nil, true
	case c.has("oob") && !strings.HasSuffix(c.t, "x2") && (v[0]&0xffff == 0xffff || v[1]&0xffff == 0xffff):
		return 0, nil, true
	case c.has("relu") && (c.op == "min" || c.op == "max") && (c.has("s32") || c.t == "relu" || c.t == "s16"):
		t := "s32"
		if c.t == "s16" || c.has("s16x2") {
			t = "s16"
		}
		mods := slices.DeleteFunc(slices.Clone(c.mods), func(m string) bool { return m == "relu" })
		w, ok := integerOracle(c.op, mods, t, v[0], v[1], 0, 0)
		if bitOf(w, 8*typeBytes(t)-1) == 1 {
			w = 0
		}
		return w, nil, ok
	case c.op == "mad24" && c.has("sat"):
		low := func(x uint64) *big.Int { return big.NewInt(int64(int32(uint32(x)<<8) >> 8)) }
		p := new(big.Int).Mul(low(v[0]), low(v[1]))
		p.Rsh(p, 16).Add(p, big.NewInt(int64(int32(uint32(v[2])))))
		if p.Cmp(big.NewInt(1<<31-1)) > 0 {
			p.SetInt64(1<<31 - 1)
		} else if p.Cmp(big.NewInt(-1<<31)) < 0 {
			p.SetInt64(-1 << 31)
		}
		return uint64(uint32(p.Int64())), nil, true
	}
	return 0, nil, false
}

// fnsOracle follows the pseudo-code of PTX ISA 9.7.1.17.
func fnsOracle(mask, base uint32, offset int32) uint64 {
	d := uint32(0xffffffff)
	if offset == 0 {
		if base < 32 && bitOf(uint64(mask), int(base)) == 1 {
			d = base
		}
		return uint64(d)
	}
	pos, count, inc := int64(base), int64(offset), int64(1)
	if offset < 0 {
		count, inc = -count, -1
	}
	count--
	for pos >= 0 && pos < 32 {
		if bitOf(uint64(mask), int(pos)) == 1 {
			if count == 0 {
				d = uint32(pos)
				break
			}
			count--
		}
		pos += inc
	}
	return uint64(d)
}
