package vgpu

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// systemMemory is what this process may still take: the machine's available memory, or less where a control group of it
// or above it has a limit. Pages of files that a group holds count as free, since the system takes them back first.
func systemMemory() hostMemory {
	return memoryFrom("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup")
}

func memoryFrom(meminfo, self, groups string) hostMemory {
	h := machineMemory(meminfo)
	list, err := os.ReadFile(self)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(list)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, limit, usage, cache := groups, "memory.max", "memory.current", "inactive_file"
		if parts[0] != "0" { // version 1
			if !strings.Contains(","+parts[1]+",", ",memory,") {
				continue
			}
			root, limit, usage, cache = filepath.Join(groups, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		}
		// In a container the path is often that outside of it: then the root holds the limit.
		for dir := filepath.Join(root, parts[2]); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
			h = h.within(dir, limit, usage, cache)
		}
	}
	return h
}

// within lowers h to what a control group leaves.
func (h hostMemory) within(dir, limit, usage, cache string) hostMemory {
	most, ok := numberIn(filepath.Join(dir, limit))
	if !ok || most >= h.total {
		return h
	}
	used, _ := numberIn(filepath.Join(dir, usage))
	used -= min(fieldOf(filepath.Join(dir, "memory.stat"), cache), used)
	return hostMemory{free: max(min(most-used, h.free), 0), total: most, known: true, limit: "cgroup " + dir}
}

func numberIn(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// fieldOf is the number behind a name in a file of lines "name number …".
func fieldOf(file, name string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if parts := strings.Fields(lines.Text()); len(parts) > 1 && strings.TrimSuffix(parts[0], ":") == name {
			n, _ := strconv.ParseInt(parts[1], 10, 64)
			return n
		}
	}
	return 0
}

func machineMemory(file string) hostMemory {
	return hostMemory{known: true, free: fieldOf(file, "MemAvailable") << 10, total: fieldOf(file, "MemTotal") << 10}
}
