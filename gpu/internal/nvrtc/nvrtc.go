// Package nvrtc compiles CUDA C++ to PTX and cubins with NVIDIA's run-time compiler, which it finds in the project's Python
// environment and opens without cgo. The compiler runs in a child process of our own binary, with a time and a memory limit,
// so that a hostile or unlucky source costs an error, never the session. Results are cached by content.
//
// Everything that memwall ships runs without this package: the PTX of kernels/ is checked in.
package nvrtc

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Source is one translation unit.
type Source struct {
	Name string // shown in diagnostics and .file directives: "1_naive.cu", "cell 7"
	Text string
	// Options are NVRTC's own ("-use_fast_math", "-DN=4", "-maxrregcount=64"); those that would write files, read option
	// files or change what comes out are refused. -lineinfo is always on.
	Options []string
	// Headers are texts that the source includes, by the name it includes them by.
	Headers map[string]string
	// Arch is "sm_80" for PTX, a cubin and Functions, or "compute_80" for PTX alone.
	Arch string

	Timeout time.Duration // 0: 60 s
	Memory  int64         // bytes that the compiler may take; 0: 4 GiB
}

// Result is what the compiler made.
type Result struct {
	PTX       string
	Cubin     []byte           // empty for a compute_ architecture
	Log       []Diagnostic     // warnings and remarks, in the compiler's order
	Functions map[string]Facts // by entry point; nil for a compute_ architecture
	Version   string           // "12.9.86" as the PTX names it
	Cached    bool
}

// Facts is what the assembler decided for one entry point.
type Facts struct {
	Registers   int
	SharedBytes int    // static
	LocalBytes  int    // stack a thread
	SpillBytes  int    // stored and loaded by spills, a thread
	Source      string // "cubin sm_90, NVRTC 12.9.86"
}

const (
	defaultTimeout = 60 * time.Second
	defaultMemory  = 4 << 30
	maxSource      = 64 << 20
)

var archPattern = lazy(`^(sm|compute)_[0-9]{2,3}[af]?$`)

// Available is nil where CUDA C++ can be compiled, else an error that says how to get the compiler.
func Available() error {
	_, err := find()
	return err
}

// Compile compiles one source. A source with errors gives a *CompileError; a missing compiler, a refused option, a time-out
// and a compiler that ran out of memory or crashed give errors that say so.
func Compile(ctx context.Context, s Source) (*Result, error) {
	if err := checkSource(&s); err != nil {
		return nil, err
	}
	install, err := find()
	if err != nil {
		return nil, err
	}
	request, cacheable := newRequest(install, s)
	key := ""
	if cacheable {
		key = cacheKey(install, request)
		if r := cacheLoad(key); r != nil {
			return r, nil
		}
	}
	reply, err := runChild(ctx, install, request, s)
	if err != nil {
		return nil, err
	}
	diagnostics := parseLog(reply.Log, s.Name, s.Text)
	if reply.Status != 0 {
		if ranOut := func(d Diagnostic) bool { return d.Severity == "error" && strings.HasPrefix(d.Message, "out of memory") }; slices.ContainsFunc(diagnostics, ranOut) {
			return nil, outOfMemory(s)
		}
		if request.wantsCubin() && slices.ContainsFunc(diagnostics, func(d Diagnostic) bool { return d.ptxLine > 0 || d.entry != "" }) {
			placeAssemblerErrors(ctx, install, s, diagnostics)
		}
		if e := archError(s, reply); e != nil {
			return nil, e
		}
		return nil, newCompileError(s.Name, reply, diagnostics)
	}
	r := &Result{Version: ptxCompilerVersion(reply.PTX, reply.Version), Cubin: reply.Cubin, Log: diagnostics}
	r.PTX = ownLines(reply.PTX, s.Name)
	if len(reply.Cubin) > 0 {
		if r.Functions, err = CubinFacts(reply.Cubin); err != nil {
			return nil, fmt.Errorf("nvrtc: %s: the compiler's cubin cannot be read: %w", s.Name, err)
		}
		addSpills(r.Functions, reply.Log)
		for name, f := range r.Functions {
			f.Source = fmt.Sprintf("cubin %s, NVRTC %s", s.Arch, r.Version)
			r.Functions[name] = f
		}
	}
	r.Log = slices.DeleteFunc(diagnostics, func(d Diagnostic) bool { return d.Severity == severityInfo })
	if cacheable {
		cacheStore(key, r)
	}
	return r, nil
}

// archError says which architectures there are, when this NVRTC does not compile for the one asked for.
func archError(s Source, r *reply) error {
	arch, err := strconv.Atoi(strings.Trim(s.Arch[strings.IndexByte(s.Arch, '_')+1:], "af"))
	if err != nil || len(r.Archs) == 0 || slices.Contains(r.Archs, int32(arch)) {
		return nil
	}
	kind, _, _ := strings.Cut(s.Arch, "_")
	var known []string
	for _, a := range r.Archs {
		known = append(known, fmt.Sprintf("%s_%d", kind, a))
	}
	return fmt.Errorf("nvrtc: %s: NVRTC %s does not compile for %s\nit does for %s; an a behind 90 or more adds what only that one has", s.Name, r.Version, s.Arch, strings.Join(known, ", "))
}

func checkSource(s *Source) error {
	if s.Name == "" {
		s.Name = "source.cu"
	}
	if strings.ContainsAny(s.Name, "\x00\n\r\"\\") {
		return fmt.Errorf("nvrtc: the source's name %q has characters that a diagnostic cannot hold", s.Name)
	}
	if i := strings.IndexByte(s.Text, 0); i >= 0 {
		return fmt.Errorf("nvrtc: %s:%d: the source holds a zero byte; is it CUDA C++ text?", s.Name, 1+strings.Count(s.Text[:i], "\n"))
	}
	if len(s.Text) > maxSource {
		return fmt.Errorf("nvrtc: %s: the source has %d MiB, more than the %d that are compiled", s.Name, len(s.Text)>>20, maxSource>>20)
	}
	if !archPattern().MatchString(s.Arch) {
		return fmt.Errorf("nvrtc: %s: %q is no architecture; write \"sm_80\" for a cubin or \"compute_80\" for PTX", s.Name, s.Arch)
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.Memory == 0 {
		s.Memory = defaultMemory
	}
	return checkOptions(s.Name, s.Options)
}

// newRequest is what the child is asked, and whether the answer depends on nothing but the request.
func newRequest(install *installation, s Source) (*request, bool) {
	r := &request{Name: s.Name, Text: s.Text, Headers: s.Headers}
	r.Options = append(r.Options, "--gpu-architecture="+s.Arch, "-lineinfo")
	options, included := absoluteIncludes(s.Options)
	r.Options = append(r.Options, options...)
	if !included && lightGroups(s) {
		r.Options = append(r.Options, "--define-macro=_CG_LIMIT_INCLUDED_DEPENDENCIES")
	}
	for _, dir := range install.headers {
		r.Options = append(r.Options, "--include-path="+dir)
	}
	local, searchHere := localIncludes(s.Text, s.Headers, install.headers)
	if searchHere != "" {
		r.Options = append(r.Options, "--include-path="+searchHere)
	}
	if r.wantsCubin() {
		r.Options = append(r.Options, "--ptxas-options=-v") // says how many bytes are spilled
	}
	return r, !included && !local
}

// ptxCompilerVersion takes the full version from the PTX's header comment; the library itself only knows major and minor.
func ptxCompilerVersion(ptx, fallback string) string {
	if m := regexp.MustCompile(`release [0-9.]+, V([0-9.]+)`).FindStringSubmatch(ptx); m != nil {
		return m[1]
	}
	return fallback
}

// errChild is wrapped by errors about the child process itself.
var errChild = errors.New("the CUDA C++ compiler's process failed")

// lazy compiles a pattern when it is first used: every process of memwall links this package, and few compile CUDA C++.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
