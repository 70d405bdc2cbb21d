package cuda

import (
	"errors"
	"io/fs"
	"testing"
)

// What each way of having no driver is told as, whole.
func TestNoDriver(t *testing.T) {
	empty, two := "", "2"
	missing := opening{path: "libcuda.so.1", detail: "libcuda.so.1: cannot open shared object file: No such file or directory"}
	gone := surroundings{node: fs.ErrNotExist}
	for _, c := range []struct {
		name string
		o    opening
		s    surroundings
		want string
	}{
		{"fine", opening{loaded: true}, gone, ""},
		{"not installed", missing, gone, "no NVIDIA driver: libcuda.so.1 is not installed\ninstall NVIDIA's driver if this machine has its GPU\nor use a virtual GPU: gpu.Open(\"virtual:h200\") executes the same PTX"},
		{"container", missing, surroundings{}, "no NVIDIA driver: the kernel module is there, but libcuda.so.1 is not\nin a container, start it with --gpus all (NVIDIA Container Toolkit); else install the driver's libraries (Debian: libcuda1)"},
		{"WSL", missing, surroundings{wsl: true, node: fs.ErrNotExist}, "no NVIDIA driver: this is WSL, and Windows gives it no libcuda.so.1\ninstall NVIDIA's driver in Windows (none in WSL), then: wsl --shutdown\nor use a virtual GPU: gpu.Open(\"virtual:h200\") executes the same PTX"},
		{"32 bits", opening{path: "/l/libcuda.so.1", detail: "/l/libcuda.so.1: wrong ELF class: ELFCLASS32"}, surroundings{own: true}, "no NVIDIA driver: $MEMWALL_LIBCUDA, /l/libcuda.so.1 is a 32-bit library\ninstall the 64-bit driver, or point $MEMWALL_LIBCUDA at its libcuda.so.1"},
		{"text file", opening{path: "/l/x", detail: "/l/x: invalid ELF header"}, surroundings{own: true}, "no NVIDIA driver: $MEMWALL_LIBCUDA, /l/x is no library (invalid ELF header)\npoint $MEMWALL_LIBCUDA at a driver's libcuda.so.1, or unset it"},
		{"empty file", opening{path: "/l/x", detail: "/l/x: file too short"}, surroundings{own: true}, "no NVIDIA driver: $MEMWALL_LIBCUDA, /l/x is no library (file too short)\npoint $MEMWALL_LIBCUDA at a driver's libcuda.so.1, or unset it"},
		{"own path", opening{path: "/l/x", detail: "/l/x: cannot open shared object file: No such file or directory"}, surroundings{own: true}, "no NVIDIA driver: $MEMWALL_LIBCUDA, /l/x: cannot open shared object file: No such file or directory\npoint $MEMWALL_LIBCUDA at a driver's libcuda.so.1, or unset it"},
		{"unreadable", opening{path: "/l/x", detail: "/l/x: cannot open shared object file: Permission denied"}, gone, "no NVIDIA driver: /l/x may not be read\nlet this user read it"},
		{"broken", opening{path: "libcuda.so.1", detail: "libnvidia-x.so: undefined symbol: y"}, gone, "no NVIDIA driver: libcuda.so.1: libnvidia-x.so: undefined symbol: y\nreinstall the driver"},
		{"another library", opening{loaded: true, path: "/lib/libm.so.6", symbol: "cuInit"}, surroundings{own: true}, "no NVIDIA driver: $MEMWALL_LIBCUDA, /lib/libm.so.6 is not a CUDA driver: it has no cuInit\npoint $MEMWALL_LIBCUDA at a driver's libcuda.so.1, or unset it"},
		{"no device", opening{loaded: true, code: noDevice}, gone, "no NVIDIA GPU: the driver is installed and finds none\nuse a virtual GPU: gpu.Open(\"virtual:h200\") executes the same PTX"},
		{"hidden", opening{loaded: true, code: noDevice}, surroundings{visible: &empty}, "no NVIDIA GPU: CUDA_VISIBLE_DEVICES=\"\" hides every one\nunset CUDA_VISIBLE_DEVICES, or set it to 0"},
		{"permission", opening{loaded: true, code: noDevice}, surroundings{node: fs.ErrPermission}, "the NVIDIA driver does not start: no CUDA-capable device is detected (100)\nthis user may not open /dev/nvidiactl: add the user to the group that may (often video or render)"},
		{"unknown", opening{loaded: true, code: unknownError}, gone, "the NVIDIA driver does not start: unknown error (999)\nload its kernel modules (sudo nvidia-modprobe -u), or reboot"},
		{"mismatch", opening{loaded: true, code: driverMismatch}, gone, "the NVIDIA driver does not start: system has unsupported display driver / cuda driver combination (803)\nthe driver's library and its kernel module are of different versions: reboot, or reinstall the driver"},
		{"anything", opening{loaded: true, code: 304}, gone, "the NVIDIA driver does not start: OS call failed or operation not supported on this OS (304)\nnvidia-smi may say more"},
	} {
		got := ""
		if err := explain(c.o, c.s); err != nil {
			got = err.Error()
			var none *NoDriver
			if !errors.As(err, &none) {
				t.Errorf("%s: the error is no *NoDriver", c.name)
			}
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		ordinal, count int
		s              surroundings
		want           string
	}{
		{1, 1, gone, "no GPU cuda:1\nthere is one GPU, cuda:0"},
		{7, 4, surroundings{visible: &two}, "no GPU cuda:7\nthere are 4 GPUs, cuda:0 to cuda:3; CUDA_VISIBLE_DEVICES=\"2\""},
	} {
		if got := explainOrdinal(c.ordinal, c.count, c.s).Error(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
