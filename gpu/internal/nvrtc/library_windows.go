//go:build windows && amd64

package nvrtc

import "golang.org/x/sys/windows"

// openHandle loads the DLL and lets it find its neighbours (nvrtc-builtins) in its own folder.
func openHandle(path string) (uintptr, error) {
	handle, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR|windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	return uintptr(handle), err
}

func findSymbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}
