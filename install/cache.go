package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Cache is the project's cache folder: $MEMWALL_CACHE, else memwall in the user's cache folder.
func Cache() (string, error) {
	if dir := os.Getenv("MEMWALL_CACHE"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("MEMWALL_CACHE %q: %w", dir, err)
		}
		return abs, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w: set MEMWALL_CACHE to a folder that memwall may write", err)
	}
	return filepath.Join(dir, "memwall"), nil
}

// keepOutputs is how long output that was too long for a notebook stays in the cache.
const keepOutputs = 7 * 24 * time.Hour

// Outputs is the folder for output that is too long for a notebook. Files of last week and before are removed.
func Outputs() (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "outputs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("folder for long output: %w: set MEMWALL_CACHE to a folder that memwall may write", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("folder for long output: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepOutputs {
			os.Remove(filepath.Join(dir, e.Name())) // another process may have removed it already
		}
	}
	return dir, nil
}

// writeFile writes a file whole or not at all: a reader never sees a part of it.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Lock waits for an exclusive lock on a file, which it creates, and returns the function that frees it. The system frees it
// too when the process ends, however it ends.
func Lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock: %w: set MEMWALL_CACHE to a folder that memwall may write", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w: set MEMWALL_CACHE to a folder that memwall may write", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return func() { f.Close() }, nil
}
