// Command kernelgen compiles the CUDA C++ sources of kernels/ to PTX and records what the assembler makes of them. It is run
// by `go generate ./kernels`, on a machine that has NVRTC; the results are checked in, so that no other machine needs it.
// With -ptx-only it records nothing beside the PTX: gpu/internal/vgpu/bench has sources that no card shows.
//
// For each <family>/<n>_<idea>.cu it writes <n>_<idea>.sm_75.ptx and .sm_80.ptx beside the source, or what its line "// targets:"
// says, and a row for each compute capability into <family>/facts.tsv. A file is replaced whole, and only where it changes.
// Names of families after the folder limit it to these: go run memwall/gpu/internal/nvrtc/kernelgen kernels gemv.
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
	args, facts := os.Args[1:], true
	if len(args) > 0 && args[0] == "-ptx-only" {
		args, facts = args[1:], false
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: kernelgen [-ptx-only] KERNELS-FOLDER [FAMILY…]")
		os.Exit(2)
	}
	if err := run(args[0], facts, args[1:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, facts bool, families ...string) error {
	files, err := generate(context.Background(), root, facts, every, families...)
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

// choice says for which compute capabilities a source is compiled, of its targets and its hash.
type choice func(own []string, hash string) []string

// every capability of the device profiles.
func every([]string, string) []string { return capabilities }

// generate is the text of every generated file, by path, of all families or of some, for the capabilities that are chosen.
func generate(ctx context.Context, root string, facts bool, chosen choice, families ...string) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(root, "*", "*.cu"))
	if err != nil {
		return nil, err
	}
	if len(families) > 0 {
		sources = slices.DeleteFunc(sources, func(path string) bool { return !slices.Contains(families, filepath.Base(filepath.Dir(path))) })
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
		if err := generateOne(ctx, source, string(text), headers, files, facts, chosen); err != nil {
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
	// targetsLine gives a source's own targets: "// targets: sm_80 sm_90a". PTX for sm_90a runs on compute capability 9.0 alone.
	targetsLine = regexp.MustCompile(`(?m)^// targets:((?: sm_[0-9]+a?)+)$`)
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

// archOf is what a device of a capability runs of a source: its own architecture, with "a" where the source has a target of
// that name; "" where it runs none of them.
func archOf(capability string, own []string) string {
	if slices.Contains(own, capability+"a") {
		return capability + "a"
	}
	for _, target := range own {
		if !strings.HasSuffix(target, "a") && number(target) <= number(capability) {
			return capability
		}
	}
	return ""
}

// generateOne compiles one source for the chosen capabilities and adds its files and its rows.
func generateOne(ctx context.Context, source, text string, headers, files map[string]string, facts bool, chosen choice) error {
	base := strings.TrimSuffix(source, ".cu")
	family := filepath.Base(filepath.Dir(source))
	name := family + "/" + filepath.Base(base)
	hash, own := hashOf(text, headers), targetsOf(text)
	table := filepath.Join(filepath.Dir(source), "facts.tsv")
	for _, capability := range chosen(own, hash) {
		arch := archOf(capability, own)
		if arch == "" || !facts && !slices.Contains(own, arch) {
			continue // no device of this capability runs it, or nobody asks
		}
		r, err := nvrtc.Compile(ctx, nvrtc.Source{Name: filepath.Base(source), Text: text, Headers: headers, Arch: "sm_" + arch})
		if err != nil {
			return fmt.Errorf("%s for sm_%s: %w", source, arch, err)
		}
		if len(r.Log) > 0 {
			return fmt.Errorf("%s for sm_%s: a warning, which shipped sources must not have:\n%s", source, arch, r.Log[0])
		}
		if slices.Contains(own, arch) {
			ptx, err := nvrtc.LowerVersion(r.PTX)
			if err != nil {
				return err
			}
			mark := fmt.Sprintf("// Code generated by kernelgen with NVRTC %s for sm_%s from %s, sha256 %s; DO NOT EDIT.\n", r.Version, arch, filepath.Base(source), hash)
			files[base+".sm_"+arch+".ptx"] = mark + tidy(ptx)
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
