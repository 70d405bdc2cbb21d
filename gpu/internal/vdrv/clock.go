//go:build cuda && cgo && linux

package vdrv

import (
	"sync"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// clock is the time that events read. Where launches are counted it is modelled: each launch moves it by what the model says that
// it takes, each copy by its bytes over the bus, so that a measurement gives the same each time. Else it is the host's.
type clock struct {
	mu sync.Mutex
	ns float64
}

// What a copy takes: a start, and PCIe 5 ×16 as it is reached. It only keeps order among the times; no card shows it.
const (
	copyStart          = 2_000 // ns
	copyBytesPerSecond = 50e9
)

var began = time.Now()

// now is the time in ns.
func (c *clock) now() float64 {
	if !state.options.Count {
		return float64(time.Since(began).Nanoseconds())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ns
}

func (c *clock) add(ns float64) {
	c.mu.Lock()
	c.ns += ns
	c.mu.Unlock()
}

func (c *clock) copied(bytes uint64) {
	if state.options.Count {
		c.add(copyStart + float64(bytes)/copyBytesPerSecond*1e9)
	}
}

// launched moves the clock by the modelled duration of a launch.
func (c *clock) launched(l *driver.Launch, r *driver.Result) {
	duration := perf.Evaluate(driver.Observe(state.gpu, l, r), state.gpu.Profile()).Duration
	if duration.Known() {
		c.add(duration.Value * 1e9)
	}
}
