package vgpu

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// jitOnly says whether runs can be compiled here, and logs it where not.
func jitOnly(t testing.TB) bool {
	if BestLanes() == JITLanes {
		return true
	}
	t.Logf("nothing to compile: this machine has %s lanes", BestLanes())
	return false
}

// tileKernel sums products of words of shared memory: its loop is one run. Thread i begins with in[i] in word i, and ends with
// 4 times the sum over loops of s[i] · s[0] in out[i].
const tileKernel = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 scale, .param .u32 loops)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .f32 %f<16>;
	.reg .b64 %rd<8>;
	.shared .align 16 .b8 s[1024];
	ld.param.u64 %rd0, [out];
	ld.param.u64 %rd1, [in];
	ld.param.u32 %r4, [scale];
	ld.param.u32 %r5, [loops];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd2, %r0, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.f32 %f0, [%rd3];
	mov.u32 %r1, s;
	shl.b32 %r2, %r0, 2;
	add.s32 %r2, %r2, %r1;
	st.shared.f32 [%r2], %f0;
	bar.sync 0;
	mul.lo.s32 %r6, %r0, %r4;
	add.s32 %r6, %r6, %r1;
	mov.f32 %f1, 0f00000000;
	mov.f32 %f2, %f1;
	mov.f32 %f3, %f1;
	mov.f32 %f4, %f1;
	mov.u32 %r3, 0;
L:
	ld.shared.f32 %f5, [%r6];
	ld.shared.f32 %f6, [%r1];
	fma.rn.f32 %f1, %f5, %f6, %f1;
	fma.rn.f32 %f2, %f5, %f6, %f2;
	fma.rn.f32 %f3, %f5, %f6, %f3;
	fma.rn.f32 %f4, %f5, %f6, %f4;
	add.s32 %r3, %r3, 1;
	setp.lt.u32 %p0, %r3, %r5;
	@%p0 bra L;
	add.f32 %f1, %f1, %f2;
	add.f32 %f3, %f3, %f4;
	add.f32 %f1, %f1, %f3;
	add.s64 %rd4, %rd0, %rd2;
	st.global.f32 [%rd4], %f1;
	ret;
}
`

// runTile launches tileKernel with one warp and gives its output.
func runTile(t testing.TB, d *Device, f *function, in []float32, scale, loops uint32) ([]float32, sharedCounts, error) {
	t.Helper()
	a, b := upload(t, d, in), upload(t, d, make([]float32, 32))
	defer d.Free(a)
	defer d.Free(b)
	r, err := d.Launch(t.Context(), &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32), Args: pack(t, f, b, a, scale, loops), Wait: true, Count: true})
	if err != nil {
		return nil, sharedCounts{}, err
	}
	c := r.Counts.SharedLoad
	return download[float32](t, d, b, 32), sharedCounts{c.Requests, c.Lanes, c.Bytes, c.Wavefronts, c.IdealWavefronts}, nil
}

// TestCompiledRunCounts: counts by hand of a run that is compiled, and of one whose addresses then lie otherwise: with stride
// 4 B a wavefront a load, with 8 B two.
func TestCompiledRunCounts(t *testing.T) {
	if !jitOnly(t) {
		return
	}
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, tileKernel), "k").(*function)
	d.SetLanes(JITLanes)
	in := make([]float32, 32)
	for i := range in {
		in[i] = float32(i + 1)
	}
	const loops = 1000
	for _, c := range []struct {
		scale uint32
		waves uint64 // of a load of s[i·scale/4]; that of s[0] takes one
	}{{4, 1}, {8, 2}, {4, 1}, {0, 1}, {12, 1}} {
		out, shared, err := runTile(t, d, f, in, c.scale, loops)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			want := float32(0)
			if at := i * int(c.scale) / 4; at < 32 {
				want = 4 * loops * float32(at+1)
			}
			if v != want {
				t.Errorf("scale %d: lane %d is %g, want %g", c.scale, i, v, want)
			}
		}
		if want := (sharedCounts{2 * loops, 64 * loops, 256 * loops, loops * (c.waves + 1), loops * 2}); shared != want {
			t.Errorf("scale %d: counts %+v, want %+v", c.scale, shared, want)
		}
	}
	if f.program.jit.compiled() == 0 {
		t.Error("no run was compiled")
	}
}

// TestCompiledRunFaults: addresses that leave shared memory, or are misaligned, after the run was compiled fault as ever.
func TestCompiledRunFaults(t *testing.T) {
	if !jitOnly(t) {
		return
	}
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, tileKernel), "k").(*function)
	d.SetLanes(JITLanes)
	in := make([]float32, 32)
	if _, _, err := runTile(t, d, f, in, 4, 1000); err != nil || f.program.jit.compiled() == 0 {
		t.Fatal("no run was compiled", err)
	}
	for scale, want := range map[uint32]string{100: "CTA (0,0,0) warp 0 lane 11: address 0x44c", 2: "CTA (0,0,0) warp 0 lane 1: address 0x2"} {
		if _, _, err := runTile(t, d, f, in, scale, 1000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scale %d: %v, want %s", scale, err, want)
		}
	}
	if _, _, err := runTile(t, d, f, in, 4, 1000); err != nil {
		t.Error(err)
	}
}

// TestRefusedCodeMemory: where the system refuses executable memory everything runs on threaded code.
func TestRefusedCodeMemory(t *testing.T) {
	if !jitOnly(t) {
		return
	}
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, tileKernel), "k").(*function)
	d.SetLanes(JITLanes)
	refuseCode = true
	defer func() { refuseCode = false }()
	if _, err := newCodePages([]byte{0xC3}); err == nil || !strings.HasPrefix(err.Error(), "executable memory: ") {
		t.Errorf("refused: %v", err)
	}
	in := make([]float32, 32)
	in[0] = 1
	out, _, err := runTile(t, d, f, in, 4, 1000)
	if err != nil || out[0] != 4000 || f.program.jit.compiled() != 0 {
		t.Errorf("%v, %v, %d runs", out[0], err, f.program.jit.compiled())
	}
}

// TestCompiledRunsUnderStress: garbage collections, profiling signals and stops of the world while compiled code runs.
func TestCompiledRunsUnderStress(t *testing.T) {
	if !jitOnly(t) {
		return
	}
	file, err := os.CreateTemp(t.TempDir(), "profile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err == nil {
		defer pprof.StopCPUProfile()
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				runtime.GC()
			}
		}
	}()
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, tileKernel), "k").(*function)
	d.SetLanes(JITLanes)
	rnd := rand.New(rand.NewPCG(3, 4))
	in := make([]float32, 32)
	for range 20 {
		for i := range in {
			in[i] = float32(rnd.IntN(16))
		}
		const loops = 4000
		out, _, err := runTile(t, d, f, in, 4, loops)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			if v != 4*loops*in[i]*in[0] {
				t.Fatalf("lane %d is %g, want %g", i, v, 4*loops*in[i]*in[0])
			}
		}
	}
}

// TestCodePagesGoBack: the code of a module that nobody has any more is unmapped.
func TestCodePagesGoBack(t *testing.T) {
	if !jitOnly(t) {
		return
	}
	d := openTest(t, testProfile())
	freed := make(chan struct{})
	func() {
		m := loadModule(t, d, tileKernel)
		f := fn(t, m, "k").(*function)
		d.SetLanes(JITLanes)
		if _, _, err := runTile(t, d, f, make([]float32, 32), 4, 1000); err != nil {
			t.Fatal(err)
		}
		for _, p := range f.program.jit.pages {
			runtime.AddCleanup(p, func(c chan struct{}) { close(c) }, freed)
			break
		}
		if err := m.Unload(); err != nil {
			t.Fatal(err)
		}
		d.modules.drop() // else the cache keeps a module so small
	}()
	deadline := time.After(5 * time.Second)
	for {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-deadline:
			t.Fatal("the pages are still held")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
