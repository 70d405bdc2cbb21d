package driver

import "memwall/gpu/perf"

// Observe puts together what perf.Evaluate wants to know of a launch; its name and closed forms are the caller's to add.
func Observe(d Device, l *Launch, r *Result) perf.Observation {
	a, p := l.Function.Attributes(), d.Properties()
	return perf.Observation{
		Kernel: l.Function.Name(), Function: l.Function.Name(), Device: p.Name, Virtual: p.Virtual || r.Modelled,
		Shape:     perf.Shape{Grid: l.Grid.Array(), CTA: l.CTA.Array(), Cluster: l.Cluster.Array(), DynamicShared: l.Shared},
		Registers: a.Registers, Estimated: a.Estimated, RegistersLow: a.RegistersLow, RegistersHigh: a.RegistersHigh,
		StaticShared: a.SharedBytes, LocalBytes: a.LocalBytes, SpillBytes: a.SpillBytes,
		Counts: r.Counts, Counted: d.Capability(Counting) == "", Lines: r.Lines,
		Sampled: max(r.Sampled, 1), Executed: r.Executed, Cold: r.Cold, Samples: r.Samples, Batch: r.Batch, Clocks: r.Clocks, Simulated: r.Simulated,
	}
}
