//go:build unix

package pipe

import (
	"os"
	"os/exec"
	"syscall"
)

// inherit passes the files on as descriptors 3 and up.
func inherit(cmd *exec.Cmd, in, out *os.File) (uintptr, uintptr, error) {
	n := uintptr(3 + len(cmd.ExtraFiles))
	cmd.ExtraFiles = append(cmd.ExtraFiles, in, out)
	return n, n + 1, nil
}

// adopt makes an inherited descriptor close on exec and ready for the poller.
func adopt(fd uintptr) {
	syscall.CloseOnExec(int(fd))
	syscall.SetNonblock(int(fd), true)
}
