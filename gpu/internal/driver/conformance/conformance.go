// Package conformance holds the tests that every device behind the driver seam must pass: memory, modules, arguments,
// launches, faults, streams and events, and refusal of bad input. They know nothing of the device but the seam, so that what
// they prove on the virtual GPU they prove in the same words on a real one.
package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// Run tests a device; open makes a fresh one, which the suite closes.
func Run(t *testing.T, open func() (driver.Device, error)) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *bench)
	}{
		{"properties", testProperties},
		{"memory", testMemory},
		{"copies at odd offsets", testOddCopies},
		{"fill", testFill},
		{"bad memory operations", testBadMemory},
		{"module", testModule},
		{"bad modules", testBadModules},
		{"module variables", testGlobals},
		{"arguments", testArguments},
		{"one dimension, ragged", testScale},
		{"three dimensions, ragged", testPlaces},
		{"shared memory", testShared},
		{"bad launches", testBadLaunches},
		{"faults", testFaults},
		{"interrupt", testInterrupt},
		{"streams and events", testStreams},
		{"capabilities", testCapabilities},
		{"several goroutines", testGoroutines},
		{"closed", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := open()
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			defer d.Close()
			c.test(t, &bench{T: t, d: d})
		})
	}
}

// bench is a device under test with helpers that end the test on an error.
type bench struct {
	*testing.T
	d driver.Device
	m driver.Module
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) alloc(bytes int64) driver.Address {
	b.Helper()
	a, err := b.d.Alloc(bytes)
	b.must(err)
	return a
}

func (b *bench) upload(data []byte) driver.Address {
	b.Helper()
	a := b.alloc(int64(len(data)))
	b.must(b.d.CopyIn(a, data, nil))
	return a
}

func (b *bench) download(a driver.Address, bytes int) []byte {
	b.Helper()
	out := make([]byte, bytes)
	b.must(b.d.CopyOut(out, a, nil))
	return out
}

func (b *bench) function(name string) driver.Function {
	b.Helper()
	if b.m == nil {
		m, err := b.d.LoadPTX(PTX, driver.LoadOptions{Name: "conformance"})
		b.must(err)
		b.m = m
	}
	f, err := b.m.Function(name)
	b.must(err)
	return f
}

// launch packs args by the entry's parameters and runs the function to its end.
func (b *bench) launch(name string, grid, cta driver.Dim3, shared int, args ...any) (*driver.Result, error) {
	b.Helper()
	f := b.function(name)
	return b.d.Launch(context.Background(), &driver.Launch{Function: f, Grid: grid, CTA: cta, Shared: shared,
		Args: b.pack(f, args...), Wait: true, Count: true})
}

// pack lays arguments out at the offsets that the function declares.
func (b *bench) pack(f driver.Function, args ...any) []byte {
	b.Helper()
	params := f.Params()
	if len(params) != len(args) {
		b.Fatalf("%s has %d parameters, the test gives %d", f.Name(), len(params), len(args))
	}
	var out []byte
	for i, p := range params {
		var field bytes.Buffer
		if err := binary.Write(&field, binary.LittleEndian, args[i]); err != nil {
			b.Fatal(err)
		}
		if field.Len() != p.Size {
			b.Fatalf("%s: parameter %s has %d B, the test gives %d", f.Name(), p.Name, p.Size, field.Len())
		}
		for len(out) < p.Offset+p.Size {
			out = append(out, 0)
		}
		copy(out[p.Offset:], field.Bytes())
	}
	return out
}

func dim(x, y, z uint32) driver.Dim3 { return driver.Dim3{X: x, Y: y, Z: z} }

func testProperties(t *testing.T, b *bench) {
	p := b.d.Properties()
	if p.Name == "" || p.Model == "" || p.WarpSize != 32 || p.SMs < 1 || p.ComputeMajor < 5 || p.MaxThreadsPerCTA != 1024 ||
		p.SharedPerCTA != 48<<10 || p.SharedPerCTAOptin < p.SharedPerCTA || p.SharedPerSM < p.SharedPerCTAOptin ||
		p.RegistersPerSM != 65536 || p.L2Bytes <= 0 || !(p.ClockHz > 1e8) || p.MemoryBytes < 1<<30 {
		t.Errorf("properties are implausible: %+v", p)
	}
	if p.MaxCTADim != dim(1024, 1024, 64) || p.MaxGridDim != dim(math.MaxInt32, 65535, 65535) {
		t.Errorf("extents %v and %v are not CUDA's", p.MaxCTADim, p.MaxGridDim)
	}
	if b.d.Profile() == nil {
		t.Error("no profile")
	}
}

func testMemory(t *testing.T, b *bench) {
	_, total := b.d.MemoryInfo()
	free, _ := b.d.MemoryInfo()
	if total <= 0 || free <= 0 || free > total {
		t.Errorf("%d of %d B free", free, total)
	}
	var addresses []driver.Address
	for _, size := range []int64{1, 3, 255, 256, 257, 4096, 1<<20 + 7} {
		a := b.alloc(size)
		if a == 0 || a%256 != 0 {
			t.Errorf("allocation of %d B at %#x is not 256-byte aligned", size, a)
		}
		data := pattern(int(size), byte(size))
		b.must(b.d.CopyIn(a, data, nil))
		if !bytes.Equal(b.download(a, int(size)), data) {
			t.Errorf("%d B do not come back", size)
		}
		addresses = append(addresses, a)
	}
	for i, a := range addresses {
		for _, other := range addresses[:i] {
			if a == other {
				t.Errorf("two live allocations at %#x", a)
			}
		}
	}
	if after, _ := b.d.MemoryInfo(); after >= free {
		t.Errorf("%d B free before, %d after allocating 1 MiB", free, after)
	}
	for _, a := range addresses {
		b.must(b.d.Free(a))
	}
	if after, _ := b.d.MemoryInfo(); after != free {
		t.Errorf("%d B free at first, %d after everything was freed", free, after)
	}
}

func pattern(n int, seed byte) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i)*7 ^ byte(i>>8) ^ seed
	}
	return out
}

func testOddCopies(t *testing.T, b *bench) {
	data := pattern(1000, 3)
	from, to := b.upload(data), b.upload(make([]byte, 1000))
	b.must(b.d.Copy(to+13, from+7, 501, nil))
	want := make([]byte, 1000)
	copy(want[13:], data[7:508])
	if !bytes.Equal(b.download(to, 1000), want) {
		t.Error("a copy on the device at odd offsets is wrong")
	}
	b.must(b.d.CopyIn(to+999, []byte{42}, nil))
	if got := b.download(to+998, 2); got[1] != 42 || got[0] != want[998] {
		t.Errorf("the last byte: %v", got)
	}
	b.must(b.d.CopyIn(to, nil, nil))
	b.must(b.d.CopyOut(nil, to, nil))
	b.must(b.d.Copy(to, from, 0, nil))
}

func testFill(t *testing.T, b *bench) {
	for _, p := range [][]byte{{0xab}, {1, 2}, {1, 2, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}} {
		a := b.upload(make([]byte, 1000))
		b.must(b.d.Fill(a+8, p, 100, nil))
		want := make([]byte, 1000)
		copy(want[8:], bytes.Repeat(p, 100))
		if !bytes.Equal(b.download(a, 1000), want) {
			t.Errorf("fill with %d-byte patterns is wrong", len(p))
		}
	}
	if b.d.Fill(b.alloc(64), []byte{1, 2, 3}, 4, nil) == nil {
		t.Error("a pattern of 3 bytes was accepted")
	}
}

func testBadMemory(t *testing.T, b *bench) {
	a := b.alloc(64)
	freed := b.alloc(64)
	b.must(b.d.Free(freed))
	_, total := b.d.MemoryInfo()
	for name, operation := range map[string]func() error{
		"allocate nothing":          func() error { _, err := b.d.Alloc(0); return err },
		"allocate a negative size":  func() error { _, err := b.d.Alloc(-1); return err },
		"allocate more than all":    func() error { _, err := b.d.Alloc(total + 1); return err },
		"free twice":                func() error { return b.d.Free(freed) },
		"free inside":               func() error { return b.d.Free(a + 8) },
		"free null":                 func() error { return b.d.Free(0) },
		"copy in past the end":      func() error { return b.d.CopyIn(a+60, make([]byte, 5), nil) },
		"copy out past the end":     func() error { return b.d.CopyOut(make([]byte, 65), a, nil) },
		"copy out of freed memory":  func() error { return b.d.CopyOut(make([]byte, 4), freed, nil) },
		"copy in to null":           func() error { return b.d.CopyIn(0, make([]byte, 4), nil) },
		"copy past the end":         func() error { return b.d.Copy(a, a+32, 33, nil) },
		"copy a negative size":      func() error { return b.d.Copy(a, a, -1, nil) },
		"fill past the end":         func() error { return b.d.Fill(a, []byte{1, 2, 3, 4}, 17, nil) },
		"fill a huge count":         func() error { return b.d.Fill(a, []byte{1, 2, 3, 4}, math.MaxInt64/2, nil) },
		"copy to a wrapped address": func() error { return b.d.CopyIn(math.MaxUint64-2, make([]byte, 8), nil) },
	} {
		if err := operation(); err == nil || err.Error() == "" {
			t.Errorf("%s: no error", name)
		}
	}
}

func testModule(t *testing.T, b *bench) {
	f := b.function("scale")
	names := b.m.Functions()
	for _, want := range []string{"scale", "places", "arguments", "reverse", "count", "poke", "spin"} {
		found := false
		for _, n := range names {
			found = found || n == want
		}
		if !found {
			t.Errorf("Functions() = %v lacks %s", names, want)
		}
	}
	params := f.Params()
	if len(params) != 3 || params[0].Size != 8 || params[0].Offset != 0 || params[1].Type != "f32" || params[1].Size != 4 ||
		params[1].Offset != 8 || params[2].Type != "u32" || params[2].Offset != 12 {
		t.Errorf("parameters of scale: %+v", params)
	}
	if d := b.function("arguments").Params(); len(d) != 7 || d[6].Offset != 32 || d[6].Align != 8 || d[2].Offset != 10 {
		t.Errorf("parameters of arguments: %+v", d)
	}
	a := f.Attributes()
	if a.Registers < 1 || a.Registers > 255 || a.Estimated && !(a.RegistersLow <= a.Registers && a.Registers <= a.RegistersHigh) {
		t.Errorf("attributes of scale: %+v", a)
	}
	if _, err := b.m.Function("absent"); err == nil || !strings.Contains(err.Error(), "scale") {
		t.Errorf("the error of a missing function should list what there is, got: %v", err)
	}
	b.must(b.m.Unload())
	b.m = nil
	if _, err := b.launch("scale", dim(1, 1, 1), dim(32, 1, 1), 0, uint64(b.alloc(128)), float32(2), uint32(0)); err != nil {
		t.Errorf("after unloading and loading again: %v", err)
	}
}

func testBadModules(t *testing.T, b *bench) {
	for name, text := range map[string]string{
		"empty":               "",
		"no PTX":              "hello",
		"syntax":              strings.Replace(PTX, "ld.param.u64 %rd1, [scale_x];", "ld.param.u64 %rd1, [scale_x;", 1),
		"unknown instruction": strings.Replace(PTX, "mul.f32 %f3", "frobnicate.f32 %f3", 1),
		"undefined register":  strings.Replace(PTX, "mul.f32 %f3, %f1, %f2;", "mul.f32 %f3, %f1, %f99;", 1),
		"undefined label":     strings.Replace(PTX, "bra.uni AGAIN;", "bra.uni NOWHERE;", 1),
		"cut off":             PTX[:len(PTX)/2],
		"not UTF-8":           "\xff\xfe\x00" + PTX,
	} {
		m, err := b.d.LoadPTX(text, driver.LoadOptions{Name: "bad"})
		if err == nil {
			t.Errorf("%s: loaded with functions %v", name, m.Functions())
		} else if err.Error() == "" {
			t.Errorf("%s: empty error", name)
		}
	}
}

func testGlobals(t *testing.T, b *bench) {
	b.function("count")
	a, size, err := b.m.Global("counter")
	b.must(err)
	if size != 4 {
		t.Errorf("counter has %d B", size)
	}
	for range 3 {
		_, err := b.launch("count", dim(1, 1, 1), dim(1, 1, 1), 0)
		b.must(err)
	}
	if got := binary.LittleEndian.Uint32(b.download(a, 4)); got != 10 {
		t.Errorf("counter is %d after three launches, want 7 + 3", got)
	}
	if _, _, err := b.m.Global("absent"); err == nil {
		t.Error("a missing variable was found")
	}
}

func testArguments(t *testing.T, b *bench) {
	out := b.upload(make([]byte, 48))
	_, err := b.launch("arguments", dim(1, 1, 1), dim(1, 1, 1), 0, uint64(out), uint8(0xfe), uint16(0xabcd), uint32(0xdeadbeef),
		uint64(0x0123456789abcdef), float32(-1.5), math.Pi)
	b.must(err)
	want := make([]byte, 48)
	want[0] = 0xfe
	binary.LittleEndian.PutUint16(want[8:], 0xabcd)
	binary.LittleEndian.PutUint32(want[16:], 0xdeadbeef)
	binary.LittleEndian.PutUint64(want[24:], 0x0123456789abcdef)
	binary.LittleEndian.PutUint32(want[32:], math.Float32bits(-1.5))
	binary.LittleEndian.PutUint64(want[40:], math.Float64bits(math.Pi))
	if got := b.download(out, 48); !bytes.Equal(got, want) {
		t.Errorf("parameters arrive as % x\nwant % x", got, want)
	}
}

func floats(values ...float32) []byte {
	out := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(v))
	}
	return out
}

func testScale(t *testing.T, b *bench) {
	for _, n := range []int{1, 31, 32, 33, 127, 128, 129, 4095} {
		values := make([]float32, n+1)
		for i := range values {
			values[i] = float32(i) + .25
		}
		x := b.upload(floats(values...))
		r, err := b.launch("scale", dim(uint32((n+127)/128), 1, 1), dim(128, 1, 1), 0, uint64(x), float32(-2), uint32(n))
		b.must(err)
		for i := range n {
			values[i] *= -2
		}
		if !bytes.Equal(b.download(x, 4*(n+1)), floats(values...)) {
			t.Errorf("n = %d: wrong values", n)
		}
		if b.d.Capability(driver.Counting) == "" {
			checkScaleCounts(t, n, r, x)
		}
	}
}

// checkScaleCounts compares the exact counters with closed forms: one load and one store of 4 B a thread with i < n.
func checkScaleCounts(t *testing.T, n int, r *driver.Result, x driver.Address) {
	c, u := r.Counts, uint64(n)
	requests, sectors := (u+31)/32, (4*u+31)/32
	if c.GlobalLoad.Lanes != u || c.GlobalLoad.Bytes != 4*u || c.GlobalLoad.Requests != requests || c.GlobalLoad.Sectors != sectors ||
		c.GlobalStore.Sectors != sectors || c.FLOPs[0] != u || c.CTAs != uint64((n+127)/128) || r.Executed != c.CTAs || r.Sampled != 1 {
		t.Errorf("n = %d: want %d lanes, %d requests, %d sectors, %d FLOP in %d CTAs; counters %+v, executed %d, sampled %d", n, u, requests, sectors, u, (n+127)/128, c, r.Executed, r.Sampled)
	}
	if len(r.Touched) != 1 || r.Touched[0] != (driver.Touched{Base: x, Bytes: r.Touched[0].Bytes, Read: true, Written: true}) || r.Touched[0].Bytes < int64(4*n) {
		t.Errorf("n = %d: touched %+v, want %#x read and written", n, r.Touched, x)
	}
}

func testPlaces(t *testing.T, b *bench) {
	for _, c := range []struct{ grid, cta driver.Dim3 }{
		{dim(1, 1, 1), dim(1, 1, 1)}, {dim(3, 1, 1), dim(33, 1, 1)}, {dim(2, 3, 1), dim(5, 7, 1)}, {dim(2, 3, 4), dim(7, 3, 5)},
		{dim(1, 1, 5), dim(1, 1, 64)}, {dim(1, 4, 1), dim(1, 1024, 1)}, {dim(70000, 1, 1), dim(1, 1, 1)},
	} {
		total := int(c.grid.Count() * c.cta.Count())
		out := b.alloc(int64(4 * total))
		b.must(b.d.Fill(out, []byte{0xff, 0xff, 0xff, 0xff}, int64(total), nil))
		_, err := b.launch("places", c.grid, c.cta, 0, uint64(out))
		b.must(err)
		got := b.download(out, 4*total)
		for i := range total {
			if v := binary.LittleEndian.Uint32(got[4*i:]); v != uint32(i) {
				t.Errorf("grid %v CTA %v: place %d holds %d", c.grid, c.cta, i, v)
				break
			}
		}
	}
}

func testShared(t *testing.T, b *bench) {
	const ctas, threads = 3, 64
	in := make([]byte, 4*ctas*threads)
	want := make([]byte, len(in))
	for c := range ctas {
		for i := range threads {
			binary.LittleEndian.PutUint32(in[4*(c*threads+i):], uint32(1000*c+i))
			binary.LittleEndian.PutUint32(want[4*(c*threads+threads-1-i):], uint32(1000*c+i))
		}
	}
	x := b.upload(in)
	_, err := b.launch("reverse", dim(ctas, 1, 1), dim(threads, 1, 1), 4*threads, uint64(x))
	b.must(err)
	if !bytes.Equal(b.download(x, len(in)), want) {
		t.Error("64 elements of a CTA are not reversed")
	}
	p := b.d.Properties()
	f := b.function("reverse")
	if b.d.Capability(driver.LargeShared) == "" && p.SharedPerCTAOptin > p.SharedPerCTA {
		b.must(f.SetMaxDynamicShared(p.SharedPerCTAOptin))
		b.must(b.d.CopyIn(x, in, nil))
		_, err := b.launch("reverse", dim(ctas, 1, 1), dim(threads, 1, 1), p.SharedPerCTAOptin, uint64(x))
		b.must(err)
		if !bytes.Equal(b.download(x, len(in)), want) {
			t.Error("wrong with all shared memory that a CTA can have")
		}
	}
	if f.SetMaxDynamicShared(p.SharedPerCTAOptin+1) == nil {
		t.Error("more shared memory than an SM has was accepted")
	}
}

func testBadLaunches(t *testing.T, b *bench) {
	x := b.upload(make([]byte, 4096))
	f := b.function("scale")
	good := b.pack(f, uint64(x), float32(2), uint32(32))
	for name, l := range map[string]driver.Launch{
		"no function":          {Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Args: good},
		"no CTAs":              {Function: f, Grid: dim(0, 1, 1), CTA: dim(32, 1, 1), Args: good},
		"no threads":           {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 0, 1), Args: good},
		"1,025 threads":        {Function: f, Grid: dim(1, 1, 1), CTA: dim(1025, 1, 1), Args: good},
		"1,056 threads":        {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 33, 1), Args: good},
		"CTA too deep":         {Function: f, Grid: dim(1, 1, 1), CTA: dim(1, 1, 65), Args: good},
		"grid too high":        {Function: f, Grid: dim(1, 65536, 1), CTA: dim(1, 1, 1), Args: good},
		"arguments cut off":    {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Args: good[:8]},
		"no arguments":         {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1)},
		"too much shared":      {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Args: good, Shared: b.d.Properties().SharedPerCTAOptin + 1},
		"negative shared":      {Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Args: good, Shared: -1},
		"shared not opted for": {Function: b.function("reverse"), Grid: dim(1, 1, 1), CTA: dim(64, 1, 1), Args: good[:8], Shared: 48<<10 + 4},
	} {
		l.Wait, l.Count = true, true
		if _, err := b.d.Launch(context.Background(), &l); err == nil || err.Error() == "" {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := b.d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Args: good, Wait: true}); err != nil {
		t.Errorf("a good launch after the bad ones: %v", err)
	}
}

// fault launches poke so that CTA (1,0,0), lane 5 stores four bytes at p + offset.
func (b *bench) fault(p driver.Address, offset int64) (*driver.Fault, error) {
	b.Helper()
	_, err := b.launch("poke", dim(3, 1, 1), dim(32, 1, 1), 0, uint64(p), uint64(offset))
	var f *driver.Fault
	if errors.As(err, &f) {
		return f, err
	}
	return nil, err
}

func testFaults(t *testing.T, b *bench) {
	if !b.d.Properties().Virtual {
		testLostContexts(t, b)
		return
	}
	a := b.alloc(64)
	freed := b.alloc(64)
	b.must(b.d.Free(freed))
	if _, err := b.fault(a, 60); err != nil {
		t.Errorf("a store to the last four bytes: %v", err)
	}
	for _, c := range []struct {
		name    string
		p       driver.Address
		offset  int64
		kind    driver.FaultKind
		address driver.Address
	}{
		{"past the end", a, 64, driver.OutOfBounds, a + 64},
		{"far past the end", a, 1 << 40, driver.OutOfBounds, a + 1<<40},
		{"before the start", a, -4, driver.OutOfBounds, a - 4},
		{"null", 0, 0, driver.OutOfBounds, 0},
		{"freed", freed, 0, driver.OutOfBounds, freed},
		{"misaligned", a, 2, driver.Misaligned, a + 2},
	} {
		f, err := b.fault(c.p, c.offset)
		if f == nil {
			t.Errorf("%s: no fault, error %v", c.name, err)
			continue
		}
		if f.Kind != c.kind || f.Address != uint64(c.address) || f.CTA != [3]uint32{1, 0, 0} || f.Warp != 0 || f.Lane != 5 ||
			f.Function != "poke" || f.Module != "conformance" || f.Space != "global" || f.Bytes != 4 || f.Instruction != "st.global.u32" || f.PTXLine < 1 {
			t.Errorf("%s: fault %+v", c.name, *f)
		}
		if !strings.HasPrefix(f.Error(), fmt.Sprintf("%s: conformance:%d: st.global.u32 %s", f.Device, f.PTXLine, c.kind)) {
			t.Errorf("%s: text %q", c.name, f.Error())
		}
	}
	if _, err := b.launch("scale", dim(1, 1, 1), dim(32, 1, 1), 0, uint64(a), float32(1), uint32(16)); err != nil {
		t.Errorf("a good launch after faults: %v", err)
	}
}

// testLostContexts: a fault of a real device takes its context and what that held. The fault names the launch; buffers that are
// gone say so; the module, new buffers and streams work.
func testLostContexts(t *testing.T, b *bench) {
	for _, c := range []struct {
		name   string
		offset int64 // from a buffer; 0: null
		kind   driver.FaultKind
	}{{"far away", 1 << 40, driver.OutOfBounds}, {"null", 0, driver.OutOfBounds}, {"misaligned", 2, driver.Misaligned}} {
		a := b.alloc(64)
		s, err := b.d.NewStream()
		b.must(err)
		p := a
		if c.offset == 0 {
			p = 0
		}
		f, err := b.fault(p, c.offset)
		if f == nil || f.Kind != c.kind || f.Function != "poke" {
			t.Errorf("%s: fault %+v, error %v", c.name, f, err)
			continue
		}
		const gone = "the buffer is gone: it went with the context that poke (%s) ruined\nmake it again"
		if err := b.d.CopyOut(make([]byte, 4), a, nil); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(gone, c.kind)) {
			t.Errorf("%s: a copy from a buffer that is gone: %v", c.name, err)
		}
		if err := s.Synchronize(context.Background()); err == nil || !strings.Contains(err.Error(), "the stream is gone") {
			t.Errorf("%s: a stream that is gone: %v", c.name, err)
		}
		if err := b.d.Free(a); err != nil {
			t.Errorf("%s: freeing a buffer that is gone: %v", c.name, err)
		}
		x := b.upload(floats(1, 2, 3, 4))
		if _, err := b.launch("scale", dim(1, 1, 1), dim(32, 1, 1), 0, uint64(x), float32(3), uint32(4)); err != nil {
			t.Errorf("%s: a good launch after a fault: %v", c.name, err)
		}
		if got := b.download(x, 16); !bytes.Equal(got, floats(3, 6, 9, 12)) {
			t.Errorf("%s: a good launch after a fault gave % x", c.name, got)
		}
	}
}

func testInterrupt(t *testing.T, b *bench) {
	if !b.d.Properties().Virtual {
		t.Log("a launch on a real device cannot be stopped: not tried")
		return
	}
	f := b.function("spin")
	for _, threads := range []uint32{1, 1024} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		_, err := b.d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1000, 1, 1), CTA: dim(threads, 1, 1), Wait: true, Count: true})
		cancel()
		var fault *driver.Fault
		if !errors.As(err, &fault) || fault.Kind != driver.Interrupted {
			t.Errorf("%d threads: an endless loop ended with %v", threads, err)
		}
		if took := time.Since(start); took > time.Second+50*time.Millisecond {
			t.Errorf("%d threads: stopping took %v", threads, took)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1, 1, 1), CTA: dim(1, 1, 1), Wait: true}); err == nil {
		t.Error("a cancelled context launched")
	}
}

func testStreams(t *testing.T, b *bench) {
	ctx := context.Background()
	s1, err := b.d.NewStream()
	b.must(err)
	s2, err := b.d.NewStream()
	b.must(err)
	start, err := b.d.NewEvent()
	b.must(err)
	end, err := b.d.NewEvent()
	b.must(err)
	x := b.upload(floats(1, 2, 3, 4))
	f := b.function("scale")
	queue := func(s driver.Stream, factor float32) {
		t.Helper()
		r, err := b.d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1, 1, 1), CTA: dim(32, 1, 1), Stream: s,
			Args: b.pack(f, uint64(x), factor, uint32(4))})
		b.must(err)
		if r != nil {
			t.Errorf("a queued launch gave a result: %+v", r)
		}
	}
	b.must(s1.Record(start))
	queue(s1, 2)
	b.must(s1.Record(end))
	b.must(s2.Wait(end))
	queue(s2, 5)
	b.must(s2.Synchronize(ctx))
	if got := b.download(x, 16); !bytes.Equal(got, floats(10, 20, 30, 40)) {
		t.Errorf("two launches in order gave % x", got)
	}
	b.must(b.d.Synchronize(ctx))
	if !start.Done() || !end.Done() {
		t.Error("recorded events are not done after synchronizing")
	}
	elapsed, err := end.Since(start)
	b.must(err)
	if !elapsed.Known() && elapsed.Why != "" && b.d.Properties().Virtual {
		t.Logf("times between events: %s", elapsed.Why)
	} else if !elapsed.Known() || elapsed.Unit != "s" || !(elapsed.Value >= 0) {
		t.Errorf("time between events: %+v", elapsed)
	}
	if _, err := start.Since(end); err == nil && elapsed.Value > 0 {
		if back, _ := start.Since(end); back.Value > 0 {
			t.Errorf("time backwards: %+v", back)
		}
	}
	never, err := b.d.NewEvent()
	b.must(err)
	if _, err := end.Since(never); err == nil {
		t.Error("time since an event that was never recorded")
	}
	b.must(start.Destroy())
	b.must(s1.Destroy())
	b.must(s2.Destroy())
}

func testCapabilities(t *testing.T, b *bench) {
	ctx := context.Background()
	f := b.function("scale")
	args := b.pack(f, uint64(b.upload(make([]byte, 4096))), float32(1), uint32(1024))
	l := driver.Launch{Function: f, Grid: dim(8, 1, 1), CTA: dim(128, 1, 1), Args: args, Wait: true, Count: true}
	try := func(c driver.Capability, change func(*driver.Launch)) {
		asked := l
		change(&asked)
		_, err := b.d.Launch(ctx, &asked)
		if why := b.d.Capability(c); (why == "") != (err == nil) {
			t.Errorf("%s: the capability says %q, the launch %v", c, why, err)
		}
	}
	try(driver.Clusters, func(l *driver.Launch) { l.Cluster = dim(2, 1, 1) })
	try(driver.Cooperative, func(l *driver.Launch) { l.Cooperative = true })
	try(driver.Sampling, func(l *driver.Launch) { l.Sample = 4 })
	if b.d.Capability(driver.Sampling) == "" {
		l.Sample = 3
		r, err := b.d.Launch(ctx, &l)
		b.must(err)
		if r.Executed != 3 || r.Sampled != 3 || r.Counts.CTAs != 3 {
			t.Errorf("every third of 8 CTAs: executed %d, sampled %d, counted %d", r.Executed, r.Sampled, r.Counts.CTAs)
		}
	}
	err := b.d.BeginCapture(nil)
	if why := b.d.Capability(driver.Graphs); (why == "") != (err == nil) {
		t.Errorf("graphs: the capability says %q, the call %v", why, err)
	}
}

func testGoroutines(t *testing.T, b *bench) {
	f := b.function("scale")
	const n, launches = 1000, 8
	errs := make(chan error)
	for i := range launches {
		x := b.upload(floats(make([]float32, n)...))
		b.must(b.d.Fill(x, floats(float32(i+1)), n, nil))
		args := b.pack(f, uint64(x), float32(3), uint32(n))
		go func() {
			_, err := b.d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(8, 1, 1), CTA: dim(128, 1, 1), Args: args, Wait: true, Count: true})
			if err == nil {
				out := make([]byte, 4*n)
				if err = b.d.CopyOut(out, x, nil); err == nil && !bytes.Equal(out, bytes.Repeat(floats(float32(3*(i+1))), n)) {
					err = fmt.Errorf("goroutine %d: wrong values", i)
				}
			}
			errs <- err
		}()
	}
	for range launches {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func testClosed(t *testing.T, b *bench) {
	f := b.function("count")
	a := b.alloc(64)
	b.must(b.d.Close())
	if _, err := b.d.Alloc(64); err == nil {
		t.Error("Alloc after Close")
	}
	if b.d.CopyIn(a, []byte{1}, nil) == nil {
		t.Error("CopyIn after Close")
	}
	if _, err := b.d.LoadPTX(PTX, driver.LoadOptions{}); err == nil {
		t.Error("LoadPTX after Close")
	}
	if _, err := b.d.Launch(context.Background(), &driver.Launch{Function: f, Grid: dim(1, 1, 1), CTA: dim(1, 1, 1), Wait: true}); err == nil {
		t.Error("Launch after Close")
	}
	if err := b.d.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}
