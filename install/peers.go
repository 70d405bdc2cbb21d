package install

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

//go:embed peers.txt
var peerRequirements []byte

var peerEnvironment = environment{peerRequirements, "PoCL is being fetched (about 90 MB, once)"}

// PeerPython returns the interpreter of a Python environment with PoCL, which `memwall bench vgpu` compares with; it is made
// first where it is missing and fetch is set.
func PeerPython(ctx context.Context, fetch bool, progress func(string)) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("the pinned package of PoCL is for linux/amd64, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if python, ok := peerEnvironment.find(); ok {
		return python, nil
	}
	if !fetch {
		return "", errors.New("it has not been fetched: memwall bench vgpu --peers does it")
	}
	return peerEnvironment.python(ctx, progress)
}

// PeerCrate builds a Rust program from its files with cargo, into the cache, and returns the binary, which is named name. One
// that was built from the same files is taken as it is; without fetch nothing is built.
func PeerCrate(ctx context.Context, name string, files map[string][]byte, fetch bool, progress func(string)) (string, error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(hash, "%s %d\n%s", path, len(files[path]), files[path])
	}
	dir := filepath.Join(cache, "peers", name+"-"+hex.EncodeToString(hash.Sum(nil)[:6]))
	binary := filepath.Join(dir, "target", "release", name)
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if _, err := os.Stat(binary); err == nil { // cargo puts it there whole, by a link
		return binary, nil
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		return "", errors.New("cargo is not on PATH: get it from https://rustup.rs")
	}
	if !fetch {
		return "", errors.New("it has not been built: memwall bench vgpu --peers does it")
	}
	unlock, err := Lock(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	for path, data := range files {
		if err := writeFile(filepath.Join(dir, path), data, 0o644); err != nil {
			return "", err
		}
	}
	progress(name + ": cargo builds it (about 20 s, once)")
	cmd := exec.CommandContext(ctx, cargo, "build", "--release", "--locked", "--quiet")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cargo could not build %s: %w: %s", name, err, tail(out, 3))
	}
	return binary, nil
}
