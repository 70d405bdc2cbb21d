package perf

import (
	"slices"
	"strings"
	"testing"
)

// h20 is a GPU that the table lacks: an H100 with 78 SMs and 4.0 TB/s.
const h20 = `{
	"name": "h20", "like": "h100", "model": "H20 96 GB", "sms": 78, "memory_bytes": 96e9,
	"dram_bytes_per_second": 4.0e12, "fp32_flops": 44e12, "fp16_flops": 88e12, "fp64_flops": 1e12, "tensor_flops": 148e12,
	"sources": ["vendor's data sheet"]
}`

func TestParseProfile(t *testing.T) {
	p, err := ParseProfile("h20.json", []byte(h20))
	if err != nil {
		t.Fatal(err)
	}
	base, _ := ProfileByName("h100")
	if p.SMs != 78 || p.MemoryBytes != 96e9 || p.DRAMBytesPerSecond != 4e12 || p.L2Bytes != base.L2Bytes || p.Major != 9 || p.Sources[0] != "vendor's data sheet" {
		t.Errorf("read %+v", p)
	}
	if q, _ := ProfileByName("h100"); q.SMs != 132 {
		t.Error("the profile that it is like changed")
	}
}

// What the file gives is DATASHEET with the file and its source; what another GPU gave is MODELLED and says whose it is.
func TestProfileOrigin(t *testing.T) {
	p, err := ParseProfile("boards/h20.json", []byte(`{"name": "h20", "like": "h100", "dram_bytes_per_second": 4.0e12, "fp32_flops": 44e12, "sources": ["a paper", "p. 3"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Roof(FLOPF32); r.Tag != Datasheet || r.Source != "h20.json: a paper" {
		t.Errorf("FP32 %+v", r)
	}
	if r := p.Roof(FLOPTensor); r.Tag != Modelled || r.Source != "that of h100, which h20.json is like" {
		t.Errorf("tensor %+v", r)
	}
	o := copyLaunch(1 << 24)
	if l := Evaluate(o, p); l.Ridge.Tag != Datasheet {
		t.Errorf("ridge of FP32 and DRAM: %+v", l.Ridge)
	}
	o.Counts.FLOPs[FLOPTensor] = 1 << 40
	l := Evaluate(o, p)
	if l.Ridge.Tag != Modelled || l.Ridge.Source != "tensor roof ÷ DRAM roof: that of h100, which h20.json is like" {
		t.Errorf("ridge of tensor and DRAM: %+v", l.Ridge)
	}
	for _, a := range l.Advise() {
		if slices.Contains(a.Tags, Datasheet) {
			t.Errorf("advice %+v", a)
		}
	}
	base, _ := ProfileByName("h100")
	want := []string{"h20.json: a paper; p. 3", "not in the file, as h100 has them (MODELLED): compute_capability, memory_bytes, sms, boost_hz, fp16_flops, fp64_flops, tensor_flops, model_hz, " +
		"l1_bytes, l2_bytes, dram_reach, dram_copy_reach, l2_bytes_per_second, l1_latency_cycles, l2_latency_cycles, dram_latency_cycles, shared_latency_cycles, " +
		"tensor_macs_per_sm_cycle, lsu_cycles, launch_seconds; of h100: " + strings.Join(base.Sources, "; ")}
	if got := p.AllSources(); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if base.TagOf(keyTensor) != Datasheet || base.Roof(FLOPTensor).Source != base.Sources[0] || len(base.Inherited()) != 0 {
		t.Error("a profile of the table is not the datasheet's")
	}
}

func TestParseProfileErrors(t *testing.T) {
	names := strings.Join(ProfileNames(), ", ")
	for _, c := range []struct{ text, want string }{
		{``, "profile f: the text ends inside the object"},
		{`[1]`, "profile f: the text is not a JSON object: begin with {"},
		{`{"name": "x"`, "profile f: the text ends inside the object"},
		{"{\n\"name\" \"x\"}", "profile f: line 2: this is not JSON"},
		{`{"name": "x"} {}`, "profile f: text stands behind the object"},
		{`{"name": "x", "name": "y"}`, `profile f: key "name" stands twice`},
		{`{"nam": "x"}`, "profile f: nam: no such key\nthe keys are " + strings.Join(ProfileKeys(), ", ")},
		{`{"name": 3}`, "profile f: name: 3 is not a text"},
		{`{"sms": "many"}`, `profile f: sms: "many" is not a number`},
		{`{"sms": 7.5}`, "profile f: sms: 7.5 is not a whole number"},
		{`{"sms": null}`, "profile f: sms: null is not a number"},
		{`{"sources": "x"}`, `profile f: sources: "x" is not a list of texts`},
		{`{"like": "h900"}`, "profile f: like: no device profile named \"h900\"\nuse one of " + names},
		{`{"like": ""}`, "profile f: like: no device profile named \"\"\nuse one of " + names},
		{`{"compute_capability": "nine"}`, "profile f: compute_capability: \"nine\" is not a compute capability\nwrite it like 9.0"},
		{`{"like": "h100"}`, `profile f: name is "": give one of small letters, digits, dots and hyphens`},
		{`{"name": "H 100"}`, `profile f: name is "H 100": give one of small letters, digits, dots and hyphens`},
		{`{"name": "h100", "like": "h100"}`, `profile f: name "h100" is that of a profile of the table: choose another`},
		{`{"name": "x", "like": "h100"}`, "profile f: names no source"},
		{`{"name": "x", "like": "h100", "sources": ["s"], "dram_reach": 1.5}`, "profile f: DRAMReach is 1.5, must be at most 1"},
		{`{"name": "x", "like": "h100", "sources": ["s"], "sms": -1}`, "profile f: SMs is -1, must be above zero"},
		{`{"name": "x", "sources": ["s"]}`, "profile f: SMs is 0, must be above zero\ngive it, or name a profile that is similar: \"like\": \"h100\""},
	} {
		_, err := ParseProfile("f", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// FuzzParseProfile: no text makes the parser panic, and what it accepts passes Check.
func FuzzParseProfile(f *testing.F) {
	f.Add([]byte(h20))
	f.Add([]byte(`{"name":"x","sources":[],"sms":1e300}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := ParseProfile("f", text); err == nil && p.Check() != nil {
			t.Errorf("accepted %q: %v", text, p.Check())
		}
	})
}
