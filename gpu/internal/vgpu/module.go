package vgpu

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// module is loaded PTX.
type module struct {
	device    *Device
	name      string
	compiled  *compiled // held, so that the cache finds it
	functions map[string]*function
	globals   map[string]*allocation
	sources   map[string]string
	unloaded  atomic.Bool

	mu sync.Mutex // of the maps, which Unload empties
}

// function is an entry.
type function struct {
	module     *module
	program    *program
	attributes driver.Attributes

	mu         sync.Mutex
	maxDynamic int
	idle       []*worker
}

// LoadPTX parses text, places its variables in device memory and decodes every entry.
func (d *Device) LoadPTX(text string, o driver.LoadOptions) (driver.Module, error) {
	if d.closed.Load() {
		return nil, errClosed
	}
	name := o.Name
	if name == "" {
		name = "PTX"
	}
	c, err := d.compile(name, text)
	if err != nil {
		return nil, err
	}
	m := c.m
	loaded := &module{device: d, name: name, compiled: c, functions: map[string]*function{}, globals: map[string]*allocation{}, sources: o.Sources}
	symbols, err := loaded.place(m)
	if err != nil {
		loaded.Unload()
		return nil, err
	}
	if slices.ContainsFunc(m.Functions, func(f *ptx.Function) bool { return f.Name == "malloc" }) {
		if err := d.heap.open(d.memory); err != nil {
			loaded.Unload()
			return nil, err
		}
	}
	for _, f := range m.Functions {
		if !f.Entry || !f.HasBody {
			continue
		}
		p := c.programs[f]
		if p == nil {
			if p, err = compile(m, f, symbols, d.architecture()); err != nil {
				loaded.Unload()
				return nil, err
			}
		}
		loaded.functions[f.Name] = &function{module: loaded, program: p, attributes: d.attributes(p, o.Facts), maxDynamic: max(d.properties.SharedPerCTA-p.shared, 0)}
	}
	return loaded, nil
}

// checkTarget refuses PTX for a newer GPU than the profile's. A target with the suffix a (sm_90a) runs on that one alone,
// one with the suffix f on it and on newer ones of its family (PTX ISA 11.1.2).
func (d *Device) checkTarget(m *ptx.Module) error {
	number := strings.TrimPrefix(m.Target, "sm_")
	n, _ := strconv.Atoi(strings.TrimRight(number, "af"))
	have := 10*d.profile.Major + d.profile.Minor
	fail := func(why string) error {
		return &ptx.Error{Name: m.Name, Line: m.TargetAt[0], Col: m.TargetAt[1], Message: fmt.Sprintf("the PTX is for %s, device %q is sm_%d%s", m.Target, d.properties.Name, have, why),
			Hint: fmt.Sprintf("compile it for sm_%d, or open a device that runs it", have), Source: m.SourceLine(m.TargetAt[0])}
	}
	switch {
	case strings.HasSuffix(number, "a") && n != have:
		return fail(fmt.Sprintf(": a target with an a runs on sm_%d alone", n))
	case n > have:
		return fail("")
	case strings.HasSuffix(number, "f") && n/10 != have/10:
		return fail(fmt.Sprintf(": a target with an f runs on its own family, sm_%dx, alone", n/10))
	}
	return nil
}

// place allocates the module's .global and .const variables, those in function bodies too, and writes their values.
func (l *module) place(m *ptx.Module) (map[*ptx.Variable]uint64, error) {
	symbols := map[*ptx.Variable]uint64{}
	byName := map[string]uint64{}
	var list []*ptx.Variable
	for _, v := range m.Variables {
		if v.Space != "shared" && !v.Extern {
			list = append(list, v)
		}
	}
	for _, f := range m.Functions {
		for _, v := range f.Variables {
			if v.Space == "global" || v.Space == "const" {
				list = append(list, v)
			}
		}
	}
	for _, v := range list {
		a, err := l.device.memory.alloc(v.Size, v.Name)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: variable %s: %w", m.Name, v.Line, v.Name, err)
		}
		symbols[v], byName[v.Name] = a.low, a.low
		l.globals[v.Name] = a
		if _, _, err := l.device.memory.reach(a, a.low, a.high); err != nil {
			return nil, fmt.Errorf("%s:%d: variable %s: %w", m.Name, v.Line, v.Name, err)
		}
		a.markWhole()
		copy(l.device.memory.arena[a.low-l.device.memory.base:], v.Init)
	}
	for _, v := range list {
		for _, r := range v.InitRefs {
			target, ok := byName[r.Name]
			if !ok {
				target, ok = functionAddress(m, r.Name)
			}
			if !ok {
				return nil, &ptx.Error{Name: m.Name, Line: v.Line, Col: 1, Message: fmt.Sprintf("variable %s holds the address of %s, which is no variable or function of this module", v.Name, r.Name), Source: m.SourceLine(v.Line)}
			}
			address := target + uint64(r.Addend)
			switch {
			case r.Mask != 0:
				address = address & r.Mask >> bits.TrailingZeros64(r.Mask)
			case r.Bytes != 8:
				return nil, &ptx.Error{Name: m.Name, Line: v.Line, Col: 1, Message: fmt.Sprintf("variable %s holds an address and is of type .%s: addresses have 64 bits", v.Name, v.Type),
					Hint: "make it .u64, or take the address apart: 0xff(" + r.Name + "), 0xff00(" + r.Name + ") …", Source: m.SourceLine(v.Line)}
			}
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], address)
			copy(l.device.memory.arena[symbols[v]-l.device.memory.base+uint64(r.Offset):][:min(r.Bytes, 8)], b[:])
		}
	}
	return symbols, nil
}

// attributes of a function: the assembler's where they are known, else an estimate of its registers by liveness: the
// peak and two more (ptx-ops.md: median error 16 %, one in ten is off by half).
func (d *Device) attributes(p *program, facts map[string]driver.FunctionFacts) driver.Attributes {
	f := p.f
	a := driver.Attributes{MaxThreadsPerCTA: d.properties.MaxThreadsPerCTA, MinCTAsPerSM: f.MinCTAsPerSM, Target: p.module.Target}
	if n := f.MaxCTA[0] * f.MaxCTA[1] * f.MaxCTA[2]; n > 0 {
		a.MaxThreadsPerCTA = min(a.MaxThreadsPerCTA, n)
	}
	if r := f.RequiredCTA; r[0] > 0 {
		a.RequiredCTA = driver.Dim3{X: uint32(r[0]), Y: uint32(r[1]), Z: uint32(r[2])}
		a.MaxThreadsPerCTA = min(d.properties.MaxThreadsPerCTA, r[0]*r[1]*r[2])
	}
	if known, ok := facts[f.Name]; ok {
		a.FunctionFacts = known
		return a
	}
	limit := 255
	if f.MaxRegisters > 0 {
		limit = min(limit, f.MaxRegisters)
	}
	if f.MaxCTA[0] > 0 || f.RequiredCTA[0] > 0 {
		warps := (a.MaxThreadsPerCTA + warpSize - 1) / warpSize
		limit = min(limit, max(d.properties.RegistersPerSM/(warpSize*alignUp(max(warps, 1), 4))/8*8, 16))
	}
	clip := func(n int) int { return min(max(n, 16), limit) }
	peak := p.slots.peak + 2
	a.Estimated = true
	a.Registers, a.RegistersLow, a.RegistersHigh = clip(peak), clip(peak*2/3), clip(peak*3/2)
	a.SharedBytes, a.LocalBytes = p.shared-p.reserved, p.local
	a.Source = "estimate by liveness of the PTX"
	return a
}

func (l *module) Function(name string) (driver.Function, error) {
	if l.unloaded.Load() {
		return nil, fmt.Errorf("%s: the module is unloaded", l.name)
	}
	l.mu.Lock()
	f := l.functions[name]
	l.mu.Unlock()
	if f != nil {
		return f, nil
	}
	names := l.Functions()
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no function %q: the module has no entry", l.name, name)
	}
	return nil, fmt.Errorf("%s: no function %q: there are %s", l.name, name, strings.Join(names, ", "))
}

func (l *module) Functions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, 0, len(l.functions))
	for n := range l.functions {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func (l *module) Global(name string) (driver.Address, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.globals[name]
	if a == nil || l.unloaded.Load() {
		names := slices.Sorted(maps.Keys(l.globals))
		return 0, 0, fmt.Errorf("%s: no variable %q: there are %s", l.name, name, strings.Join(append(names, "no others")[:max(len(names), 1)], ", "))
	}
	return driver.Address(a.low), int64(a.high - a.low), nil
}

// Variables are the names that Global knows, sorted.
func (l *module) Variables() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.globals))
}

// Unload frees the module's variables; its functions cannot be launched any more.
func (l *module) Unload() error {
	if l.unloaded.Swap(true) {
		return fmt.Errorf("%s: the module is unloaded", l.name)
	}
	l.device.exec.Lock()
	defer l.device.exec.Unlock()
	l.device.hold.Lock()
	defer l.device.hold.Unlock()
	for _, a := range l.globals {
		if err := l.device.memory.free(a.low, false); err != nil {
			return err
		}
	}
	for _, f := range l.functions {
		f.mu.Lock()
		f.idle = nil
		f.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.compiled, l.functions, l.globals = nil, nil, nil
	return nil
}

func (f *function) Name() string { return f.program.f.Name }

func (f *function) Params() []driver.Param {
	list := make([]driver.Param, len(f.program.params))
	for i, p := range f.program.params {
		v := f.program.f.Params[i]
		list[i] = driver.Param{Name: p.name, Type: v.Type, Offset: p.offset, Size: p.size, Align: v.Align,
			Pointer: v.Pointer || f.program.pointers[i]}
	}
	return list
}

func (f *function) Attributes() driver.Attributes { return f.attributes }

func (f *function) SetMaxDynamicShared(bytes int) error {
	most := f.module.device.properties.SharedPerCTAOptin - f.program.shared
	if bytes < 0 || bytes > most {
		return fmt.Errorf("%s: %d B of dynamic shared memory: device %q allows %d beside %d static", f.Name(), bytes, f.module.device.properties.Name, max(most, 0), f.program.shared)
	}
	f.mu.Lock()
	f.maxDynamic = bytes
	f.mu.Unlock()
	return nil
}

// workers gives n workers for a launch's shape, kept ones first.
func (f *function) workers(l *driver.Launch, n int) []*worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	span := f.span(l)
	if len(f.idle) > 0 {
		if k := f.idle[0].spare[0]; k.grid != l.Grid || k.span != span || k.dim != l.CTA || k.dyn != l.Shared {
			f.idle = nil
		}
	}
	var pool []*worker
	for len(pool) < n {
		if len(f.idle) > 0 {
			pool = append(pool, f.idle[len(f.idle)-1])
			f.idle = f.idle[:len(f.idle)-1]
			continue
		}
		pool = append(pool, newWorker(f.program, l.Grid, l.CTA, span, l.Shared))
	}
	return pool
}

// keepBytes bounds what a function keeps for its next launch.
const keepBytes = 8 << 20

func (f *function) giveBack(l *driver.Launch, pool []*worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := 0
	for _, k := range pool {
		k.releasePages()
		for _, c := range k.resident {
			if c.gang.left--; c.gang.left == 0 {
				k.spare = append(k.spare, c.cluster...)
			}
		}
		for _, c := range k.spare {
			size += len(c.files) + len(c.local) + len(c.shared)
			c.trace, c.watch = nil, nil
		}
		size += 4096 * len(k.sites)
		k.run, k.allocations, k.args, k.trace, k.resident, k.cta = nil, nil, nil, nil, nil, nil
	}
	if size <= keepBytes && !f.module.unloaded.Load() {
		f.idle = pool
	}
}
