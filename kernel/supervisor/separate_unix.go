//go:build unix && !linux

package supervisor

import (
	"os"
	"os/exec"
	"syscall"
)

// separate gives the worker its own process group; it ends with its pipe when we die.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// widen leaves a pipe at the size that the system gives.
func widen(*os.File) {}
