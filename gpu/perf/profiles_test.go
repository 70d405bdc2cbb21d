package perf

import (
	"math"
	"testing"
)

func TestProfilesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		if seen[p.Name] {
			t.Errorf("profile %q stands twice", p.Name)
		}
		seen[p.Name] = true
	}
	for _, name := range []string{"v100", "t4", "a10g", "l4", "a100", "a100-40", "rtx3090", "rtx4090", "rtx5090", "l40s", "h100", "h100-pcie", "h200", "b200"} {
		if !seen[name] {
			t.Errorf("no profile %q", name)
		}
	}
}

// TestProfilePeaks: tensor and FP32 roofs agree with SMs × FLOP a cycle × clock (facts: occupancy), within 3 %.
func TestProfilePeaks(t *testing.T) {
	for _, c := range []struct {
		name          string
		tensorPerSM   float64 // FLOP a cycle
		tensorHz      float64
		tensor        float64
		ridgeTensor   float64
		ridgeFP32     float64
		fp32FromClock bool
	}{
		{"v100", 1024, 1.53e9, 125e12, 139, 17, true},
		{"t4", 1024, 1.59e9, 65e12, 203, 25, true},
		{"a10g", 512, 1.71e9, 70e12, 117, 58, true},
		{"rtx3090", 512, 1.695e9, 71e12, 76, 38, true},
		{"rtx5090", 512, 2.407e9, 209.5e12, 117, 58, true},
		{"l40s", 1024, 2.52e9, 362e12, 419, 106, true},
		{"a100", 2048, 1.41e9, 312e12, 153, 10, true},
		{"a100-40", 2048, 1.41e9, 312e12, 201, 13, true},
		{"l4", 1024, 2.04e9, 121e12, 403, 101, true},
		{"rtx4090", 512, 2.52e9, 165e12, 164, 82, true},
		{"h100", 4096, 1.83e9, 989e12, 295, 20, true},
		{"h100-pcie", 4096, 1.62e9, 756e12, 371, 25, true},
		{"h200", 4096, 1.83e9, 989e12, 206, 14, true},
		{"b200", 8192, 1.855e9, 2250e12, 292, 10, true},
	} {
		p, err := ProfileByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if peak := float64(p.SMs) * c.tensorPerSM * c.tensorHz; math.Abs(peak/p.TensorFLOPs-1) > 0.03 {
			t.Errorf("%s: tensor roof %.4g, SMs × rate × clock %.4g", c.name, p.TensorFLOPs, peak)
		}
		if !(math.Abs(p.TensorFLOPs/c.tensor-1) < 0.01) {
			t.Errorf("%s: tensor roof %.4g, want %.4g", c.name, p.TensorFLOPs, c.tensor)
		}
		if peak := float64(p.SMs) * p.Limits().FP32PerSMCycle * p.BoostHz; math.Abs(peak/p.FP32FLOPs-1) > 0.26 {
			t.Errorf("%s: FP32 roof %.4g, SMs × rate × clock %.4g", c.name, p.FP32FLOPs, peak)
		}
		if r := math.Round(p.Ridge(FLOPTensor)); r != c.ridgeTensor {
			t.Errorf("%s: tensor ridge %v, want %v", c.name, r, c.ridgeTensor)
		}
		if r := math.Round(p.Ridge(FLOPF32)); r != c.ridgeFP32 {
			t.Errorf("%s: FP32 ridge %v, want %v", c.name, r, c.ridgeFP32)
		}
	}
}

func TestProfileByName(t *testing.T) {
	p, err := ProfileByName("")
	if err != nil || p.Name != "h200" {
		t.Fatalf("default is %v, %v", p, err)
	}
	p.SMs = 1
	if q, _ := ProfileByName("H200"); q == nil || q.SMs != 132 {
		t.Error("a caller's copy changed the table")
	}
	_, err = ProfileByName("h300")
	want := "no device profile named \"h300\"\nuse one of v100, t4, a10g, l4, a100, a100-40, rtx3090, rtx4090, rtx5090, l40s, h100, h100-pcie, h200, b200"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestRoofline(t *testing.T) {
	p, _ := ProfileByName("h200")
	if got := p.Attainable(FLOPTensor, 1); got != 4.8e12 {
		t.Errorf("1 FLOP/B allows %v, want 4.8e12", got)
	}
	if got := p.Attainable(FLOPTensor, 1000); got != 989e12 {
		t.Errorf("1000 FLOP/B allows %v, want 989e12", got)
	}
	if got := p.Attainable(FLOPF32, 100); got != 67e12 {
		t.Errorf("100 FLOP/B allows %v on FP32, want 67e12", got)
	}
}
