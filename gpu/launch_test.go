package gpu

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver/conformance"
)

func load(t testing.TB, d *Device, function string) *Function {
	t.Helper()
	m, err := d.LoadPTX(conformance.PTX)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(function)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLaunch(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	for _, n := range []int{1, 31, 33, 127, 128, 129, 4095} {
		x := d.Arange(F32, n)
		if err := scale.Launch(Threads(n, 128), x, 0.5, n); err != nil {
			t.Fatal(err)
		}
		for i, v := range x.Float32s() {
			if v != float32(i)/2 {
				t.Fatalf("n = %d: element %d is %v", n, i, v)
			}
		}
	}
	x := d.Arange(F32, 64)
	if err := scale.Launch(Threads(16, 32), x.Slice(8, 24), float32(-1), int32(16)); err != nil || x.At(7) != 7 || x.At(8) != -8 || x.At(23) != -23 || x.At(24) != 24 {
		t.Errorf("a launch on a slice: %v, %v", err, x.Float32s())
	}
	if err := scale.Launch(Config{Grid: Dim(1), CTA: Dim(32)}, x.Buffer(), 2, 1); err != nil || x.At(1) != 1 {
		t.Errorf("a launch on a buffer: %v", err)
	}
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := scale.Launch(Config{CTA: Dim(64), Stream: stream}, x, 0, 64); err != nil || x.At(63) != 0 {
		t.Errorf("a launch on a stream: %v, %v", err, x.At(63))
	}
	if err := stream.Synchronize(); err != nil {
		t.Error(err)
	}
}

func TestLaunchErrors(t *testing.T) {
	d, other := fresh(t, "h200"), fresh(t, "a100")
	scale, reverse := load(t, d, "scale"), load(t, d, "reverse")
	x, foreign, freed := d.Zeros(F32, 64), other.Zeros(F32, 64), d.Zeros(F32, 64)
	freed.Free()
	foreignStream, err := other.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	config := Threads(64, 64)
	for _, c := range []struct {
		f      *Function
		config Config
		args   []any
		want   string
	}{
		{scale, config, []any{x}, "launch scale: 1 argument given, the function takes 3\nits parameters: scale_x .u64, scale_a .f32, scale_n .u32\ngive a value for argument 2 (scale_a .f32)"},
		{scale, config, []any{x, 1, x}, "launch scale: argument 3 (scale_n .u32): a tensor f32 [64] is an address of 8 B, the parameter is a number of 4 B\ngive a number, or change the parameter to a pointer"},
		{scale, config, []any{3, 1, 64}, "launch scale: argument 1 (scale_x .u64): it is an address, 3 is a number\ngive a Tensor or a Buffer; nil is the null pointer"},
		{scale, config, []any{foreign, 1, 64}, "launch scale: argument 1 (scale_x .u64): the tensor f32 [64] is on virtual:a100, the launch on virtual:h200\ncopy it: d.From(t.Float32s(), …) with d of virtual:h200"},
		{scale, config, []any{freed, 1, 64}, "launch scale: argument 1 (scale_x .u64): the tensor f32 [64] was freed\nmake it again, or call Free later"},
		{scale, Config{CTA: Dim(1025)}, []any{x, 1, 64}, "launch scale: CTA extent x is 1,025, the limit is 1,024\nput more work into a CTA, or use another dimension"},
		{scale, Config{CTA: Dim(32, 33)}, []any{x, 1, 64}, "launch scale: a CTA of 32 × 33 has 1056 threads, the limit is 1024\nuse CTAs of at most 1024 threads and more of them"},
		{scale, Config{CTA: Dim(1, 1, 65)}, []any{x, 1, 64}, "launch scale: CTA extent z is 65, the limit is 64\nput more work into a CTA, or use another dimension"},
		{scale, Config{Grid: Dim(1, 65536), CTA: Dim(1)}, []any{x, 1, 64}, "launch scale: grid extent y is 65,536, the limit is 65,535\nput more work into a CTA, or use another dimension"},
		{scale, Config{Grid: Dim3{X: -1}}, []any{x, 1, 64}, "launch scale: grid extent x is -1\nevery extent is at least 1"},
		{reverse, Config{Shared: -1}, []any{x}, "launch reverse: -1 B of dynamic shared memory\ngive a size ≥ 0"},
		{reverse, Config{Shared: 228 << 10}, []any{x}, "launch reverse: a CTA needs 233,472 B of shared memory (0 static, 233,472 dynamic), virtual:h200 has 232,448 B\nuse smaller tiles"},
		{scale, Config{CTA: Dim(64), Stream: foreignStream}, []any{x, 1, 64}, "launch scale: the stream is of virtual:a100, the function of virtual:h200\nmake the stream on the device of the function"},
	} {
		wantError(t, c.f.Launch(c.config, c.args...), c.want)
	}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() { Dim() }, "Dim: 0 extents given\nwrite gpu.Dim(x), gpu.Dim(x, y) or gpu.Dim(x, y, z)"},
		{func() { Dim(1, 2, 3, 4) }, "Dim: 4 extents given\nwrite gpu.Dim(x), gpu.Dim(x, y) or gpu.Dim(x, y, z)"},
		{func() { Dim(4, 0) }, "Dim: extent y is 0\nevery extent is at least 1"},
		{func() { Threads(0, 128) }, "Threads(0, 128): there is nothing to launch\nboth are at least 1"},
		{func() { scale.Occupancy(1025, 0) }, "function scale: occupancy: 1025 threads a CTA, the limits are 1 and 1024"},
	} {
		wantError(t, panicOf(t, c.do), c.want)
	}
	m := scale.Module()
	_, err = m.Function("scael")
	wantError(t, err, "module ptx has no function \"scael\"\nit has arguments, count, places, poke, reverse, scale, spin")
}

func TestThreads(t *testing.T) {
	for _, c := range []struct{ n, size, want int }{{1, 256, 1}, {256, 256, 1}, {257, 256, 2}, {4095, 128, 32}} {
		if got := Threads(c.n, c.size); got.Grid != Dim(c.want) || got.CTA != Dim(c.size) {
			t.Errorf("Threads(%d, %d) = %+v", c.n, c.size, got)
		}
	}
}

// TestSampledOutputIsRefused: what a sampled launch wrote cannot be read, what it only read can; a launch that reads it
// passes that on; overwriting all of it makes it whole.
func TestSampledOutputIsRefused(t *testing.T) {
	d := fresh(t, "h200")
	const n = 4096
	scale := load(t, d, "scale")
	x, y := d.Full(F32, 1, n), d.Full(F32, 1, n)
	r := Sample(4, func() { scale.Launch(Threads(n, 128), x, 2, n) })
	if l := r.Launches[0]; l.Sampled != 4 || l.Executed != 8 || l.TotalFLOPs.Value != n {
		t.Errorf("sampled %d, executed %d CTAs, %v FLOP; want 4, 8, %d", l.Sampled, l.Executed, l.TotalFLOPs.Value, n)
	}
	const where = "launch scale ran 1 of every 4 CTAs (gpu.Sample)"
	const how = "launch it without gpu.Sample to read the result; the launch's counters are in its report"
	wantError(t, panicOf(t, func() { x.Float32s() }), "read tensor f32 [4096]: its contents are incomplete\n"+where+"\n"+how)
	wantError(t, panicOf(t, func() { x.Slice(0, 4).Float64s() }), "read tensor f32 [4]: its contents are incomplete\n"+where+"\n"+how)
	if got := x.String(); got != "f32 [4096] on virtual:h200, 16.4 kB\nincomplete: "+where {
		t.Errorf("shown as %q", got)
	}
	if y.At(0) != 1 {
		t.Error("a tensor that the launch did not touch is refused")
	}
	if err := scale.Launch(Threads(n, 128), x, 2, n); err != nil {
		t.Fatal(err)
	}
	wantError(t, panicOf(t, func() { x.At(0) }), "read tensor f32 [4096]: its contents are incomplete\nlaunch scale read incomplete memory: "+where+"\n"+how)
	if err := x.Slice(0, 5).Fill(1); err != nil {
		t.Fatal(err)
	}
	if panicOf(t, func() { x.At(0) }) == nil {
		t.Error("filling a part made all of it readable")
	}
	if err := x.Fill(3); err != nil || x.At(n-1) != 3 {
		t.Errorf("after Fill: %v", err)
	}
	places := load(t, d, "places")
	z := d.Zeros(U32, n)
	Sample(2, func() { places.Launch(Threads(n, 128), z) })
	if panicOf(t, func() { z.Ints() }) == nil {
		t.Error("every second CTA, and the output can be read")
	}
	if err := places.Launch(Config{Grid: Dim(16), CTA: Dim(128)}, z); err != nil {
		t.Fatal(err)
	}
	if panicOf(t, func() { z.Ints() }) == nil {
		t.Error("half of it overwritten, and the output can be read")
	}
	if err := places.Launch(Threads(n, 128), z); err != nil || z.At(n-1) != n-1 {
		t.Errorf("all of it overwritten: %v", err)
	}
}

// TestSampledVariableIsRefused: a module's variable is like a tensor, and a new module's variable at its address is whole.
func TestSampledVariableIsRefused(t *testing.T) {
	d := fresh(t, "h200")
	const n = 1024
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 made[1024];
.visible .entry fill() {
	.reg .b32 %r<4>; .reg .b64 %rd<3>;
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r0, %r2, %r1;
	mov.u64 %rd0, made; mul.wide.u32 %rd1, %r3, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r3;
	ret;
}
.visible .entry sum(.param .u64 y) {
	.reg .b32 %r<2>; .reg .b64 %rd<2>;
	ld.param.u64 %rd0, [y]; ld.global.u32 %r0, [made+4]; st.global.u32 [%rd0], %r0;
	ret;
}`
	load := func() (m *Module, fill, sum *Function, made *Tensor) {
		m, err := d.LoadPTX(text)
		if err != nil {
			t.Fatal(err)
		}
		fill, err1 := m.Function("fill")
		sum, err2 := m.Function("sum")
		b, err3 := m.Global("made")
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		return m, fill, sum, b.Tensor(U32, n)
	}
	m, fill, sum, made := load()
	const refused = "read tensor u32 [1024]: its contents are incomplete\nlaunch fill ran 1 of every 4 CTAs (gpu.Sample)\n" +
		"launch it without gpu.Sample to read the result; the launch's counters are in its report"
	Sample(4, func() { fill.Launch(Threads(n, 128)) })
	wantError(t, panicOf(t, func() { made.Ints() }), refused)
	again, err := m.Global("made")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, panicOf(t, func() { again.CopyOut() }), strings.Replace(refused, "tensor u32 [1024]", "buffer of 4,096 B", 1))
	y := d.Zeros(U32, 1)
	if err := sum.Launch(Threads(1, 1), y); err != nil {
		t.Fatal(err)
	}
	wantError(t, panicOf(t, func() { y.Ints() }), "read tensor u32 [1]: its contents are incomplete\nlaunch sum read incomplete memory: launch fill ran 1 of every 4 CTAs (gpu.Sample)\n"+
		"launch it without gpu.Sample to read the result; the launch's counters are in its report")
	if err := fill.Launch(Threads(n, 128)); err != nil || made.At(n-1) != n-1 {
		t.Errorf("all of it overwritten: %v", err)
	}
	Sample(4, func() { fill.Launch(Threads(n, 128)) })
	if err := m.Unload(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, made = load(); made.At(1) != 0 {
		t.Error("the variable of a new module is not zero")
	}
}

func TestFaultIsAnError(t *testing.T) {
	d := fresh(t, "h200")
	poke := load(t, d, "poke")
	b := d.Buffer(64)
	err := poke.Launch(Config{Grid: Dim(2), CTA: Dim(32)}, b, 64)
	e := asError(err)
	if e == nil || e.Fault == nil {
		t.Fatalf("no fault: %v", err)
	}
	if f := e.Fault; f.Kind != "out of bounds" || f.Instruction != "st.global.u32" || f.CTA != [3]uint32{1, 0, 0} || f.Lane != 5 || f.Address != b.Address()+64 {
		t.Errorf("fault %+v", f)
	}
	if want := "compare the thread's index with the length before the access: the last CTA is rarely full"; e.How != want {
		t.Errorf("advice %q, want %q", e.How, want)
	}
	for _, c := range []struct {
		pointer any
		advice  string
	}{
		{nil, "the pointer is null: give a Tensor or a Buffer for it"},
		{freedAddress(t, d), "free a tensor after the last launch that uses it"},
	} {
		if e := asError(poke.Launch(Config{Grid: Dim(2), CTA: Dim(32)}, c.pointer, 8)); e == nil || e.How != c.advice {
			t.Errorf("pointer %v: %v", c.pointer, e)
		}
	}
	if bundle := e.MIMEBundle(); bundle["text/plain"] == "" || bundle["text/html"] == nil {
		t.Errorf("the fault shows as %v", bundle)
	}
}

func TestInterruptStopsALaunch(t *testing.T) {
	d := fresh(t, "h200")
	spin := load(t, d, "spin")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(30*time.Millisecond, cancel)
	BeginCell(ctx, 1)
	start := time.Now()
	err := spin.Launch(Config{Grid: Dim(100), CTA: Dim(1024)})
	if e := asError(err); e == nil || !e.isInterrupt() || time.Since(start) > time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	if cards := EndCell(err); len(cards) != 0 {
		t.Errorf("%d cards of an interrupted launch", len(cards))
	}
}

func TestFunctionFacts(t *testing.T) {
	d := fresh(t, "h200")
	facts := map[string]map[string]FunctionFacts{
		"9.0": {"scale": {Registers: 40, SharedBytes: 0, Source: "cubin sm_90"}}, "8.0": {"scale": {Registers: 99}},
	}
	m, err := d.LoadModule(ModuleSpec{Name: "mine", PTX: conformance.PTX, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("scale")
	if err != nil {
		t.Fatal(err)
	}
	if o := f.Occupancy(256, 0); f.Registers() != 40 || f.Estimated() || o.Value != 75 || o.Limiter != "registers" {
		t.Errorf("%d registers, estimated %v, occupancy %v by %s; 40 registers × 256 threads are 6 CTAs, 75 %%", f.Registers(), f.Estimated(), o.Value, o.Limiter)
	}
	if got, want := f.String(), "scale(scale_x .u64, scale_a .f32, scale_n .u32): 40 registers (cubin sm_90), 0 B static shared memory"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := f.Parameters(); !reflect.DeepEqual(got, []string{"scale_x .u64", "scale_a .f32", "scale_n .u32"}) {
		t.Errorf("parameters %v", got)
	}
	plain, err := m.Function("places")
	if err != nil || !plain.Estimated() || plain.Registers() < 1 {
		t.Errorf("a function without facts: %v, %d registers", err, plain.Registers())
	}
	counter, err := m.Global("counter")
	if err != nil || counter.Tensor(U32, 1).At(0) != 7 {
		t.Errorf("the module's variable: %v", err)
	}
	if counter != nil {
		wantError(t, counter.Free(), "free buffer of 4 B: it belongs to a module\nit goes with its module")
	}
}

func TestClosedDevice(t *testing.T) {
	d := fresh(t, "h200")
	x, scale := d.Zeros(F32, 8), load(t, d, "scale")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	const text = "virtual:h200 is closed\nopen it again: gpu.Open(\"virtual:h200\")"
	wantError(t, scale.Launch(Threads(8, 8), x, 1, 8), text)
	wantError(t, panicOf(t, func() { x.Float32s() }), text)
	wantError(t, panicOf(t, func() { d.Zeros(F32, 1) }), text)
	_, err := d.LoadPTX(conformance.PTX)
	wantError(t, err, text)
	if err := d.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// freedAddress is where a tensor has been.
func freedAddress(t *testing.T, d *Device) uint64 {
	t.Helper()
	x := d.Zeros(F32, 16)
	address := x.Address()
	if err := x.Free(); err != nil {
		t.Fatal(err)
	}
	return address
}

// Each device has addresses of its own: a pointer that is a number is told when it is another device's.
func TestPointerOfOtherDevice(t *testing.T) {
	d, other := fresh(t, "h200"), fresh(t, "t4")
	m, err := d.LoadPTX(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry load(.param .u64 p) {\n.reg .b32 %r; .reg .b64 %a;\nld.param.u64 %a, [p];\nld.global.u32 %r, [%a];\nst.global.u32 [%a], %r;\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("load")
	if err != nil {
		t.Fatal(err)
	}
	address := uint64(other.Zeros(F32, 4).Buffer().Address())
	wantError(t, f.Launch(Threads(1, 1), address), fmt.Sprintf("virtual GPU: ptx:7: ld.global.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x%x, the memory of another virtual GPU\n"+
		"tensors stay on the device that made them: make all of them on one", address))
}

// The limit that an entry sets for itself is told as its own.
func TestLaunchBounds(t *testing.T) {
	m, err := fresh(t, "h200").LoadPTX(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry few()\n.maxntid 64, 1, 1\n{\nret;\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("few")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, f.Launch(Threads(128, 128)), "launch few: a CTA of 128 has 128 threads, the limit is 64, as its __launch_bounds__ say\nuse CTAs of at most 64 threads and more of them")
}
