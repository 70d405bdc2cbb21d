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
type limit struct{ total, stop, kill uint64 }

func memoryLimit(total uint64) limit {
	if total == 0 {
		total = memoryTotal()
	}
	return limit{total, uint64(stopShare * float64(total)), uint64(killShare * float64(total))}
}

const (
	watchRunning = 20 * time.Millisecond
	watchIdle    = 250 * time.Millisecond
	// stopWithin is how long a cell that was asked to stop may go on above killShare.
	stopWithin = 100 * time.Millisecond
)

func (p *process) watchMemory(l limit) {
	if !seesMemory || l.total == 0 {
		return
	}
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
		text := ""
		switch {
		case used > l.stop && used > base+l.total/50 || used > l.kill:
			text = fmt.Sprintf("the worker uses %s of memory, more than 80%% of the %s that there are", gigabytes(used), gigabytes(l.total))
		case n%10 == 0 && p.s.options.MemoryTotal == 0: // other processes may have used up the cgroup
			in := cgroupUsed()
			if in > l.stop && used > l.total/4 && used > base+l.total/50 {
				text = fmt.Sprintf("the worker uses %s of memory and the processes beside it %s, together more than 80%% of the %s that there are", gigabytes(used), gigabytes(in-min(in, used)), gigabytes(l.total))
			}
		}
		if text == "" {
			continue
		}
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
