package vgpu

import (
	"encoding/binary"
	"fmt"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// The CTAs of a cluster run on one worker, and look into each other's shared memory. An address of .shared::cluster is an
// offset in the shared memory of the CTA itself, or a rank and an offset: (rank+1)<<rankShift | offset.
const (
	rankShift  = 24
	rankOffset = uint64(1)<<rankShift - 1
	// mostRanks is the largest cluster of any GPU; those above portableRanks need an opt-in on a real one.
	mostRanks     = 16
	portableRanks = 8
)

// clusterRows are the operations of clusters.
var clusterRows = []row{
	{patterns: []string{"mapa{,.shared::cluster}{.u32,.u64}"}, class: perf.ClassInteger, section: "9.7.9.24", decode: decodeMapa},
	{patterns: []string{"getctarank{,.shared::cluster}{.u32,.u64}"}, class: perf.ClassInteger, section: "9.7.9.25", decode: decodeRank},
}

// gang is what the CTAs of a cluster share.
type gang struct {
	ctas    []*cta
	left    int        // CTAs that have not finished
	missing int        // live lanes that have not arrived at the cluster's barrier
	told    phaseClock // of the sanitizer
}

func (g *gang) begin() {
	g.left, g.told = len(g.ctas), phaseClock{}
	g.count()
}

// count finds how many lanes the next phase waits for.
func (g *gang) count() {
	g.missing = 0
	for _, c := range g.ctas {
		for i := range c.warps {
			g.missing += popcount(c.warps[i].live)
		}
	}
}

// waits reports whether a CTA of the cluster can still get on, so that one that cannot may have to wait for it.
func (g *gang) waits() bool {
	for _, c := range g.ctas {
		for i := range c.warps {
			if c.warps[i].state == running {
				return true
			}
		}
	}
	return false
}

// exit takes lanes away that the barrier no longer waits for.
func (g *gang) exit(w *warp, gone uint32) {
	g.missing -= popcount(gone &^ w.arrived)
	w.arrived &^= gone
	if g.missing == 0 {
		g.complete()
	}
}

// complete ends a phase of the cluster's barrier.
func (g *gang) complete() {
	g.told.next()
	var latest uint64
	for _, c := range g.ctas {
		for i := range c.warps {
			latest = max(latest, c.warps[i].spent)
		}
	}
	for _, c := range g.ctas {
		for i := range c.warps {
			w := &c.warps[i]
			w.arrived = 0
			passed := false
			for j := range w.stack {
				if s := &w.stack[j]; s.wait == waitCluster {
					s.wait, s.end, passed = waitNone, nil, true
					w.entered &^= s.mask
					w.cta.check.clusterPassed(w, s.mask)
				}
			}
			if passed {
				w.state, w.spent = running, latest
				w.merge()
			}
		}
	}
	g.count()
}

// clusterBarrier handles barrier.cluster.arrive and .wait at the end of a block (PTX ISA 9.7.13.3).
func (w *warp) clusterBarrier(b *block, c *blockCounts, top *split) {
	e := &b.end
	m := w.guardOf(e, top.mask)
	if e.guard >= 0 {
		c.takenLanes += uint64(popcount(m))
	}
	top.block = e.next
	if m == 0 {
		return
	}
	c.barriers++
	if m != top.mask {
		w.w.stop(w, e.id, int(lowest(top.mask&^m)), &driver.Fault{Kind: driver.Deadlock, Detail: "the barrier's guard differs between the lanes of a warp", Mend: "let all lanes of the warp reach it, or none: move the barrier out of the branch"})
	}
	g := w.cta.gang
	if e.arrive {
		if twice := w.entered & m; twice != 0 {
			w.w.stop(w, e.id, int(lowest(twice)), &driver.Fault{Kind: driver.Illegal, Detail: "the thread arrives again before it has waited: barrier.cluster.wait is missing", Mend: "call cluster.sync(), or pair each arrive with a wait"})
		}
		w.arrived |= m
		w.entered |= m
		w.cta.check.clusterArrived(w, e.id, m)
		if g.missing -= popcount(m); g.missing == 0 {
			g.complete()
		}
		return
	}
	if never := m &^ w.entered; never != 0 {
		w.w.stop(w, e.id, int(lowest(never)), &driver.Fault{Kind: driver.Illegal, Detail: "the thread waits and has not arrived: barrier.cluster.arrive is missing", Mend: "call cluster.sync(), or pair each wait with an arrive"})
	}
	if w.arrived&m == 0 { // that phase is over
		w.entered &^= m
		w.cta.check.clusterPassed(w, m)
		return
	}
	top.wait, top.end = waitCluster, e
}

func (d *decoder) clusterBarrier(e *ending, in *ptx.Instruction) error {
	e.kind, e.arrive, e.aligned = endCluster, in.Has("arrive"), in.Has("aligned")
	return d.operands(in, 0, 0)
}

// peer gives the CTA of a rank in the warp's cluster, or nil.
func (w *warp) peer(rank uint32) *cta {
	if c := w.cta.cluster; uint64(rank) < uint64(len(c)) {
		return c[rank]
	}
	return nil
}

// clusterAddress resolves an address of .shared::cluster, or a generic one in the window of shared memory, to a CTA and the
// offset in its shared memory.
func (w *warp) clusterAddress(in *inst, lane int, address uint64) (*cta, uint64) {
	if address-sharedWindow < windowBytes {
		address -= sharedWindow
	}
	rank := address >> rankShift
	if rank == 0 {
		return w.cta, address
	}
	c := w.peer(uint32(rank - 1))
	if c == nil || rank > mostRanks {
		w.fault(in, lane, &driver.Fault{Kind: driver.OutOfBounds, Space: "shared", Address: address,
			Allocation: fmt.Sprintf("the cluster has no CTA %d: it has %d", rank-1, len(w.cta.cluster))})
	}
	return c, address & rankOffset
}

// inCluster runs part for the lanes of each CTA of the cluster that addresses point to, the addresses made offsets.
func (w *warp) inCluster(in *inst, a *[32]uint64, part func(a *[32]uint64)) {
	var remote uint32
	for m := w.mask; m != 0; m &= m - 1 {
		if i := lowest(m); a[i]>>rankShift != 0 {
			remote |= 1 << i
		}
	}
	if remote == 0 {
		part(a)
		return
	}
	own, old := w.cta, w.mask
	if w.mask = old &^ remote; w.mask != 0 {
		part(a)
	}
	for remote != 0 {
		first := lowest(remote)
		c, _ := w.clusterAddress(in, int(first), a[first])
		rank := a[first] >> rankShift
		w.mask = 0
		for m := remote; m != 0; m &= m - 1 {
			if i := lowest(m); a[i]>>rankShift == rank {
				a[i] &= rankOffset
				w.mask |= 1 << i
			}
		}
		remote &^= w.mask
		w.cta = c
		part(a)
		w.cta = own
	}
	w.mask = old
}

// opLoadCluster is ld.shared::cluster.
func opLoadCluster(w *warp, in *inst) {
	w.inCluster(in, w.addressesKept(in), func(a *[32]uint64) { w.loadShared(in, a) })
}

// opStoreCluster is st.shared::cluster.
func opStoreCluster(w *warp, in *inst) {
	w.inCluster(in, w.addressesKept(in), func(a *[32]uint64) { w.storeShared(in, a) })
}

// opAtomicCluster is atom.shared::cluster and red.shared::cluster.
func opAtomicCluster(w *warp, in *inst) {
	w.inCluster(in, w.addressesKept(in), func(a *[32]uint64) { w.atomicShared(in, a) })
}

// decodeMapa decodes mapa d, a, rank: the address in another CTA of the cluster of what lies at a in this one.
func decodeMapa(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opMapa, flags: flagSelf, pattern: -1}
	if err := d.needsClusters(in); err != nil {
		return x, err
	}
	if err := d.operands(in, 3, 3); err != nil {
		return x, err
	}
	t := lastType(in)
	if isWideType(t) {
		x.flags |= flagWide
	}
	if !in.Has("shared::cluster") {
		x.flags |= flagGeneric
		if !isWideType(t) {
			return x, d.m.ErrorAt(in, "a generic address has 64 bits", "use mapa.u64, or mapa.shared::cluster.u32 with an address of shared memory")
		}
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], t); err != nil {
		return x, err
	}
	if x.a, err = d.source(&in.Operands[1], t); err != nil {
		return x, err
	}
	x.b, err = d.source(&in.Operands[2], "u32")
	return x, err
}

func (d *decoder) needsClusters(in *ptx.Instruction) error {
	if d.sm < 90 {
		return d.m.ErrorAt(in, in.Spelling+" needs sm_90", "open a device that has clusters: gpu.Open(\"virtual:h100\")")
	}
	return nil
}

// opMapa is mapa: d = a in CTA b.
func opMapa(w *warp, in *inst) {
	rank := w.u32(in.b)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if uint64(rank[i]) >= uint64(len(w.cta.cluster)) {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("rank %d: the cluster has %d CTAs", rank[i], len(w.cta.cluster)), Mend: "keep the rank below cluster.num_blocks()"})
		}
		to := uint64(rank[i]+1) << rankShift
		if in.flags&flagWide == 0 {
			w.u32(in.d)[i] = w.u32(in.a)[i]&uint32(rankOffset) | uint32(to)
			continue
		}
		a := w.u64(in.a)[i]
		if in.flags&flagGeneric != 0 {
			if a -= sharedWindow; a >= windowBytes {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: "the address does not lie in shared memory", Mend: "give an address of a __shared__ variable"})
			}
			to += sharedWindow
		}
		w.u64(in.d)[i] = a&rankOffset + to
	}
}

// decodeRank decodes getctarank d, a: the rank of the CTA in whose shared memory a lies.
func decodeRank(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opRank, flags: flagSelf, pattern: -1}
	if err := d.needsClusters(in); err != nil {
		return x, err
	}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	t := lastType(in)
	if isWideType(t) {
		x.flags |= flagWide
	}
	var err error
	if x.d, err = d.destination(&in.Operands[0], "u32"); err != nil {
		return x, err
	}
	x.a, err = d.source(&in.Operands[1], t)
	return x, err
}

// opRank is getctarank: d = rank of the CTA that a belongs to.
func opRank(w *warp, in *inst) {
	d := w.u32(in.d)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var a uint64
		if in.flags&flagWide != 0 {
			a = w.u64(in.a)[i]
		} else {
			a = uint64(w.u32(in.a)[i])
		}
		c, _ := w.clusterAddress(in, int(i), a)
		d[i] = uint32(c.rank)
	}
}

// span gives the CTAs of a launch's clusters; (1, 1, 1) where it has none.
func (f *function) span(l *driver.Launch) driver.Dim3 {
	if l.Cluster != (driver.Dim3{}) {
		return driver.Dim3{X: max(l.Cluster.X, 1), Y: max(l.Cluster.Y, 1), Z: max(l.Cluster.Z, 1)}
	}
	if c := f.program.f.ClusterCTAs; c[0] > 0 {
		return driver.Dim3{X: uint32(c[0]), Y: uint32(c[1]), Z: uint32(c[2])}
	}
	return driver.Dim3{X: 1, Y: 1, Z: 1}
}

// checkTogether checks what a launch asks of CTAs that run at the same time.
func (f *function) checkTogether(l *driver.Launch, fail func(string, ...any) error) error {
	d := f.module.device
	own := f.program.f
	span := f.span(l)
	n := int(min(span.Count(), 1<<20))
	if n > 1 {
		if why := d.Capability(driver.Clusters); why != "" {
			return fail("%s", why)
		}
	}
	if c := own.ClusterCTAs; c[0] > 0 && (int(span.X) != c[0] || int(span.Y) != c[1] || int(span.Z) != c[2]) {
		return fail("clusters of (%d, %d, %d) CTAs: this function requires (%d, %d, %d)\nlaunch it with Cluster of that size", span.X, span.Y, span.Z, c[0], c[1], c[2])
	}
	if own.Clustered && own.ClusterCTAs[0] == 0 && l.Cluster == (driver.Dim3{}) {
		return fail("this function is compiled for clusters (.explicitcluster): give the launch their size\nlaunch it with gpu.Config{Cluster: gpu.Dim(2), …}")
	}
	most := mostRanks
	if own.MaxCluster > 0 {
		most = min(most, own.MaxCluster)
	}
	if n > most {
		return fail("a cluster of %d CTAs: the limit is %d\nuse smaller clusters", n, most)
	}
	if l.Grid.X%span.X != 0 || l.Grid.Y%span.Y != 0 || l.Grid.Z%span.Z != 0 {
		return fail("a grid of (%d, %d, %d) CTAs is not made of whole clusters of (%d, %d, %d)\nround the grid up to a multiple of the cluster", l.Grid.X, l.Grid.Y, l.Grid.Z, span.X, span.Y, span.Z)
	}
	resident := d.occupancyCTAs(f, l)
	room := uint64(max(d.properties.SMs, 1) * resident)
	if l.Cooperative {
		if l.Sample > 1 {
			return fail("a cooperative launch cannot be sampled: its CTAs wait for each other\nrun it without gpu.Sample")
		}
		if grid := l.Grid.Count(); grid > room {
			return fail("a cooperative launch of %d CTAs: %d fit the device at the same time (%d SMs × %d CTAs)\nuse a smaller grid, and a loop over the data in each CTA", grid, room, d.properties.SMs, resident)
		}
	}
	return nil
}

// occupancyCTAs is how many CTAs of a launch an SM holds by NVIDIA's occupancy rules, which a client asks before a cooperative
// launch; residentCTAs where the device has no such rules.
func (d *Device) occupancyCTAs(f *function, l *driver.Launch) int {
	if limits := d.profile.Limits(); limits != nil {
		if r, err := limits.Residency(int(l.CTA.Count()), f.attributes.Registers, f.program.shared, l.Shared); err == nil {
			return r.CTAs
		}
	}
	return d.residentCTAs(f, l)
}

// workspaceBytes holds what the CTAs of a cooperative launch meet with: its size, then the word of grid.sync().
const workspaceBytes = 4096

// cooperate gives a cooperative launch its workspace, whose address its CTAs read from %envreg1 and %envreg2
// (cooperative_groups/details/driver_abi.h).
func (d *Device) cooperate() (uint64, error) {
	if d.workspace == nil {
		a, err := d.memory.alloc(workspaceBytes, "cooperative workspace")
		if err != nil {
			return 0, err
		}
		d.workspace = a
	}
	a := d.workspace
	if _, _, err := d.memory.reach(a, a.low, a.high); err != nil {
		return 0, err
	}
	a.markWhole()
	b := d.memory.arena[a.low-d.memory.base : a.high-d.memory.base]
	clear(b)
	binary.LittleEndian.PutUint32(b, workspaceBytes)
	return d.workspace.low, nil
}
