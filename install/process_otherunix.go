//go:build unix && !linux

package install

import "syscall"

// dieWithParent does nothing where the system has no such signal: a killed memwall leaves the server to the user.
func dieWithParent(*syscall.SysProcAttr) {}
