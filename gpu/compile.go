package gpu

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memwall/gpu/internal/nvrtc"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// ChildMain must be the first call of a program's main and of each TestMain: CUDA C++ is compiled in a child process, which
// is the same program again. It returns at once unless this process is such a child.
func ChildMain() { nvrtc.ChildMain() }

// CompilerAvailable is nil where CompileCUDA works, else an error that says how to get the compiler.
func CompilerAvailable() error {
	if err := nvrtc.Available(); err != nil {
		return wrap("", err)
	}
	return nil
}

// ptxName and cudaName are what messages call text without a name of its own.
const (
	ptxName  = "ptx"
	cudaName = "cuda"
)

// CompileCUDA compiles CUDA C++ with NVRTC and loads it. Options are NVRTC's: "-use_fast_math", "-DN=4",
// "-maxrregcount=64". A source with errors gives the compiler's messages, with line, column and excerpt.
func (d *Device) CompileCUDA(source string, options ...string) (*Module, error) {
	return d.CompileNamed(cudaName, source, options...)
}

// CompileNamed is CompileCUDA with the name that messages and cards call the source by: "cell 7", "scale.cu".
func (d *Device) CompileNamed(name, source string, options ...string) (*Module, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	ctx := records.context()
	r, err := nvrtc.Compile(ctx, nvrtc.Source{Name: name, Text: source, Options: options, Arch: d.compileArch()})
	if err != nil {
		return nil, wrap("", err)
	}
	facts := r.Functions
	if own := fmt.Sprintf("sm_%d%d", d.props.ComputeMajor, d.props.ComputeMinor); own != strings.TrimSuffix(d.compileArch(), "a") {
		// The PTX is of an older architecture than the device; the assembler's facts must be the device's own.
		if cubin, err := nvrtc.Compile(ctx, nvrtc.Source{Name: name, Text: source, Options: options, Arch: own}); err == nil {
			facts = cubin.Functions
		}
	}
	mine := map[string]FunctionFacts{}
	for function, f := range facts {
		mine[function] = FunctionFacts(f)
	}
	cc := fmt.Sprintf("%d.%d", d.props.ComputeMajor, d.props.ComputeMinor)
	m, err := d.LoadModule(ModuleSpec{Name: strings.TrimSuffix(name, ".cu") + ".ptx", PTX: r.PTX, Facts: map[string]map[string]FunctionFacts{cc: mine}, Sources: map[string]string{name: source}})
	if err != nil {
		return nil, atSource(err, name, source, r.PTX)
	}
	for _, remark := range r.Log {
		m.remarks = append(m.remarks, remark.String())
	}
	return m, nil
}

var (
	locLine    = regexp.MustCompile(`^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+(?:.*inlined_at\s+(\d+)\s+(\d+))?`)
	mangledOne = regexp.MustCompile(`\b_Z\w+`)
)

// atSource is the error about a line of compiled PTX as one about the line of CUDA C++ that it comes from.
func atSource(err error, name, source, text string) error {
	var e *ptx.Error
	if !errors.As(err, &e) {
		return err
	}
	lines := strings.Split(text, "\n")
	own := regexp.MustCompile(`(?m)^\s*\.file\s+(\d+)\s+"` + regexp.QuoteMeta(name) + `"`).FindStringSubmatch(text)
	if own == nil {
		return err
	}
	for i := min(e.Line, len(lines)) - 1; i >= 0; i-- {
		m := locLine.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		at := ""
		switch own[1] {
		case m[1]:
			at = m[2]
		case m[3]: // of a header's function, where the source calls it
			at = m[4]
		}
		line, wrong := strconv.Atoi(at)
		if sources := strings.Split(source, "\n"); wrong == nil && line >= 1 && line <= len(sources) {
			message := mangledOne.ReplaceAllStringFunc(e.Message, plainName)
			return &Error{What: fmt.Sprintf("%s:%d: %s: %s", name, line, e.Instruction, message),
				Where: strings.TrimRight(sources[line-1], "\r") + fmt.Sprintf("\nin its PTX, line %d: %s", e.Line, strings.Join(strings.Fields(e.Source), " ")), How: e.Hint, Cause: err}
		}
	}
	return err
}

// compileArch is the architecture whose PTX is asked for: the device's own, for compute capability 9.0 with wgmma and its
// kin (sm_90a). The virtual GPU executes PTX up to sm_90, which newer devices run too.
func (d *Device) compileArch() string {
	switch cc := 10*d.props.ComputeMajor + d.props.ComputeMinor; {
	case cc == 90:
		return "sm_90a"
	case d.props.Virtual && cc > 90:
		return "sm_90"
	default:
		return fmt.Sprintf("sm_%d", cc)
	}
}

// CheckPTX says whether the virtual GPU executes a module: nil, or an error with PTX line, column and instruction.
func CheckPTX(name, text string) error {
	d, err := Open("virtual")
	if err != nil {
		return err
	}
	m, err := d.LoadModule(ModuleSpec{Name: name, PTX: text})
	if err != nil {
		return err
	}
	return m.Unload()
}

// Compiled is what the compiler made of CUDA C++ for one architecture.
type Compiled struct {
	Name      string             `json:"name"`
	Arch      string             `json:"arch"`     // "sm_90"
	Compiler  string             `json:"compiler"` // "NVRTC 12.9.86"
	PTX       string             `json:"ptx"`
	Log       []string           `json:"log"` // warnings and remarks
	Functions []CompiledFunction `json:"functions"`
}

// CompiledFunction is what the assembler decided for one function, and the occupancy that follows.
type CompiledFunction struct {
	Name        string   `json:"name"`
	Registers   int      `json:"registers"`
	SpillBytes  int      `json:"spill_bytes"`
	StackBytes  int      `json:"stack_bytes"`
	SharedBytes int      `json:"shared_bytes"`
	Threads     int      `json:"threads"` // of the CTA that Occupancy is for
	Occupancy   float64  `json:"occupancy_percent"`
	Limiter     string   `json:"limiter"`
	Tag         perf.Tag `json:"tag"`    // of the occupancy
	Source      string   `json:"source"` // of registers, spills, stack and shared memory
}

// compileThreads is the CTA size for which Compile gives an occupancy.
const compileThreads = 256

// Compile compiles CUDA C++ for an architecture ("sm_90") without loading it anywhere.
func Compile(name, source, arch string, options ...string) (*Compiled, error) {
	r, err := nvrtc.Compile(records.context(), nvrtc.Source{Name: name, Text: source, Options: options, Arch: arch})
	if err != nil {
		return nil, wrap("", err)
	}
	c := &Compiled{Name: name, Arch: arch, Compiler: "NVRTC " + r.Version, PTX: r.PTX, Log: []string{}, Functions: []CompiledFunction{}}
	for _, d := range r.Log {
		c.Log = append(c.Log, d.String())
	}
	for _, function := range slices.Sorted(maps.Keys(r.Functions)) {
		f := r.Functions[function]
		row := CompiledFunction{Name: function, Registers: f.Registers, SpillBytes: f.SpillBytes, StackBytes: f.LocalBytes,
			SharedBytes: f.SharedBytes, Threads: compileThreads, Source: "cubin, " + c.Compiler}
		if limits, err := limitsOfArch(arch); err == nil {
			if o, err := perf.OccupancyOf(limits, compileThreads, f.Registers, f.SharedBytes, 0); err == nil {
				row.Occupancy, row.Limiter, row.Tag = o.Value, o.Limiter, o.Tag
			}
		}
		c.Functions = append(c.Functions, row)
	}
	return c, nil
}

// limitsOfArch are the limits of "sm_90" or "sm_90a".
func limitsOfArch(arch string) (*perf.Limits, error) {
	digits := strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af")
	if len(digits) < 2 {
		return nil, fail("write it like sm_90", "%q is no architecture", arch)
	}
	return perf.ParseComputeCapability(digits[:len(digits)-1] + "." + digits[len(digits)-1:])
}

// String is the compiler's messages and a table of the functions.
func (c *Compiled) String() string {
	var b strings.Builder
	for _, line := range c.Log {
		b.WriteString(line + "\n")
	}
	rows := [][]string{{"function", "arch", "registers", "spilled", "stack", "static shared", fmt.Sprintf("occupancy at %d threads", compileThreads), "limit"}}
	for _, f := range c.Functions {
		rows = append(rows, []string{f.Name, c.Arch, fmt.Sprint(f.Registers), countBytes(int64(f.SpillBytes)), countBytes(int64(f.StackBytes)),
			countBytes(int64(f.SharedBytes)), perf.FormatPercent(f.Occupancy), f.Limiter})
	}
	if len(c.Functions) == 0 {
		b.WriteString("no functions: mark one __global__, or compile for sm_… instead of compute_… to see its registers")
		return b.String()
	}
	b.WriteString(textTable(rows))
	b.WriteString("Registers, spills, stack and shared memory: from the cubin, " + c.Compiler + ". Occupancy: FORMULA.")
	return b.String()
}

// MIMEBundle shows the table.
func (c *Compiled) MIMEBundle() map[string]any { return map[string]any{"text/plain": c.String()} }
