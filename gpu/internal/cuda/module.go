//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/internal/vdrv"
)

// module is PTX that the driver has compiled. It keeps the text, to be loaded again into a context that replaces a ruined one.
type module struct {
	device  *Device
	options driver.LoadOptions
	text    string
	parsed  *ptx.Module

	mu         sync.Mutex
	unloaded   bool
	m          cu.Module
	generation uint64
	functions  map[string]*function
	globals    []driver.Address // variables among the device's allocations
}

// function is an entry of a module.
type function struct {
	module     *module
	name       string
	params     []driver.Param
	bytes      int // of the packed arguments
	attributes driver.Attributes

	mu         sync.Mutex
	f          cu.Function
	generation uint64
	maxDynamic int
}

// LoadPTX has the driver compile text. What it refuses is told with its log, on the lines of the text.
func (d *Device) LoadPTX(text string, o driver.LoadOptions) (driver.Module, error) {
	if o.Name == "" {
		o.Name = "PTX"
	}
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("%s: %w", d.name, errClosed)
	}
	parsed, err := ptx.Parse(o.Name, text)
	if err != nil {
		return nil, err
	}
	m := &module{device: d, options: o, text: text, parsed: parsed, functions: map[string]*function{}}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if err := m.load(); err != nil {
		return nil, err
	}
	for _, f := range parsed.Functions {
		if !f.Entry || !f.HasBody {
			continue
		}
		if err := m.add(f); err != nil {
			m.m.Unload()
			return nil, err
		}
	}
	return m, nil
}

// logBytes is how much of the driver's compiler log is kept.
const logBytes = 16 << 10

// load gives the text to the driver; the caller holds the device's mu and has entered.
func (m *module) load() error {
	d := m.device
	log := cu.JITErrorLogBuffer{Buffer: make([]byte, logBytes)}
	session := vdrv.Session{Load: &m.options}
	if d.virtual {
		defer vdrv.Bind(&session)()
	}
	loaded, err := cu.LoadDataEx(m.text+"\x00", &log)
	if r := resultOf(err); r != success {
		if _, ruins := fatal[r]; ruins {
			return d.check("load "+m.options.Name, r)
		}
		text, _, _ := strings.Cut(string(log.Buffer), "\x00")
		return m.refused(r, text)
	}
	m.m, m.generation = loaded, d.generation
	return nil
}

// refused explains that the driver does not load the text.
func (m *module) refused(r Result, log string) error {
	d := m.device
	e := &Error{Device: d.name, What: "load " + m.options.Name, Result: r}
	switch {
	case r == unsupportedPTX:
		e.Detail = tooNew(m.text, DriverVersion())
		return e
	case r == noBinary:
		e.Detail = fmt.Sprintf("the PTX is for %s, %s has compute capability %d.%d", m.parsed.Target, d.name, d.properties.ComputeMajor, d.properties.ComputeMinor)
		return e
	}
	if d.virtual && log != "" { // it says all
		return errors.New(log)
	}
	if lines := logLines(log, m.parsed); len(lines) > 0 {
		e.Detail = strings.Join(lines, "\n")
	}
	return e
}

// add makes a function of the module.
func (m *module) add(f *ptx.Function) error {
	d := m.device
	handle, err := m.m.Function(f.Name)
	if err != nil {
		return d.check("find "+f.Name+" in "+m.options.Name, resultOf(err))
	}
	fn := &function{module: m, name: f.Name, f: handle, generation: m.generation}
	offsets, pointers := f.ParamOffsets(), f.PointerParams()
	for i, v := range f.Params {
		fn.params = append(fn.params, driver.Param{Name: v.Name, Type: v.Type, Offset: offsets[i], Size: int(v.Size), Align: v.Align, Pointer: v.Pointer || pointers[i]})
		fn.bytes = offsets[i] + int(v.Size)
	}
	if fn.attributes, err = m.attributesOf(f, &fn.f); err != nil {
		return err
	}
	fn.maxDynamic = max(d.properties.SharedPerCTA-fn.attributes.SharedBytes, 0)
	m.functions[f.Name] = fn
	return nil
}

// attributesOf asks the driver what its compiler made of a function.
func (m *module) attributesOf(f *ptx.Function, handle *cu.Function) (driver.Attributes, error) {
	a := driver.Attributes{RequiredCTA: dim(f.RequiredCTA), MinCTAsPerSM: f.MinCTAsPerSM, Target: m.parsed.Target}
	for _, q := range []struct {
		what cu.FunctionAttribute
		into *int
	}{{cu.NumRegs, &a.Registers}, {cu.SharedSizeBytes, &a.SharedBytes}, {cu.LocalSizeBytes, &a.LocalBytes}, {cu.FnMaxThreadsPerBlock, &a.MaxThreadsPerCTA}} {
		n, err := handle.Attribute(q.what)
		if err != nil {
			return a, m.device.check("ask for the attributes of "+f.Name, resultOf(err))
		}
		*q.into = n
	}
	a.Source = fmt.Sprintf("driver of CUDA %d.%d", DriverVersion()/1000, DriverVersion()%1000/10)
	if facts, ok := m.options.Facts[f.Name]; ok {
		a.SpillBytes = facts.SpillBytes
	}
	if m.device.virtual {
		if known := vdrv.FunctionOf(*(*unsafe.Pointer)(unsafe.Pointer(handle))); known != nil {
			return known.Attributes(), nil
		}
	}
	return a, nil
}

func dim(n [3]int) driver.Dim3 {
	return driver.Dim3{X: uint32(n[0]), Y: uint32(n[1]), Z: uint32(n[2])}
}

// current loads the module again where the context it was loaded into is gone; the caller holds the device's mu and has entered.
func (m *module) current() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unloaded {
		return fmt.Errorf("%s: module %s is unloaded", m.device.name, m.options.Name)
	}
	if m.generation == m.device.generation {
		return nil
	}
	return m.load()
}

// handle gives the function in the context of now, with the shared memory that was asked for.
func (f *function) handle() (*cu.Function, error) {
	if err := f.module.current(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.generation == f.module.generation {
		return &f.f, nil
	}
	d := f.module.device
	found, err := f.module.m.Function(f.name)
	if err != nil {
		return nil, d.check("find "+f.name+" again", resultOf(err))
	}
	if f.maxDynamic > d.properties.SharedPerCTA-f.attributes.SharedBytes {
		if r := setMaxDynamicShared(&found, f.maxDynamic); r != success {
			return nil, d.check("ask for shared memory again", r)
		}
	}
	f.f, f.generation = found, f.module.generation
	return &f.f, nil
}

// Function finds an entry.
func (m *module) Function(name string) (driver.Function, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unloaded {
		return nil, fmt.Errorf("%s: module %s is unloaded", m.device.name, m.options.Name)
	}
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s has no entry %q: there are %s", m.options.Name, name, strings.Join(m.names(), ", "))
}

func (m *module) names() []string {
	var names []string
	for n := range m.functions {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Functions lists the entries.
func (m *module) Functions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names()
}

// Global finds a variable of the module.
func (m *module) Global(name string) (driver.Address, int64, error) {
	d := m.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return 0, 0, err
	}
	defer d.leave()
	if err := m.current(); err != nil {
		return 0, 0, err
	}
	p, n, err := m.m.Global(name)
	if err != nil {
		return 0, 0, d.check(fmt.Sprintf("find variable %s of %s", name, m.options.Name), resultOf(err))
	}
	a := allocation{driver.Address(p), n}
	if i, there := d.locate(a.base); !there { // so that it can be copied
		d.live = slices.Insert(d.live, i, a)
		m.mu.Lock()
		m.globals = append(m.globals, a.base)
		m.mu.Unlock()
	}
	return a.base, n, nil
}

// Unload gives the module back.
func (m *module) Unload() error {
	d := m.device
	d.mu.Lock()
	defer d.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unloaded {
		return fmt.Errorf("%s: module %s is unloaded already", d.name, m.options.Name)
	}
	m.unloaded = true
	for _, a := range m.globals {
		if i, there := d.locate(a); there {
			d.live = slices.Delete(d.live, i, i+1)
		}
	}
	if d.closed || m.generation != d.generation {
		return nil
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return d.check("unload "+m.options.Name, resultOf(m.m.Unload()))
}

func (f *function) Name() string                  { return f.name }
func (f *function) Params() []driver.Param        { return f.params }
func (f *function) Attributes() driver.Attributes { return f.attributes }

// SetMaxDynamicShared opts in to more than 48 KiB.
func (f *function) SetMaxDynamicShared(bytes int) error {
	d := f.module.device
	if most := d.properties.SharedPerCTAOptin - f.attributes.SharedBytes; bytes < 0 || bytes > most {
		return fmt.Errorf("%s: %d B of dynamic shared memory: device %q allows %d beside %d static", f.name, bytes, d.name, max(most, 0), f.attributes.SharedBytes)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	handle, err := f.handle()
	if err != nil {
		return err
	}
	if r := setMaxDynamicShared(handle, bytes); r != success {
		return d.check("ask for shared memory", r)
	}
	f.mu.Lock()
	f.maxDynamic = bytes
	f.mu.Unlock()
	return nil
}

// TakesTensorMaps tells why the device has no tensor copies; nil where it has.
func (d *Device) TakesTensorMaps() error {
	if p := &d.properties; p.ComputeMajor < 9 {
		return fmt.Errorf("tensor copies need sm_90, %s is sm_%d%d", d.name, p.ComputeMajor, p.ComputeMinor)
	}
	return nil
}

// EncodeTensorMap has the driver encode a map.
func (d *Device) EncodeTensorMap(m *driver.TensorMap) (b [driver.TensorMapBytes]byte, err error) {
	if err := m.Check(); err != nil {
		return b, err
	}
	err = d.do("encode a tensor map", func() Result {
		var r Result
		b, r = encodeTensorMap(m)
		return r
	})
	return b, err
}
