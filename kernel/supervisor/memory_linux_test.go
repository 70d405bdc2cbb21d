package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCgroups(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"0::/user.slice/a.scope\n", []string{"/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/"}},
		{"9:name=systemd:/\n4:cpu,memory:/x\n0::/\n", []string{"/sys/fs/cgroup/memory/x", "/sys/fs/cgroup/memory/", "/sys/fs/cgroup/"}},
		{"", nil},
		{"0::\nrubbish\n1:memory", []string{"/sys/fs/cgroup/"}},
	} {
		if got := cgroupDirs(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMemoryFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "f")
		os.WriteFile(name, []byte(text), 0o600)
		return name
	}
	if n, ok := number(file("1048576\n")); n != 1048576 || !ok {
		t.Error(n, ok)
	}
	for _, text := range []string{"max\n", "", "-1"} {
		if n, ok := number(file(text)); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
	if n, ok := field(file("low 0\noom 2\noom_kill 3\n"), "oom_kill"); n != 3 || !ok {
		t.Error(n, ok)
	}
	if _, ok := field(filepath.Join(dir, "none"), "x"); ok {
		t.Error("a field of no file")
	}
	if n := residentMemory(os.Getpid()); n < 1<<20 || n > 1<<34 {
		t.Errorf("this process has %d bytes", n)
	}
	if n := residentMemory(1 << 30); n != 0 {
		t.Errorf("no process has %d bytes", n)
	}
	if n := memoryTotal(); n < 1<<28 {
		t.Errorf("the machine has %d bytes", n)
	}
}

func TestGigabytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 MB", 999e6: "999 MB", 1e9: "1.0 GB", 15.95e9: "15.9 GB", 128e9: "128 GB"} {
		if got := gigabytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func FuzzCgroups(f *testing.F) {
	f.Add("0::/a/../../b\n")
	f.Fuzz(func(t *testing.T, text string) { cgroupDirs(text) })
}
