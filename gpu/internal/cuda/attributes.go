//go:build cuda && cgo && linux

package cuda

import (
	"gorgonia.org/cu"
)

// attributesOf asks the driver.
func attributesOf(gpu cu.Device) (*attributes, error) {
	a := &attributes{}
	var err error
	if a.model, err = gpu.Name(); err != nil {
		return nil, err
	}
	if a.memory, err = gpu.TotalMem(); err != nil {
		return nil, err
	}
	if id, err := gpu.UUID(); err == nil {
		a.uuid = id.String()
	}
	var x, y, z, gx, gy, gz int
	for _, q := range []struct {
		what cu.DeviceAttribute
		into *int
	}{
		{cu.ComputeCapabilityMajor, &a.major}, {cu.ComputeCapabilityMinor, &a.minor}, {cu.MultiprocessorCount, &a.sms}, {cu.WarpSize, &a.warp},
		{cu.MaxThreadsPerBlock, &a.threads}, {cu.MaxSharedMemoryPerBlock, &a.shared}, {maxSharedOptin, &a.sharedOptin},
		{cu.MaxSharedMemoryPerMultiprocessor, &a.sharedPerSM}, {cu.MaxRegistersPerMultiprocessor, &a.registers}, {cu.L2CacheSize, &a.l2},
		{cu.ClockRate, &a.clockKHz}, {cu.MemoryClockRate, &a.memoryKHz}, {cu.GlobalMemoryBusWidth, &a.busBits},
		{cu.MaxBlockDimX, &x}, {cu.MaxBlockDimY, &y}, {cu.MaxBlockDimZ, &z}, {cu.MaxGridDimX, &gx}, {cu.MaxGridDimY, &gy}, {cu.MaxGridDimZ, &gz},
		{cu.EccEnabled, &a.ecc}, {cu.Integrated, &a.integrated},
	} {
		if *q.into, err = gpu.Attribute(q.what); err != nil {
			return nil, err
		}
	}
	a.cta, a.grid = dim([3]int{x, y, z}), dim([3]int{gx, gy, gz})
	return a, nil
}

// maxSharedOptin is CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, which cu does not name.
const maxSharedOptin cu.DeviceAttribute = 97
