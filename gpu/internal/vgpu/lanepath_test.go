package vgpu

import "testing"

// TestLanePath: the environment chooses the path of new devices, SetLanes that of one; neither gives what the CPU lacks.
func TestLanePath(t *testing.T) {
	for _, c := range []struct {
		value string
		want  LanePath
	}{{"", BestLanes()}, {"portable", PortableLanes}, {"threaded", min(ThreadedLanes, BestLanes())}, {"jit", min(JITLanes, BestLanes())}} {
		t.Setenv(EnvironmentLanes, c.value)
		if d := openTest(t, testProfile()); d.lanes != c.want {
			t.Errorf("%s=%q: %s, want %s", EnvironmentLanes, c.value, d.lanes, c.want)
		}
	}
	d := openTest(t, testProfile())
	if got := d.SetLanes(PortableLanes); got != PortableLanes || d.lanes != PortableLanes {
		t.Errorf("SetLanes: %s, %s", got, d.lanes)
	}
	t.Setenv(EnvironmentLanes, "avx2")
	want := "virtual GPU: MEMWALL_LANES=avx2\nset it to portable, threaded, jit, or not at all"
	if _, err := Open(testProfile()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
