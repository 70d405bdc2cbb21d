package kernel

import (
	"errors"
	"syscall"
)

// isAddressTaken says whether listening failed because the address is in use (WSAEADDRINUSE).
func isAddressTaken(err error) bool { return errors.Is(err, syscall.Errno(10048)) }
