package cuda

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"memwall/gpu/internal/driver/conformance"
	"memwall/gpu/internal/ptx"
)

// Which driver would load PTX that this one is too old for.
func TestTooNew(t *testing.T) {
	for _, c := range []struct {
		text    string
		version int
		want    string
	}{
		{".version 9.0\n", 12040, "PTX 9.0 needs a driver of CUDA 13.0 or newer, 580 on Linux: this one is of CUDA 12.4\nupdate the NVIDIA driver, or compile to older PTX"},
		{"// x\n.version 8.5\n", 11080, "PTX 8.5 needs a driver of CUDA 12.5 or newer, 555 on Linux: this one is of CUDA 11.8\nupdate the NVIDIA driver, or compile to older PTX"},
		{".version 7.8", 11020, "PTX 7.8 needs a driver of CUDA 11.8 or newer, 520 on Linux: this one is of CUDA 11.2\nupdate the NVIDIA driver, or compile to older PTX"},
		{".version 99.1", 13010, "PTX 99.1 is newer than every driver that memwall knows: this one is of CUDA 13.1\nupdate the NVIDIA driver, or compile to older PTX"},
		{"hello", 12040, "the PTX has no .version"},
	} {
		if got := tooNew(c.text, c.version); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// The driver's compiler log stands on the lines of the text, and of the CUDA C++ that they come from.
func TestLogLines(t *testing.T) {
	text := strings.Replace(conformance.PTX, "	mul.f32 %f3, %f1, %f2;", "	.file 1 \"scale.cu\"\n	.loc 1 7 3\n	mul.f32 %f3, %f1, %f2;", 1)
	m, err := ptx.Parse("cell 3", text)
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(text[:strings.Index(text, "mul.f32 %f3, %f1")], "\n")
	log := "ptxas application ptx input, line " + strconv.Itoa(line) + "; error   : Arguments mismatch for instruction 'mul'\n" +
		"ptxas application ptx input, line 1; warning : odd version\nptxas fatal   : Ptx assembly aborted due to errors\nsomething else\n"
	want := []string{"cell 3:" + strconv.Itoa(line) + ": Arguments mismatch for instruction 'mul'", "    mul.f32 %f3, %f1, %f2;", "    from scale.cu:7",
		"cell 3:1: odd version", "    .version 6.5", "something else"}
	if got := strings.Join(logLines(log, m), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := logLines("", m); len(got) != 0 {
		t.Errorf("an empty log gives %q", got)
	}
}

// A profile follows the driver's attributes: bandwidth from clock and width, arithmetic from SMs and clock (NVIDIA H100 SXM5 and A100
// 80 GB datasheets).
func TestProfileOfAttributes(t *testing.T) {
	for _, c := range []struct {
		a                  attributes
		dram, fp32, tensor float64 // datasheet
		sms                int
		ridge              float64
	}{
		{attributes{model: "NVIDIA H100 80GB HBM3", major: 9, minor: 0, sms: 132, memory: 85 << 30, l2: 50 << 20, clockKHz: 1980000, memoryKHz: 2619000, busBits: 5120},
			3.35e12, 66.9e12, 1070e12, 132, 20},
		{attributes{model: "NVIDIA A100-SXM4-80GB", major: 8, minor: 0, sms: 108, memory: 80 << 30, l2: 40 << 20, clockKHz: 1410000, memoryKHz: 1593000, busBits: 5120},
			2.04e12, 19.5e12, 312e12, 108, 9.6},
	} {
		p := c.a.profile("cuda:0")
		for _, f := range []struct {
			name      string
			got, want float64
		}{{"DRAM", p.DRAMBytesPerSecond, c.dram}, {"FP32", p.FP32FLOPs, c.fp32}, {"tensor", p.TensorFLOPs, c.tensor}, {"ridge", p.FP32FLOPs / p.DRAMBytesPerSecond, c.ridge}} {
			if !(math.Abs(f.got-f.want) <= .01*f.want) {
				t.Errorf("%s: %s %g, want %g", c.a.model, f.name, f.got, f.want)
			}
		}
		if p.SMs != c.sms || p.Model != c.a.model || p.L2Bytes != c.a.l2 || p.Name != "cuda:0" || len(p.Sources) == 0 {
			t.Errorf("%s: %+v", c.a.model, p)
		}
	}
}
