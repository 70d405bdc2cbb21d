package vgpu

import (
	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
)

// replayFor prepares the device's caches for a launch; ears, if there are any, hear the traces.
func (d *Device) replayFor(f *function, l *driver.Launch, ears *eavesdropper) *cache.Replay {
	resident := d.residentCTAs(f, l)
	sms := max(d.properties.SMs, 1)
	if d.replay == nil {
		d.replay = cache.New(sms, d.profile.L2Bytes)
	}
	launch := &cache.Launch{SMs: d.usedSMs(l), Resident: d.usedSMs(l) * resident, L1Bytes: d.firstCache(f, l, resident), Warm: l.Warm, Hints: f.program.hints()}
	if ears != nil {
		launch.Listen = ears.listen
	}
	d.replay.Begin(launch)
	return d.replay
}

// usedSMs is how many SMs the executed CTAs are dealt to. A sample of 1/k of the CTAs runs on 1/k of the SMs: each SM then has as
// many CTAs as in the whole grid, and what its L1 saves them scales as the rest does.
func (d *Device) usedSMs(l *driver.Launch) int {
	return max((max(d.properties.SMs, 1)+max(l.Sample, 1)/2)/max(l.Sample, 1), 1)
}

// firstCache is the size of an SM's L1 beside its CTAs' shared memory, in bytes.
func (d *Device) firstCache(f *function, l *driver.Launch, resident int) int {
	return max(d.profile.L1Bytes-d.carveOut(f.program.shared+l.Shared, resident), 8<<10)
}

// residentCTAs is how many CTAs of a launch fit an SM at once.
func (d *Device) residentCTAs(f *function, l *driver.Launch) int {
	p := &d.properties
	warps := (int(l.CTA.Count()) + warpSize - 1) / warpSize
	most := map[int]int{75: 32, 86: 48, 87: 48, 89: 48, 120: 48, 121: 48}[10*p.ComputeMajor+p.ComputeMinor]
	if most == 0 {
		most = 64
	}
	n := min(most/warps, 32)
	if r := alignUp(warpSize*max(f.attributes.Registers, 16), 256) * alignUp(warps, 4); r > 0 {
		n = min(n, p.RegistersPerSM/r)
	}
	if s := f.program.shared + l.Shared; s > 0 {
		n = min(n, p.SharedPerSM/(s+1024))
	}
	return max(n, 1)
}

// carveOut is the part of an SM's unified memory that holds the resident CTAs' shared memory: the smallest that the
// hardware offers.
func (d *Device) carveOut(shared, resident int) int {
	need := 0
	if shared > 0 {
		need = (shared + 1024) * resident
	}
	for _, kib := range []int{0, 8, 16, 32, 64, 100, 132, 164, 196, 228} {
		if kib<<10 >= need {
			return min(kib<<10, d.properties.SharedPerSM)
		}
	}
	return d.properties.SharedPerSM
}
