//go:build unix

package notebook

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteToPipeWithoutReader: a named pipe that nobody reads from is an error and no wait without end.
func TestWriteToPipeWithoutReader(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	nb, err := Parse([]byte(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}`))
	if err != nil {
		t.Fatal(err)
	}
	err = Write(pipe, nb)
	if want := "write " + pipe + ": it is no regular file, and nothing takes what is written to it: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s…", err, want)
	}
}
