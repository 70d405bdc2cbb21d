package kernels

import (
	"context"
	"fmt"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// ceiling is what a probe shows of a device: an amount of bytes or FLOPs and the time that it takes, beside the roof that is
// published for it. A launch has no amount.
type ceiling struct {
	name   string // "DRAM read"
	unit   string // "B", "FLOP", or "s" where the time itself is the ceiling
	amount func(d dims) float64
	roof   func(p *perf.Profile) perf.Figure // a second's worth; nil: none is published
}

// dramSource is what the roof of DRAM calls itself.
const dramSource = "DRAM bandwidth"

// dramRead is the name of the ceiling of reads.
const dramRead = "DRAM read"

func dramRoof(p *perf.Profile) perf.Figure {
	return perf.Figure{Value: p.DRAMBytesPerSecond, Unit: "B/s", Tag: perf.Datasheet, Source: dramSource}
}

// pipeRoof is the roof of the pipe that executes a type of FLOP.
func pipeRoof(t perf.FLOPType) func(p *perf.Profile) perf.Figure {
	return func(p *perf.Profile) perf.Figure {
		return perf.Figure{Value: p.Roof(t).FLOPs, Unit: "FLOP/s", Tag: perf.Datasheet, Source: p.Roof(t).Name + " roof"}
	}
}

// sharedRoof is 32 banks of 4 bytes a cycle and SM (CUDA C++ Programming Guide, compute capability 5.x and later) at boost clock.
func sharedRoof(p *perf.Profile) perf.Figure {
	return perf.Figure{Value: 128 * float64(p.SMs) * p.BoostHz, Unit: "B/s", Tag: perf.Formula, Source: "128 B a cycle and SM at boost clock"}
}

// Ceiling is what a device does at best, as a probe finds it.
type Ceiling struct {
	Name   string      `json:"name"` // "DRAM read"
	Kernel string      `json:"kernel"`
	Time   perf.Figure `json:"time"`
	Rate   perf.Figure `json:"rate"`  // bytes or FLOPs a second; MODELLED on a virtual device
	Roof   perf.Figure `json:"roof"`  // what is published for it
	Share  float64     `json:"share"` // of the roof, 0 where there is none
}

// Ceilings runs the probes on a device: what it can do at best, each beside its published roof. A step's share of the roof,
// divided by the probe's, is its share of the device's own ceiling.
func Ceilings(ctx context.Context, dev *gpu.Device) ([]Ceiling, error) {
	b := bencher{ctx: ctx, dev: dev, times: map[string]benchTime{}}
	return b.ceilings(unique(registry))
}

// ceilings runs the probes among some kernels.
func (b *bencher) ceilings(chosen []*Kernel) ([]Ceiling, error) {
	var all []Ceiling
	for _, k := range chosen {
		if k.ceiling == nil || len(k.bench) == 0 {
			continue
		}
		if b.ctx.Err() != nil {
			return all, b.ctx.Err()
		}
		if _, cannot := k.targetFor(b.dev); cannot != nil {
			continue // the device lacks what the probe is of
		}
		c, err := b.ceiling(k)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// ceiling runs one probe.
func (b *bencher) ceiling(k *Kernel) (Ceiling, error) {
	s := k.bench[0].trial
	t := b.time(k, s)
	if t.err != nil {
		return Ceiling{}, fmt.Errorf("ceiling of %s: %w", b.dev.Name(), t.err)
	}
	c := Ceiling{Name: k.ceiling.name, Kernel: k.name, Time: t.total.Duration, Rate: perf.Absent("", "the time itself is the ceiling"),
		Roof: perf.Absent("", "none is published")}
	if k.ceiling.amount != nil {
		c.Rate = perf.Figure{Value: k.ceiling.amount(s.of(k, b.dev.SMs())) / c.Time.Value, Unit: k.ceiling.unit + "/s", Tag: c.Time.Tag, Source: k.name}
	}
	if p := b.dev.Profile(); p != nil && k.ceiling.roof != nil {
		c.Roof = k.ceiling.roof(p)
		c.Share = c.Rate.Value / c.Roof.Value
	}
	return c, nil
}
