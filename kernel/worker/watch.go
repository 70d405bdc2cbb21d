package worker

import (
	"fmt"
	"runtime/metrics"
	"time"
)

const (
	// watchEvery is how often a running cell is looked at.
	watchEvery = 10 * time.Millisecond
	// stackLimit is when a cell is taken to call itself without end: Go itself would kill the process later.
	stackLimit = 200 << 20
)

// watch stops the cell when its stacks, or where the kernel cannot see it its memory, grow too large. The function that it
// returns ends the watch.
func (w *worker) watch(c *cell) (end func()) {
	over := make(chan struct{})
	go func() {
		samples := []metrics.Sample{
			{Name: "/memory/classes/heap/stacks:bytes"},
			{Name: "/memory/classes/total:bytes"},
			{Name: "/memory/classes/heap/released:bytes"},
		}
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
			metrics.Read(samples)
			stacks, resident := samples[0].Value.Uint64(), samples[1].Value.Uint64()-samples[2].Value.Uint64()
			switch {
			case stacks > stackLimit:
				c.stop(&stop{"StackOverflow", fmt.Sprintf("the cell's functions use %d MB of stack and were stopped: a function calls itself without end, or too deep", stacks/1e6)})
			case w.watchMemory && w.memoryLimit > 0 && resident > w.memoryLimit:
				c.stop(&stop{"MemoryLimit", fmt.Sprintf("the worker uses %.1f GB of memory, more than 80%% of what there is; the cell was stopped: drop large variables (x = nil), work on less data at once, or start again with %%reset", float64(resident)/1e9)})
			}
		}
	}()
	return func() { close(over) }
}
