// Command kernelgen compiles the CUDA C++ sources of kernels/ to PTX and records what the assembler makes of them. It is run
// by `go generate ./kernels`, on a machine that has NVRTC; the results are checked in, so that no other machine needs it.
// With -ptx-only it records nothing beside the PTX: gpu/internal/vgpu/bench has sources that no card shows.
//
// For each <family>/<n>_<idea>.cu it writes <n>_<idea>.sm_75.ptx and .sm_80.ptx beside the source, and a row for each compute
// capability into <family>/facts.tsv. A file is replaced whole, and only where it changes.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"memwall/gpu/internal/nvrtc"
)

var (
	// targets are the architectures whose PTX is shipped: each device takes the highest that it can run.
	targets = []string{"75", "80"}
	// capabilities are the compute capabilities of the device profiles, for which registers are recorded.
	capabilities = []string{"75", "80", "86", "89", "90", "100", "120"}
)

func main() {
	nvrtc.ChildMain()
	facts := len(os.Args) != 3 || os.Args[1] != "-ptx-only"
	if len(os.Args) != 3-b2i(facts) {
		fmt.Fprintln(os.Stderr, "usage: kernelgen [-ptx-only] KERNELS-FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[len(os.Args)-1], facts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func run(root string, facts bool) error {
	files, err := generate(context.Background(), root, facts)
	if err != nil {
		return err
	}
	for _, path := range sortedKeys(files) {
		if old, err := os.ReadFile(path); err == nil && string(old) == files[path] {
			continue
		}
		if err := replace(path, files[path]); err != nil {
			return err
		}
		fmt.Println("wrote", path)
	}
	return nil
}

// replace writes a file whole or not at all.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// generate is the text of every generated file, by path.
func generate(ctx context.Context, root string, facts bool) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(root, "*", "*.cu"))
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s holds no <family>/<n>_<idea>.cu", root)
	}
	sort.Strings(sources)
	headers, err := readHeaders(filepath.Join(root, "include"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		if err := generateOne(ctx, source, string(text), headers, files, facts); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readHeaders reads the shared headers by name.
func readHeaders(folder string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.cuh"))
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		headers[filepath.Base(path)] = string(text)
	}
	return headers, nil
}

var (
	include = regexp.MustCompile(`(?m)^#include "([^"]+)"`)
	// targetsLine limits a source to some targets: "// targets: sm_80".
	targetsLine = regexp.MustCompile(`(?m)^// targets:((?: sm_[0-9]+)+)$`)
)

// hashOf is the hash of a source and of each shared header that it includes; package kernels computes the same.
func hashOf(text string, headers map[string]string) string {
	hash := sha256.New()
	hash.Write([]byte(text))
	for _, m := range include.FindAllStringSubmatch(text, -1) {
		hash.Write([]byte("\x00" + headers[m[1]]))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// targetsOf are the numbers of the targets that a source is for.
func targetsOf(text string) []string {
	m := targetsLine.FindStringSubmatch(text)
	if m == nil {
		return targets
	}
	var own []string
	for _, t := range strings.Fields(m[1]) {
		own = append(own, strings.TrimPrefix(t, "sm_"))
	}
	return own
}

// generateOne compiles one source for every capability and adds its files and its rows.
func generateOne(ctx context.Context, source, text string, headers, files map[string]string, facts bool) error {
	base := strings.TrimSuffix(source, ".cu")
	family := filepath.Base(filepath.Dir(source))
	name := family + "/" + filepath.Base(base)
	hash, own := hashOf(text, headers), targetsOf(text)
	table := filepath.Join(filepath.Dir(source), "facts.tsv")
	for _, capability := range capabilities {
		if number(capability) < number(own[0]) || !facts && !slices.Contains(own, capability) {
			continue // no device of this capability runs it, or nobody asks
		}
		r, err := nvrtc.Compile(ctx, nvrtc.Source{Name: filepath.Base(source), Text: text, Headers: headers, Arch: "sm_" + capability})
		if err != nil {
			return fmt.Errorf("%s for sm_%s: %w", source, capability, err)
		}
		if len(r.Log) > 0 {
			return fmt.Errorf("%s for sm_%s: a warning, which shipped sources must not have:\n%s", source, capability, r.Log[0])
		}
		for _, target := range own {
			if target != capability {
				continue
			}
			ptx, err := nvrtc.LowerVersion(r.PTX)
			if err != nil {
				return err
			}
			mark := fmt.Sprintf("// Code generated by kernelgen with NVRTC %s for sm_%s from %s, sha256 %s; DO NOT EDIT.\n", r.Version, target, filepath.Base(source), hash)
			files[base+".sm_"+target+".ptx"] = mark + tidy(ptx)
		}
		if !facts {
			continue
		}
		if files[table] == "" {
			files[table] = fmt.Sprintf("# Code generated by kernelgen with NVRTC %s; DO NOT EDIT.\n"+
				"# kernel\tfunction\tcapability\tregisters\tspill bytes\tstack bytes\tshared bytes\tsha256 of the source\n", r.Version)
		}
		for _, function := range sortedKeys(r.Functions) {
			f := r.Functions[function]
			files[table] += fmt.Sprintf("%s\t%s\t%s.%s\t%d\t%d\t%d\t%d\t%s\n", name, function, capability[:len(capability)-1], capability[len(capability)-1:],
				f.Registers, f.SpillBytes, f.LocalBytes, f.SharedBytes, hash)
		}
	}
	return nil
}

// tidy leaves out the marks of inline assembly and .loc directives that repeat the one before them.
func tidy(ptx string) string {
	var kept []string
	loc := ""
	for _, line := range strings.Split(strings.TrimRight(ptx, "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "// begin inline asm" || trimmed == "// end inline asm":
			continue
		case strings.HasPrefix(trimmed, ".loc"):
			if trimmed == loc {
				continue
			}
			loc = trimmed
		case strings.HasPrefix(trimmed, ".visible"):
			loc = ""
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n") + "\n"
}

// number is a capability's; the strings are ours or matched as digits.
func number(capability string) int {
	n, _ := strconv.Atoi(capability)
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
