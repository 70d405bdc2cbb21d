package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

// machine is the virtual GPU that the jobs run on. The first error stays, and later calls do nothing.
type machine struct {
	ctx context.Context
	dev *vgpu.Device
	rnd *rand.Rand
	err error
}

func newMachine(ctx context.Context, profile *perf.Profile) (*machine, error) {
	d, err := vgpu.Open(profile)
	if err != nil {
		return nil, err
	}
	v, ok := d.(*vgpu.Device)
	if !ok {
		return nil, errors.New("bench vgpu: the device is not the virtual GPU")
	}
	return &machine{ctx: ctx, dev: v, rnd: rand.New(rand.NewPCG(1, 2))}, nil
}

// bytesOf lays a slice of numbers out as device memory holds it.
func bytesOf(values any) ([]byte, error) { return binary.Append(nil, binary.LittleEndian, values) }

// put allocates memory and writes values to it.
func (m *machine) put(values any) driver.Address {
	if m.err != nil {
		return 0
	}
	b, err := bytesOf(values)
	var a driver.Address
	if err == nil {
		a, err = m.dev.Alloc(int64(len(b)))
	}
	if err == nil {
		err = m.dev.CopyIn(a, b, nil)
	}
	m.err = err
	return a
}

// get reads values back into a slice.
func (m *machine) get(a driver.Address, into any) {
	if m.err != nil {
		return
	}
	b := make([]byte, binary.Size(into))
	if m.err = m.dev.CopyOut(b, a, nil); m.err == nil {
		_, m.err = binary.Decode(b, binary.LittleEndian, into)
	}
}

// free gives memory back.
func (m *machine) free(list ...driver.Address) {
	for _, a := range list {
		if err := m.dev.Free(a); m.err == nil {
			m.err = err
		}
	}
}

// floats are n numbers between -1 and 1.
func (m *machine) floats(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*m.rnd.Float32() - 1
	}
	return v
}

// truncated are n numbers between -1 and 1 with so many bits after the leading one, and the bits of their 16-bit format:
// 10 for f16, 7 for bf16. Both hold them exactly.
func (m *machine) truncated(n, bits int) (values []float32, words []uint16) {
	values, words = make([]float32, n), make([]uint16, n)
	for i := range values {
		// From 1/16 to 1, so that f16 has no denormals among them.
		x := math.Float32frombits(math.Float32bits(float32(1+15*m.rnd.Float64())/16) &^ (1<<(23-bits) - 1))
		if m.rnd.IntN(2) == 0 {
			x = -x
		}
		b := math.Float32bits(x)
		values[i], words[i] = x, uint16(b>>16)
		if bits == 10 {
			words[i] = uint16(b>>16&0x8000 | (b&0x7fffffff-112<<23)>>13)
		}
	}
	return values, words
}

// halfValue is the value of a finite f16.
func halfValue(h uint16) float64 {
	sign := 1.0
	if h>>15 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&1023)
	if exponent == 0 {
		return sign * math.Ldexp(fraction, -24)
	}
	if exponent == 31 {
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// launcher is a function with its arguments laid out.
type launcher struct {
	launch driver.Launch
	reset  func() // before each run, outside its time; nil where results are overwritten
}

// load makes a launcher of a function in PTX text.
func (m *machine) load(name, ptx, function string, grid, cta driver.Dim3, args ...any) launcher {
	if m.err != nil {
		return launcher{}
	}
	if ptx == "" {
		m.err = fmt.Errorf("bench vgpu: the PTX of %s is missing", name)
		return launcher{}
	}
	module, err := m.dev.LoadPTX(ptx, driver.LoadOptions{Name: name + ".ptx"})
	var f driver.Function
	if err == nil {
		f, err = module.Function(function)
	}
	if err != nil {
		m.err = err
		return launcher{}
	}
	var packed []byte
	for i, p := range f.Params() {
		for len(packed) < p.Offset {
			packed = append(packed, 0)
		}
		if i < len(args) && err == nil {
			packed, err = binary.Append(packed, binary.LittleEndian, args[i])
		}
	}
	m.err = err
	return launcher{launch: driver.Launch{Function: f, Grid: grid, CTA: cta, Args: packed, Wait: true, Count: true}}
}

// run executes it once.
func (m *machine) run(l *launcher, counted bool) *driver.Result {
	if m.err != nil {
		return nil
	}
	if l.reset != nil {
		l.reset()
	}
	launch := l.launch
	launch.Count = counted
	r, err := m.dev.Launch(m.ctx, &launch)
	m.err = err
	return r
}

func dim(extents ...uint32) driver.Dim3 {
	d := [3]uint32{1, 1, 1}
	copy(d[:], extents)
	return driver.Dim3{X: d[0], Y: d[1], Z: d[2]}
}
