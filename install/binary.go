package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Binary returns a copy of the running executable in the cache, made where it is missing; or, where a C compiler and the sources
// are there, a build of them that drives NVIDIA GPUs too. progress gets a line a step, also one that says what is missing. `go run`
// deletes its executable when it ends, so nothing that lives longer may point at it.
func Binary(ctx context.Context, progress func(string)) (string, error) {
	plain, err := Self()
	if err != nil || builtWithCUDA {
		return plain, err
	}
	b, why := FindCUDABuild()
	if b == nil {
		progress(why)
		return plain, nil
	}
	path, err := cudaBinary(ctx, b, plain, progress)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		progress("without the driver for NVIDIA GPUs: " + err.Error())
		return plain, nil
	}
	return path, nil
}

// Self returns a copy of the running executable in the cache. What else is built for this memwall lies beside it.
func Self() (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("copy of memwall: %w", err)
	}
	return copyBinary(self, filepath.Join(cache, "bin"))
}

// copyBinary names the copy after its content, so that a running Jupyter kernel keeps its file when memwall changes.
func copyBinary(self, dir string) (string, error) {
	src, err := os.Open(self)
	if err != nil {
		return "", fmt.Errorf("copy of memwall: %w", err)
	}
	defer src.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, src); err != nil {
		return "", fmt.Errorf("copy of memwall: read %s: %w", self, err)
	}
	name := "memwall"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, hex.EncodeToString(hash.Sum(nil)[:8]), name)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("copy of memwall: %w", err)
	}
	data, err := io.ReadAll(src)
	if err == nil {
		err = writeFile(path, data, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("copy of memwall: %w: set MEMWALL_CACHE to a folder that memwall may write", err)
	}
	return path, nil
}
