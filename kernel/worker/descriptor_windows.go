package worker

import (
	"os"
	"syscall"
)

// duplicate gives another way to what an open file is, which processes that cells start don't inherit.
func duplicate(f *os.File) (*os.File, error) {
	p, err := syscall.GetCurrentProcess()
	if err != nil {
		return nil, err
	}
	var h syscall.Handle
	if err := syscall.DuplicateHandle(p, syscall.Handle(f.Fd()), p, &h, 0, false, syscall.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), f.Name()), nil
}

// reopen gives a new file for f; handles have no fixed numbers here.
func reopen(f *os.File, _ int) (*os.File, error) { return duplicate(f) }
