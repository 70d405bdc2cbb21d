package supervisor

import (
	"os/exec"
	"syscall"
)

// separate gives the worker its own process group and its death with ours.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
