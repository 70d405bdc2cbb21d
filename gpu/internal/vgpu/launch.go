package vgpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vgpu/cache"
	"memwall/gpu/perf"
)

// launchRun is one launch while it runs.
type launchRun struct {
	device      *Device
	memory      *memory
	allocations []*allocation
	args        []byte
	count       bool
	lanes       LanePath
	number      uint64
	step        int
	sms         int
	sources     map[string]string
	ctx         context.Context
	stopFlag    atomic.Bool
	procedural  bool          // some allocation has procedural contents
	exactWrites bool          // the observer calls markWritten for every byte that is written
	caches      *cache.Replay // nil where nothing is counted
	ears        *eavesdropper // of a sampled launch that is counted

	grid, dim driver.Dim3
	span      driver.Dim3 // CTAs of a cluster; (1, 1, 1) without
	workspace uint64      // of a cooperative launch: what its CTAs meet with
	began     uint64      // %globaltimer at the start, ns
	dynamic   int         // bytes of dynamic shared memory
	executed  uint64
	cut       uint64        // instructions after which a warp stops, of a probe; 0: never
	next      atomic.Uint64 // CTA to start
	resident  atomic.Int64  // CTAs that have begun and not ended
	most      int64         // that can be resident
	failing   sync.Mutex
	fault     *driver.Fault
	faultAt   uint64              // ordinal of its CTA
	printed   map[uint64]string   // what CTAs printed, by their place in the grid
	watch     func(*cta) observer // nil: no CTA is watched
	traces    *tracing            // of a launch that is simulated
	reverse   bool                // CTAs and warps run in the opposite order
	check     *sanitizer          // nil: not sanitized

	wideAtomics sync.Mutex // held by an atomic of 128 bits
}

// cancelled gives the fault of a launch whose context has ended, or nil.
func (r *launchRun) cancelled() *driver.Fault {
	if r.stopFlag.Load() {
		return &driver.Fault{Kind: driver.Interrupted, Detail: "another CTA stopped the launch"}
	}
	switch err := r.ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		detail := "the launch did not end within its time limit"
		if cause := context.Cause(r.ctx); cause != nil && cause != err {
			detail = cause.Error()
		}
		return &driver.Fault{Kind: driver.Timeout, Detail: detail}
	}
	return &driver.Fault{Kind: driver.Interrupted, Detail: "the launch was cancelled"}
}

// Launch runs a function and waits for it, whatever l.Wait says: the virtual GPU has no time of its own. Without
// l.Wait the result is dropped, and an error is kept for the next call that waits, as a real device does.
func (d *Device) Launch(ctx context.Context, l *driver.Launch) (*driver.Result, error) {
	f, ok := l.Function.(*function)
	if !ok || f.module.device != d {
		return nil, errors.New("virtual GPU: the function does not belong to this device")
	}
	if err := d.pending(); err != nil {
		return nil, err
	}
	if err := f.check(l); err != nil {
		return nil, err
	}
	if l.SampleTime > 0 {
		step, err := d.stepFor(ctx, f, l)
		if err != nil {
			return nil, err
		}
		sampled := *l
		sampled.Sample = step
		l = &sampled
	}
	if d.watched != nil {
		sanitized := *l
		sanitized.Sanitize = true
		l = &sanitized
	}
	run := d.run
	if l.Probe {
		run = d.probe
	}
	r, err := run(ctx, f, l)
	if d.watched != nil && r != nil {
		d.watched(f.Name(), r.Findings)
	}
	if l.Wait || err == nil || l.Sanitize {
		if !l.Wait && !l.Sanitize {
			r = nil
		}
		return r, err
	}
	d.keep(err)
	return nil, nil
}

// check compares a launch's configuration with the limits of the device.
func (f *function) check(l *driver.Launch) error {
	p := &f.module.device.properties
	fail := func(format string, args ...any) error {
		return fmt.Errorf("launch %s: "+format, append([]any{f.Name()}, args...)...)
	}
	if f.module.unloaded.Load() {
		return fail("its module is unloaded\nload it again, and take the function from the new module")
	}
	for _, e := range []struct {
		what string
		have driver.Dim3
		most driver.Dim3
	}{{"grid", l.Grid, p.MaxGridDim}, {"CTA", l.CTA, p.MaxCTADim}} {
		if e.have.X < 1 || e.have.Y < 1 || e.have.Z < 1 {
			return fail("the %s (%d, %d, %d) is empty: every extent is at least 1", e.what, e.have.X, e.have.Y, e.have.Z)
		}
		if e.have.X > e.most.X || e.have.Y > e.most.Y || e.have.Z > e.most.Z {
			return fail("the %s (%d, %d, %d) is larger than (%d, %d, %d)\nuse the x extent, which may be largest, or let each thread do more in a loop", e.what, e.have.X, e.have.Y, e.have.Z, e.most.X, e.most.Y, e.most.Z)
		}
	}
	a := f.Attributes()
	threads := l.CTA.Count()
	if threads > uint64(a.MaxThreadsPerCTA) {
		return fail("a CTA of %d threads: this function allows %d\nuse smaller CTAs, or compile it with __launch_bounds__ for more", threads, a.MaxThreadsPerCTA)
	}
	if r := a.RequiredCTA; r.X > 0 && r != l.CTA {
		return fail("a CTA of (%d, %d, %d): this function requires (%d, %d, %d)\nlaunch it with CTAs of that size", l.CTA.X, l.CTA.Y, l.CTA.Z, r.X, r.Y, r.Z)
	}
	if !a.Estimated {
		warps := (int(threads) + warpSize - 1) / warpSize
		if need := alignUp(warpSize*a.Registers, 256) * alignUp(warps, 4); need > p.RegistersPerSM {
			return fail("%d threads of %d registers need %d registers: an SM has %d\nuse smaller CTAs, or compile with -maxrregcount or __launch_bounds__", threads, a.Registers, need, p.RegistersPerSM)
		}
	}
	if err := f.checkFiles(threads, fail); err != nil {
		return err
	}
	if l.Shared < 0 {
		return fail("%d B of dynamic shared memory\ngive a size of at least 0", l.Shared)
	}
	f.mu.Lock()
	limit := f.maxDynamic
	f.mu.Unlock()
	total := f.program.shared + l.Shared
	switch {
	case total > p.SharedPerCTAOptin:
		return fail("%d B of shared memory a CTA (%d static): the device has %d\nuse smaller tiles", total, f.program.shared, p.SharedPerCTAOptin)
	case l.Shared > limit:
		return fail("%d B of dynamic shared memory: more than %d need SetMaxDynamicShared first", l.Shared, limit)
	}
	if err := f.checkTogether(l, fail); err != nil {
		return err
	}
	if len(l.Args) != f.program.paramBytes {
		return fail("%d B of arguments: its parameters take %d", len(l.Args), f.program.paramBytes)
	}
	if l.Sample < 0 || l.SampleTime < 0 {
		return fail("sampling every %d-th CTA, for %v", l.Sample, l.SampleTime)
	}
	return f.checkSample(l)
}

// mostFileBytes is what the registers and the local memory of a CTA may take of the host.
const mostFileBytes = 1 << 30

// checkFiles refuses a CTA whose registers and local memory the host cannot hold.
func (f *function) checkFiles(threads uint64, fail func(format string, args ...any) error) error {
	warps := (threads + warpSize - 1) / warpSize
	bytes := warps * uint64(f.program.fileBytes+warpSize*f.program.local)
	if bytes <= mostFileBytes && f.module.device.HostMemory(int64(bytes)) == nil {
		return nil
	}
	return fail("the registers and the local memory of a CTA of %d threads take %s of the host (%d B a thread): the limit is %s\nuse fewer threads in a CTA, or split the function", threads, byteCount(bytes),
		f.program.fileBytes/warpSize+f.program.local, byteCount(mostFileBytes))
}

// newRun prepares a launch; the caller holds exec.
func (d *Device) newRun(ctx context.Context, f *function, l *driver.Launch) (*launchRun, error) {
	d.launches++
	var workspace uint64
	if l.Cooperative {
		var err error
		if workspace, err = d.cooperate(); err != nil {
			return nil, err
		}
	}
	r := &launchRun{workspace: workspace, device: d, memory: d.memory, allocations: *d.memory.table.Load(), args: l.Args, count: l.Count, lanes: d.lanes, number: d.launches,
		step: max(l.Sample, 1), sms: d.properties.SMs, sources: f.module.sources, ctx: ctx, grid: l.Grid, dim: l.CTA, span: f.span(l), dynamic: l.Shared, began: d.globalTime}
	for _, a := range r.allocations {
		r.procedural = r.procedural || a.contents != nil
	}
	return r, nil
}

// run executes the CTAs on a worker a core.
func (d *Device) run(ctx context.Context, f *function, l *driver.Launch) (*driver.Result, error) {
	d.exec.Lock()
	defer d.exec.Unlock()
	d.hold.RLock()
	defer d.hold.RUnlock()
	if d.closed.Load() {
		return nil, errClosed
	}
	start := time.Now()
	r, err := d.newRun(ctx, f, l)
	if err != nil {
		return nil, err
	}
	clusters := l.Grid.Count() / r.span.Count()
	groups := (clusters + uint64(r.step) - 1) / uint64(r.step)
	executed := groups * r.span.Count()
	r.executed, r.most = executed, int64(max(r.sms, 1)*d.residentCTAs(f, l))
	workers := int(min(uint64(runtime.GOMAXPROCS(0)), groups))
	if l.Sanitize {
		workers, r.check = 1, newSanitizer(r, f.program, l.Tensors)
		r.exactWrites = !r.check.bulkStores
	}
	pool := f.workers(l, workers)
	defer f.giveBack(l, pool)
	if l.Count {
		if l.Sample > 1 {
			r.ears = &eavesdropper{base: d.memory.base, writers: map[uint64]uint64{}}
		}
		r.caches = d.replayFor(f, l, r.ears)
	}
	var key [32]byte
	var traces *tracing
	if l.Simulate && r.caches != nil && !l.Sanitize {
		key = predictionKey(f, l)
		if traces = d.traceFor(f, l, key, executed); traces != nil && r.watch == nil {
			r.watch, r.traces = traces.watch, traces
		}
	}
	fault := r.execute(pool)
	d.passTime(pool)
	result := &driver.Result{Executed: executed, Sampled: r.step, Cold: !l.Warm}
	if r.caches != nil {
		result.Counts.Cache = r.caches.Finish(fault == nil)
	}
	if r.check != nil {
		if fault == nil {
			r.check.compareOrders(f, l, time.Since(start))
		}
		result.Findings, result.Unwatched, result.Remarks = r.check.findings(fault), r.check.unwatched(), r.check.remarks()
	}
	result.Printed = r.output()
	if fault != nil {
		r.fault.Printed = result.Printed
		if r.check != nil {
			return &driver.Result{Printed: result.Printed, Findings: result.Findings, Unwatched: result.Unwatched, Remarks: result.Remarks}, fault
		}
		return nil, fault
	}
	if err := r.refusal(f); err != nil {
		return nil, err
	}
	for _, a := range r.allocations {
		if a.written.Load() == r.number && !r.exactWrites {
			a.markWhole()
		}
		if t := (driver.Touched{Base: driver.Address(a.low), Bytes: int64(a.high - a.low), Read: a.read.Load() == r.number, Written: a.written.Load() == r.number}); t.Read || t.Written {
			result.Touched = append(result.Touched, t)
		}
	}
	f.program.collect(result, pool, l.Count)
	result.Counts.CTAs = executed
	result.Counts.Warps = executed * ((l.CTA.Count() + warpSize - 1) / warpSize)
	if l.Simulate && r.caches != nil && !l.Sanitize {
		result.Simulated = d.predict(ctx, f, l, key, traces, r.caches, result, workOf(pool))
	}
	result.Host = time.Since(start)
	return result, nil
}

// fail notes a CTA's fault and stops the launch: the fault of a launch is that of the first CTA in its order to have one.
func (r *launchRun) fail(ordinal uint64, f *driver.Fault) {
	r.failing.Lock()
	defer r.failing.Unlock()
	if r.fault == nil || ordinal < r.faultAt && f.Kind != driver.Interrupted {
		r.fault, r.faultAt = f, ordinal
	}
	r.stopFlag.Store(true)
}

// keepPrinted takes over what a CTA has printed.
func (r *launchRun) keepPrinted(c *cta) {
	if len(c.printed) == 0 {
		return
	}
	text := string(c.printed)
	if c.unprinted {
		text += fmt.Sprintf("\n(more than %s: the rest was not kept)\n", byteCount(maxPrinted))
	}
	r.failing.Lock()
	defer r.failing.Unlock()
	if r.printed == nil {
		r.printed = map[uint64]string{}
	}
	place := uint64(c.index[0]) + uint64(r.grid.X)*(uint64(c.index[1])+uint64(r.grid.Y)*uint64(c.index[2]))
	r.printed[place] = text
	c.printed = nil
}

// output is what the launch has printed, CTA after CTA.
func (r *launchRun) output() string {
	if len(r.printed) == 0 {
		return ""
	}
	var b strings.Builder
	for _, at := range slices.Sorted(maps.Keys(r.printed)) {
		b.WriteString(r.printed[at])
	}
	return b.String()
}

// execute lets the workers take CTAs in the grid's order.
func (r *launchRun) execute(pool []*worker) error {
	var wg sync.WaitGroup
	for _, k := range pool {
		k.run = r
	}
	for _, k := range pool[1:] {
		wg.Go(k.work)
	}
	pool[0].work()
	wg.Wait()
	if r.fault != nil {
		return r.fault
	}
	return nil
}

// collect sums the workers' counters; where nothing is counted there is nothing to add.
func (p *program) collect(result *driver.Result, pool []*worker, count bool) {
	for _, k := range pool {
		k.settleThreads()
	}
	p.prune()
	if !count {
		return
	}
	c := &result.Counts
	lines := make([]perf.LineCounts, len(p.infos))
	blocks := make([]blockCounts, len(p.blocks))
	for _, k := range pool {
		for i := range blocks {
			blocks[i].add(&k.blocks[i])
		}
	}
	for i := range p.blocks {
		b := &p.blocks[i]
		s := &blocks[i]
		c.Branches += s.branches
		c.DivergentBranches += s.divergent
		c.Barriers += s.barriers
		for id := b.from; id < b.to; id++ {
			line := &lines[id]
			info := &p.infos[id]
			if info.pseudo {
				continue
			}
			line.WarpInstructions = s.warps
			line.ThreadInstructions = s.lanes
			active := s.warps
			if info.guard {
				var g guardCounts
				for _, k := range pool {
					g.add(&k.guarded[id])
				}
				line.ThreadInstructions, active = g.lanes, g.active
				if id == b.end.id {
					line.ThreadInstructions, active = s.takenLanes, s.taken
				}
			}
			c.WarpInstructions += line.WarpInstructions
			c.ThreadInstructions += line.ThreadInstructions
			c.Instructions[info.class] += line.WarpInstructions
			if id == b.end.id {
				line.Branches, line.DivergentBranches = s.branches, s.divergent
			}
			flops := line.ThreadInstructions * uint64(info.flops)
			if info.warp {
				flops = active * uint64(info.flops)
			}
			line.FLOPs[info.flop] += flops
			c.FLOPs[info.flop] += flops
			if info.wait {
				c.Waits += active
			}
		}
	}
	p.collectMemory(c, lines, pool)
	p.collectLines(result, lines)
	c.Hottest = worstContention(pool)
	c.LoadRounds = p.loadRounds(c, pool)
}

func (b *blockCounts) add(o *blockCounts) {
	b.warps += o.warps
	b.lanes += o.lanes
	b.taken += o.taken
	b.takenLanes += o.takenLanes
	b.branches += o.branches
	b.divergent += o.divergent
	b.barriers += o.barriers
}

func (g *guardCounts) add(o *guardCounts) {
	g.warps += o.warps
	g.active += o.active
	g.lanes += o.lanes
}

// collectMemory adds the sites' counts to those of the launch and of the lines.
func (p *program) collectMemory(c *perf.Counts, lines []perf.LineCounts, pool []*worker) {
	for _, b := range p.blocks {
		for i := range b.code {
			in := &b.code[i]
			for in.ext != nil && in.ext.inner != nil {
				in = in.ext.inner
			}
			if in.pattern < 0 {
				continue
			}
			info := &p.infos[b.code[i].id]
			line := &lines[b.code[i].id]
			for _, k := range pool {
				s := &k.sites[in.pattern]
				global, local, shared := info.counters(c)
				if global != nil {
					s.global.addTo(global)
				}
				if local != nil {
					s.local.addTo(local)
				}
				if shared != nil {
					s.shared.addTo(shared)
				}
				s.atomicGlobal.addTo(&c.GlobalContention)
				s.atomicShared.addTo(&c.SharedContention)
				s.atomicGlobal.addTo(&line.Contention)
				s.atomicShared.addTo(&line.Contention)
				s.global.addTo(&line.Global)
				s.local.addTo(&line.Local)
				s.shared.addTo(&line.Shared)
			}
		}
	}
}

// counters gives where an instruction's accesses to each space are counted.
func (i *info) counters(c *perf.Counts) (global, local *perf.Access, shared *perf.SharedAccess) {
	switch i.kind {
	case globalLoad, sharedLoad, localLoad:
		return &c.GlobalLoad, &c.LocalLoad, &c.SharedLoad
	case globalStore, sharedStore, localStore:
		return &c.GlobalStore, &c.LocalStore, &c.SharedStore
	case globalAtomic, sharedAtomic:
		return &c.GlobalAtomic, nil, &c.SharedAtomic
	case bulkOut:
		return &c.GlobalStore, nil, &c.SharedLoad
	case bulkReduce:
		return &c.GlobalAtomic, nil, &c.SharedLoad
	case asyncCopy:
		return &c.GlobalLoad, nil, &c.SharedStore
	}
	return nil, nil, nil
}

func (g *globalCounts) addTo(a *perf.Access) {
	a.Requests += g.requests
	a.Lanes += g.lanes
	a.Bytes += g.bytes
	a.Sectors += g.sectors
	a.IdealSectors += g.ideal
	a.Lines += g.lines
}

func (c *atomicCounts) addTo(a *perf.Contention) {
	a.Requests += c.requests
	a.Addresses += c.distinct
	a.Passes += c.passes
}

func (s *sharedCounts) addTo(a *perf.SharedAccess) {
	a.Requests += s.requests
	a.Lanes += s.lanes
	a.Bytes += s.bytes
	a.Wavefronts += s.waves
	a.IdealWavefronts += s.ideal
}

// collectLines gives the lines that were executed, in the order of the PTX.
func (p *program) collectLines(result *driver.Result, lines []perf.LineCounts) {
	n := 0
	for i := range lines {
		if lines[i].WarpInstructions > 0 {
			n++
		}
	}
	result.Lines = make([]perf.LineCounts, 0, n)
	var places map[[2]int]int // of instructions that calls brought in several times
	for i := range lines {
		line := &lines[i]
		if line.WarpInstructions == 0 {
			continue
		}
		in := &p.f.Body[i]
		line.PTXLine, line.Text, line.Class = in.Line, p.text()[i], p.infos[i].class
		if in.Source.File != 0 {
			line.File, line.SourceLine = p.module.Files[in.Source.File], in.Source.Line
		}
		if p.inlined {
			if places == nil {
				places = map[[2]int]int{}
			}
			if at, ok := places[[2]int{in.Line, in.Col}]; ok {
				result.Lines[at].Add(line)
				continue
			}
			places[[2]int{in.Line, in.Col}] = len(result.Lines)
		}
		result.Lines = append(result.Lines, *line)
	}
	if p.inlined {
		slices.SortStableFunc(result.Lines, func(a, b perf.LineCounts) int { return a.PTXLine - b.PTXLine })
	}
}
