//go:build unix

package install

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for an exclusive lock that the kernel frees when the process ends, however it ends.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) }
