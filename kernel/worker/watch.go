package worker

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// watchEvery is how often a running cell is looked at.
	watchEvery = 10 * time.Millisecond
	// stackLimit is when a cell is taken to call itself without end: Go itself would kill the process later.
	stackLimit = 200 << 20
	// manyGoroutines that need so much stack together are the reason, not one that calls itself.
	manyGoroutines = 10000
)

// watch stops the cell when its stacks, or where the kernel cannot see it its memory, grow too large. The function that it
// returns ends the watch.
func (w *worker) watch(c *cell) (end func()) {
	over := make(chan struct{})
	base, resident := memoryInUse()
	if base > stackLimit/2 || w.memoryLimit > 0 && resident > w.memoryLimit-w.memoryLimit/8 {
		debug.FreeOSMemory() // what earlier cells have dropped is not this cell's
		base, _ = memoryInUse()
	}
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-c.ctx.Done():
				return
			case <-tick.C:
			}
			stacks, resident := memoryInUse()
			base = min(base, stacks) // a stack that an earlier cell has left may still be on its way down
			deep := stacks > stackLimit && stacks-base > stackLimit/2
			switch {
			case deep && runtime.NumGoroutine() > manyGoroutines:
				c.stop(&stop{name: "TooManyGoroutines", reason: fmt.Sprintf("the cell's %s goroutines use %d MB of stack and were stopped: start fewer, or let each end before the next begins", thousands(runtime.NumGoroutine()), stacks/1e6)})
			case deep:
				c.stop(&stop{name: stackOverflow, reason: fmt.Sprintf("the cell's functions use %d MB of stack and were stopped: a function calls itself without end, or too deep", stacks/1e6)})
			case w.watchMemory && w.memoryLimit > 0 && resident > w.memoryLimit:
				c.stop(&stop{name: "MemoryLimit", reason: fmt.Sprintf("the worker uses %.1f GB of memory, more than 80%% of what there is; the cell was stopped: drop large variables (x = nil), work on less data at once, or start again with %%reset", float64(resident)/1e9)})
			}
		}
	}()
	return func() { close(over) }
}

// stackOverflow is the name of the error of a cell whose functions call themselves without end.
const stackOverflow = "StackOverflow"

// shrinkWithin is how long the functions of such a cell may take to return.
const shrinkWithin = time.Second

// shrinks says whether the stack of a stopped cell goes down. Compiled code that calls itself cannot be stopped: its stack
// would grow on and end the process while the next cell runs.
func (w *worker) shrinks() bool {
	base, _ := memoryInUse()
	for until := time.Now().Add(shrinkWithin); ; time.Sleep(watchEvery) {
		stacks, _ := memoryInUse()
		if stacks < stackLimit && w.session.Ended() {
			return true
		}
		if stacks > base+base/4 || time.Now().After(until) {
			return false
		}
	}
}

// memoryInUse is the memory of goroutine stacks, and all that the Go runtime holds, in bytes.
func memoryInUse() (stacks, resident uint64) {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64() - s[2].Value.Uint64()
}
