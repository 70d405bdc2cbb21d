package bench

import (
	"os"
	"runtime"
	"strings"
)

// cpuName is what the system calls the processor, else its architecture.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value) + ", " + runtime.GOARCH
			}
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}
