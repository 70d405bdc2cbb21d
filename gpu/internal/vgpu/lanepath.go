package vgpu

import (
	"fmt"
	"os"
	"strings"
)

// LanePath is which code executes the 32 lanes of a warp. Results and counters are the same on each.
type LanePath uint8

const (
	PortableLanes LanePath = iota // Go loops over the lanes: every machine has them
	ThreadedLanes                 // assembly of which each op jumps to the next: CPUs with AVX2, FMA and F16C
	JITLanes                      // threaded, and hot straight-line runs compiled to machine code
)

// EnvironmentLanes names the lane path of devices opened from then on; without it they take the best one.
const EnvironmentLanes = "MEMWALL_LANES"

var lanePathNames = [...]string{"portable", "threaded", "jit"}

// String is how EnvironmentLanes spells it.
func (l LanePath) String() string { return lanePathNames[l] }

// BestLanes is the fastest path that this CPU and this system allow.
func BestLanes() LanePath {
	switch {
	case !threadedAvailable():
		return PortableLanes
	case !jitAvailable():
		return ThreadedLanes
	}
	return JITLanes
}

// lanesFromEnvironment is the path that EnvironmentLanes asks for, at most the best one.
func lanesFromEnvironment() (LanePath, error) {
	asked := os.Getenv(EnvironmentLanes)
	if asked == "" {
		return BestLanes(), nil
	}
	for i, name := range lanePathNames {
		if name == asked {
			return min(LanePath(i), BestLanes()), nil
		}
	}
	return 0, fmt.Errorf("virtual GPU: %s=%s\nset it to %s, or not at all", EnvironmentLanes, asked, strings.Join(lanePathNames[:], ", "))
}

// SetLanes chooses the path of the launches that follow, at most the best that this CPU allows, and gives what they will use.
func (d *Device) SetLanes(l LanePath) LanePath {
	d.exec.Lock()
	defer d.exec.Unlock()
	d.lanes = min(l, BestLanes())
	return d.lanes
}
