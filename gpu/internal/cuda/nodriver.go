package cuda

import (
	"fmt"
	"os"
	"strings"
)

// NoDriver says why there is no NVIDIA GPU to open, and what to do about it.
type NoDriver struct{ What, How string }

// Error is both lines.
func (e *NoDriver) Error() string {
	if e.How == "" {
		return e.What
	}
	return e.What + "\n" + e.How
}

// opening is where opening the driver ended.
type opening struct {
	loaded bool   // the library could be loaded
	path   string // of the library
	detail string // the loader's words
	symbol string // what the library lacks
	code   Result // what cuInit answered
}

// surroundings are the facts about this machine that explain a failure.
type surroundings struct {
	wsl     bool
	own     bool     // the library is $MEMWALL_LIBCUDA
	visible *string  // $CUDA_VISIBLE_DEVICES, nil where it is not set
	node    error    // of opening /dev/nvidiactl
	slices  []string // MIG slices, where they were looked for
}

func lookAround() surroundings {
	s := surroundings{own: os.Getenv(environmentLibrary) != ""}
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		s.visible = &v
	}
	version, _ := os.ReadFile("/proc/version")
	s.wsl = strings.Contains(strings.ToLower(string(version)), "microsoft")
	node, err := os.OpenFile("/dev/nvidiactl", os.O_RDWR, 0)
	if err == nil {
		node.Close()
	}
	s.node = err
	return s
}

// environmentLibrary names the variable that chooses the driver: a file, or "virtual" and "virtual:a100" for the virtual GPU
// behind the driver API.
const environmentLibrary = "MEMWALL_LIBCUDA"

// virtualHint is the way out that is always there.
const virtualHint = `use a virtual GPU: gpu.Open("virtual:h200") executes the same PTX`

// explain makes the error of an opening that failed; nil where it did not.
func explain(o opening, s surroundings) error {
	library := o.path
	if s.own {
		library = "$" + environmentLibrary + ", " + o.path
	}
	switch {
	case !o.loaded && (strings.Contains(o.detail, "ELFCLASS32") || strings.Contains(o.detail, "wrong ELF class")):
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s is a 32-bit library", library), "install the 64-bit driver, or point $" + environmentLibrary + " at its libcuda.so.1"}
	case !o.loaded && (strings.Contains(o.detail, "invalid ELF header") || strings.Contains(o.detail, "file too short")):
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s is no library (%s)", library, reason(o)), "point $" + environmentLibrary + " at a driver's libcuda.so.1, or unset it"}
	case !o.loaded && strings.Contains(o.detail, "Permission denied"):
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s may not be read", library), "let this user read it"}
	case !o.loaded && s.own:
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s: %s", library, reason(o)), "point $" + environmentLibrary + " at a driver's libcuda.so.1, or unset it"}
	case !o.loaded && !strings.Contains(o.detail, "No such file"):
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s: %s", library, reason(o)), "reinstall the driver"}
	case !o.loaded && s.wsl:
		return &NoDriver{"no NVIDIA driver: this is WSL, and Windows gives it no libcuda.so.1", "install NVIDIA's driver in Windows (none in WSL), then: wsl --shutdown\nor " + virtualHint}
	case !o.loaded && s.node == nil:
		return &NoDriver{"no NVIDIA driver: the kernel module is there, but libcuda.so.1 is not", "in a container, start it with --gpus all (NVIDIA Container Toolkit); else install the driver's libraries (Debian: libcuda1)"}
	case !o.loaded:
		return &NoDriver{"no NVIDIA driver: libcuda.so.1 is not installed", "install NVIDIA's driver if this machine has its GPU\nor " + virtualHint}
	case o.symbol != "":
		return &NoDriver{fmt.Sprintf("no NVIDIA driver: %s is not a CUDA driver: it has no %s", library, o.symbol), "point $" + environmentLibrary + " at a driver's libcuda.so.1, or unset it"}
	case o.code == success:
		return nil
	}
	return explainInit(o, s)
}

// reason is the loader's words without the path, which stands before them already.
func reason(o opening) string {
	return strings.TrimPrefix(strings.TrimPrefix(o.detail, o.path), ": ")
}

// explainInit makes the error of a cuInit that failed.
func explainInit(o opening, s surroundings) error {
	what := fmt.Sprintf("the NVIDIA driver does not start: %s", o.code)
	switch {
	case o.code == noDevice && s.visible != nil:
		return &NoDriver{fmt.Sprintf("no NVIDIA GPU: CUDA_VISIBLE_DEVICES=%q hides every one", *s.visible), "unset CUDA_VISIBLE_DEVICES, or set it to 0"}
	case os.IsPermission(s.node):
		return &NoDriver{what, "this user may not open /dev/nvidiactl: add the user to the group that may (often video or render)"}
	case o.code == noDevice:
		return &NoDriver{"no NVIDIA GPU: the driver is installed and finds none", virtualHint}
	case o.code == unknownError && !s.wsl:
		return &NoDriver{what, "load its kernel modules (sudo nvidia-modprobe -u), or reboot"}
	case hints[o.code] != "":
		return &NoDriver{what, hints[o.code]}
	}
	return &NoDriver{what, "nvidia-smi may say more"}
}

// explainOrdinal is the error of a GPU that there is not.
func explainOrdinal(ordinal, count int, s surroundings) error {
	have := "there is one GPU, cuda:0"
	if count != 1 {
		have = fmt.Sprintf("there are %d GPUs, cuda:0 to cuda:%d", count, count-1)
	}
	if s.visible != nil {
		have += fmt.Sprintf("; CUDA_VISIBLE_DEVICES=%q", *s.visible)
	}
	if len(s.slices) > 0 {
		have += "\nMIG slices, one of which CUDA_VISIBLE_DEVICES chooses:\n  " + strings.Join(s.slices, "\n  ")
	}
	return &NoDriver{fmt.Sprintf("no GPU cuda:%d", ordinal), have}
}
