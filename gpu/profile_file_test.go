package gpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memwall/gpu/perf"
)

const h20 = `{"name": "h20", "like": "h100", "sms": 78, "dram_bytes_per_second": 4.0e12, "sources": ["made up"]}`

func TestOpenProfileFile(t *testing.T) {
	defer CloseAll()
	file := filepath.Join(t.TempDir(), "H20.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(h20)
	d, err := Open("virtual:" + file)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "virtual:h20" || d.SMs() != 78 || d.Profile().DRAMBytesPerSecond != 4e12 {
		t.Errorf("opened %s with %d SMs", d.Name(), d.SMs())
	}
	if got := d.String(); !strings.Contains(got, "\nDATASHEET: DRAM 4.00 TB/s; MODELLED: FP32 67.0 TFLOP/s, tensor 989 TFLOP/s; ridges ") || !strings.Contains(got, "\nH20.json: made up\nnot in the file, as h100 has them (MODELLED): compute_capability, ") {
		t.Errorf("shown as %q", got)
	}
	for _, name := range []string{file, "virtual:h20", "H20"} {
		if again, err := Open(name); err != nil || again != d {
			t.Errorf("Open(%q) gives %v, %v", name, again, err)
		}
	}
	write(strings.Replace(h20, "78", "79", 1))
	_, err = Open(file)
	wantError(t, err, "open \""+file+"\": virtual:h20 is open with other figures\nclose it first, or give the profile another name")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err := Open(file); err != nil || e.SMs() != 79 {
		t.Errorf("after closing: %v, %v", e, err)
	}
	write(`{"name": "h20", "like": "h100", "sm": 78}`)
	_, err = Open(file)
	wantError(t, err, "open profile "+file+": sm: no such key\nthe keys are "+strings.Join(perf.ProfileKeys(), ", "))
	_, err = Open("virtual:none.json")
	wantError(t, err, "open \"none.json\": there is no such file\ngive the path of a JSON file, or one of the devices virtual:"+strings.Join(perf.ProfileNames(), ", virtual:"))
	folder := filepath.Join(t.TempDir(), "x.json")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Open(folder)
	wantError(t, err, "open \""+folder+"\": it is a folder\ngive the file of the profile")
}
