package vgpu

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The just-in-time compiler: hot straight-line runs of arithmetic and shared loads become machine code that keeps values in
// vector registers over a whole run, eight lanes at a time. Which blocks are hot is counted by their executions with all
// lanes; lanes apart, what a run cannot have, and systems without executable memory stay with threaded code.

const (
	// jitHot is after how many executions of a block its runs are compiled.
	jitHot = 64
	// jitTries is how often a block is compiled anew whose addresses lie otherwise than they did.
	jitTries = 3
	// jitMissed is how many misses say that they do.
	jitMissed = 64
)

// Offsets in asmContext.
const (
	contextShared       = int32(unsafe.Offsetof(asmContext{}.shared))
	contextSharedLength = int32(unsafe.Offsetof(asmContext{}.sharedLen))
	contextJIT          = int32(unsafe.Offsetof(asmContext{}.runs))
	contextBig          = int32(unsafe.Offsetof(asmContext{}.big))
)

// runCounts counts executions of one compiled run.
type runCounts struct{ hits, misses uint64 }

// compiledCode is the machine code of a program.
type compiledCode struct {
	mu    sync.Mutex
	runs  []*compiledRun
	pages []*codePages
	tries map[int32]int // by block
}

// jitAvailable says whether code may be made at run time: whether the system gives memory that can be executed.
var jitAvailable = sync.OnceValue(func() bool {
	if !threadedAvailable() {
		return false
	}
	pages, err := newCodePages([]byte{0xC3})
	if err != nil {
		return false
	}
	pages.free()
	return true
})

// beginRuns prepares for a launch.
func (t *threads) beginRuns(k *worker) {
	if k.run.lanes != JITLanes {
		return
	}
	if t.runs == nil {
		t.runs = make([]runCounts, max(len(k.p.infos), 1))
	}
	clear(t.runs)
	t.context.runs = uintptr(unsafe.Pointer(&t.runs[0]))
}

// warm counts an execution of a block by all lanes; the one that makes it hot is done here, and then its runs are compiled.
// It reports whether the block has been executed.
func (w *warp) warm(b *block) bool {
	if atomic.AddUint32(&b.heat, 1) != jitHot {
		return false
	}
	deltas := map[int32]*[32]int64{}
	code := b.code
	for i := range code {
		in := &code[i]
		if in.pattern >= 0 && in.flags&flagFixed == 0 && codeOf(in.fn) == codeLoad {
			d := new([32]int64)
			a := w.addresses(in)
			for lane := range d {
				d[lane] = int64(a[lane] - a[0])
			}
			deltas[in.pattern] = d
		}
		in.fn(w, in)
	}
	w.w.p.install(b, deltas)
	return true
}

// install compiles the runs of a block and puts them into its threaded code.
func (p *program) install(b *block, deltas map[int32]*[32]int64) {
	p.jit.mu.Lock()
	defer p.jit.mu.Unlock()
	landing := &p.landings[b.number].code[1]
	defer func() {
		at := atomic.LoadPointer(&b.hot)
		if at == nil {
			at = unsafe.Pointer(unsafe.SliceData(b.threads.full))
		}
		atomic.StorePointer(landing, at)
	}()
	runs, code := p.compileBlock(b, deltas)
	if len(runs) == 0 {
		return
	}
	pages, err := newCodePages(code)
	if err != nil {
		return // this system gives no more executable memory: threaded code does the same
	}
	p.jit.pages = append(p.jit.pages, pages)
	runtime.AddCleanup(p, (*codePages).free, pages)
	hot := slices.Clone(b.threads.full)
	for _, r := range runs {
		hot[r.from].code = pages.address(r.entry)
	}
	atomic.StorePointer(&b.hot, unsafe.Pointer(unsafe.SliceData(hot)))
	p.jit.runs = append(p.jit.runs, runs...)
}

// settleRuns adds what compiled runs have counted.
func (k *worker) settleRuns() {
	t := k.threads
	if t.context.runs == 0 || k.run.lanes != JITLanes {
		return
	}
	j := &k.p.jit
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.runs {
		c := &t.runs[r.id]
		if c.hits|c.misses == 0 {
			continue
		}
		for i := range r.loads {
			if k.count {
				k.sites[r.loads[i].pattern].shared.addTimes(&r.loads[i].counts, c.hits)
			}
		}
		r.hits, r.misses = r.hits+c.hits, r.misses+c.misses
		*c = runCounts{}
	}
}

// prune takes out the runs of blocks whose addresses mostly lie otherwise than they did, which may become hot again; no launch
// of the program may be running.
func (p *program) prune() {
	j := &p.jit
	j.mu.Lock()
	defer j.mu.Unlock()
	cold := map[*block]bool{}
	for _, r := range j.runs {
		if r.misses >= jitMissed && r.misses > r.hits {
			cold[r.block] = true
		}
	}
	for b := range cold {
		atomic.StorePointer(&b.hot, nil)
		atomic.StorePointer(&p.landings[b.number].code[1], nil)
		if j.tries == nil {
			j.tries = map[int32]int{}
		}
		if j.tries[b.number]++; j.tries[b.number] < jitTries {
			atomic.StoreUint32(&b.heat, 0)
		} else {
			atomic.StorePointer(&p.landings[b.number].code[1], unsafe.Pointer(unsafe.SliceData(b.threads.full)))
		}
	}
	j.runs = slices.DeleteFunc(j.runs, func(r *compiledRun) bool { return cold[r.block] })
}

func (s *sharedCounts) addTimes(c *sharedCounts, n uint64) {
	s.requests += n * c.requests
	s.lanes += n * c.lanes
	s.bytes += n * c.bytes
	s.waves += n * c.waves
	s.ideal += n * c.ideal
}

// address is where a byte of the code lies.
func (c *codePages) address(offset int) uintptr { return uintptr(unsafe.Pointer(&c.b[offset])) }

// compiled counts the runs in use.
func (j *compiledCode) compiled() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.runs)
}
