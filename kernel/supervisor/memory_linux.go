package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

const seesMemory = true

var pageSize = uint64(os.Getpagesize())

// residentMemory is a process's resident memory in bytes, 0 when it is gone.
func residentMemory(pid int) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n * pageSize
}

// memoryTotal is the smaller of the machine's memory and the limits of this process's cgroups.
func memoryTotal() uint64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	total := uint64(info.Totalram) * uint64(info.Unit)
	for _, dir := range cgroups() {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if n, ok := number(path.Join(dir, file)); ok && n < total {
				total = n
			}
		}
	}
	return total
}

// cgroupUsed is what the cgroup that limits us uses, less what the system can take back at once; 0 without a limit.
func cgroupUsed() uint64 {
	for _, dir := range cgroups() {
		for _, files := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
			limit, ok := number(path.Join(dir, files[0]))
			if !ok || limit > memoryTotal() {
				continue
			}
			used, _ := number(path.Join(dir, files[1]))
			for _, key := range []string{"inactive_file", "total_inactive_file"} {
				if n, ok := field(path.Join(dir, "memory.stat"), key); ok {
					used -= min(used, n)
					break
				}
			}
			return used
		}
	}
	return 0
}

// memoryFree is what the machine can still give without swapping, and no more than the cgroup that has the limit total has
// left.
func memoryFree(total uint64) (free uint64, ok bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	if free, ok = memAvailable(string(b)); !ok {
		return 0, false
	}
	if in := cgroupUsed(); in > 0 {
		free = min(free, total-min(in, total))
	}
	return free, true
}

// memAvailable reads the line of /proc/meminfo, in kB.
func memAvailable(text string) (bytes uint64, ok bool) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
			n, err := strconv.ParseUint(f[1], 10, 50)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// oomKills counts the processes of the cgroup that the system has killed for want of memory.
func oomKills() int64 {
	var n uint64
	for _, dir := range cgroups() {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			if k, ok := field(path.Join(dir, file), "oom_kill"); ok {
				n = max(n, k)
			}
		}
	}
	return int64(n)
}

// cgroups lists the memory cgroups of this process, innermost first; inside a container only the root may be visible.
func cgroups() []string {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return cgroupDirs(string(b))
}

// cgroupDirs reads /proc/self/cgroup: lines of hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
func cgroupDirs(text string) []string {
	var dirs []string
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		root := ""
		switch {
		case f[0] == "0" && f[1] == "":
			root = "/sys/fs/cgroup"
		case strings.Contains(","+f[1]+",", ",memory,"):
			root = "/sys/fs/cgroup/memory"
		default:
			continue
		}
		for p := path.Clean("/" + f[2]); ; p = path.Dir(p) {
			dirs = append(dirs, root+p)
			if p == "/" {
				break
			}
		}
	}
	return dirs
}

// number reads a file that holds one number; "max" is none.
func number(file string) (uint64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// field reads "key number" from a file of such lines.
func field(file, key string) (uint64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			n, err := strconv.ParseUint(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
