//go:build unix && !linux

package worker

import "golang.org/x/sys/unix"

// redirect makes descriptor to what from is.
func redirect(from, to int) error { return unix.Dup2(from, to) }
