//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate gives another way to what an open file is, which processes that cells start don't inherit.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// reopen makes descriptor fd what f is. A file that a cell has opened meanwhile may have got the number: then it keeps it.
func reopen(f *os.File, fd int) (*os.File, error) {
	var info unix.Stat_t
	if unix.Fstat(fd, &info) == nil {
		return duplicate(f)
	}
	if err := redirect(int(f.Fd()), fd); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
