package vgpu

import (
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/internal/vgpu/cache"
)

// cta is the state of one resident CTA: its warps with their registers, shared and local memory, and barriers.
type cta struct {
	p         *program
	index     [3]uint32     // %ctaid
	cluster   []*cta        // by rank; of one CTA where the launch has no clusters
	rank      int           // in its cluster
	gang      *gang         // what the cluster shares
	ordinal   uint64        // among the CTAs that the launch executes
	trace     []cache.Entry // lines of memory that it touched, while another CTA is in the worker's hand
	sm        int           // that it lies on
	warps     []warp
	shared    []byte
	local     []byte
	barriers  [maxBarriers]barrierState
	begun     bool
	printed   []byte     // by printf
	unprinted bool       // there was more
	flying    []delivery // asynchronous copies on their way here
	tileB     sharedTile // of wgmma, while a warpgroup is computed
	watch     observer   // nil: nobody watches
	check     *sanitizer
	checked   *ctaCheck // what the sanitizer keeps of this CTA

	files []byte // register files
	grid  driver.Dim3
	dim   driver.Dim3
	span  driver.Dim3 // CTAs of a cluster; (1, 1, 1) without
	dyn   int         // bytes of dynamic shared memory
}

// newCTA prepares register files for CTAs of a shape; constants and what depends on the shape alone is filled once.
func newCTA(p *program, grid, dim, span driver.Dim3, dynamic int) *cta {
	threads := int(dim.Count())
	n := (threads + warpSize - 1) / warpSize
	k := &cta{p: p, grid: grid, dim: dim, span: span, dyn: dynamic}
	size := alignUp(p.fileBytes, 256)
	k.files = make([]byte, n*size+128)
	base := alignUp(int(uintptr(unsafe.Pointer(&k.files[0]))&127), 128) - int(uintptr(unsafe.Pointer(&k.files[0]))&127)
	k.local = make([]byte, n*warpSize*p.local)
	k.shared = make([]byte, alignUp(p.dynamicAt+dynamic, 16)+16)[:max(p.shared, p.dynamicAt+dynamic)]
	k.warps = make([]warp, n)
	preds := make([]uint32, n*p.preds)
	for i := range k.warps {
		w := &k.warps[i]
		w.cta, w.id = k, i
		w.base = unsafe.Pointer(&k.files[base+i*size])
		w.pred = preds[i*p.preds : (i+1)*p.preds : (i+1)*p.preds]
		w.local = k.local[i*warpSize*p.local : (i+1)*warpSize*p.local]
		w.stack = make([]split, 0, 8)
		if p.local > p.stackAt {
			w.sp = make([]uint32, warpSize)
		}
		for _, c := range p.constants {
			if c.wide {
				fill(w.u64(c.at), c.bits)
			} else {
				fill(w.u32(c.at), uint32(c.bits))
			}
		}
		for _, s := range p.specials {
			k.fillSpecial(w, s)
		}
	}
	return k
}

func fill[T uint32 | uint64](d *[32]T, v T) {
	for i := range d {
		d[i] = v
	}
}

// fillSpecial writes a special register that is the same for every CTA.
func (k *cta) fillSpecial(w *warp, s specialSlot) {
	if s.special.Wide() {
		fill(w.u64(s.at), 0)
		return
	}
	d := w.u32(s.at)
	for lane := range d {
		t := uint32(w.id*warpSize + lane)
		one := uint32(1) << lane
		d[lane] = 0
		switch s.special {
		case ptx.TidX:
			d[lane] = t % k.dim.X
		case ptx.TidY:
			d[lane] = t / k.dim.X % k.dim.Y
		case ptx.TidZ:
			d[lane] = t / k.dim.X / k.dim.Y
		case ptx.NtidX:
			d[lane] = k.dim.X
		case ptx.NtidY:
			d[lane] = k.dim.Y
		case ptx.NtidZ:
			d[lane] = k.dim.Z
		case ptx.NctaidX:
			d[lane] = k.grid.X
		case ptx.NctaidY:
			d[lane] = k.grid.Y
		case ptx.NctaidZ:
			d[lane] = k.grid.Z
		case ptx.NclusterIDX:
			d[lane] = k.grid.X / k.span.X
		case ptx.NclusterIDY:
			d[lane] = k.grid.Y / k.span.Y
		case ptx.NclusterIDZ:
			d[lane] = k.grid.Z / k.span.Z
		case ptx.ClusterNctaidX:
			d[lane] = k.span.X
		case ptx.ClusterNctaidY:
			d[lane] = k.span.Y
		case ptx.ClusterNctaidZ:
			d[lane] = k.span.Z
		case ptx.ClusterNctarank:
			d[lane] = uint32(k.span.Count())
		case ptx.LaneID:
			d[lane] = uint32(lane)
		case ptx.WarpID:
			d[lane] = uint32(w.id)
		case ptx.LanemaskEq:
			d[lane] = one
		case ptx.LanemaskLt:
			d[lane] = one - 1
		case ptx.LanemaskLe:
			d[lane] = one | (one - 1)
		case ptx.LanemaskGt:
			d[lane] = ^(one | (one - 1))
		case ptx.LanemaskGe:
			d[lane] = ^(one - 1)
		case ptx.DynamicSharedSize:
			d[lane] = uint32(k.dyn)
		case ptx.TotalSharedSize:
			d[lane] = uint32(len(k.shared) - k.p.reserved)
		case ptx.AggregateSharedSize:
			d[lane] = uint32(len(k.shared) - k.p.reserved + reservedShared)
		case ptx.ReservedSharedEnd, ptx.ReservedSharedCap:
			d[lane] = reservedShared
		case ptx.ReservedShared1:
			d[lane] = reservedSharedGroup
		}
	}
}

// start makes it a CTA of the grid, at its entry.
func (k *cta) start(r *launchRun, index [3]uint32, sm int) {
	k.index, k.sm, k.begun, k.flying = index, sm, false, nil
	k.printed, k.unprinted = nil, false
	threads := int(k.dim.Count())
	clear(k.shared)
	clear(k.local)
	k.barriers = [maxBarriers]barrierState{}
	for i := range k.warps {
		w := &k.warps[i]
		w.live = allLanes
		if left := threads - i*warpSize; left < warpSize {
			w.live = 1<<left - 1
		}
		w.state, w.rounds, w.spent, w.executed, w.probed, w.turns, w.eager, w.spinning, w.looks = running, 0, 0, 0, 0, 0, false, false, looks{}
		w.arrived, w.entered = 0, 0
		w.stack = append(w.stack[:0], split{block: 0, join: -1, mask: w.live})
		w.async.reset()
		for lane := range w.sp {
			w.sp[lane] = uint32(k.p.stackAt)
		}
		w.groups.reset(k.p.flight)
		for _, r := range k.p.slots.zero {
			k.zero(w, r)
		}
		for _, s := range k.p.perCTA {
			if s.special.Wide() {
				fill(w.u64(s.at), r.number)
			} else {
				fill(w.u32(s.at), k.special(r, s.special))
			}
		}
	}
}

// special gives a special register that differs from CTA to CTA, or from launch to launch.
func (k *cta) special(r *launchRun, s ptx.Special) uint32 {
	switch s {
	case ptx.CtaidX, ptx.CtaidY, ptx.CtaidZ:
		return k.index[s-ptx.CtaidX]
	case ptx.ClusterIDX, ptx.ClusterIDY, ptx.ClusterIDZ:
		return k.index[s-ptx.ClusterIDX] / k.span.Array()[s-ptx.ClusterIDX]
	case ptx.ClusterCtaidX, ptx.ClusterCtaidY, ptx.ClusterCtaidZ:
		return k.index[s-ptx.ClusterCtaidX] % k.span.Array()[s-ptx.ClusterCtaidX]
	case ptx.ClusterCtarank:
		return uint32(k.rank)
	case ptx.EnvReg1:
		return uint32(r.workspace >> 32)
	case ptx.EnvReg2:
		return uint32(r.workspace)
	case ptx.NSMID:
		return uint32(r.sms)
	case ptx.NwarpID:
		return uint32(r.device.warpsPerSM())
	}
	return uint32(k.sm)
}

func (k *cta) zero(w *warp, r int32) {
	at := k.p.slots.at[r]
	switch {
	case isPredicate(&k.p.f.Registers[r]):
		w.pred[at] = 0
	case k.p.slots.wide[r]:
		fill(w.u64(at), 0)
		if isQuad(&k.p.f.Registers[r]) {
			fill(w.u64(at+upperHalf), 0)
		}
	default:
		fill(w.u32(at), 0)
	}
}
