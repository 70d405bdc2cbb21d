package nvrtc

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestCheckOptions(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{"-use_fast_math", ""}, {"--use_fast_math -DN=4 -D M=8 -I sub -Isub --std=c++17 -std=c++20 -maxrregcount=64", ""},
		{"-G -w --ftz=true -ftz false --diag-suppress=177 -include x.h", ""},
		{"--time=t.csv", `nvrtc: k.cu: option "--time=t.csv" is refused: it writes a file`},
		{"-time=t.csv", `nvrtc: k.cu: option "-time=t.csv" is refused: it writes a file`},
		{"--fdevice-time-trace=t.json", `nvrtc: k.cu: option "--fdevice-time-trace=t.json" is refused: it writes a file`},
		{"--create-pch=x.pch", `nvrtc: k.cu: option "--create-pch=x.pch" is refused: it writes a file`},
		{"-pch", `nvrtc: k.cu: option "-pch" is refused: it writes a file`},
		{"--pch-dir=/tmp", `nvrtc: k.cu: option "--pch-dir=/tmp" is refused: it writes a file`},
		{"-Xptxas=-o=/tmp/x", `nvrtc: k.cu: option "-Xptxas=-o=/tmp/x" is refused: it passes anything to the assembler, which can write files; -maxrregcount is an option of its own`},
		{"-Xptxas -v", `nvrtc: k.cu: option "-Xptxas" is refused: it passes anything to the assembler, which can write files; -maxrregcount is an option of its own`},
		{"@options.txt", `nvrtc: k.cu: option "@options.txt" is refused: it reads options from a file`},
		{"--options-file=o", `nvrtc: k.cu: option "--options-file=o" is refused: it reads options from a file`},
		{"-arch=sm_90", `nvrtc: k.cu: option "-arch=sm_90" is refused: the device decides the architecture`},
		{"-dlto", `nvrtc: k.cu: option "-dlto" is refused: its result is no PTX`},
		{"-rdc=true", `nvrtc: k.cu: option "-rdc=true" is refused: its result needs a linker`},
		{"-O3", `nvrtc: k.cu: option "-O3" is refused: it is not one of those that memwall passes on (-D, -U, -I, -include, -std, -use_fast_math, -ftz, -prec-div, -prec-sqrt, -fmad, -maxrregcount, -G, -w, -diag-suppress …)`},
		{"-use_fast_math=1", `nvrtc: k.cu: option "-use_fast_math=1" takes no value`},
		{"-D", `nvrtc: k.cu: option "-D" lacks its value`},
		{"-include --time=x", `nvrtc: k.cu: option "-include" lacks its value: "--time=x" follows`},
		{"-D @file", `nvrtc: k.cu: option "-D" lacks its value: "@file" follows`},
	} {
		err := checkOptions("k.cu", strings.Fields(c.options))
		if got := text(err); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.options, got, c.want)
		}
	}
	if got, want := text(checkOptions("k.cu", []string{"-DX=\x00"})), `nvrtc: k.cu: option "-DX=\x00" holds a zero byte`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCheckSource(t *testing.T) {
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{Name: "k.cu", Text: "x", Arch: "sm_80"}, ""},
		{Source{Name: "k.cu", Text: "x", Arch: "sm_90a"}, ""},
		{Source{Name: "k.cu", Text: "x", Arch: "80"}, `nvrtc: k.cu: "80" is no architecture; write "sm_80" for a cubin or "compute_80" for PTX`},
		{Source{Name: "k.cu", Text: "x", Arch: "sm_80 --time=x"}, `nvrtc: k.cu: "sm_80 --time=x" is no architecture; write "sm_80" for a cubin or "compute_80" for PTX`},
		{Source{Name: "k.cu", Text: "a\nb\x00", Arch: "sm_80"}, `nvrtc: k.cu:2: the source holds a zero byte; is it CUDA C++ text?`},
		{Source{Name: "a\nb", Text: "x", Arch: "sm_80"}, `nvrtc: the source's name "a\nb" has characters that a diagnostic cannot hold`},
	} {
		if got := text(checkSource(&c.source)); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}

func TestAbsoluteIncludes(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("x.h", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, included := absoluteIncludes([]string{"-Isub", "-I", "sub", "--include-path=sub", "-include", "x.h", "-include=cuda_fp16.h", "-D", "-I", "-w"})
	sub := filepath.Join(here, "sub")
	want := []string{"-I" + sub, "-I", sub, "--include-path=" + sub, "-include", filepath.Join(here, "x.h"), "-include=cuda_fp16.h", "-D", "-I", "-w"}
	if !included || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if _, included := absoluteIncludes([]string{"-DX", "-w"}); included {
		t.Error("an option without a path counts as one")
	}
}

func TestLocalIncludes(t *testing.T) {
	headers := t.TempDir()
	if err := os.WriteFile(filepath.Join(headers, "cuda_fp16.h"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text          string
		local, folder bool
	}{
		{"#include <cuda_fp16.h>\n#include \"cuda_fp16.h\"\n", false, false},
		{"#include \"mine.h\"\n", true, true}, {"  #  include  \"mine.h\"", true, true},
		{"#include </etc/x.h>", true, false}, {"#include <../x.h>", true, false}, {"#include MACRO", true, false}, {"#if __has_include(\"x\")\n#endif", true, false},
		{"int x;", false, false}, {"#include \"given.cuh\"", false, false},
	} {
		local, folder := localIncludes(c.text, map[string]string{"given.cuh": ""}, []string{headers})
		if local != c.local || (folder != "") != c.folder {
			t.Errorf("%q: local %v, folder %q", c.text, local, folder)
		}
	}
}
