//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"memwall/gpu/internal/cuda/shim"
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/driver/conformance"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

// model is the virtual GPU that answers the driver API in these tests, which run through gorgonia.org/cu.
const model = "h100"

// askAvailable is set in a child that prints why no driver can be opened.
const askAvailable = "MEMWALL_TEST_AVAILABLE"

func TestMain(m *testing.M) {
	if os.Getenv(askAvailable) != "" {
		fmt.Print(Available())
		os.Exit(0)
	}
	os.Setenv(environmentLibrary, "virtual:"+model)
	os.Exit(m.Run())
}

func open(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.(*Device)
}

// The suite that every device passes.
func TestConformance(t *testing.T) {
	conformance.Run(t, func() (driver.Device, error) { return Open(0) })
}

// work is what a test launches.
type work struct {
	d driver.Device
	m driver.Module
	t testing.TB
}

func newWork(t testing.TB, d driver.Device) *work {
	t.Helper()
	m, err := d.LoadPTX(conformance.PTX, driver.LoadOptions{Name: "conformance"})
	if err != nil {
		t.Fatal(err)
	}
	return &work{d, m, t}
}

// launch of an entry with arguments in little-endian order, as the entries of the suite declare them without gaps.
func (w *work) launch(entry string, grid, cta uint32, args ...any) *driver.Launch {
	w.t.Helper()
	f, err := w.m.Function(entry)
	if err != nil {
		w.t.Fatal(err)
	}
	var b bytes.Buffer
	for _, a := range args {
		if err := binary.Write(&b, binary.LittleEndian, a); err != nil {
			w.t.Fatal(err)
		}
	}
	return &driver.Launch{Function: f, Grid: driver.Dim3{X: grid, Y: 1, Z: 1}, CTA: driver.Dim3{X: cta, Y: 1, Z: 1}, Args: b.Bytes(), Wait: true, Count: true, Simulate: true}
}

func (w *work) run(l *driver.Launch) *driver.Result {
	w.t.Helper()
	r, err := w.d.Launch(w.t.Context(), l)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *work) floats(n int) driver.Address {
	w.t.Helper()
	a, err := w.d.Alloc(int64(4 * n))
	if err == nil {
		err = w.d.Fill(a, []byte{0, 0, 128, 63}, int64(n), nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// Memory, counters, lines, caches and predicted times are those of the direct path.
func TestSameAsDirect(t *testing.T) {
	profile, err := perf.ProfileByName(model)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := vgpu.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	const n = 100_003
	type outcome struct {
		memory []byte
		result driver.Result
	}
	observe := func(d driver.Device) (out []outcome) {
		w := newWork(t, d)
		x := w.floats(n)
		for _, l := range []*driver.Launch{
			w.launch("scale", (n+127)/128, 128, uint64(x), float32(2.5), uint32(n)),
			w.launch("places", 97, 512, uint64(x)),
		} {
			r := *w.run(l)
			memory := make([]byte, 4*n)
			if err := d.CopyOut(memory, x, nil); err != nil {
				t.Fatal(err)
			}
			r.Host, r.Modelled = 0, false
			for i := range r.Touched { // addresses are each device's own
				r.Touched[i].Base -= x
			}
			out = append(out, outcome{memory, r})
		}
		return out
	}
	got, want := observe(open(t)), observe(direct)
	for i := range want {
		if !bytes.Equal(got[i].memory, want[i].memory) {
			t.Errorf("launch %d: other memory", i)
		}
		if !reflect.DeepEqual(got[i].result, want[i].result) {
			t.Errorf("launch %d:\n%+v\nwant\n%+v", i, got[i].result, want[i].result)
		}
		if c := want[i].result.Counts; c.GlobalStore.Bytes == 0 {
			t.Errorf("launch %d counted nothing: %+v", i, c)
		}
	}
}

// A timed launch takes what the model says, each time; warm it is short enough to be timed in graphs.
func TestTime(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	const n = 1 << 14
	x := w.floats(n)
	l := w.launch("scale", n/128, 128, uint64(x), float32(1), uint32(n))
	modelled := perf.Evaluate(driver.Observe(d, l, w.run(l)), d.Profile()).Duration.Value
	cold, err := d.Time(t.Context(), l, TimeOptions{Least: 12})
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= .01*b }
	if !cold.Cold || cold.Batch != 1 || len(cold.Samples) < 12 || !cold.Blocked || !near(cold.Median, modelled) || cold.Unstable() {
		t.Errorf("cold: %+v, want a median of %v s", cold, modelled)
	}
	warm, err := d.Time(t.Context(), l, TimeOptions{Warm: true})
	if err != nil {
		t.Fatal(err)
	}
	if warm.Cold || warm.Batch < 2 || len(warm.Samples) < leastSamples || !(warm.Median > 0 && warm.Median < cold.Median) {
		t.Errorf("warm: %+v, cold took %v s", warm, cold.Median)
	}
	values := make([]byte, 4*n)
	if err := d.CopyOut(values, x, nil); err != nil || !bytes.Equal(values[:4], []byte{0, 0, 128, 63}) {
		t.Errorf("timing changed the result: % x, %v", values[:4], err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = d.Time(ctx, w.launch("spin", 1, 32), TimeOptions{})
	var fault *driver.Fault
	if !errors.As(err, &fault) || fault.Function != "spin" {
		t.Errorf("timing an endless launch ended with %v", err)
	}
}

// Medians and spreads of known samples.
func TestMedianAndSpread(t *testing.T) {
	for _, c := range []struct {
		samples        []time.Duration
		median, spread float64
	}{
		{nil, 0, 0},
		{[]time.Duration{time.Second}, 1, 0},
		{[]time.Duration{4, 1, 3, 2, 5}, 3e-9, 100. / 3},
		{[]time.Duration{10, 20}, 15e-9, 100 * 5. / 2 / 15},
	} {
		m, s := medianAndSpread(c.samples)
		if math.Abs(m-c.median) > 1e-15 || math.Abs(s-c.spread) > 1e-9 {
			t.Errorf("%v: %v ± %v %%, want %v ± %v %%", c.samples, m, s, c.median, c.spread)
		}
	}
}

// Graphs: what is captured does not run; launched, it does, with the arguments that an update gives it.
func TestGraph(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	x := w.floats(64)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	record := func(factor float32, launches int) {
		t.Helper()
		if err := d.BeginCapture(s); err != nil {
			t.Fatal(err)
		}
		for range launches {
			l := w.launch("scale", 1, 64, uint64(x), factor, uint32(64))
			l.Stream, l.Wait = s, false
			if _, err := d.Launch(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := func() float32 {
		t.Helper()
		b := make([]byte, 4)
		if err := d.CopyOut(b, x, nil); err != nil {
			t.Fatal(err)
		}
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	record(3, 2)
	g, err := d.EndCapture(s)
	if err != nil {
		t.Fatal(err)
	}
	if g.Nodes() != 2 || first() != 1 {
		t.Errorf("%d nodes, and x is %v after the capture", g.Nodes(), first())
	}
	for range 2 {
		if err := d.LaunchGraph(t.Context(), g, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Synchronize(t.Context()); err != nil || first() != 81 {
		t.Errorf("x is %v after two launches of the graph, want 3⁴; %v", first(), err)
	}
	record(10, 2)
	if err := d.UpdateGraph(g, s); err != nil {
		t.Fatal(err)
	}
	if err := d.LaunchGraph(t.Context(), g, s); err != nil || s.Synchronize(t.Context()) != nil || first() != 8100 {
		t.Errorf("x is %v after the updated graph, want 8,100; %v", first(), err)
	}
	record(1, 3)
	const want = "cuda:0: update a graph: the graph update was not performed because it included changes which violated constraints specific to instantiated graph update (910)"
	if err := d.UpdateGraph(g, s); err == nil || err.Error() != want {
		t.Errorf("another shape of graph: %v\nwant %s", err, want)
	}
	if err := g.Destroy(); err != nil {
		t.Error(err)
	}
}

// A launch is stopped by its context; the device goes on.
func TestInterrupt(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	_, err := d.Launch(ctx, w.launch("spin", 1, 32))
	if err == nil || time.Since(start) > 2*time.Second {
		t.Errorf("an endless launch ended with %v after %v", err, time.Since(start))
	}
	w.run(w.launch("scale", 1, 32, uint64(w.floats(32)), float32(1), uint32(32)))
}

// The text of a fault names what is known: here the virtual GPU's words, then what became of the context.
func TestFaultText(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	w.floats(8)
	_, err := d.Launch(t.Context(), w.launch("poke", 3, 32, uint64(0), uint64(0)))
	const want = "cuda:0: conformance:162: st.global.u32 out of bounds\n" +
		"CTA (1,0,0) warp 0 lane 5: address 0x0, a null pointer\n" +
		"launch poke: an illegal memory access was encountered (700)\n" +
		"the context was replaced: one buffer went with it; modules are loaded again when they are used"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// Which GPU there is not.
func TestBadOrdinal(t *testing.T) {
	for _, n := range []int{-1, 1, 99} {
		_, err := Open(n)
		if want := fmt.Sprintf("no GPU cuda:%d\nthere is one GPU, cuda:0", n); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// What libraries that are no driver are told as, by the loader of this system.
func TestLibraries(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	elf32 := "\x7fELF\x01\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\x03\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 100)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mend = "\npoint $MEMWALL_LIBCUDA at a driver's libcuda.so.1, or unset it"
	for library, want := range map[string]string{
		filepath.Join(dir, "absent.so"): "no NVIDIA driver: $MEMWALL_LIBCUDA, DIR/absent.so: cannot open shared object file: No such file or directory" + mend,
		write("text.so", "this is no library, only text that is long enough to hold a header of ELF and more"): "no NVIDIA driver: $MEMWALL_LIBCUDA, DIR/text.so is no library (invalid ELF header)" + mend,
		write("empty.so", ""):     "no NVIDIA driver: $MEMWALL_LIBCUDA, DIR/empty.so is no library (file too short)" + mend,
		write("narrow.so", elf32): "no NVIDIA driver: $MEMWALL_LIBCUDA, DIR/narrow.so is a 32-bit library\ninstall the 64-bit driver, or point $MEMWALL_LIBCUDA at its libcuda.so.1",
		"libdl.so.2":              "no NVIDIA driver: $MEMWALL_LIBCUDA, libdl.so.2 is not a CUDA driver: it has no cuInit" + mend,
		"virtual:h1000":           "no NVIDIA driver: $MEMWALL_LIBCUDA: there is no virtual GPU \"h1000\"\nthe devices are " + strings.Join(perf.ProfileNames(), ", "),
		"virtual:t4":              "<nil>",
	} {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), environmentLibrary+"="+library, askAvailable+"=1")
		out, err := cmd.CombinedOutput()
		if got := strings.ReplaceAll(string(out), dir, "DIR"); err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", library, err, got, want)
		}
	}
}

// PTX that the driver refuses is told on its lines.
func TestRefusedPTX(t *testing.T) {
	d := open(t)
	text := strings.Replace(conformance.PTX, ".target sm_75", ".target sm_100", 1)
	_, err := d.LoadPTX(text, driver.LoadOptions{Name: "cell 3"})
	const want = "cell 3:2:9: the PTX is for sm_100, device \"virtual:h100\" is sm_90\n\t.target sm_100\n\t        ^\ncompile it for sm_90, or open a device that runs it"
	if err == nil || strings.Join(strings.Fields(err.Error()), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// The forwarders count their calls: a launch is one call of cuLaunchKernel.
func TestCalls(t *testing.T) {
	d := open(t)
	w := newWork(t, d)
	l := w.launch("scale", 1, 32, uint64(w.floats(32)), float32(1), uint32(32))
	before := shim.Calls()["cuLaunchKernel"]
	for range 5 {
		w.run(l)
	}
	if n := shim.Calls()["cuLaunchKernel"] - before; n != 5 {
		t.Errorf("5 launches called cuLaunchKernel %d times", n)
	}
}
