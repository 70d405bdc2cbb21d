//go:build !windows

package kernel

import (
	"errors"
	"syscall"
)

// isAddressTaken says whether listening failed because the address is in use.
func isAddressTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
