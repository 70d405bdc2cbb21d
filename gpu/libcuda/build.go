package libcuda

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"memwall/install"
)

//go:embed clients/ptxas
var scripts embed.FS

// Library is a built libcuda.so.1 with what clients need beside it.
type Library struct{ Dir string }

const (
	firstHalf  = "libcuda.so.1"
	secondHalf = "libmemwall-vdrv.so"
)

// linkers are the names of NVIDIA's nvJitLink, which makes machine code of PTX. Numba uses it where it finds it; an empty library that
// is loaded already under its name leads Numba to the driver's own linker, which takes PTX and gives PTX.
var linkers = []string{"libnvJitLink.so.12", "libnvJitLink.so.13"}

// Build makes the library in a folder. The error says in a line what is missing.
func Build(ctx context.Context, dir string) (*Library, error) {
	b, why := install.FindCUDABuild()
	if b == nil {
		return nil, errors.New("libcuda.so.1 cannot be built: " + why[strings.Index(why, ": ")+2:])
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("libcuda.so.1: %w", err)
	}
	goHalf := b.Command(ctx, "build", "-buildmode=c-shared", "-o", filepath.Join(dir, secondHalf), "./gpu/libcuda/half")
	shim := filepath.Join(b.Root, "gpu", "internal", "cuda", "shim")
	args := []string{"-O2", "-fPIC", "-shared", "-DMEMWALL_LIBCUDA", "-Wl,-soname," + firstHalf,
		"-Wl,--version-script=" + filepath.Join(b.Root, "gpu", "libcuda", "libcuda.map"), "-o", filepath.Join(dir, firstHalf)}
	for _, name := range []string{"forward.c", "shim.c", "virtual.c", "results.c"} {
		args = append(args, filepath.Join(shim, name))
	}
	cHalf := exec.CommandContext(ctx, b.CC, append(args, "-ldl", "-lpthread")...)
	commands := []*exec.Cmd{cHalf, goHalf}
	for _, name := range linkers {
		empty := exec.CommandContext(ctx, b.CC, "-shared", "-fPIC", "-Wl,-soname,"+name, "-o", filepath.Join(dir, name), "-x", "c", os.DevNull)
		commands = append(commands, empty)
	}
	for _, cmd := range commands {
		if out, err := cmd.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("libcuda.so.1 cannot be built: %w\n%s", err, strings.TrimSpace(string(out)))
		}
	}
	os.Remove(filepath.Join(dir, strings.TrimSuffix(secondHalf, ".so")+".h"))
	link := filepath.Join(dir, "libcuda.so")
	os.Remove(link)
	if err := os.Symlink(firstHalf, link); err != nil {
		return nil, fmt.Errorf("libcuda.so: %w", err)
	}
	ptxas, err := scripts.ReadFile("clients/ptxas")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ptxas"), ptxas, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("ptxas: %w", err)
	}
	return &Library{dir}, nil
}

// Environment is what a client needs to find the library and to hand it PTX; it is added to a program's own.
func (l *Library) Environment() []string {
	path := l.Dir
	if old := os.Getenv("LD_LIBRARY_PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	ptxas := filepath.Join(l.Dir, "ptxas")
	var preload []string
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		preload = append(preload, old)
	}
	for _, name := range linkers {
		preload = append(preload, filepath.Join(l.Dir, name))
	}
	return []string{
		"LD_LIBRARY_PATH=" + path, "LD_PRELOAD=" + strings.Join(preload, ":"),
		"TRITON_LIBCUDA_PATH=" + l.Dir, "TRITON_PTXAS_PATH=" + ptxas, "TRITON_PTXAS_BLACKWELL_PATH=" + ptxas,
	}
}
