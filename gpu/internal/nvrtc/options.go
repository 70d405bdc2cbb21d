package nvrtc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// takes says what follows an option's name.
type takes int

const (
	nothing takes = iota
	value         // "--name=value", "-name=value" or the next option
	glued         // "-Dname", "-Ipath": joined to it, or the next option
)

// allowed are the options that a source may pass; everything else is refused, because NVRTC's list grows and some of it
// writes files (NVRTC documentation, "Supported Compile Options").
var allowed = map[string]takes{
	"--define-macro": value, "-D": glued, "--undefine-macro": value, "-U": glued,
	"--include-path": value, "-I": glued, "--pre-include": value, "-include": value, "--no-source-include": nothing, "-no-source-include": nothing,
	"--std": value, "-std": value,
	"--use_fast_math": nothing, "-use_fast_math": nothing, "--extra-device-vectorization": nothing, "-extra-device-vectorization": nothing,
	"--ftz": value, "-ftz": value, "--prec-sqrt": value, "-prec-sqrt": value, "--prec-div": value, "-prec-div": value, "--fmad": value, "-fmad": value,
	"--maxrregcount": value, "-maxrregcount": value, "--device-debug": nothing, "-G": nothing,
	"--generate-line-info": nothing, "-lineinfo": nothing, "--dopt": value, "-dopt": value,
	"--disable-warnings": nothing, "-w": nothing, "--restrict": nothing, "-restrict": nothing,
	"--device-as-default-execution-space": nothing, "-default-device": nothing, "--device-int128": nothing, "-device-int128": nothing,
	"--display-error-number": nothing, "-err-no": nothing, "--no-display-error-number": nothing, "-no-err-no": nothing,
	"--diag-error": value, "-diag-error": value, "--diag-suppress": value, "-diag-suppress": value, "--diag-warn": value, "-diag-warn": value,
	"--builtin-move-forward": value, "-builtin-move-forward": value, "--builtin-initializer-list": value, "-builtin-initializer-list": value,
	"--modify-stack-limit": value, "-modify-stack-limit": value, "--split-compile": value, "-split-compile": value,
	"--device-stack-protector": value, "-device-stack-protector": value, "--minimal": nothing, "-minimal": nothing,
}

// refusals explains options that someone may well try.
var refusals = []struct{ prefix, reason string }{
	{"--gpu-architecture", "the device decides the architecture"}, {"-arch", "the device decides the architecture"},
	{"-time", "it writes a file"}, {"--time", "it writes a file"}, {"--fdevice-time-trace", "it writes a file"}, {"-fdevice-time-trace", "it writes a file"},
	{"--device-time-trace", "it writes a file"}, {"--create-pch", "it writes a file"}, {"-create-pch", "it writes a file"},
	{"--pch", "it writes a file"}, {"-pch", "it writes a file"}, {"--use-pch", "it reads a compiled file"}, {"-use-pch", "it reads a compiled file"},
	{"--ptxas-options", "it passes anything to the assembler, which can write files; -maxrregcount is an option of its own"},
	{"-Xptxas", "it passes anything to the assembler, which can write files; -maxrregcount is an option of its own"},
	{"--options-file", "it reads options from a file"}, {"-optf", "it reads options from a file"}, {"@", "it reads options from a file"},
	{"-dlto", "its result is no PTX"}, {"--dlink-time-opt", "its result is no PTX"},
	{"--relocatable-device-code", "its result needs a linker"}, {"-rdc", "its result needs a linker"},
	{"--device-c", "its result needs a linker"}, {"-dc", "its result needs a linker"},
}

// checkOptions refuses what is not in the table.
func checkOptions(name string, options []string) error {
	for i := 0; i < len(options); i++ {
		o := options[i]
		if strings.ContainsRune(o, 0) {
			return fmt.Errorf("nvrtc: %s: option %q holds a zero byte", name, o)
		}
		option, joined := splitOption(o)
		switch kind, ok := allowed[option]; {
		case !ok:
			return fmt.Errorf("nvrtc: %s: option %q is refused: %s", name, o, refusal(o))
		case kind == nothing && joined != "":
			return fmt.Errorf("nvrtc: %s: option %q takes no value", name, o)
		case kind != nothing && joined == "":
			i++
			if i == len(options) {
				return fmt.Errorf("nvrtc: %s: option %q lacks its value", name, o)
			}
			if strings.HasPrefix(options[i], "-") || strings.HasPrefix(options[i], "@") {
				return fmt.Errorf("nvrtc: %s: option %q lacks its value: %q follows", name, o, options[i])
			}
		}
	}
	return nil
}

// splitOption parts "-Dx=1" into "-D" and "x=1", "--std=c++17" into "--std" and "c++17".
func splitOption(o string) (option, joined string) {
	for _, short := range []string{"-D", "-U", "-I"} {
		if strings.HasPrefix(o, short) {
			return short, strings.TrimPrefix(o, short)
		}
	}
	option, joined, _ = strings.Cut(o, "=")
	return option, joined
}

func refusal(o string) string {
	for _, r := range refusals {
		if strings.HasPrefix(o, r.prefix) {
			return r.reason
		}
	}
	return "it is not one of those that memwall passes on (-D, -U, -I, -include, -std, -use_fast_math, -ftz, -prec-div, -prec-sqrt, -fmad, -maxrregcount, -G, -w, -diag-suppress …)"
}

// absoluteIncludes makes paths absolute, since the child runs in an empty folder, and reports whether files of the user's
// can be read: then the result depends on more than the request.
func absoluteIncludes(options []string) (result []string, included bool) {
	result = slices.Clone(options)
	for i := 0; i < len(result); i++ {
		option, joined := splitOption(result[i])
		if option != "-I" && option != "--include-path" && option != "-include" && option != "--pre-include" {
			if allowed[option] != nothing && joined == "" {
				i++
			}
			continue
		}
		included = true
		prefix := option
		if option != "-I" {
			prefix += "="
		}
		if joined == "" {
			i++
			prefix, joined = "", result[i]
		}
		isFolder := option == "-I" || option == "--include-path"
		if path, err := filepath.Abs(joined); err == nil && (isFolder || isFile(path)) {
			result[i] = prefix + path
		}
	}
	return result, included
}

// lightGroups reports whether cooperative_groups.h can do without the parts of libcu++ that it includes, which take a second
// of its 1.2: the source must not use them through it. The macro is the header's own.
func lightGroups(s Source) bool {
	texts := []string{s.Text}
	for _, text := range s.Headers {
		texts = append(texts, text)
	}
	groups := false
	for _, text := range texts {
		if usesLibcu().MatchString(text) {
			return false
		}
		for _, m := range quotedInclude().FindAllStringSubmatch(text, -1) {
			if _, given := s.Headers[m[1]]; !given {
				return false
			}
		}
		groups = groups || strings.Contains(text, "cooperative_groups")
	}
	return groups
}

var (
	usesLibcu     = lazy(`\bcuda\s*::|\bnv\s*::|#\s*include\s*<(?:cuda|cub|thrust|nv)/|\b_CG_|\b_?LIBCUDACXX|\b_CCCL|NV_IF_TARGET`)
	quotedInclude = lazy(`(?m)#\s*include(?:_next)?\s*"([^"\n]+)"`)
	angleInclude  = lazy(`(?m)#\s*include(?:_next)?\s*<([^>\n]+)>`)
	anyInclude    = lazy(`(?m)#\s*(?:include|embed)(?:_next)?\s*[^"<\s]|#\s*embed|__has_include|__has_embed`)
)

// localIncludes reports whether the source includes files outside the given and the compiler's own headers, and in which folder to look
// for them ("" where it needs none): as a compiler would, the current one.
func localIncludes(text string, given map[string]string, headers []string) (local bool, folder string) {
	if anyInclude().MatchString(text) { // the name comes from a macro, or is only asked for
		local = true
	}
	for _, m := range angleInclude().FindAllStringSubmatch(text, -1) {
		if filepath.IsAbs(m[1]) || strings.HasPrefix(m[1], "/") || strings.Contains(m[1], "..") {
			local = true
		}
	}
	for _, m := range quotedInclude().FindAllStringSubmatch(text, -1) {
		if _, ok := given[m[1]]; !ok && !withinHeaders(headers, m[1]) {
			local = true
			if here, err := os.Getwd(); err == nil {
				folder = here
			}
		}
	}
	return local, folder
}
