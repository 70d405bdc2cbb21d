package perf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// casesFile finds ../shared/cases relative to the repository's root; "" with one log line where it is absent.
func casesFile(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "cases", name)
	if _, err := os.Stat(path); err != nil {
		t.Logf("%s is absent: nothing to compare with", name)
		return ""
	}
	return path
}

// TestOccupancyTable answers 3,600 launches as NVIDIA's cuda_occupancy.h does, every column of every row.
func TestOccupancyTable(t *testing.T) {
	path := casesFile(t, "occupancy.tsv")
	if path == "" {
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var input strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(string(want), "\n"), "\n") {
		input.WriteString(strings.Join(strings.Split(line, "\t")[:5], "\t") + "\n")
	}
	var got strings.Builder
	if err := OccupancyTSV(strings.NewReader(input.String()), &got); err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(a) != len(b) || len(a) != 3602 {
		t.Fatalf("%d lines, want %d", len(a), len(b))
	}
	wrong := 0
	for i := range a {
		if a[i] != b[i] {
			if wrong++; wrong <= 5 {
				t.Errorf("row %d:\n got %s\nwant %s", i+1, a[i], b[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d rows differ", wrong)
	}
}

// TestOccupancyPublished compares with launches that other people published (facts: hardware, occupancy).
func TestOccupancyPublished(t *testing.T) {
	for _, c := range []struct {
		cc                   string
		threads, regs, bytes int
		ctas                 int
		percent              float64 // 0: not published
		limiter              string
	}{
		{"7.5", 256, 64, 32 << 10, 2, 50, LimitShared}, // T4
		{"7.5", 1024, 22, 0, 1, 100, LimitWarps},       // T4
		{"8.6", 256, 100, 0, 2, 100. / 3, LimitRegisters},
		{"9.0", 128, 63, 0, 8, 50, LimitRegisters}, // H20
		{"9.0", 128, 96, 0, 5, 31.25, LimitRegisters},
		{"9.0", 224, 92, 0, 2, 0, LimitRegisters}, // not the naive 3
		{"8.0", 224, 92, 0, 2, 0, LimitRegisters},
		{"9.0", 512, 156, 0, 0, 0, LimitRegisters}, // launch fails
		{"9.0", 256, 156, 0, 1, 0, LimitRegisters},
		{"9.0", 32, 24, 12 << 10, 17, 0, LimitShared}, // with the 1 KB reserve, not 19
	} {
		l, err := ParseComputeCapability(c.cc)
		if err != nil {
			t.Fatal(err)
		}
		o, err := OccupancyOf(l, c.threads, c.regs, c.bytes, 0)
		if err != nil {
			t.Fatal(err)
		}
		if o.CTAsPerSM != c.ctas || o.Limiter != c.limiter || (c.percent > 0 && !(abs(o.Value-c.percent) < 1e-9)) {
			t.Errorf("%s, %d threads, %d registers, %d B: %d CTAs, %v%%, %s; want %d, %v%%, %s",
				c.cc, c.threads, c.regs, c.bytes, o.CTAsPerSM, o.Value, o.Limiter, c.ctas, c.percent, c.limiter)
		}
		if o.Tag != Formula {
			t.Errorf("tag %q, want FORMULA", o.Tag)
		}
	}
}

// TestOccupancyProperties: more of any resource never lets more CTAs in; what is resident fits the SM; every limiter named
// gives the result.
func TestOccupancyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &limitRows[rapid.IntRange(0, len(limitRows)-1).Draw(t, "row")]
		threads := rapid.IntRange(1, MaxThreadsPerCTA).Draw(t, "threads")
		regs := rapid.IntRange(0, MaxRegisters).Draw(t, "registers")
		static := rapid.IntRange(0, 48<<10).Draw(t, "static")
		dynamic := rapid.IntRange(0, 180<<10).Draw(t, "dynamic")
		r, err := l.Residency(threads, regs, static, dynamic)
		if err != nil {
			t.Fatal(err)
		}
		if r.CTAs*r.WarpsPerCTA > l.WarpsPerSM || r.CTAs > l.CTAsPerSM || r.CTAs*(static+dynamic) > l.SharedPerSM ||
			r.CTAs*threads*regs > RegistersPerSM {
			t.Fatalf("%+v does not fit an SM of %+v", r, l)
		}
		by := map[string]int{LimitWarps: r.ByWarps, LimitRegisters: r.ByRegisters, LimitShared: r.ByShared, LimitCTAs: r.ByCTAs}
		for _, name := range r.Limiters {
			if by[name] != r.CTAs {
				t.Fatalf("%s gives %d, result %d", name, by[name], r.CTAs)
			}
		}
		if len(r.Limiters) == 0 {
			t.Fatal("no limiter")
		}
		for _, more := range []func() (Residency, error){
			func() (Residency, error) {
				return l.Residency(min(threads+32, MaxThreadsPerCTA), regs, static, dynamic)
			},
			func() (Residency, error) { return l.Residency(threads, min(regs+8, MaxRegisters), static, dynamic) },
			func() (Residency, error) { return l.Residency(threads, regs, static, dynamic+1024) },
		} {
			if m, err := more(); err != nil || m.CTAs > r.CTAs {
				t.Fatalf("more resources let %d CTAs in, less let %d (%v)", m.CTAs, r.CTAs, err)
			}
		}
	})
}

func TestOccupancyErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"9.0\t256\t64\n", "line 1: 3 columns, needs five separated by tabs: cc, threads, regs, static_smem, dynamic_smem"},
		{"cc\tthreads\tregs\tstatic_smem\tdynamic_smem\n9.0\t256\tmany\t0\t0\n", `line 2: column regs: "many" is not a whole number`},
		{"9.1\t256\t64\t0\t0\n", "line 1: compute capability 9.1 is not known\nuse one of 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1"},
		{"sm_90\t256\t64\t0\t0\n", "line 1: \"sm_90\" is not a compute capability\nwrite it like 9.0"},
		{"9.0\t2000\t64\t0\t0\n", "line 1: occupancy: 2000 threads a CTA, the limits are 1 and 1024"},
		{"9.0\t256\t300\t0\t0\n", "line 1: occupancy: 300 registers a thread, the limits are 0 and 255"},
		{"9.0\t256\t64\t-1\t0\n", "line 1: occupancy: static shared memory of -1 B is negative"},
		{"9.0\t256\t64\t0\t-5\n", "line 1: occupancy: dynamic shared memory of -5 B is negative"},
	} {
		var out strings.Builder
		err := OccupancyTSV(strings.NewReader(c.in), &out)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.in, err, c.want)
		}
		if out.Len() > 0 {
			t.Errorf("%q: wrote %q although it failed", c.in, out.String())
		}
	}
}

func FuzzOccupancyTable(f *testing.F) {
	f.Add("cc\tthreads\tregs\tstatic_smem\tdynamic_smem\n9.0\t256\t64\t0\t0\n")
	f.Add("7.5\t1\t0\t0\t0\r\n\n12.0\t1024\t255\t49152\t999999999\n")
	f.Fuzz(func(t *testing.T, in string) {
		rows, err := OccupancyTable(strings.NewReader(in))
		if err != nil {
			return
		}
		for _, r := range rows {
			if r.Residency.CTAs < 0 || len(r.Residency.Limiters) == 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func abs(v float64) float64 { return max(v, -v) }

func TestOccupancyQuery(t *testing.T) {
	for _, c := range []struct {
		q    OccupancyQuery
		want string
	}{
		{OccupancyQuery{"9.0", 256, 64, 0, 0}, "occupancy 50% (FORMULA): 4 CTAs an SM, 32 of 64 warps, limit: registers\n" +
			"CTAs an SM by warps 8, by registers 4, by shared memory 228, by CTAs 32"},
		{OccupancyQuery{"7.5", 512, 156, 0, 0}, "the launch fails: not one CTA fits on an SM, limit: registers\n" +
			"CTAs an SM by warps 2, by registers 0, by shared memory no limit, by CTAs 16"},
	} {
		a, err := c.q.Answer()
		if err != nil || a.String() != c.want {
			t.Errorf("%+v: %v\n got %s\nwant %s", c.q, err, a, c.want)
		}
	}
	if _, err := (OccupancyQuery{CC: "9", Threads: 32}).Answer(); err == nil || err.Error() != "\"9\" is not a compute capability\nwrite it like 9.0" {
		t.Errorf("got %v", err)
	}
}
