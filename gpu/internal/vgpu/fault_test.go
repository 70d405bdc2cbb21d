package vgpu

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/driver"
)

// faultCase runs a body with parameters p (a buffer of 64 bytes) and n, and gives the launch's error.
func faultCase(t *testing.T, d *Device, body string, cta uint32, p driver.Address, n uint32) error {
	t.Helper()
	text := header + ".file 1 \"/home/me/scale.cu\"\n.visible .entry scale(.param .u64 p, .param .u32 n) {\n.reg .pred %p, %q; .reg .b32 %r<8>; .reg .f32 %f; .reg .b64 %a, %b;\n" +
		".shared .align 4 .b8 tile[4096];\nld.param.u64 %a, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n.loc 1 2 5\n" + body + "\nret;\n}\n"
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "scale.ptx", Sources: map[string]string{"scale.cu": "line one\n  x[i] = a;\n"}})
	if err != nil {
		t.Fatal(err)
	}
	f := fn(t, m, "scale")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(4), CTA: dim(cta), Args: pack(t, f, p, n), Wait: true, Count: true})
	return err
}

func TestFaults(t *testing.T) {
	d := openTest(t, testProfile())
	p, err := d.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	freed, err := d.Alloc(512)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Free(freed); err != nil {
		t.Fatal(err)
	}
	const store = "mul.wide.u32 %b, %r2, 4; add.s64 %b, %a, %b; st.global.u32 [%b], %r2;"
	for _, c := range []struct {
		name, body string
		p          driver.Address
		n          uint32
		want       string
	}{
		{"past the end", store, p, 0, fmt.Sprintf("virtual GPU: scale.ptx:12: st.global.u32 out of bounds\nCTA (0,0,0) warp 0 lane 16: address 0x%x, 0 B past the end of allocation 0x%x of 64 B\nfrom scale.cu:2: x[i] = a;", p+64, p)},
		{"freed", store, freed, 0, fmt.Sprintf("virtual GPU: scale.ptx:12: st.global.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x%x, inside the freed allocation 0x%x of 512 B\nfrom scale.cu:2: x[i] = a;", freed, freed)},
		{"null", store, 0, 0, "virtual GPU: scale.ptx:12: st.global.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x0, a null pointer\nfrom scale.cu:2: x[i] = a;"},
		{"misaligned", "ld.global.u32 %r3, [%a+2];", p, 0, fmt.Sprintf("virtual GPU: scale.ptx:12: ld.global.u32 misaligned address\nCTA (0,0,0) warp 0 lane 0: address 0x%x, 2 B inside allocation 0x%x of 64 B\nfrom scale.cu:2: x[i] = a;", p+2, p)},
		{"shared", "mad.lo.u32 %r3, %r2, 4, 4040; ld.shared.u32 %r4, [%r3];", p, 0, "virtual GPU: scale.ptx:12: ld.shared.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0xfc8, CTA has 0 B\nfrom scale.cu:2: x[i] = a;"},
		{"shared, past the end", "mov.u32 %r5, tile; mad.lo.u32 %r3, %r2, 4, 4040; ld.shared.u32 %r4, [%r3];", p, 0, "virtual GPU: scale.ptx:12: ld.shared.u32 out of bounds\nCTA (0,0,0) warp 0 lane 14: address 0x1000, CTA has 4096 B\nfrom scale.cu:2: x[i] = a;"},
		{"trap", "setp.eq.u32 %p, %r2, 33; @%p trap;", p, 0, "virtual GPU: scale.ptx:12: trap stopped the launch\nCTA (0,0,0) warp 1 lane 1\nfrom scale.cu:2: x[i] = a;"},
		{"barrier in a branch", "setp.lt.u32 %p, %r2, 16; @%p bra IN; bra OUT;\nIN: bar.sync 0;\nOUT:", p, 0,
			"virtual GPU: scale.ptx:13: bar.sync deadlock\nlanes of this warp wait at the barrier for lanes that wait for them where the paths join\nfrom scale.cu:2: x[i] = a;"},
		{"two barriers", "setp.lt.u32 %p, %r2, 32; @%p bra IN;\nbar.sync 1; bra OUT;\nIN: bar.sync 2;\nOUT:", p, 0,
			"virtual GPU: scale.ptx:14: bar.sync deadlock\nevery warp waits: warp 0 at barrier 2, line 14; warp 1 at barrier 1, line 13\nfrom scale.cu:2: x[i] = a;"},
		{"member mask", "shfl.sync.down.b32 %r3, %r2, 1, 31, 0xffff;", p, 0, "virtual GPU: scale.ptx:12: shfl.sync.down.b32 illegal instruction\nCTA (0,0,0) warp 0 lane 16\nthe lane is not in its own member mask\nfrom scale.cu:2: x[i] = a;"},
	} {
		err := faultCase(t, d, c.body, 64, c.p, c.n)
		var f *driver.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: %v is no fault", c.name, err)
		} else if err.Error() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, err, c.want)
		}
	}
	// The device goes on.
	if err := faultCase(t, d, "ld.global.u32 %r3, [%a];", 32, p, 0); err != nil {
		t.Error(err)
	}
}

// A barrier that lanes reach on different paths is complete when all have arrived.
func TestBarrierOnBothPaths(t *testing.T) {
	d := openTest(t, testProfile())
	p := upload(t, d, make([]uint32, 16))
	err := faultCase(t, d, `setp.lt.u32 %p, %r2, 16; @%p bra IN;
	st.shared.u32 [tile], %r2; bar.sync 0; bra OUT;
IN:	bar.sync 0;
OUT:	ld.shared.u32 %r3, [tile]; st.global.u32 [%a], %r3;`, 32, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if v := download[uint32](t, d, p, 1); v[0] != 31 {
		t.Errorf("read %d, the last lane wrote 31", v[0])
	}
}

// An endless launch stops within a second of being cancelled.
func TestRunaway(t *testing.T) {
	d := openTest(t, testProfile())
	f := fn(t, loadModule(t, d, header+".visible .entry spin() {\nLOOP: bra LOOP;\n}\n"), "spin")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	_, err := d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1000), CTA: dim(1024), Wait: true})
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if want := "virtual GPU: test.ptx:5: bra interrupted\nthe launch was cancelled"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// So do a grid of a billion small CTAs, and a loop that reads: its trace does not fill the memory.
	small := fn(t, loadModule(t, d, header+".visible .entry small() { ret; }\n"), "small")
	poll := fn(t, loadModule(t, d, header+".visible .entry poll(.param .u64 p) {\n.reg .b64 %a; .reg .b32 %v;\nld.param.u64 %a, [p];\nLOOP: ld.volatile.global.u32 %v, [%a];\nbra LOOP;\n}\n"), "poll")
	for _, l := range []*driver.Launch{{Function: small, Grid: dim(1 << 30), CTA: dim(32)}, {Function: poll, Grid: dim(2), CTA: dim(64), Args: pack(t, poll, upload(t, d, []uint32{0}))}} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(200*time.Millisecond, cancel)
		l.Count, l.Wait = true, true
		start := time.Now()
		if _, err := d.Launch(ctx, l); err == nil || !strings.Contains(err.Error(), "the launch was cancelled") || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	}
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	var fault *driver.Fault
	if _, err = d.Launch(ctx, &driver.Launch{Function: f, Grid: dim(1), CTA: dim(32)}); err != nil {
		t.Errorf("a launch that nobody waits for: %v", err)
	}
	if err := d.Synchronize(context.Background()); !errors.As(err, &fault) || fault.Kind != driver.Timeout {
		t.Errorf("synchronizing: %v", err)
	}
	if err := d.Synchronize(context.Background()); err != nil {
		t.Errorf("the fault was given twice: %v", err)
	}
}

// What is wrong with a launch's configuration is said before anything runs.
func TestLaunchChecks(t *testing.T) {
	d := openTest(t, testProfile())
	m, err := d.LoadPTX(header+`.extern .shared .align 16 .b8 pool[];
.visible .entry k(.param .u64 p, .param .f32 a)
.maxntid 128
{
	.shared .b8 s[1024]; .reg .b32 %r<3>;
	mov.u32 %r1, s; mov.u32 %r2, pool; st.shared.u32 [%r2], %r1;
	ret;
}
.visible .entry fixed() .reqntid 64 { ret; }
`, driver.LoadOptions{Name: "t.ptx", Facts: map[string]driver.FunctionFacts{"fixed": {Registers: 40}}})
	if err != nil {
		t.Fatal(err)
	}
	k, fixed := fn(t, m, "k"), fn(t, m, "fixed")
	ok := driver.Launch{Function: k, Grid: dim(1), CTA: dim(32), Shared: 64, Args: make([]byte, 12), Wait: true}
	change := func(f func(l *driver.Launch)) *driver.Launch { l := ok; f(&l); return &l }
	for _, c := range []struct {
		l    *driver.Launch
		want string
	}{
		{change(func(l *driver.Launch) {}), ""},
		{change(func(l *driver.Launch) { l.Grid.Y = 0 }), "launch k: the grid (1, 0, 1) is empty: every extent is at least 1"},
		{change(func(l *driver.Launch) { l.Grid.Y = 70000 }), "launch k: the grid (1, 70000, 1) is larger than (2147483647, 65535, 65535)\nuse the x extent, which may be largest, or let each thread do more in a loop"},
		{change(func(l *driver.Launch) { l.CTA = dim(16, 16) }), "launch k: a CTA of 256 threads: this function allows 128\nuse smaller CTAs, or compile it with __launch_bounds__ for more"},
		{change(func(l *driver.Launch) { l.Args = make([]byte, 8) }), "launch k: 8 B of arguments: its parameters take 12"},
		{change(func(l *driver.Launch) { l.Shared = 60000 }), "launch k: 60000 B of dynamic shared memory: more than 48128 need SetMaxDynamicShared first"},
		{change(func(l *driver.Launch) { l.Shared = 300000 }), "launch k: 301024 B of shared memory a CTA (1024 static): the device has 232448\nuse smaller tiles"},
		{change(func(l *driver.Launch) { l.Cooperative, l.Grid = true, dim(9000) }), "launch k: a cooperative launch of 9000 CTAs: 4224 fit the device at the same time (132 SMs × 32 CTAs)\nuse a smaller grid, and a loop over the data in each CTA"},
		{change(func(l *driver.Launch) { l.Cooperative, l.Sample, l.Grid = true, 2, dim(4) }), "launch k: a cooperative launch cannot be sampled: its CTAs wait for each other\nrun it without gpu.Sample"},
		{change(func(l *driver.Launch) { l.Cluster = dim(2) }), "launch k: a grid of (1, 1, 1) CTAs is not made of whole clusters of (2, 1, 1)\nround the grid up to a multiple of the cluster"},
		{change(func(l *driver.Launch) { l.Cluster, l.Grid = dim(32), dim(64) }), "launch k: a cluster of 32 CTAs: the limit is 16\nuse smaller clusters"},
		{change(func(l *driver.Launch) { l.Function, l.Args, l.Shared = fixed, nil, 0 }), "launch fixed: a CTA of (32, 1, 1): this function requires (64, 1, 1)\nlaunch it with CTAs of that size"},
	} {
		_, err := d.Launch(context.Background(), c.l)
		if got := fmt.Sprint(err); got != c.want && !(err == nil && c.want == "") {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	if err := k.SetMaxDynamicShared(200_000); err != nil {
		t.Error(err)
	}
	if _, err := d.Launch(context.Background(), change(func(l *driver.Launch) { l.Shared = 200_000 })); err != nil {
		t.Error(err)
	}
	if err := k.SetMaxDynamicShared(300_000); err == nil || !strings.Contains(err.Error(), `device "virtual:test" allows 231424 beside 1024 static`) {
		t.Error(err)
	}
	if a := k.Attributes(); !a.Estimated || a.RegistersLow > a.Registers || a.Registers > a.RegistersHigh || a.SharedBytes != 1024 || a.MaxThreadsPerCTA != 128 {
		t.Errorf("%+v", a)
	}
	if a := fixed.Attributes(); a.Estimated || a.Registers != 40 || a.RequiredCTA != dim(64) {
		t.Errorf("%+v", a)
	}
}

// Every fault that a program can run into says how to mend it, unless its kind does.
func TestFaultsMend(t *testing.T) {
	byKind := map[string]bool{"OutOfBounds": true, "Misaligned": true, "ReadOnly": true, "OutOfMemory": true, "Deadlock": true, "Timeout": true, "Interrupted": true}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s, ok := c.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Fault" {
				return true
			}
			kind, mend, detail := "", false, ""
			for _, e := range c.Elts {
				kv := e.(*ast.KeyValueExpr)
				switch v := kv.Value.(type) {
				case *ast.SelectorExpr:
					if kv.Key.(*ast.Ident).Name == "Kind" {
						kind = v.Sel.Name
					}
				case *ast.BasicLit:
					detail += v.Value
				}
				mend = mend || kv.Key.(*ast.Ident).Name == "Mend"
			}
			if seen++; !mend && !byKind[kind] {
				t.Errorf("%s: a fault of kind %s says no mend: %s", file, kind, detail)
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("%d faults found", seen)
	}
}

// A pointer of one device is none on another, and the fault says whose it is; counters are the same on both.
func TestPlaces(t *testing.T) {
	one, two := openTest(t, testProfile()), openTest(t, testProfile())
	text := header + ".visible .entry k(.param .u64 to, .param .u64 from) {\n.reg .b32 %r; .reg .b64 %a, %b;\nld.param.u64 %a, [to];\nld.param.u64 %b, [from];\nld.global.u32 %r, [%b];\nst.global.u32 [%a], %r;\nret;\n}\n"
	f, g := fn(t, loadModule(t, one, text), "k"), fn(t, loadModule(t, two, text), "k")
	x, y := zeros(t, one, 64), zeros(t, two, 64)
	if a, b := x, y; a>>40 == b>>40 {
		t.Fatalf("both have memory at %#x and %#x", a, b)
	}
	r, s := mustRun(t, one, f, 2, 64, x, x), mustRun(t, two, g, 2, 64, y, y)
	if fmt.Sprint(r.Counts) != fmt.Sprint(s.Counts) {
		t.Errorf("counts differ:\n%v\n%v", r.Counts, s.Counts)
	}
	_, err := two.Launch(t.Context(), &driver.Launch{Function: g, Grid: dim(1), CTA: dim(1), Args: pack(t, g, y, x), Wait: true})
	want := fmt.Sprintf("virtual GPU: test.ptx:8: ld.global.u32 out of bounds\nCTA (0,0,0) warp 0 lane 0: address 0x%x, the memory of another virtual GPU", uint64(x))
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}
