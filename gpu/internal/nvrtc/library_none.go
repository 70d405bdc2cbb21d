//go:build !(linux && (amd64 || arm64)) && !(windows && amd64)

package nvrtc

import "errors"

const (
	canOpen          = false
	cannotOpenReason = "NVIDIA ships its compiler for Linux and Windows only"
)

type library struct{}

func openLibrary(string) (*library, error) { return nil, errors.New(cannotOpenReason) }

func (*library) compile(*request) *reply { return &reply{Status: -1, Problem: cannotOpenReason} }
