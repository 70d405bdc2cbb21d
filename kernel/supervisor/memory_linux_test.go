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

func TestMemoryLeft(t *testing.T) {
	for text, want := range map[string]uint64{"MemTotal: 5 kB\nMemAvailable:   2048 kB\n": 2 << 20, "MemAvailable: 0 kB": 0} {
		if n, ok := memAvailable(text); n != want || !ok {
			t.Errorf("%q: %d %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: -1 kB", "MemAvailable: 99999999999999999999 kB", "MemFree: 1 kB"} {
		if n, ok := memAvailable(text); ok {
			t.Errorf("%q: %d", text, n)
		}
	}
	total := memoryTotal()
	if free, ok := memoryFree(total); !ok || free == 0 || free > total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
	l := limitOf(1<<60, false).now(1 << 30) // of a machine as large as none
	if free, _ := memoryFree(total); l.total < 1<<30 || l.total > 1<<30+total || l.stop < l.total/10*8-10 || l.stop > l.total/10*8+10 || free == 0 {
		t.Errorf("%+v", l)
	}
	if l := limitOf(1000, true).now(5); l.total != 1000 || l.stop != 800 || l.kill != 920 {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct {
		l    limit
		want string
	}{
		{limit{total: 16e9}, "16.0 GB that there are"},
		{limit{total: 15.5e9, beside: 5e8}, "15.5 GB that there are"},
		{limit{total: 4e9, beside: 12e9}, "4.0 GB that other processes leave of 16.0 GB"},
	} {
		if got := c.l.of(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
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
	f.Add("MemAvailable: 7 kB\n")
	f.Fuzz(func(t *testing.T, text string) { cgroupDirs(text); memAvailable(text) })
}
