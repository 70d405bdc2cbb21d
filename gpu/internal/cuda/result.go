package cuda

import (
	"fmt"

	"memwall/gpu/internal/driver"
)

// Result is what a driver call answers, CUresult.
type Result int

// The results that this package tells apart.
const (
	success            Result = 0
	invalidValue       Result = 1
	outOfMemory        Result = 2
	unavailable        Result = 46
	noDevice           Result = 100
	noBinary           Result = 209
	eccUncorrectable   Result = 214
	invalidPTX         Result = 218
	nvlinkFailed       Result = 220
	noJITCompiler      Result = 221
	unsupportedPTX     Result = 222
	contained          Result = 226
	notReady           Result = 600
	illegalAddress     Result = 700
	outOfResources     Result = 701
	launchTimeout      Result = 702
	contextDestroyed   Result = 709
	deviceAssert       Result = 710
	hardwareStack      Result = 714
	illegalInstruction Result = 715
	misalignedAddress  Result = 716
	wrongSpace         Result = 717
	invalidPC          Result = 718
	launchFailed       Result = 719
	cooperativeTooBig  Result = 720
	notPermitted       Result = 800
	notSupported       Result = 801
	systemNotReady     Result = 802
	driverMismatch     Result = 803
	badCluster         Result = 912
	unknownError       Result = 999
)

// Name is "CUDA_ERROR_ILLEGAL_ADDRESS".
func (r Result) Name() string {
	if t, ok := results[r]; ok {
		return t.name
	}
	return fmt.Sprintf("CUresult %d", int(r))
}

// String is the driver's text with the number: "an illegal memory access was encountered (700)".
func (r Result) String() string {
	if t, ok := results[r]; ok {
		return fmt.Sprintf("%s (%d)", t.text, int(r))
	}
	return fmt.Sprintf("CUresult %d", int(r))
}

// fatal are the results after which a context answers nothing else: what a launch did wrong, or the device is gone.
var fatal = map[Result]driver.FaultKind{
	illegalAddress: driver.OutOfBounds, misalignedAddress: driver.Misaligned, wrongSpace: driver.OutOfBounds, invalidPC: driver.Illegal,
	illegalInstruction: driver.Illegal, hardwareStack: driver.Illegal, launchTimeout: driver.Timeout, deviceAssert: driver.Assert,
	launchFailed: driver.Trap, contextDestroyed: driver.Lost, eccUncorrectable: driver.Lost, nvlinkFailed: driver.Lost, contained: driver.Lost,
	unknownError: driver.Lost,
}

// hints say how to mend what a call answered, where that is known.
var hints = map[Result]string{
	outOfMemory:       "free tensors that are no longer used, or hold fewer: dev.MemoryFree() says what is left; another program may hold memory too",
	unavailable:       "another program has the GPU for itself (compute mode), or it is being reset: nvidia-smi shows which",
	noBinary:          "compile for this GPU: the PTX is for a newer one",
	noJITCompiler:     "install the whole driver: libnvidia-ptxjitcompiler is missing",
	outOfResources:    "use fewer threads in a CTA, or a function with fewer registers",
	cooperativeTooBig: "a cooperative launch needs all CTAs resident at once: use a smaller grid",
	badCluster:        "the grid must be a multiple of the cluster, which has at most 8 CTAs",
	notPermitted:      "this user may not do that on the GPU: ask the administrator",
	notSupported:      "this GPU or its driver cannot do that",
	systemNotReady:    "the GPU's fabric manager is not running: start nvidia-fabricmanager",
	driverMismatch:    "the driver's library and its kernel module are of different versions: reboot, or reinstall the driver",
}

// Error is a driver call that failed.
type Error struct {
	Device string // "cuda:0"
	What   string // "allocate 64 B"
	Result Result
	Detail string // more lines
}

// Error is "cuda:0: allocate 64 B: out of memory (2)", then what is known of it and how to mend it.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s: %s", e.Device, e.What, e.Result)
	if e.Detail != "" {
		text += "\n" + e.Detail
	}
	if hint := hints[e.Result]; hint != "" {
		text += "\n" + hint
	}
	return text
}
