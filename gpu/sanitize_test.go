package gpu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write testdata/sanitize/*.txt anew, to be read before they are committed")

// corpusCase is one source of the sanitizer's corpus with how it is launched: its first line is
//
//	// launch GRID CTA SHARED: ARGUMENTS
//
// x=f32:64 is a tensor 0, 1, 2 …, z= zeros, e= empty, s=f32:64:128 the first 64 of 128 elements, freed= one that was freed,
// zi=u32:8 zeros, i=5 a number, null a null pointer.
type corpusCase struct {
	name, source, device string
	grid, cta, shared    int
	cooperative          bool
	cluster              int
	args                 []string
}

func readCorpus(t testing.TB) []corpusCase {
	paths, err := filepath.Glob("testdata/sanitize/*.cu")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d sources, %v", len(paths), err)
	}
	var list []corpusCase
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := corpusCase{name: strings.TrimSuffix(filepath.Base(path), ".cu"), source: string(text), device: "virtual:a100"}
		head, args, ok := strings.Cut(strings.TrimPrefix(strings.SplitN(c.source, "\n", 2)[0], "// launch "), ":")
		fields := strings.Fields(head)
		if !ok || len(fields) < 3 {
			t.Fatalf("%s: first line", path)
		}
		for i, into := range []*int{&c.grid, &c.cta, &c.shared} {
			if *into, err = strconv.Atoi(fields[i]); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		for _, word := range fields[3:] {
			switch word {
			case "sm_90":
				c.device = "virtual:h100"
			case "cooperative":
				c.cooperative = true
			case "cluster":
				c.cluster = c.grid
			}
		}
		c.args = strings.Fields(args)
		list = append(list, c)
	}
	return list
}

// run loads one twin and gives what the sanitizer finds in it, and what the launch's tensors hold afterwards.
func (c *corpusCase) run(t testing.TB, twin string, sanitized bool) (*Findings, []string) {
	t.Helper()
	ptx, err := os.ReadFile("testdata/sanitize/" + c.name + "." + twin + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	dev, err := Open(c.device)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.LoadModule(ModuleSpec{Name: c.name + ".ptx", PTX: string(ptx), Sources: map[string]string{c.name + ".cu": c.source}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unload()
	f, err := m.Function("kernel")
	if err != nil {
		t.Fatal(err)
	}
	args, tensors := c.arguments(t, dev)
	if twin == "mended" && c.name == "use_after_free" {
		args[0] = dev.Full(F32, 1, 32)
	}
	if twin == "mended" && c.name == "uninitialised_global" {
		args[1] = dev.Zeros(F32, 64)
	}
	config := Config{Grid: Dim(c.grid), CTA: Dim(c.cta), Shared: c.shared, Cooperative: c.cooperative}
	if c.cluster > 0 {
		config.Cluster = Dim(c.cluster)
	}
	var found *Findings
	if sanitized {
		found = Sanitize(func() { f.Launch(config, args...) })
	} else if err := f.Launch(config, args...); err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, x := range tensors {
		values = append(values, fmt.Sprint(x.Float64s()))
		x.Free()
	}
	return found, values
}

func (c *corpusCase) arguments(t testing.TB, dev *Device) (args []any, tensors []*Tensor) {
	types := map[string]DType{"f32": F32, "i32": I32, "u32": U32, "f16": F16, "u8": U8}
	for _, a := range c.args {
		key, value, _ := strings.Cut(a, "=")
		if key == "null" {
			args = append(args, nil)
			continue
		}
		if key == "i" {
			n, _ := strconv.Atoi(value)
			args = append(args, n)
			continue
		}
		if key == "i32" {
			value = "i32:" + value
		}
		parts := strings.Split(value, ":")
		dtype, ok := types[parts[0]]
		if !ok || len(parts) < 2 {
			t.Fatalf("%s: argument %q", c.name, a)
		}
		n, _ := strconv.Atoi(parts[1])
		var x *Tensor
		switch key {
		case "z", "zi":
			x = dev.Zeros(dtype, n)
		case "e":
			x = dev.Empty(dtype, n)
		case "s":
			whole, _ := strconv.Atoi(parts[2])
			x = dev.Full(dtype, 1, whole).Slice(0, n)
		case "freed":
			x = dev.Full(dtype, 1, n)
			args = append(args, x.Address())
			x.Free()
			continue
		case "i32":
			x = dev.Arange(dtype, n)
		default:
			x = dev.Arange(dtype, n)
		}
		args, tensors = append(args, x), append(tensors, x)
	}
	return args, tensors
}

var deviceAddress = regexp.MustCompile(`0x7[0-9a-f]{11}`)

// Every broken CUDA kernel of the corpus gives exactly its findings, its mended twin none, and the twin computes the same
// whether it is watched or not.
func TestSanitizeCorpus(t *testing.T) {
	for _, c := range readCorpus(t) {
		t.Run(c.name, func(t *testing.T) {
			found, _ := c.run(t, "broken", true)
			got := deviceAddress.ReplaceAllString(found.String(), "0x7f…") + "\n"
			path := "testdata/sanitize/" + c.name + ".txt"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("got\n%s\nwant (%v)\n%s", got, err, want)
			}
			if found.Clean() {
				t.Error("nothing was found")
			}
			mended, watched := c.run(t, "mended", true)
			if !mended.Clean() {
				t.Errorf("the mended twin:\n%s", mended)
			}
			if _, plain := c.run(t, "mended", false); fmt.Sprint(plain) != fmt.Sprint(watched) && c.name != "uninitialised_global" {
				t.Errorf("watched, the mended twin computes\n%v\nnot\n%v", watched, plain)
			}
		})
	}
}

// Memory that a watched function makes and does not free is a finding; its mended twin has none.
func TestSanitizeLeak(t *testing.T) {
	d := fresh(t, "h200")
	scale := load(t, d, "scale")
	leak := Sanitize(func() {
		x, y := d.Zeros(F32, 64), d.Zeros(F32, 64)
		scale.Launch(Threads(64, 64), x, 2, 64)
		y.Free()
	})
	want := "1 finding in 1 launch\n1 CTA of scale; checked: bounds, freed and uninitialised memory, alignment, races, barriers, asynchronous copies\n" +
		"leaked allocation\n  1 allocation made inside (256 B) and not freed there\n  Go's collector gives them back when nothing refers to them, which may be late\n" +
		"  → defer t.Free() after making the tensor, or make it outside of gpu.Sanitize"
	if leak.Clean() || leak.String() != want {
		t.Errorf("%s\nwant\n%s", leak, want)
	}
	mended := Sanitize(func() {
		x := d.Zeros(F32, 64)
		defer x.Free()
		scale.Launch(Threads(64, 64), x, 2, 64)
	})
	if !mended.Clean() {
		t.Errorf("%s", mended)
	}
}

// What was not executed was not checked: a launch that its limit ended is no clean one, and of a sample the findings say so.
func TestSanitizeUnfinished(t *testing.T) {
	d := fresh(t, "h200")
	m, err := d.LoadPTX(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry spin() {\nL: bra L;\nret;\n}\n.visible .entry quick() { ret; }\n")
	if err != nil {
		t.Fatal(err)
	}
	launch := func(name string, grid int) error {
		f, err := m.Function(name)
		if err != nil {
			t.Fatal(err)
		}
		return f.Launch(Config{Grid: Dim(grid), CTA: Dim(32), Limit: 50 * time.Millisecond})
	}
	BeginCell(t.Context(), 1)
	SanitizeCell()
	stopped := launch("spin", 1)
	found := records.cell
	EndCell()
	if stopped == nil || found.Clean() || found.Count("launch stopped") != 1 || !strings.Contains(found.String(), "only what ran until then was checked: give it more time, or less work") {
		t.Errorf("%v:\n%s", stopped, found)
	}
	sampled := Sanitize(func() {
		Sample(4, func() {
			if err := launch("quick", 64); err != nil {
				t.Error(err)
			}
		})
	})
	if got := sampled.String(); !sampled.Clean() || !strings.Contains(got, "16 CTAs of quick;") || !strings.Contains(got, "\nsampled: of quick 1 of every 4 CTAs was executed and checked") {
		t.Errorf("a sample:\n%s", got)
	}
}
