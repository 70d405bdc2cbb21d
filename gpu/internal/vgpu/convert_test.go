package vgpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

var driverOptions = driver.LoadOptions{Name: "test.ptx"}

// convertOracle is cvt from exact values (PTX ISA 9.7.9.21).
func convertOracle(c *opCase, dst, src string, bits uint64) (uint64, func(uint64) bool, bool) {
	df, toFloat := formats[dst]
	sf, fromFloat := formats[src]
	mode := c.rounding()
	integral := ""
	for _, m := range []string{"rni", "rzi", "rmi", "rpi"} {
		if c.has(m) {
			integral = strings.TrimSuffix(m, "i")
		}
	}
	ftz, sat, relu := c.has("ftz"), c.has("sat"), c.has("relu")
	var x *big.Float
	negative := false
	if fromFloat {
		v := sf.decode(bits, ftz && src == "f32")
		negative = v.negative
		switch {
		case v.nan && toFloat:
			return df.finish(df.nan(), ftz, sat, relu), nil, dst != "f64"
		case v.nan:
			n := 8 * typeBytes(dst)
			if src == "f64" || n == 64 {
				return 1 << (n - 1), nil, true
			}
			return 0, nil, true
		case v.inf && toFloat:
			b := df.inf()
			if v.negative {
				b |= df.sign()
			}
			return df.finish(b, ftz, sat, relu), nil, true
		case v.inf:
			x = newBig().SetMantExp(big.NewFloat(1), 100)
			if v.negative {
				x.Neg(x)
			}
		default:
			x = v.x
		}
	} else {
		n := uint(8 * typeBytes(src))
		i := new(big.Int).SetUint64(bits & (1<<(n-1)<<1 - 1))
		if src[0] == 's' && i.Bit(int(n-1)) == 1 {
			i.Sub(i, new(big.Int).Lsh(big.NewInt(1), n))
		}
		x = newBig().SetInt(i)
	}
	if integral != "" {
		x = newBig().SetInt(roundInteger(x, integral))
		mode = "rn"
	}
	if toFloat {
		return df.finish(df.encode(x, mode, negative), ftz && dst == "f32", sat, relu), nil, true
	}
	i, _ := x.Int(nil)
	n := uint(8 * typeBytes(dst))
	low, high := big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))
	if dst[0] == 's' {
		high.Rsh(high, 1)
		low.Sub(low, high).Sub(low, big.NewInt(1))
	}
	if fromFloat || sat {
		if i.Cmp(low) < 0 {
			i = low
		} else if i.Cmp(high) > 0 {
			i = high
		}
	}
	wrapped := new(big.Int).Mod(i, new(big.Int).Lsh(big.NewInt(1), n)).Uint64()
	if dst[0] == 's' { // extended to the register
		shift := 64 - n
		wrapped = uint64(int64(wrapped<<shift) >> shift)
	}
	return wrapped, nil, true
}

// roundInteger rounds to an integer in a mode.
func roundInteger(x *big.Float, mode string) *big.Int {
	n, _ := x.Int(nil) // towards zero
	rest := newBig().Sub(x, newBig().SetInt(n))
	step := int64(rest.Sign())
	switch mode {
	case "rn":
		half := newBig().Abs(rest).Cmp(big.NewFloat(0.5))
		if half > 0 || half == 0 && n.Bit(0) == 1 {
			n.Add(n, big.NewInt(step))
		}
	case "rm":
		if step < 0 {
			n.Sub(n, big.NewInt(1))
		}
	case "rp":
		if step > 0 {
			n.Add(n, big.NewInt(1))
		}
	}
	return n
}

// Every conversion that PTX allows between scalar types, in every rounding mode.
func TestConvert(t *testing.T) {
	d := openTest(t, testProfile())
	types := strings.Fields("u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64")
	r := rand.New(rand.NewPCG(3, 4))
	count := 0
	for _, dst := range types {
		for _, src := range types {
			for _, mode := range []string{"", ".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"} {
				for _, extra := range []string{"", ".ftz", ".sat", ".ftz.sat"} {
					c := &conversion{dst: dst, src: src, ftz: strings.Contains(extra, "ftz"), sat: strings.Contains(extra, "sat")}
					if _, ok := integralModes[strings.TrimPrefix(mode, ".")]; ok {
						c.integral = mode
					}
					if c.check(strings.TrimPrefix(mode, ".")) != "" || r.IntN(3) > 0 {
						continue
					}
					count++
					runOp(t, d, "cvt"+mode+extra+"."+dst+"."+src, &row{dst: dst, src: []string{src}})
				}
			}
		}
	}
	t.Logf("%d spellings", count)
}

// f16 and bf16 to f32 and back, all 65,536 values, against the definition.
func TestHalvesExhaustive(t *testing.T) {
	f16, bf16, f32 := formats["f16"], formats["bf16"], formats["f32"]
	for h := range uint64(1 << 16) {
		for _, c := range []struct {
			f    format
			up   func(uint16) float32
			down func(float32) uint16
		}{{f16, halfToFloat, floatToHalf}, {bf16, bfloatToFloat, floatToBfloat}} {
			v := c.f.decode(h, false)
			up := c.up(uint16(h))
			if v.nan {
				if up == up || c.down(up) != 0x7fff {
					t.Fatalf("%#x: NaN became %v, %#x", h, up, c.down(up))
				}
				continue
			}
			want := uint64(math.Float32bits(float32(math.Inf(1))))
			if !v.inf {
				want = f32.encode(v.x, "rn", v.negative)
			} else if v.negative {
				want |= 1 << 31
			}
			if uint64(math.Float32bits(up)) != want || uint64(c.down(up)) != h {
				t.Fatalf("%#x: %v, back %#x", h, up, c.down(up))
			}
			// Between two neighbours the nearer one wins, and on a tie the even one.
			if h&0x7fff < c.f.inf()-1 {
				next := c.up(uint16(h + 1))
				middle := up + (next-up)/2
				for _, x := range []float32{middle, math.Nextafter32(middle, up), math.Nextafter32(middle, next)} {
					if want := c.f.encode(newBig().SetFloat64(float64(x)), "rn", x == 0 && math.Signbit(float64(x))); uint64(c.down(x)) != want {
						t.Fatalf("%v became %#x, want %#x", x, c.down(x), want)
					}
				}
			}
		}
	}
}
