package vgpu

// threadedAvailable says whether this build and CPU have threaded lanes.
func threadedAvailable() bool { return false }
