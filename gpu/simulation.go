package gpu

import (
	"os"
	"strings"
	"sync/atomic"
)

// EnvironmentSimulate names the variable that leaves the simulation of an SM out of every prediction: MEMWALL_SIMULATE=off.
const EnvironmentSimulate = "MEMWALL_SIMULATE"

// simulation is whether launches on virtual devices are simulated: 0 as the environment says, 1 yes, 2 no.
var simulation atomic.Int32

// SetSimulation chooses whether predicted times of virtual devices rest on the cycle simulation of an SM or on the bounds of
// the resources alone, which costs less and is 13–22 % too fast in the median. Cards say which.
func SetSimulation(on bool) {
	if on {
		simulation.Store(1)
	} else {
		simulation.Store(2)
	}
}

// Simulation tells whether launches are simulated: what SetSimulation chose, else yes unless $MEMWALL_SIMULATE is off.
func Simulation() bool {
	switch simulation.Load() {
	case 1:
		return true
	case 2:
		return false
	}
	switch strings.ToLower(strings.TrimSpace(os.Getenv(EnvironmentSimulate))) {
	case "off", "0", "no", "false":
		return false
	}
	return true
}
