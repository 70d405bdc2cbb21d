//go:build linux && (amd64 || arm64)

package nvrtc

import "github.com/ebitengine/purego"

func openHandle(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func findSymbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
