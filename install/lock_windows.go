package install

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits for an exclusive lock that the system frees when the process ends, however it ends.
func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
}
