//go:build unix

package install

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl-C from the server, which would answer it with a question; Lab ends the server itself.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
