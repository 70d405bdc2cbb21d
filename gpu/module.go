package gpu

import (
	"fmt"
	"sort"
	"strings"

	"memwall/gpu/internal/driver"
	"memwall/gpu/perf"
)

// FunctionFacts is what NVIDIA's assembler decided for one function on one architecture.
type FunctionFacts struct {
	Registers   int    // a thread
	SharedBytes int    // static, a CTA
	LocalBytes  int    // stack, a thread
	SpillBytes  int    // of the stack, bytes that registers were spilled to
	Source      string // "cubin sm_90, NVRTC 12.9.86"
}

// ModuleSpec is PTX with what its builder knows of it.
type ModuleSpec struct {
	Name string // shown in errors and on cards: "gemv/1_naive.ptx"
	PTX  string
	// Facts by compute capability ("9.0") and function; a function without one gets registers estimated by liveness.
	Facts map[string]map[string]FunctionFacts
	// Sources are the texts of the files that the PTX's .file directives name, for messages of faults.
	Sources map[string]string
}

// Module is PTX that a device has loaded.
type Module struct {
	dev     *Device
	m       driver.Module
	name    string
	sources map[string]string // by file name

	remarks   []string            // the compiler's warnings
	variables map[string]variable // of a cell's source, by name
	typesOf   typesOf
}

// LoadPTX loads PTX text. Anything that the device cannot execute is an error that names the PTX line and the instruction.
func (d *Device) LoadPTX(text string) (*Module, error) {
	return d.LoadModule(ModuleSpec{Name: ptxName, PTX: text})
}

// LoadModule loads PTX with its name, resources and sources.
func (d *Device) LoadModule(spec ModuleSpec) (*Module, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	facts := map[string]driver.FunctionFacts{}
	for function, f := range spec.Facts[fmt.Sprintf("%d.%d", d.props.ComputeMajor, d.props.ComputeMinor)] {
		facts[function] = driver.FunctionFacts(f)
	}
	m, err := d.d.LoadPTX(spec.PTX, driver.LoadOptions{Name: spec.Name, Facts: facts, Sources: spec.Sources})
	if err != nil {
		return nil, wrap("", err)
	}
	return &Module{dev: d, m: m, name: spec.Name, sources: spec.Sources}, nil
}

// Functions are the names of the entries, sorted.
func (m *Module) Functions() []string {
	names := append([]string(nil), m.m.Functions()...)
	sort.Strings(names)
	return names
}

// Name is what errors call the module.
func (m *Module) Name() string { return m.name }

// Device is where the module is loaded.
func (m *Module) Device() *Device { return m.dev }

// Function is the entry of a name, the PTX's or that of the C++ source ("scale", "scale<float, 4>"), where that says which;
// the error lists the names that there are.
func (m *Module) Function(name string) (*Function, error) {
	if m == nil {
		return nil, fail("load one: mod, err := dev.LoadPTX(text)", "Function(%q): the module is nil", name)
	}
	if err := m.dev.open(); err != nil {
		return nil, err
	}
	own := name
	if found := m.find(name); found != "" {
		own = found
	}
	f, err := m.m.Function(own)
	if err != nil {
		how := "it has no entry: an entry is .visible .entry in PTX, __global__ in CUDA C++"
		if names := m.Functions(); len(names) > 0 {
			for i := range names {
				names[i] = strings.TrimPrefix(signature(names[i]), "void ")
			}
			how = "it has " + strings.Join(names, ", ")
		}
		return nil, &Error{What: fmt.Sprintf("module %s has no function %q", m.name, name), How: how, Cause: err}
	}
	return &Function{module: m, f: f}, nil
}

// Global is a variable of the module (.global or .const) as bytes in device memory.
func (m *Module) Global(name string) (*Buffer, error) {
	if err := m.dev.open(); err != nil {
		return nil, err
	}
	base, bytes, err := m.m.Global(name)
	if err != nil {
		e := wrap("module "+m.name, err)
		e.How = "a variable is .visible .global in PTX, __device__ or __constant__ in CUDA C++, and used by some function"
		return nil, e
	}
	return &Buffer{mem: &memory{dev: m.dev, base: base, bytes: bytes, borrowed: true, state: m.dev.stateOf(base, bytes)}, bytes: bytes}, nil
}

// Unload frees the module; its functions fail from then on.
func (m *Module) Unload() error {
	m.forgetVariables()
	if err := m.m.Unload(); err != nil {
		return wrap("unload "+m.name, err)
	}
	return nil
}

// forgetVariables drops what the device remembers of the module's variables, whose addresses others may get.
func (m *Module) forgetVariables() {
	named, ok := m.m.(driver.Variables)
	if !ok {
		return // a device that never leaves one incomplete
	}
	for _, name := range named.Variables() {
		if base, _, err := m.m.Global(name); err == nil {
			m.dev.mu.Lock()
			delete(m.dev.variables, base)
			m.dev.mu.Unlock()
		}
	}
}

// Function is an entry of a module, ready to launch.
type Function struct {
	module *Module
	f      driver.Function
}

// Name is the entry's name in the PTX.
func (f *Function) Name() string { return f.f.Name() }

// Module is where the function comes from.
func (f *Function) Module() *Module { return f.module }

// Registers a thread: the assembler's number, or an estimate by liveness where the module came as PTX alone.
func (f *Function) Registers() int { return f.f.Attributes().Registers }

// Estimated says whether Registers is an estimate.
func (f *Function) Estimated() bool { return f.f.Attributes().Estimated }

// SharedBytes is the static shared memory of a CTA.
func (f *Function) SharedBytes() int { return f.f.Attributes().SharedBytes }

// LocalBytes is the stack of a thread, SpillBytes the part of it that registers were spilled to.
func (f *Function) LocalBytes() int { return f.f.Attributes().LocalBytes }

// SpillBytes is how much of the stack holds spilled registers.
func (f *Function) SpillBytes() int { return f.f.Attributes().SpillBytes }

// Occupancy is the share of an SM's warps that can be resident when CTAs have so many threads and so much dynamic shared
// memory, with what limits it. It panics with an *Error when the numbers make no CTA.
func (f *Function) Occupancy(threads, shared int) perf.Occupancy {
	a := f.f.Attributes()
	o, err := perf.OccupancyOf(f.module.dev.profile.Limits(), threads, a.Registers, a.SharedBytes, shared)
	if err != nil {
		panic(wrap("function "+f.Name(), err))
	}
	return o
}
