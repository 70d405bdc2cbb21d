package supervisor

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// separate gives the worker its own process group and its death with ours.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipeBytes is what a pipe for prints holds before its writer waits.
const pipeBytes = 512 << 10

// widen enlarges a pipe where the system allows it.
func widen(f *os.File) { unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeBytes) }
