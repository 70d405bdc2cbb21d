package gpu

import (
	"fmt"

	"memwall/gpu/internal/nvrtc"
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

// CompileCUDA compiles CUDA C++ with NVRTC and loads it. Options are NVRTC's: "-use_fast_math", "-DN=4",
// "-maxrregcount=64". A source with errors gives the compiler's messages, with line, column and excerpt.
func (d *Device) CompileCUDA(source string, options ...string) (*Module, error) {
	return d.CompileNamed("cuda", source, options...)
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
	if own := fmt.Sprintf("sm_%d%d", d.props.ComputeMajor, d.props.ComputeMinor); own != d.compileArch() {
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
	return d.LoadModule(ModuleSpec{Name: name, PTX: r.PTX, Facts: map[string]map[string]FunctionFacts{cc: mine}, Sources: map[string]string{name: source}})
}

// compileArch is the architecture whose PTX is asked for: the virtual GPU executes that of sm_75 and sm_80, which every newer
// device runs too.
func (d *Device) compileArch() string {
	switch cc := 10*d.props.ComputeMajor + d.props.ComputeMinor; {
	case !d.props.Virtual:
		return fmt.Sprintf("sm_%d", cc)
	case cc >= 80:
		return "sm_80"
	}
	return "sm_75"
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
