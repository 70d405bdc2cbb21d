package install

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps a console's Ctrl-C from the server; Lab ends the server itself.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func terminate(p *os.Process) error { return p.Kill() }
