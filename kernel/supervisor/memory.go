package supervisor

import (
	"fmt"
	"time"
)

// Memory is watched from here, where it costs the cell nothing: the worker's resident memory, and what its cgroup has left.
// At stopShare of the total the cell is asked to stop and keeps its variables; at killShare, or when it does not stop, the
// worker is killed before the system kills something else.
const (
	stopShare = 0.80
	killShare = 0.92
)

// A limit is in bytes; zero where nothing is known.
type limit struct {
	total, stop, kill uint64
	fixed             bool   // whatever the machine has
	beside            uint64 // memory that other processes have taken from the worker's total
}

// memoryLimit is the limit of a worker that may count on total bytes, or where that is 0 on what is free now.
func memoryLimit(total uint64) limit {
	if total != 0 {
		return limitOf(total, true)
	}
	return limitOf(memoryTotal(), false).now(0)
}

func limitOf(total uint64, fixed bool) limit {
	return limit{total: total, stop: uint64(stopShare * float64(total)), kill: uint64(killShare * float64(total)), fixed: fixed}
}

// now is the limit of a worker that uses so much: what other processes have taken is not there for it.
func (l limit) now(used uint64) limit {
	if l.fixed {
		return l
	}
	free, ok := memoryFree(l.total)
	if !ok || free+used >= l.total {
		return l
	}
	n := limitOf(free+used, false)
	n.beside = l.total - n.total
	return n
}

// of says what a limit is a share of.
func (l limit) of() string {
	if l.beside > l.total/8 {
		return fmt.Sprintf("%s that other processes leave of %s", gigabytes(l.total), gigabytes(l.total+l.beside))
	}
	return gigabytes(l.total) + " that there are"
}

const (
	watchRunning = 20 * time.Millisecond
	watchIdle    = 250 * time.Millisecond
	// lookFree is after how many looks at the worker the whole machine is looked at.
	lookFree = 5
	// stopWithin is how long a cell that was asked to stop may go on above killShare.
	stopWithin = 100 * time.Millisecond
)

func (p *process) watchMemory(l limit) {
	if !seesMemory || l.total == 0 {
		return
	}
	whole := limitOf(l.total+l.beside, l.fixed)
	select {
	case <-p.ready:
	case <-p.exited:
		return
	}
	// A cell may run with the memory that it has found in use, so that it can drop variables; what it adds is limited.
	var seen *run
	var base uint64
	var asked time.Time // when the cell was asked to stop
	for n := 0; ; n++ {
		p.s.mu.Lock()
		c := p.s.running
		p.s.mu.Unlock()
		if c != nil && c.process != p {
			c = nil
		}
		pause := watchIdle
		if c != nil {
			pause = watchRunning
		}
		select {
		case <-p.exited:
			return
		case <-time.After(pause):
		}
		used := residentMemory(p.pid())
		if c != seen {
			seen, base, asked = c, used, time.Time{}
		}
		if n%lookFree == 0 {
			l = whole.now(used)
		}
		if used <= l.stop || used <= base+l.total/50 && used <= whole.kill {
			continue
		}
		text := fmt.Sprintf("the worker uses %s of memory, more than 80%% of the %s", gigabytes(used), l.of())
		const mend = "drop large variables (x = nil), work on less data at once, or start again with %reset"
		switch {
		case used > l.kill && (c == nil || !asked.IsZero() && time.Since(asked) > stopWithin):
			p.overrun(text, mend)
		case c != nil && asked.IsZero():
			asked = time.Now()
			c.interrupt("MemoryLimit", text+"; the cell was stopped: "+mend)
		}
	}
}

// overrun ends a worker whose memory grows on.
func (p *process) overrun(text, advice string) {
	p.killFor(&death{name: "MemoryLimit", summary: text + " and grows on; it was killed", advice: advice})
}

func gigabytes(n uint64) string {
	switch {
	case n < 1e9:
		return fmt.Sprintf("%d MB", n/1e6)
	case n < 1e11:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f GB", float64(n)/1e9)
}
