package kernels

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"memwall/gpu"
)

// source is the CUDA C++ text; every registered kernel has one (tested).
func (k *Kernel) source() string {
	text, err := fs.ReadFile(files, k.name+".cu")
	if err != nil {
		return ""
	}
	return string(text)
}

var includeLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^#include "([^"]+)"`) })

// header is the text of a shared header of include/, "" where there is none.
func header(name string) string {
	text, err := fs.ReadFile(files, "include/"+name)
	if err != nil {
		return ""
	}
	return string(text)
}

// sourceHash is what a generated file must carry to be current.
func (k *Kernel) sourceHash() string { return hashWithHeaders(k.source()) }

// hashWithHeaders is the hash of a source and of the shared headers that it includes, as kernelgen computes it.
func hashWithHeaders(source string) string {
	hash := sha256.New()
	hash.Write([]byte(source))
	for _, m := range includeLine().FindAllStringSubmatch(source, -1) {
		hash.Write([]byte("\x00" + header(m[1])))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// expanded is the source with its shared headers in place of their includes, for a compiler that has no include/; #line
// keeps the numbers of its own lines.
func (k *Kernel) expanded() string {
	lines := strings.Split(k.source(), "\n")
	for i, line := range lines {
		if m := includeLine().FindStringSubmatch(line); m != nil && header(m[1]) != "" {
			lines[i] = fmt.Sprintf("#line 1 %q\n%s\n#line %d %q", m[1], strings.ReplaceAll(header(m[1]), "#pragma once", ""), i+2, k.file())
		}
	}
	return strings.Join(lines, "\n")
}

// file is the base name of the source.
func (k *Kernel) file() string { return strings.TrimPrefix(k.name, k.Family()+"/") + ".cu" }

// ptx is the checked-in text for a target, also when it is stale.
func (k *Kernel) ptx(target string) (string, bool) {
	text, err := fs.ReadFile(files, k.name+"."+target+".ptx")
	return string(text), err == nil
}

// targets lists the architectures with PTX, lowest first.
func (k *Kernel) targets() []string {
	found, err := fs.Glob(files, k.name+".sm_*.ptx")
	if err != nil {
		return nil // only a malformed pattern fails
	}
	var targets []string
	for _, path := range found {
		targets = append(targets, strings.TrimSuffix(strings.TrimPrefix(path, k.name+"."), ".ptx"))
	}
	sort.Slice(targets, func(i, j int) bool {
		return cmp.Or(cmp.Compare(capability(targets[i]), capability(targets[j])), cmp.Compare(targets[i], targets[j])) < 0
	})
	return targets
}

// capability is 80 for "sm_80" and 90 for "sm_90a", 0 for what is no target.
func capability(target string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(target, "sm_"), "a"))
	if err != nil {
		return 0
	}
	return n
}

// runs says whether a device of a compute capability runs PTX for a target: code for a later one, or, where the name ends in
// "a", only exactly that one.
func runs(target string, have int) bool {
	if strings.HasSuffix(target, "a") {
		return have == capability(target)
	}
	return have >= capability(target)
}

// current reports whether a generated text was made from this source.
func (k *Kernel) current(ptx string) bool {
	mark, _, _ := strings.Cut(ptx, "\n")
	return strings.Contains(mark, "sha256 "+k.sourceHash()+";")
}

// targetFor is the best PTX that a device can run, or why there is none.
func (k *Kernel) targetFor(dev *gpu.Device) (string, *gpu.Error) {
	targets := k.targets()
	major, minor := dev.ComputeCapability()
	have := 10*major + minor
	for _, target := range slices.Backward(targets) {
		if runs(target, have) && have >= k.least {
			return target, nil
		}
	}
	if len(targets) == 0 {
		return "", nil
	}
	need, what := targets[0], k.name
	if k.least > capability(need) {
		need, what = fmt.Sprintf("sm_%d", k.least), k.name+" of "+k.typeNames()
	}
	return "", &gpu.Error{
		What: fmt.Sprintf("launch %s: needs %s, device %q is sm_%d", what, need, strings.TrimPrefix(dev.Name(), "virtual:"), have),
		How:  wayRound(k, have, need),
	}
}

// wayRound names another step that the device runs, and a device that runs this one.
func wayRound(k *Kernel, have int, need string) string {
	device := `gpu.Open("virtual:` + deviceFor(capability(need)) + `")`
	for _, other := range slices.Backward(steps(k.Family())) {
		if other.name != k.name && ladders[k.Family()] && slices.ContainsFunc(other.targets(), func(t string) bool { return runs(t, have) }) {
			return "use " + other.name + ", or " + device
		}
	}
	return "use " + device
}

// deviceFor is a virtual device of that compute capability or the next above.
func deviceFor(need int) string {
	switch {
	case need <= 75:
		return "t4"
	case need <= 80:
		return "a100"
	case need <= 90:
		return "h100"
	}
	return "b200"
}

// loaded keeps the modules that devices have loaded.
var loaded = struct {
	sync.Mutex
	modules map[loadedKey]*gpu.Module
}{modules: map[loadedKey]*gpu.Module{}}

type loadedKey struct {
	dev  *gpu.Device
	name string
}

// load is the kernel's module on a device: from its PTX, or compiled where that is missing or stale.
func (k *Kernel) load(dev *gpu.Device) (*gpu.Module, error) {
	target, cannot := k.targetFor(dev)
	if cannot != nil {
		return nil, cannot
	}
	loaded.Lock()
	defer loaded.Unlock()
	key := loadedKey{dev, k.name}
	if m := loaded.modules[key]; m != nil {
		return m, nil
	}
	for other := range loaded.modules {
		if other.dev.Closed() {
			delete(loaded.modules, other)
		}
	}
	module, err := k.module(dev, target)
	if err != nil {
		return nil, err
	}
	loaded.modules[key] = module
	return module, nil
}

func (k *Kernel) module(dev *gpu.Device, target string) (*gpu.Module, error) {
	ptx, ok := k.ptx(target)
	if ok && k.current(ptx) {
		return dev.LoadModule(gpu.ModuleSpec{Name: k.name + ".ptx", PTX: ptx, Facts: k.facts(), Sources: map[string]string{k.file(): k.source()}})
	}
	module, err := dev.CompileNamed(k.file(), k.expanded())
	if err != nil {
		state := "missing"
		if ok {
			state = "older than its source"
		}
		return nil, &gpu.Error{What: fmt.Sprintf("launch %s: its PTX is %s, and the source cannot be compiled here", k.name, state), Where: err.Error(),
			How: "run `go generate ./kernels` on a machine with NVRTC and build again", Cause: err}
	}
	return module, nil
}
