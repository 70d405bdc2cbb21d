package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// CUDATag is the build tag of a memwall that drives NVIDIA GPUs.
const CUDATag = "cuda"

// CUDABuild is what the go command needs to build with the tag.
type CUDABuild struct {
	Root string   // top folder of the module
	Go   string   // the go command
	CC   string   // the C compiler
	Env  []string // of the go command: flags that lead cgo to the driver shim's header and to its empty libcuda.a
}

// environmentCUDA names the variable that keeps lab and install from building the driver for NVIDIA GPUs: "off".
const environmentCUDA = "MEMWALL_CUDA"

// FindCUDABuild looks for what a build with the tag needs; where something is missing, the second value is a line that says what.
func FindCUDABuild() (*CUDABuild, string) {
	const without = "without the driver for NVIDIA GPUs: "
	if os.Getenv(environmentCUDA) == "off" {
		return nil, without + environmentCUDA + "=off"
	}
	if runtime.GOOS != "linux" {
		return nil, without + "that needs Linux or WSL"
	}
	b := &CUDABuild{Root: sourceRoot()}
	if b.Root == "" {
		return nil, without + "the sources that memwall was built from are not there"
	}
	var err error
	if b.Go, err = exec.LookPath("go"); err != nil {
		return nil, without + "no go command on PATH"
	}
	for _, name := range []string{os.Getenv("CC"), "gcc", "clang", "cc"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(strings.Fields(name)[0]); err == nil {
			b.CC = path
			break
		}
	}
	if b.CC == "" {
		return nil, without + "no C compiler on PATH (Debian: apt install gcc libc6-dev)"
	}
	shim := filepath.Join(b.Root, "gpu", "internal", "cuda", "shim")
	b.Env = append(os.Environ(), "CGO_ENABLED=1",
		"CGO_CFLAGS=-O2 -g "+quoted("-I"+filepath.Join(shim, "include")), "CGO_LDFLAGS="+quoted("-L"+filepath.Join(shim, "lib")))
	if os.Getenv("CC") == "" {
		b.Env = append(b.Env, "CC="+b.CC)
	}
	return b, ""
}

// quoted is a flag as the go command takes it apart again.
func quoted(flag string) string {
	if strings.ContainsAny(flag, " \t") {
		return "'" + flag + "'"
	}
	return flag
}

// sourceRoot is the folder that this source file was compiled from, "" where it is there no more.
func sourceRoot() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(file))
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(text), "module memwall\n") {
		return ""
	}
	return root
}

// Command is the go command with arguments that come after its verb and the tag: Command(ctx, "build", "-o", file, ".").
func (b *CUDABuild) Command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.Go, append([]string{verb, "-tags", CUDATag}, args...)...)
	cmd.Dir, cmd.Env = b.Root, b.Env
	return cmd
}

// cudaBinary builds a memwall that drives NVIDIA GPUs beside the copy of this one; it is built once for each content of this one.
func cudaBinary(ctx context.Context, b *CUDABuild, plain string, progress func(string)) (string, error) {
	path := filepath.Join(filepath.Dir(plain), "cuda", filepath.Base(plain))
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	unlock, err := Lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	progress("building the driver for NVIDIA GPUs (about a minute, once)")
	fresh := path + ".new" + strconv.Itoa(os.Getpid())
	defer os.Remove(fresh)
	out, err := b.Command(ctx, "build", "-o", fresh, ".").CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", errors.New(firstError(string(out), err))
	}
	return path, os.Rename(fresh, path)
}

// firstError is the line of a build's output that says most: the first that is no headline.
func firstError(out string, err error) string {
	for _, l := range strings.Split(out, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			return l
		}
	}
	return fmt.Sprint(err)
}
