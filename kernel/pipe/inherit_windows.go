package pipe

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inherit passes the handles on under their own numbers.
func inherit(cmd *exec.Cmd, files []*os.File) (handles []uintptr, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	for _, f := range files {
		h := syscall.Handle(f.Fd())
		if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
			return nil, err
		}
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
		handles = append(handles, f.Fd())
	}
	return handles, nil
}

// adopt stops processes that this one starts from inheriting the handle.
func adopt(h uintptr, _ bool) {
	syscall.SetHandleInformation(syscall.Handle(h), syscall.HANDLE_FLAG_INHERIT, 0)
}

var errNotShared = errors.New("memory is not shared on this system")

func shareMemory() (*os.File, error)      { return nil, errNotShared }
func mapPrints(*os.File) (*Prints, error) { return nil, errNotShared }
func (p *Prints) unmap()                  {}
