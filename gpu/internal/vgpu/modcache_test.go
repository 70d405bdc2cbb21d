package vgpu

import (
	"runtime"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// Identical modules are compiled once; another name, device or text is another module. Modules with variables share
// nothing that a launch can change.
func TestModuleCache(t *testing.T) {
	d := openTest(t, testProfile())
	load := func(name, text string) *module {
		m, err := d.LoadPTX(text, driver.LoadOptions{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*module)
	}
	program := func(m *module, name string) *program { return fn(t, m, name).(*function).program }
	a, b := load("a", divergent), load("a", divergent)
	name := a.Functions()[0]
	if program(a, name) != program(b, name) || d.modules.hits != 1 {
		t.Errorf("the second load of a text compiled it again: %d hits", d.modules.hits)
	}
	if c := load("c", divergent); program(a, name) == program(c, name) {
		t.Error("another name, the same module: its errors would name the wrong file")
	}
	if c := load("a", divergent+"\n"); program(a, name) == program(c, name) {
		t.Error("another text, the same module")
	}
	if err := a.Unload(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Function(name); err != nil {
		t.Errorf("a module lost its function when its twin was unloaded: %v", err)
	}
	x, y := load("v", talkingText), load("v", talkingText)
	gx, _, err := x.Global("ticket")
	if err != nil {
		t.Fatal(err)
	}
	gy, _, err := y.Global("ticket")
	if err != nil || gx == gy || program(x, "plain") == program(y, "plain") {
		t.Errorf("two modules share a variable: %x and %x, %v", gx, gy, err)
	}
	launch(t, d, fn(t, x, "unread"), dim(3), dim(32), uint64(0), uint32(0))
	if gotX, gotY := download[uint32](t, d, gx, 1)[0], download[uint32](t, d, gy, 1)[0]; gotX != 96 || gotY != 0 {
		t.Errorf("the variables hold %d and %d, want 96 and 0", gotX, gotY)
	}
	for i := range 3 * keptModules {
		load("many"+strings.Repeat("x", i), divergent).Unload()
	}
	if n := len(d.modules.recent); n > keptModules || d.modules.bytes > keptText {
		t.Errorf("%d modules stay, %d bytes", n, d.modules.bytes)
	}
}

// liveHeap is what the process holds after a collection.
func liveHeap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// A module that is freed gives its memory back, on the host and on the device, also after launches and with variables.
func TestMemoryAfterUnload(t *testing.T) {
	d := openTest(t, testProfile())
	text := largeTexts()["a chain"]
	text = strings.Replace(text, ".visible .entry k", ".global .b8 table[1000000] = {1};\n.visible .entry k", 1)
	text = strings.Replace(text, "ld.param.u64 %rd0, [p];", "ld.param.u64 %rd0, [p]; mov.u64 %rd1, table;", 1)
	out := upload(t, d, make([]uint32, 64))
	round := func() {
		m, err := d.LoadPTX(text, driver.LoadOptions{Name: "large"})
		if err != nil {
			t.Fatal(err)
		}
		launch(t, d, fn(t, m, "k"), dim(2), dim(32), out)
		if err := m.Unload(); err != nil {
			t.Fatal(err)
		}
	}
	round() // tables that are made once
	free, _ := d.MemoryInfo()
	before := liveHeap()
	for range 4 {
		round()
	}
	if grown := liveHeap() - before; grown > 1<<20 {
		t.Errorf("four modules loaded and freed: the heap grew by %d KiB", grown>>10)
	}
	if after, _ := d.MemoryInfo(); after != free {
		t.Errorf("%d B of device memory are gone", free-after)
	}
	if taken := d.memory.back.taken; taken > 1<<20 {
		t.Errorf("%d B of the host are counted as taken", taken)
	}
	m, err := d.LoadPTX(text, driver.LoadOptions{Name: "large"})
	if err != nil {
		t.Fatal(err)
	}
	held := liveHeap() - before
	m.Unload()
	m = nil
	if held < 2<<20 {
		t.Errorf("a loaded module holds %d KiB: this test would see nothing", held>>10)
	}
}
