// Package cuda drives NVIDIA GPUs through gorgonia.org/cu, behind the seam of package driver.
//
// What drives a GPU is built with the tag cuda, where cgo and Linux are: gorgonia.org/cu unmodified for what it covers, gap.go for
// what it lacks or breaks, and the driver shim (package shim) below both, so that the program starts on machines without a
// driver and Open says why there is none. Whoever builds with the tag sets CGO_CFLAGS and CGO_LDFLAGS to the shim's header and
// its empty library; package install does, so that nobody types flags. Every other build has Open's refusal alone.
//
// A call locks its goroutine to an OS thread, makes the device's primary context current there and lets go; there is no thread
// of the device's own that calls are handed to. $MEMWALL_LIBCUDA names another driver library, or, as "virtual:a100", the
// virtual GPU behind the same driver API (package vdrv), on which the whole path is tested.
package cuda

//go:generate go run ./shimgen/cmd
