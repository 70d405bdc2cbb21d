package vgpu

// observer sees what one CTA executes: it serves the sanitizer and the tracer of the time model. A CTA that is watched
// runs on portable lanes. Calls come in the order of execution, all from the worker that has the CTA in hand.
type observer interface {
	// enter is called for a warp's lanes at the start of a basic block.
	enter(w *warp, basicBlock int32, lanes uint32)
	// access is called once an access was found to be within bounds and aligned, before its data moves. A copy of cp.async
	// shows twice, as the read of global memory and as the write of shared memory that its wait will make.
	access(w *warp, in *inst, a access)
	// arrive is called when lanes of a warp reach a barrier of the CTA, whether they wait there or not.
	arrive(w *warp, e *ending, number uint32, lanes uint32)
	// released is called when a barrier of the CTA lets its warps go.
	released(c *cta, number uint32)
	// group is called at a commit of asynchronous copies (wait < 0) and at a wait that leaves the latest `wait` groups open.
	group(w *warp, in *inst, wait int)
	// endCTA is called when all warps have finished.
	endCTA(c *cta)
}

// space is where an access goes.
type space uint8

const (
	spaceGlobal space = iota
	spaceShared
	spaceLocal
)

// access is what the lanes of one instruction read or write.
type access struct {
	space     space
	kind      memoryKind
	lanes     uint32
	size      uint64      // bytes a lane
	addresses *[32]uint64 // device addresses; offsets in shared or local memory; valid during the call
}

// observe gives the CTA's observer; nil where the launch has none.
func (r *launchRun) observe(c *cta) observer {
	if r.watch == nil {
		return nil
	}
	return r.watch(c)
}

// show reports an access to the CTA's observer.
func (w *warp) show(in *inst, s space, a *[32]uint64, lanes uint32, size uint64) {
	w.cta.watch.access(w, in, access{space: s, kind: w.w.p.infos[in.id].kind, lanes: lanes, size: size, addresses: a})
}

// showRow is show for 32·size bytes in a row at address.
func (w *warp) showRow(in *inst, s space, address, size uint64) {
	var a [32]uint64
	for i := range a {
		a[i] = address + uint64(i)*size
	}
	w.show(in, s, &a, allLanes, size)
}
