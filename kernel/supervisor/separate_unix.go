//go:build unix && !linux

package supervisor

import (
	"os/exec"
	"syscall"
)

// separate gives the worker its own process group; it ends with its pipe when we die.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
