package record

import (
	"os"
	"path/filepath"
	"testing"

	"memwall/gpu/perf"
)

func observation(function string, grid uint32, bytes uint64) perf.Observation {
	o := perf.Observation{Kernel: function, Function: function, Virtual: true, Counted: true, Sampled: 1, Executed: uint64(grid), Registers: 32,
		Shape: perf.Shape{Grid: [3]uint32{grid, 1, 1}, CTA: [3]uint32{128, 1, 1}}}
	o.Counts.CTAs, o.Counts.GlobalLoad.Bytes = uint64(grid), bytes
	return o
}

// What several processes record comes back, equal launches counted.
func TestRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record")
	for _, process := range []string{".1", ".2"} {
		r := New(file + process)
		for range 1000 {
			r.Add(observation("add", 8, 4096))
		}
		r.Add(observation("add", 8, 8192))
		r.Add(observation("mul", 8, 4096))
		r.Stopped("a fault")
		for range 3 {
			r.Found(Found{"race 7 8", []byte(`{"kind":"race"}`)})
		}
		if err := r.Write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := New(file + ".3").Write(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + ".3"); err == nil {
		t.Error("a process without launches wrote a record")
	}
	all, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Entries) != 6 || all.Entries[0].Launches != 1000 || len(all.Stopped) != 2 {
		t.Errorf("%d entries, %d faults: %+v", len(all.Entries), len(all.Stopped), all)
	}
	if len(all.Found) != 2 || string(all.Found[1].Finding) != `{"kind":"race"}` {
		t.Errorf("found %q", all.Found)
	}
	p, err := perf.ProfileByName("a100")
	if err != nil {
		t.Fatal(err)
	}
	if l := all.Launches(p); len(l) != 2*1002 || l[0].Function != "add" || l[1001].Function != "mul" {
		t.Errorf("%d launches", len(l))
	}
}

// Kinds of launches are kept apart up to a limit, and counted beyond it.
func TestMostEntries(t *testing.T) {
	r := New("")
	const n = 3 * mostEntries
	for i := range n {
		r.Add(observation("add", 8, uint64(i)))
	}
	total := 0
	for _, e := range r.kept.Entries {
		total += e.Launches
	}
	if total != n || len(r.kept.Entries) != mostEntries {
		t.Errorf("%d launches in %d entries, want %d in %d", total, len(r.kept.Entries), n, mostEntries)
	}
}

func TestBadRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "record")
	if err := os.WriteFile(file+".7", []byte("no gob"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(file); err == nil {
		t.Errorf("a broken record was read: %+v", r)
	}
}
