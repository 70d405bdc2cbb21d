package gpu

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"memwall/gpu/perf"
)

func TestOpenNames(t *testing.T) {
	defer CloseAll()
	for name, want := range map[string]string{
		"virtual": "virtual:h200", "": "virtual:h200", "virtual:": "virtual:h200", "virtual:t4": "virtual:t4", "t4": "virtual:t4",
		"Virtual:A100": "virtual:a100", " h100-pcie ": "virtual:h100-pcie",
	} {
		d, err := Open(name)
		if err != nil || d.Name() != want {
			t.Errorf("Open(%q) = %v, %v; want %s", name, d, err, want)
			continue
		}
		if again, _ := Open(want); again != d {
			t.Errorf("%s opens twice", want)
		}
	}
	all := "the devices are virtual:" + strings.Join(perf.ProfileNames(), ", virtual:")
	for name, want := range map[string]string{
		"virtual:h900": "open \"virtual:h900\": there is no such device\n" + all,
		"gtx":          "open \"gtx\": there is no such device\n" + all,
		"metal:0":      "open \"metal:0\": there is no such device\n" + all,
		"cuda:x":       "open \"cuda:x\": \"x\" is no number of a GPU\nthe first GPU is cuda:0, the next cuda:1",
		"cuda:-1":      "open \"cuda:-1\": \"-1\" is no number of a GPU\nthe first GPU is cuda:0, the next cuda:1",
	} {
		_, err := Open(name)
		wantError(t, err, want)
	}
}

func TestOpenDefault(t *testing.T) {
	defer CloseAll()
	t.Setenv(EnvironmentDevice, "virtual:l4")
	if d, err := OpenDefault(); err != nil || d.Name() != "virtual:l4" {
		t.Errorf("from the environment: %v, %v", d, err)
	}
	t4, err := Open("t4")
	if err != nil {
		t.Fatal(err)
	}
	SetDefault(t4)
	if d, err := OpenDefault(); err != nil || d != t4 {
		t.Errorf("after SetDefault: %v, %v", d, err)
	}
	t4.Close()
	t.Setenv(EnvironmentDevice, "h800")
	_, err = OpenDefault()
	wantError(t, err, "open \"h800\": there is no such device\nfrom $MEMWALL_DEVICE\nthe devices are virtual:"+strings.Join(perf.ProfileNames(), ", virtual:"))
}

func TestDevices(t *testing.T) {
	defer CloseAll()
	t.Setenv(EnvironmentDevice, "")
	list := Devices()
	if len(list) != len(perf.ProfileNames())+1 {
		t.Fatalf("%d devices for %d profiles", len(list), len(perf.ProfileNames()))
	}
	for _, i := range list {
		if i.Name == "virtual:h200" && (!i.Default || int(i.RidgeFP32) != 13 || int(i.RidgeTensor+.5) != 206 || i.SMs != 132 || i.ComputeCapability != "9.0") {
			t.Errorf("h200: %+v", i)
		}
		if i.Unavailable == "" && (len(i.Sources) == 0 || !(i.DRAMBytesPerSecond > 1e11)) {
			t.Errorf("%s has no source or no roof", i.Name)
		}
	}
	for _, want := range []string{"\nvirtual:h200 *     9.0  132   141    50   4.80    67.0     989   14.0     206\n", "DATASHEET"} {
		if !strings.Contains(list.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, list)
		}
	}
	for _, line := range strings.Split(list.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line of %d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	var back []DeviceInfo
	if text, err := json.Marshal(list); err != nil || json.Unmarshal(text, &back) != nil || back[0].Name != list[0].Name {
		t.Errorf("JSON: %v", err)
	}
}
