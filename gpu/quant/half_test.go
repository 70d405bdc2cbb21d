package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"
)

// value is the number that a format with the given widths encodes, from the definition in IEEE 754: (−1)^s · 2^(e−bias) ·
// (1 + m/2^mbits), without any of the package's bit tricks.
func value(bits uint16, exponentBits, mantissaBits int) float64 {
	bias := 1<<(exponentBits-1) - 1
	e := int(bits>>mantissaBits) & (1<<exponentBits - 1)
	m := float64(bits & (1<<mantissaBits - 1))
	sign := 1.0
	if bits>>15 == 1 {
		sign = -1
	}
	switch {
	case e == 1<<exponentBits-1 && m == 0:
		return sign * math.Inf(1)
	case e == 1<<exponentBits-1:
		return math.NaN()
	case e == 0:
		return sign * math.Ldexp(m, 1-bias-mantissaBits)
	}
	return sign * math.Ldexp(1+m/math.Ldexp(1, mantissaBits), e-bias)
}

func same(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return a == b && math.Signbit(a) == math.Signbit(b)
}

// halfFormats are the two under test with their widths.
var halfFormats = []struct {
	name                       string
	exponentBits, mantissaBits int
	widen                      func(uint16) float32
	narrow                     func(float32) uint16
}{
	{"f16", 5, 10, F16ToFloat32, F16FromFloat32},
	{"bf16", 8, 7, BF16ToFloat32, BF16FromFloat32},
}

func TestEveryValue(t *testing.T) {
	for _, f := range halfFormats {
		for i := range 1 << 16 {
			h := uint16(i)
			want := value(h, f.exponentBits, f.mantissaBits)
			wide := f.widen(h)
			if !same(float64(wide), want) {
				t.Fatalf("%s %#04x widens to %v, want %v", f.name, h, wide, want)
			}
			back := f.narrow(wide)
			if math.IsNaN(want) {
				if back != 0x7fff {
					t.Fatalf("%s NaN %#04x narrows to %#04x, want 0x7fff", f.name, h, back)
				}
			} else if back != h {
				t.Fatalf("%s %#04x → %v → %#04x", f.name, h, wide, back)
			}
		}
	}
}

// TestTies checks both sides of every rounding boundary: the midpoint goes to the even neighbour, one float32 step to
// either side goes to the nearer one.
func TestTies(t *testing.T) {
	for _, f := range halfFormats {
		largest := uint16(1<<15-1) - (1<<f.mantissaBits - 1) - 1
		for h := uint16(0); h < largest; h++ {
			low, high := value(h, f.exponentBits, f.mantissaBits), value(h+1, f.exponentBits, f.mantissaBits)
			middle := float32((low + high) / 2)
			if float64(middle) != (low+high)/2 {
				continue // below float32's own resolution (bf16 subnormals)
			}
			even := h + h&1
			for _, c := range []struct {
				in   float32
				want uint16
			}{{middle, even}, {math.Nextafter32(middle, 0), h}, {math.Nextafter32(middle, math.MaxFloat32), h + 1}} {
				if got := f.narrow(c.in); got != c.want {
					t.Fatalf("%s: %v narrows to %#04x, want %#04x", f.name, c.in, got, c.want)
				}
				if got := f.narrow(-c.in); got != c.want|0x8000 {
					t.Fatalf("%s: %v narrows to %#04x, want %#04x", f.name, -c.in, got, c.want|0x8000)
				}
			}
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		in   float32
		want uint16
	}{
		{65519.996, 0x7bff}, {65520, 0x7c00}, {1e30, 0x7c00}, {-65520, 0xfc00}, {float32(math.Inf(-1)), 0xfc00},
	} {
		if got := F16FromFloat32(c.in); got != c.want {
			t.Errorf("f16 of %v is %#04x, want %#04x", c.in, got, c.want)
		}
	}
	if got := BF16FromFloat32(math.MaxFloat32); got != 0x7f80 {
		t.Errorf("bf16 of the largest float32 is %#04x, want infinity", got)
	}
}

// TestAgainstLibrary compares random bit patterns with an implementation by others.
func TestAgainstLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		f := math.Float32frombits(r.Uint32())
		if f != f {
			continue
		}
		if got, want := F16FromFloat32(f), float16.Fromfloat32(f).Bits(); got != want {
			t.Fatalf("f16 of %v (%#08x) is %#04x, the library has %#04x", f, math.Float32bits(f), got, want)
		}
	}
}
