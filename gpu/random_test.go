package gpu

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// TestProceduralIsRandn: the same values as an ordinary tensor of the seed, from the first to the last, and read back from
// any place.
func TestProceduralIsRandn(t *testing.T) {
	d := fresh(t, "h200")
	for _, dtype := range []DType{F16, BF16, F32, F64} {
		for _, n := range []int{1, 3, 70_000, 300_001} {
			d.Seed(5)
			want, p := d.Randn(dtype, n), d.Procedural(dtype, 5, n)
			if a, b := want.Buffer().CopyOut(), p.Buffer().CopyOut(); !bytes.Equal(a, b) {
				t.Errorf("%s, %d elements: procedural contents differ from Randn's", dtype, n)
			}
			if n > 1000 && !reflect.DeepEqual(want.Slice(n-999, n-1).Float32s(), p.Slice(n-999, n-1).Float32s()) {
				t.Errorf("%s, %d elements: a slice differs", dtype, n)
			}
		}
	}
	x := d.Procedural(U8, 1, 1<<20).Float32s()
	var count [256]int
	for _, v := range x {
		count[int(v)]++
	}
	for v, n := range count {
		if math.Abs(float64(n)-4096) > 6*64 {
			t.Errorf("byte %d occurs %d times among 2²⁰, expected 4096 ± 384", v, n)
		}
	}
	if e := d.Procedural(F16, 1, 0, 4); e.Len() != 0 || e.Bytes() != 0 {
		t.Errorf("an empty one: %v", e)
	}
}

// The quantile table against the normal distribution: P(x < q) for values known from tables.
func TestNormalQuantiles(t *testing.T) {
	buf := make([]byte, 4<<20)
	fillNormal(F32, streamOf(1, 2), 0, buf)
	n := len(buf) / 4
	for _, c := range []struct{ below, p float64 }{{-3, 0.0013499}, {-1.959964, 0.025}, {-1, 0.1586553}, {0, 0.5}, {0.6744898, 0.75}, {2.326348, 0.99}} {
		count := 0
		for i := range n {
			if F32.get(buf[4*i:]) < c.below {
				count++
			}
		}
		if got, within := float64(count)/float64(n), 5*math.Sqrt(c.p*(1-c.p)/float64(n)); math.Abs(got-c.p) > within {
			t.Errorf("P(x < %v) = %v, want %v ± %.2g", c.below, got, c.p, within)
		}
	}
}

func TestProceduralIsReadOnly(t *testing.T) {
	d := fresh(t, "h200")
	p := d.Procedural(F32, 1, 64)
	wantError(t, p.Fill(1), "Fill: tensor f32 [64] is procedural: its contents are made from a seed and cannot be changed\nwrite to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn")
	wantError(t, p.CopyFrom(make([]float32, 64)), "CopyFrom: tensor f32 [64] is procedural: its contents are made from a seed and cannot be changed\nwrite to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn")
	wantError(t, p.Buffer().CopyIn([]byte{1}), "CopyIn: buffer of 256 B is procedural: its contents are made from a seed and cannot be changed\nwrite to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn")
	err := load(t, d, "scale").Launch(Threads(64, 32), p, 2, 64)
	wantError(t, err, fmt.Sprintf("virtual GPU: ptx:33: st.global.f32 write to read-only memory\nCTA (0,0,0) warp 0 lane 0: address 0x%x, in the procedural allocation 0x%x of 256 B\nwrite to a tensor of its own: dev.Empty, dev.Zeros or dev.Randn", p.Address(), p.Address()))
}

func BenchmarkFillNormal(b *testing.B) {
	buf := make([]byte, 64<<10)
	for _, dtype := range []DType{F16, BF16, F32} {
		b.Run(dtype.String(), func(b *testing.B) {
			b.SetBytes(int64(len(buf)))
			for range b.N {
				fillNormal(dtype, 1, 0, buf)
			}
		})
	}
}
