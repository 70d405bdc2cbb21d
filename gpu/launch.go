package gpu

import (
	"fmt"
	"strings"
	"time"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// Dim3 is an extent in x, y and z. Components that are zero count as one, so that Config{} has one CTA of one thread.
type Dim3 struct{ X, Y, Z int }

// Dim is an extent of up to three dimensions: Dim(64) is 64 × 1 × 1.
func Dim(extents ...int) Dim3 {
	if len(extents) == 0 || len(extents) > 3 {
		panic(fail("write gpu.Dim(x), gpu.Dim(x, y) or gpu.Dim(x, y, z)", "Dim: %s given", plural(len(extents), "extent", "extents")))
	}
	d := [3]int{1, 1, 1}
	for i, n := range extents {
		if n < 1 {
			panic(fail("every extent is at least 1", "Dim: extent %c is %d", "xyz"[i], n))
		}
		d[i] = n
	}
	return Dim3{d[0], d[1], d[2]}
}

// Config is how a function is launched.
type Config struct {
	Grid        Dim3 // CTAs
	CTA         Dim3 // threads of a CTA
	Shared      int  // bytes of dynamic shared memory a CTA
	Cluster     Dim3 // CTAs of a cluster; zero: none
	Cooperative bool // all CTAs are resident at once, so that they may wait for each other
	Stream      *Stream
	Limit       time.Duration // host time after which the launch is stopped; 0: the device's, see SetLimit
}

// Threads is the configuration with at least n threads in CTAs of size threads: ⌈n/size⌉ CTAs. The last CTA may have threads
// whose index is n or more.
func Threads(n, size int) Config {
	if n < 1 || size < 1 {
		panic(fail("both are at least 1", "Threads(%d, %d): there is nothing to launch", n, size))
	}
	return Config{Grid: Dim((n + size - 1) / size), CTA: Dim(size)}
}

// LaunchSpec is a launch with what the caller knows of it; kernels.Run makes one from its registry.
type LaunchSpec struct {
	Name         string // shown on the card: "gemv/1_naive"; empty: module and function
	Config       Config
	MinimumBytes float64 // closed form of the least DRAM traffic, 0 where unknown
	FormulaFLOPs float64 // closed form of the work, 0 where unknown

	// Of a launch that is a part of a step of several: MinimumBytes and FormulaFLOPs are its share of the step's, 0 included, and
	// OwnBytes is what it must move by itself, the step's workspaces included; 0 for a launch that is no part.
	OwnBytes float64
	// Continues: a later launch of a step. L2 holds what the one before it left, unless launches are sampled.
	Continues bool
}

// Launch runs the function and waits for its end. Arguments are checked against the entry's parameters: an int or a float64
// converts to the parameter's type: where that is known in C++, by the module's source or a mangled name, a float rounds and an
// integer must be in its range; where only PTX is there, it must be exactly representable. A sized type (int32, float32 …) must
// match in size and kind. A Tensor or Buffer must be of this device and alive, and a Tensor's elements must be those that the
// C++ type points to (View gives bytes as other elements); nil is the null pointer, and a structure is given as its bytes.
func (f *Function) Launch(c Config, args ...any) error {
	return f.LaunchWith(LaunchSpec{Config: c}, args...)
}

// LaunchWith is Launch with a name and closed forms for the card.
func (f *Function) LaunchWith(spec LaunchSpec, args ...any) error {
	if f == nil {
		return fail("take one of a module: f, err := mod.Function(\"name\")", "Launch: the function is nil")
	}
	start := time.Now()
	if spec.Name == "" {
		spec.Name = plainName(f.Name())
		if m := f.module.name; m != "" && m != ptxName && m != cudaName+".ptx" {
			spec.Name = strings.TrimSuffix(m, ".ptx") + ": " + spec.Name
		}
	}
	launch, p, err := f.prepare(spec, args)
	if err != nil {
		return Failed(err)
	}
	scope := records.scope()
	launch.Sample, launch.SampleTime = scope.sample, scope.sampleTime
	launch.Warm = scope.warm || spec.Continues && launch.Sample <= 1 && launch.SampleTime == 0
	if launch.Sample > 1 || launch.SampleTime > 0 {
		if f.module.dev.Supports(string(driver.Sampling)) != "" { // a real GPU executes every CTA, which is more than was asked for
			launch.Sample, launch.SampleTime = 0, 0
		}
	}
	if len(scope.findings) > 0 {
		if why := f.module.dev.Supports(string(driver.Sanitizer)); why != "" {
			return Failed(fail("open a virtual device: gpu.Open(\"virtual\")", "launch %s: %s cannot sanitize: %s", spec.Name, f.module.dev.name, why))
		}
		launch.Sanitize, launch.Tensors = true, p.extents
	}
	if scope.repeat && launch.Stream == nil && f.module.dev.Supports(string(driver.Counting)) != "" {
		launch.Repeat = leastSamples
	}
	checked := time.Now()
	ctx, cancel := f.module.dev.limited(scope.ctx, spec.Config.Limit)
	defer cancel()
	result, err := f.module.dev.d.Launch(ctx, launch)
	showPrinted(result, err)
	for _, found := range scope.findings {
		if result != nil {
			found.add(spec.Name, launch.Grid.Count(), result)
		}
	}
	if err != nil {
		return Failed(f.stopped(spec, launch, err))
	}
	ran := time.Now()
	p.track(spec.Name, result)
	evaluated := perf.Evaluate(f.observe(spec, launch, result), f.module.dev.profile)
	records.add(&record{launch: evaluated, layers: layers{
		check: checked.Sub(start), device: ran.Sub(checked), evaluate: time.Since(ran),
	}})
	return nil
}

// leastSamples of a launch are timed inside Measure and its like on a device that measures; a plain launch runs once.
const leastSamples = 10

// prepare checks configuration and arguments and packs them.
func (f *Function) prepare(spec LaunchSpec, args []any) (*driver.Launch, *packer, error) {
	dev, name, c := f.module.dev, "launch "+spec.Name, spec.Config
	if err := dev.open(); err != nil {
		return nil, nil, err
	}
	if err := f.checkConfig(name, c); err != nil {
		return nil, nil, err
	}
	p, err := f.pack(name, args)
	if err != nil {
		return nil, nil, err
	}
	if a := f.f.Attributes(); a.SharedBytes+c.Shared > dev.props.SharedPerCTA {
		if err := f.f.SetMaxDynamicShared(c.Shared); err != nil {
			return nil, nil, wrap(name, err)
		}
	}
	l := &driver.Launch{Function: f.f, Grid: c.Grid.driver(), CTA: c.CTA.driver(), Shared: c.Shared,
		Cooperative: c.Cooperative, Args: p.buffer, Wait: true, Count: true, Simulate: Simulation(), LeastBytes: spec.MinimumBytes}
	if c.Cluster != (Dim3{}) {
		l.Cluster = c.Cluster.driver()
	}
	if c.Stream != nil {
		l.Stream = c.Stream.s
	}
	return l, p, nil
}

func (d Dim3) driver() driver.Dim3 {
	return driver.Dim3{X: uint32(max(d.X, 1)), Y: uint32(max(d.Y, 1)), Z: uint32(max(d.Z, 1))}
}

// String is "64", "64 × 2" or "64 × 2 × 3".
func (d Dim3) String() string {
	switch {
	case d.Z > 1:
		return fmt.Sprintf("%d × %d × %d", d.X, d.Y, d.Z)
	case d.Y > 1:
		return fmt.Sprintf("%d × %d", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}

// checkConfig compares the extents with what the device and the function allow.
func (f *Function) checkConfig(name string, c Config) error {
	props, a := f.module.dev.props, f.f.Attributes()
	if err := checkExtent(name, "grid", c.Grid, props.MaxGridDim); err != nil {
		return err
	}
	if err := checkExtent(name, "CTA", c.CTA, props.MaxCTADim); err != nil {
		return err
	}
	limit := props.MaxThreadsPerCTA
	if a.MaxThreadsPerCTA > 0 {
		limit = min(limit, a.MaxThreadsPerCTA)
	}
	if threads := c.CTA.driver().Count(); threads > uint64(limit) {
		why := ""
		if limit < props.MaxThreadsPerCTA {
			why = ", as its __launch_bounds__ say"
		}
		return fail(fmt.Sprintf("use CTAs of at most %d threads and more of them", limit), "%s: a CTA of %s has %d threads, the limit is %d%s", name, c.CTA, threads, limit, why)
	}
	if r := a.RequiredCTA; r != (driver.Dim3{}) && c.CTA.driver() != r {
		want := Dim3{int(r.X), int(r.Y), int(r.Z)}
		return fail(fmt.Sprintf("launch it with CTA: gpu.Dim(%d, %d, %d)", r.X, r.Y, r.Z), "%s: the function wants CTAs of %s threads (.reqntid), not %s", name, want, c.CTA)
	}
	if c.Limit < 0 {
		return fail("give a time ≥ 0; 0 is the device's limit", "%s: the limit %v is negative", name, c.Limit)
	}
	if c.Shared < 0 {
		return fail("give a size ≥ 0", "%s: %d B of dynamic shared memory", name, c.Shared)
	}
	if total := a.SharedBytes + c.Shared; total > props.SharedPerCTAOptin {
		return fail("use smaller tiles", "%s: a CTA needs %s of shared memory (%s static, %s dynamic), %s has %s", name, countBytes(int64(total)),
			grouped(int64(a.SharedBytes)), grouped(int64(c.Shared)), f.module.dev.name, countBytes(int64(props.SharedPerCTAOptin)))
	}
	for _, q := range []struct {
		asked bool
		what  driver.Capability
	}{{c.Cluster != (Dim3{}), driver.Clusters}, {c.Cooperative, driver.Cooperative}} {
		if why := f.module.dev.d.Capability(q.what); q.asked && why != "" {
			return fail("leave it out of the gpu.Config", "%s: %s on %s: %s", name, q.what, f.module.dev.name, why)
		}
	}
	if c.Stream != nil && c.Stream.dev != f.module.dev {
		return fail("make the stream on the device of the function", "%s: the stream is of %s, the function of %s", name, c.Stream.dev.name, f.module.dev.name)
	}
	return nil
}

func checkExtent(name, what string, d Dim3, limit driver.Dim3) error {
	for i, n := range [3]int{d.X, d.Y, d.Z} {
		most := int64([3]uint32{limit.X, limit.Y, limit.Z}[i])
		if n < 0 {
			return fail("every extent is at least 1", "%s: %s extent %c is %d", name, what, "xyz"[i], n)
		}
		if int64(n) > most && most > 0 {
			return fail("put more work into a CTA, or use another dimension", "%s: %s extent %c is %s, the limit is %s", name, what, "xyz"[i], grouped(int64(n)), grouped(most))
		}
	}
	return nil
}

// observe collects what the device and the registry say of a launch.
func (f *Function) observe(spec LaunchSpec, l *driver.Launch, r *driver.Result) perf.Observation {
	o := driver.Observe(f.module.dev.d, l, r)
	o.Kernel, o.Device, o.MinimumBytes, o.FormulaFLOPs = spec.Name, f.module.dev.name, spec.MinimumBytes, spec.FormulaFLOPs
	o.OwnBytes, o.Simulated = spec.OwnBytes, simulatedOf(l, r)
	return o
}

// simulatedOf is the device's prediction, or why there is none.
func simulatedOf(l *driver.Launch, r *driver.Result) *perf.Simulation {
	switch {
	case r.Simulated != nil || l.Function == nil:
		return r.Simulated
	case l.Sanitize:
		return &perf.Simulation{Why: "launches under the sanitizer are not simulated"}
	case !l.Simulate:
		return &perf.Simulation{Why: "the simulation is off"}
	}
	return nil
}

// track keeps what may be read up to date: a sampled launch leaves what it wrote incomplete, and so does a launch that reads
// something incomplete; a whole launch that overwrites all of an incomplete allocation makes it whole again.
func (p *packer) track(name string, r *driver.Result) {
	touched := r.Touched
	if touched == nil && r.Sampled > 1 { // the device cannot tell: anything that was handed over may have been written
		for _, m := range p.memory {
			touched = append(touched, driver.Touched{Base: m.base, Bytes: m.bytes, Written: true})
		}
	}
	from := "" // why the results are incomplete, if they are
	if r.Sampled > 1 {
		from = fmt.Sprintf("launch %s ran 1 of every %d CTAs (gpu.Sample)", name, r.Sampled)
	}
	var written []*memoryState
	bytes := int64(0)
	for _, t := range touched {
		state := p.dev.stateOf(t.Base, t.Bytes)
		if why := state.why(); why != "" && t.Read && from == "" {
			from = "launch " + name + " read incomplete memory: " + why
		}
		if t.Written {
			written = append(written, state)
			bytes += state.bytes
		}
	}
	overwritten := int64(r.Counts.Cache.DistinctWritten)*sectorBytes >= bytes
	for _, state := range written {
		if from != "" || overwritten {
			state.mark(from)
		}
	}
}

const sectorBytes = 32
