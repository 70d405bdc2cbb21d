package gpu

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// cellModules are the modules that %%cuda and %%ptx cells made, by the cell's number.
var cellModules = struct {
	sync.Mutex
	modules map[int]*Module
}{modules: map[int]*Module{}}

// CompileCell compiles the CUDA C++ of a cell, whose lines its messages and cards then name, and keeps it for CellModule.
func (d *Device) CompileCell(cell int, source string, options ...string) (*Module, error) {
	m, err := d.CompileNamed(cellName(cell), source, options...)
	if err != nil {
		return nil, err
	}
	m.variables = deviceVariables(source)
	return keepCell(cell, m), nil
}

// LoadCell loads the PTX of a cell, whose lines its messages then name, and keeps it for CellModule.
func (d *Device) LoadCell(cell int, ptx string) (*Module, error) {
	m, err := d.LoadModule(ModuleSpec{Name: cellName(cell), PTX: ptx})
	if err != nil {
		return nil, err
	}
	return keepCell(cell, m), nil
}

func cellName(cell int) string { return fmt.Sprintf("cell %d", cell) }

func keepCell(cell int, m *Module) *Module {
	cellModules.Lock()
	defer cellModules.Unlock()
	cellModules.modules[cell] = m
	return m
}

// CellModule is what the %%cuda or %%ptx cell of a number made. It panics with an *Error where there is none.
func CellModule(cell int) *Module {
	cellModules.Lock()
	defer cellModules.Unlock()
	m := cellModules.modules[cell]
	if m == nil {
		panic(fail("its number stands left of it, in brackets: run it again where the worker is a new one", "cell %d made no module", cell))
	}
	return m
}

// Entry is the function of a Go name of Entries. It panics with an *Error where there is none.
func (m *Module) Entry(name string) *Function {
	f := m.Entries()[name]
	if f == nil {
		panic(fail("it has "+strings.Join(m.Functions(), ", "), "module %s has no entry %q", m.name, name))
	}
	return f
}

// variable is a __device__ or __constant__ variable as the source declares it.
type variable struct {
	dtype DType
	shape []int
}

var (
	variableLine = regexp.MustCompile(`(?m)^[ \t]*(?:extern[ \t]+"C"[ \t]+)?(?:static[ \t]+)?(?:__device__|__constant__|__managed__)[ \t]+((?:[\w:]+[ \t]+)+)(\w+)[ \t]*((?:\[[ \t]*\d+[ \t]*\][ \t]*)*)(?:=|;|\{)`)
	extent       = regexp.MustCompile(`\d+`)
)

// elementTypes are the C++ types that a tensor can hold.
var elementTypes = map[string]DType{
	"float": F32, "double": F64, "half": F16, "__half": F16, "__nv_bfloat16": BF16, "nv_bfloat16": BF16,
	"char": I8, "signed char": I8, "int8_t": I8, "unsigned char": U8, "uint8_t": U8, "bool": U8,
	"short": I16, "int16_t": I16, "unsigned short": U16, "uint16_t": U16,
	"int": I32, "int32_t": I32, "unsigned": U32, "unsigned int": U32, "uint32_t": U32,
	"long long": I64, "int64_t": I64, "unsigned long long": U64, "uint64_t": U64, "size_t": U64,
}

// deviceVariables finds the variables of a source whose type and extents are written out; the others are bytes.
func deviceVariables(source string) map[string]variable {
	found := map[string]variable{}
	for _, m := range variableLine.FindAllStringSubmatch(source, -1) {
		words := slices.DeleteFunc(strings.Fields(m[1]), func(w string) bool { return w == "const" || w == "volatile" || w == "__align__" })
		dtype, ok := elementTypes[strings.Join(words, " ")]
		if !ok {
			continue
		}
		v := variable{dtype: dtype}
		for _, n := range extent.FindAllString(m[3], -1) {
			extent, err := strconv.Atoi(n)
			if err != nil {
				continue
			}
			v.shape = append(v.shape, extent)
		}
		if v.shape == nil {
			v.shape = []int{1}
		}
		found[m[2]] = v
	}
	return found
}

// Variables are the names of the module's variables that Tensor and Global give, sorted.
func (m *Module) Variables() []string {
	var names []string
	for name := range m.variables {
		if _, _, err := m.m.Global(name); err == nil { // the compiler leaves out what nothing uses
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Variable is a __device__ or __constant__ variable as a tensor in the module's memory: CopyFrom sets it, Float32s reads
// it. It panics with an *Error where there is none, or its type is not that of a tensor's elements; Global gives bytes.
func (m *Module) Variable(name string) *Tensor {
	v, ok := m.variables[name]
	if !ok {
		panic(fail("mod.Global(name) gives the bytes of any", "module %s has no variable %q whose type and extents are known", m.name, name))
	}
	b, err := m.Global(name)
	if err != nil {
		panic(err)
	}
	return b.Tensor(v.dtype, v.shape...)
}

// Resources is a line on what the function takes: registers, spills, static shared memory, each with its source, and the
// occupancy that follows for CTAs of 256 threads, or of as many as the function allows where that is fewer.
func (f *Function) Resources() string {
	a := f.f.Attributes()
	registers, source := fmt.Sprintf("%d registers", a.Registers), a.Source
	if a.Estimated {
		registers, source = fmt.Sprintf("about %d registers (%d to %d)", a.Registers, a.RegistersLow, a.RegistersHigh), "estimated by liveness"
	}
	spills := "no spills"
	if a.SpillBytes > 0 {
		spills = countBytes(int64(a.SpillBytes)) + " spilled"
	}
	text := fmt.Sprintf("%s: %s, %s, %s shared (%s)", plainName(f.Name()), registers, spills, countBytes(int64(a.SharedBytes)), source)
	threads := compileThreads
	if a.MaxThreadsPerCTA > 0 {
		threads = min(threads, a.MaxThreadsPerCTA)
	}
	if r := a.RequiredCTA; r.X > 0 {
		threads = int(r.Count())
	}
	o := f.Occupancy(threads, 0)
	return text + fmt.Sprintf("; occupancy %.3g%% at %d threads a CTA, limited by %s (FORMULA)", o.Value, threads, o.Limiter)
}

// Remarks are the compiler's warnings and remarks, with line, column and excerpt.
func (m *Module) Remarks() []string { return slices.Clone(m.remarks) }
