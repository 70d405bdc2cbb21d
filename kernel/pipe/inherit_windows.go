package pipe

import (
	"os"
	"os/exec"
	"syscall"
)

// inherit passes the handles on under their own numbers.
func inherit(cmd *exec.Cmd, in, out *os.File) (uintptr, uintptr, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	for _, f := range []*os.File{in, out} {
		h := syscall.Handle(f.Fd())
		if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
			return 0, 0, err
		}
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
	}
	return in.Fd(), out.Fd(), nil
}

// adopt stops processes that this one starts from inheriting the handle.
func adopt(h uintptr) {
	syscall.SetHandleInformation(syscall.Handle(h), syscall.HANDLE_FLAG_INHERIT, 0)
}
