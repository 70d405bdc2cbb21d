package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu"
	"memwall/gpu/perf"
)

// peerAnswer makes the test binary a peer: it prints the variable and ends.
const peerAnswer = "MEMWALL_TEST_PEER"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(peerAnswer); ok {
		fmt.Print(strings.ReplaceAll(text, "JOBS", strings.Join(os.Args[1:], " ")))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func h200(t testing.TB) *perf.Profile {
	t.Helper()
	p, err := perf.ProfileByName("h200")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shipped reads what package kernels would hand over.
func shipped(t testing.TB, kernel string) string {
	t.Helper()
	if text := ptxOf(kernel); text != "" {
		return text
	}
	text, err := os.ReadFile(filepath.Join("../../../../kernels", kernel+".sm_80.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJobs runs each job on each lane path: the result is within the rounding of its float64 reference, and every counter is
// the portable lanes'.
func TestJobs(t *testing.T) {
	for i := range jobs {
		j := &jobs[i]
		t.Run(j.name, func(t *testing.T) {
			m, err := newMachine(t.Context(), h200(t))
			if err != nil {
				t.Fatal(err)
			}
			defer m.dev.Close()
			l, check := j.make(m, shipped(t, j.kernel))
			var first *driver.Result
			for path := vgpu.PortableLanes; path <= vgpu.BestLanes(); path++ {
				m.dev.SetLanes(path)
				r := m.run(&l, true)
				if m.err != nil {
					t.Fatal(m.err)
				}
				if worst := check(); !(worst <= 1) || m.err != nil {
					t.Errorf("%s: %g times as far from the reference as rounding allows; %v", path, worst, m.err)
				}
				if first == nil {
					first = r
				}
				if r.Counts != first.Counts {
					t.Errorf("%s: counters differ from the portable lanes'\n%+v\n%+v", path, r.Counts, first.Counts)
				}
			}
			t.Logf("measured on lanes up to %s", vgpu.BestLanes())
		})
	}
}

// TestFLOPs counts by hand what the matrix jobs do: 2·512³ for each product.
func TestFLOPs(t *testing.T) {
	for _, c := range []struct {
		job  int
		flop perf.FLOPType
		want uint64
	}{{0, perf.FLOPF32, 2 << 27}, {4, perf.FLOPTensor, 2 << 27}} {
		m, err := newMachine(t.Context(), h200(t))
		if err != nil {
			t.Fatal(err)
		}
		l, _ := jobs[c.job].make(m, shipped(t, jobs[c.job].kernel))
		m.dev.SetLanes(vgpu.BestLanes())
		r := m.run(&l, true)
		if m.err != nil {
			t.Fatal(m.err)
		}
		if got := r.Counts.FLOPs[c.flop]; got != c.want {
			t.Errorf("%s: %d FLOP, want %d", jobs[c.job].name, got, c.want)
		}
		m.dev.Close()
	}
}

// TestWorstOf: what must not pass does not.
func TestWorstOf(t *testing.T) {
	one := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	for _, c := range []struct{ got, want, allowed, worst float64 }{{1, 1, 1, 0}, {1.5, 1, 1, 0.5}, {3, 1, 1, 2}, {math.Inf(1), 1, 1, math.Inf(1)}} {
		if w := worstOf(3, one(c.got), one(c.want), one(c.allowed)); w != c.worst {
			t.Errorf("%+v: %g", c, w)
		}
	}
	for _, nan := range []float64{worstOf(1, one(math.NaN()), one(1), one(1)), worstOf(2, one(1), one(math.NaN()), one(1)), worstOf(1, one(0), one(0), one(0))} {
		if nan <= 1 {
			t.Errorf("NaN passes as %g", nan)
		}
	}
	if exact([]uint32{1, 2}, []uint32{1, 3}) <= 1 || exact([]uint32{1}, []uint32{1}) != 0 {
		t.Error("exact")
	}
}

// TestPTXIsOfItsSource: the PTX carries the hash of the source beside it.
func TestPTXIsOfItsSource(t *testing.T) {
	sources, err := filepath.Glob("cuda/*/*.cu")
	if err != nil || len(sources) < 7 {
		t.Fatal(sources, err)
	}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if ptx := ptxOf(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "cuda/"), ".cu")); !strings.Contains(ptx, "sha256 "+hex.EncodeToString(sum[:])+"; DO NOT EDIT.") {
			t.Errorf("%s: its PTX is missing or stale: run `go generate ./gpu/internal/vgpu/bench` on a machine with NVRTC", path)
		}
	}
}

func testReport() *Report {
	r := &Report{CPU: "a CPU", Best: "jit", Rows: []Row{
		{Name: "SGEMM 512³, 16 × 16 tile", peer: "sgemm", Figures: []Figure{{Path: "portable", Milliseconds: 500, Rate: 1e9}, {Path: "threaded", Milliseconds: 40, Rate: 1e10, Line: 35},
			{Path: "jit", Milliseconds: 16, Rate: 2e10, Line: 18, Reached: true}}, Counting: 1.1, CountingReached: true, TwoCores: 1.7},
		{Name: "branches, lanes alike", Figures: []Figure{{Path: "portable", Milliseconds: 20}, {Path: "threaded", Missing: "not on this machine"}, {Path: "jit", Missing: "not on this machine"}}},
		{Name: "branches, lanes apart", Figures: []Figure{{Path: "portable", Milliseconds: 60}, {Path: "threaded", Missing: "not on this machine"}, {Path: "jit", Missing: "not on this machine", Line: 7}}},
	}}
	r.compareTwins()
	return r
}

func TestReportText(t *testing.T) {
	text := testReport().String()
	for _, want := range []string{"× 1.10 reached  × 1.70 not reached", "counting ≤ × 1.25", "2 cores ≥ × 1.8", "threaded ≤ 35: not reached; jit ≤ 18: reached",
		"jit ≤ 7: not on this machine; 3.00 × its twin, ≤ 5: reached", "MEASURED", "EXECUTED"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestMachine: a machine on which a peer takes twice and 4.5 times what it took on the reference machine takes 3 times as long.
func TestMachine(t *testing.T) {
	r := testReport()
	r.Peers = []PeerRow{{Peer: "P", Job: "a", Milliseconds: 20, Reference: 10}, {Peer: "P", Job: "b", Milliseconds: 9, Reference: 2}, {Peer: "Q", Job: "c", Milliseconds: 7}}
	r.compareMachines()
	if math.Abs(r.MachineRatio-3) > 1e-12 {
		t.Errorf("ratio %g, want 3", r.MachineRatio)
	}
	text := r.String()
	for _, want := range []string{"P, a × 2.00 (20 ms, 10 there); P, b × 4.50 (9 ms, 2 there); mean × 3.00.", "SGEMM 512³, 16 × 16 tile, threaded: 13.3 ms, ≤ 35: reached"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestPeers runs programs that answer, that do not know a job, that fail, and that are not there.
func TestPeers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(context.Context) ([]string, error) { return []string{self}, nil }
	for _, c := range []struct {
		name, answer string
		peer         Peer
		row, note    string
	}{
		{"answers", `{"job": "JOBS", "cpu_ms": 1600}`, Peer{Name: "P", Start: start, Times: 50}, "P SGEMM 512³, 16 × 16 tile 1600 16 100 50 true", ""},
		{"slower than needed", `{"job": "JOBS", "cpu_ms": 32}`, Peer{Name: "P", Start: start, Times: 50}, "P SGEMM 512³, 16 × 16 tile 32 16 2 50 false", ""},
		{"cannot", `{"job": "JOBS", "error": "no fma"}`, Peer{Name: "P", Start: start}, "", "P does not run SGEMM 512³, 16 × 16 tile: no fma"},
		{"talks", "hello", Peer{Name: "P", Start: start}, "", `P is not measured: it printed "hello"`},
		{"does something else", `{"job": "x", "cpu_ms": 1}`, Peer{Name: "P", Start: start}, "", `P is not measured: it did "x", which nobody asked for`},
		{"is missing", "", Peer{Name: "P", Start: func(context.Context) ([]string, error) { return nil, errors.New("not there\nget it") }}, "", "P is not measured: not there; get it"},
	} {
		t.Setenv(peerAnswer, c.answer)
		r := testReport()
		r.addPeer(t.Context(), Options{}, c.peer)
		row, note := "", strings.Join(r.Notes, "\n")
		if len(r.Peers) > 0 {
			p := r.Peers[0]
			row = fmt.Sprint(p.Peer, " ", p.Job, " ", p.Milliseconds, " ", p.Ours, " ", p.Times, " ", p.Line, " ", p.Reached)
		}
		if row != c.row || note != c.note {
			t.Errorf("%s: row %q, note %q", c.name, row, note)
		}
	}
}

// TestRun measures the smallest job as a whole and shows it as JSON.
func TestRun(t *testing.T) {
	r, err := Run(t.Context(), Options{Filter: "lanes alike", Profile: h200(t), Spend: 1})
	if err != nil || len(r.Rows) != 1 || len(r.Rows[0].Figures) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	f := r.Rows[0].bestFigure()
	if !(f.Milliseconds > 0) || !(f.Rate > 1e6) || !(r.Rows[0].Counting > 0) {
		t.Errorf("%+v", r.Rows[0])
	}
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"cpu_ms":`) || !strings.Contains(string(text), `"tag":"MEASURED"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// BenchmarkJobs is `memwall bench vgpu` for go test: CPU time, all counters on.
func BenchmarkJobs(b *testing.B) {
	for i := range jobs {
		j := &jobs[i]
		for path := vgpu.PortableLanes; path <= vgpu.BestLanes(); path++ {
			b.Run(strings.ReplaceAll(j.name, " ", "_")+"/"+path.String(), func(b *testing.B) {
				m, err := newMachine(b.Context(), h200(b))
				if err != nil {
					b.Fatal(err)
				}
				defer m.dev.Close()
				l, _ := j.make(m, shipped(b, j.kernel))
				m.dev.SetLanes(path)
				r := m.run(&l, true)
				b.ResetTimer()
				start := cpuTime()
				for range b.N {
					r = m.run(&l, true)
				}
				used := (cpuTime() - start).Seconds()
				if m.err != nil {
					b.Fatal(m.err)
				}
				b.ReportMetric(1e3*used/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(r.Counts.ThreadInstructions)*float64(b.N)/used/1e6, "Mti/cpu-s")
			})
		}
	}
}
