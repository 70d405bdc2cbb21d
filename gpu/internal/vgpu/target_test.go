package vgpu

import (
	"encoding/binary"
	"strings"
	"testing"

	"memwall/gpu/internal/driver"
)

// Which PTX runs on which GPU (PTX ISA 11.1.2): older targets on all newer ones, sm_XYa on that one alone, sm_XYf on its family.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		target       string
		major, minor int
		runs         bool
	}{
		{"sm_70", 7, 0, true}, {"sm_70", 9, 0, true}, {"sm_75", 7, 0, false}, {"sm_80", 7, 5, false}, {"sm_86", 8, 0, false}, {"sm_80", 8, 9, true},
		{"sm_90", 10, 0, true}, {"sm_90a", 9, 0, true}, {"sm_90a", 10, 0, false}, {"sm_90a", 8, 0, false}, {"sm_100a", 10, 0, true}, {"sm_100a", 12, 0, false},
		{"sm_100f", 10, 0, true}, {"sm_100f", 10, 3, true}, {"sm_103f", 10, 0, false}, {"sm_100f", 12, 0, false}, {"sm_100", 12, 0, true}, {"sm_120a", 12, 0, true}, {"sm_120f", 12, 1, true}, {"sm_50", 9, 0, true},
	} {
		p := testProfile()
		p.Major, p.Minor = c.major, c.minor
		d := openTest(t, p)
		_, err := d.LoadPTX(".version 8.8\n.target "+c.target+"\n.address_size 64\n.visible .entry k() { ret; }", driver.LoadOptions{Name: "k.ptx"})
		if (err == nil) != c.runs {
			t.Errorf("%s on %d.%d: %v", c.target, c.major, c.minor, err)
		}
		if c.target == "sm_90a" && c.major == 10 && (err == nil || err.Error() != "k.ptx:2:9: the PTX is for sm_90a, device \"virtual:test\" is sm_100: a target with an a runs on sm_90 alone\n    .target sm_90a\n            ^\ncompile it for sm_100, or open a device that runs it") {
			t.Errorf("%v", err)
		}
	}
}

// Addresses as initial values, whole and byte by byte.
func TestAddressValues(t *testing.T) {
	d := openTest(t, testProfile())
	m := loadModule(t, d, header+".global .b8 s[64];\n.global .u64 v[3] = {s, generic(s)+8, s-1};\n.global .b8 b[8] = {0xff(s), 0xff00(s), 0xff0000(s), 0xff000000(s), 0xff00000000(s), 0xff0000000000(s), 0xff000000000000(s), 0xff00000000000000(s)};\n")
	s, _, err := m.Global("s")
	if err != nil {
		t.Fatal(err)
	}
	v, _, _ := m.Global("v")
	b, _, _ := m.Global("b")
	if got := download[uint64](t, d, v, 3); got[0] != uint64(s) || got[1] != uint64(s)+8 || got[2] != uint64(s)-1 {
		t.Errorf("%x, s is at %x", got, s)
	}
	if got := binary.LittleEndian.Uint64(download[byte](t, d, b, 8)); got != uint64(s) {
		t.Errorf("%x, s is at %x", got, s)
	}
	_, err = d.LoadPTX(header+".global .b8 s[64];\n.global .u32 v = s;\n", driver.LoadOptions{Name: "k.ptx"})
	if err == nil || !strings.HasSuffix(err.Error(), "variable v holds an address and is of type .u32: addresses have 64 bits\n    .global .u32 v = s;\n    ^\nmake it .u64, or take the address apart: 0xff(s), 0xff00(s) …") {
		t.Errorf("%v", err)
	}
}
