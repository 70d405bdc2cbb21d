package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
)

// installation is one copy of NVRTC.
type installation struct {
	library string   // path of libnvrtc.so.12
	headers []string // directories of cuda_fp16.h and of cuda/std
	stamp   string   // size and time of the library: changes when it does
}

// howToGet ends every message about a missing compiler.
const howToGet = "CUDA C++ needs NVIDIA's run-time compiler (NVRTC 12): `memwall lab` installs it into the project's Python environment, " +
	"or `pip install nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27` and set MEMWALL_NVRTC " +
	"to the folder that holds %s. The CUDA kernels that memwall ships, and PTX, run without it."

// find looks for the library in $MEMWALL_NVRTC, then in the project's Python environments, then where CUDA toolkits lie.
func find() (*installation, error) {
	name, err := libraryName()
	if err != nil {
		return nil, err
	}
	how := fmt.Sprintf(howToGet, name)
	if set := os.Getenv("MEMWALL_NVRTC"); set != "" {
		if path := libraryUnder(set, name); path != "" {
			return newInstallation(path)
		}
		return nil, fmt.Errorf("nvrtc: MEMWALL_NVRTC is %q, where there is no %s\n%s", set, name, how)
	}
	for _, path := range candidates(name) {
		if isFile(path) {
			return newInstallation(path)
		}
	}
	return nil, errors.New("nvrtc: no CUDA C++ compiler found\n" + how)
}

// libraryName is the file name of NVRTC 12 on this platform.
func libraryName() (string, error) {
	if !canOpen {
		return "", fmt.Errorf("nvrtc: CUDA C++ cannot be compiled on %s/%s: %s\nThe CUDA kernels that memwall ships, and PTX, run here",
			runtime.GOOS, runtime.GOARCH, cannotOpenReason)
	}
	if runtime.GOOS == "windows" {
		return "nvrtc64_120_0.dll", nil
	}
	return "libnvrtc.so.12", nil
}

// libraryUnder finds the library at a path that is the file, its folder, or the root of a Python environment.
func libraryUnder(path, name string) string {
	if isFile(path) {
		return path
	}
	if p := filepath.Join(path, name); isFile(p) {
		return p
	}
	for _, pattern := range environmentPatterns(path, name) {
		for _, p := range newestFirst(pattern) {
			if isFile(p) {
				return p
			}
		}
	}
	return ""
}

// environmentPatterns says where a Python environment keeps the wheel's library.
func environmentPatterns(root, name string) []string {
	if runtime.GOOS == "windows" {
		return []string{filepath.Join(root, "Lib", "site-packages", "nvidia", "cuda_nvrtc", "bin", name)}
	}
	return []string{filepath.Join(root, "lib", "python3.*", "site-packages", "nvidia", "cuda_nvrtc", "lib", name)}
}

// candidates lists the paths to try, best first.
func candidates(name string) []string {
	var paths []string
	if cache, err := cacheRoot(); err == nil {
		for _, pattern := range environmentPatterns(filepath.Join(cache, "python", "*"), name) {
			paths = append(paths, newestFirst(pattern)...)
		}
	}
	var folders []string
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(variable); root != "" {
			folders = append(folders, filepath.Join(root, "lib64"), filepath.Join(root, "lib"), filepath.Join(root, "bin"))
		}
	}
	if runtime.GOOS != "windows" {
		folders = append(folders, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
		folders = append(folders, "/usr/local/cuda/lib64", "/opt/cuda/lib64", "/usr/lib64", "/usr/lib",
			"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")
	}
	for _, folder := range folders {
		if folder != "" {
			paths = append(paths, filepath.Join(folder, name))
		}
	}
	return paths
}

// newestFirst expands a pattern; of several matches the one that changed last comes first.
func newestFirst(pattern string) []string {
	paths, _ := filepath.Glob(pattern) // the only error is a bad pattern: a cache path with a bracket in it matches nothing
	stamp := func(p string) int64 {
		if info, err := os.Stat(p); err == nil {
			return info.ModTime().UnixNano()
		}
		return 0
	}
	sort.SliceStable(paths, func(i, j int) bool { return stamp(paths[i]) > stamp(paths[j]) })
	return paths
}

func newInstallation(library string) (*installation, error) {
	library, err := filepath.Abs(library)
	if err != nil {
		return nil, fmt.Errorf("nvrtc: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(library); err == nil {
		library = resolved
	}
	info, err := os.Stat(library)
	if err != nil {
		return nil, fmt.Errorf("nvrtc: %w", err)
	}
	i := &installation{library: library, stamp: fmt.Sprintf("%s %d %d", library, info.Size(), info.ModTime().UnixNano())}
	folder := filepath.Dir(library)
	for _, c := range []string{
		"../../cuda_runtime/include", "../../cuda_cccl/include", "../../cuda_nvcc/include", // wheels; nvcc's has crt/mma.h
		"../include", "../include/cccl", "../../../include", // toolkits: lib64, targets/x86_64-linux/lib
	} {
		dir := filepath.Join(folder, filepath.FromSlash(c))
		if isFile(filepath.Join(dir, "cuda_fp16.h")) || isDir(filepath.Join(dir, "cuda", "std")) || isFile(filepath.Join(dir, "crt", "mma.h")) {
			i.headers = append(i.headers, dir)
		}
	}
	return i, nil
}

// cacheRoot is $MEMWALL_CACHE, else memwall's folder in the user's cache directory.
func cacheRoot() (string, error) {
	if dir := os.Getenv("MEMWALL_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "memwall"), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// withinHeaders reports whether one of the compiler's own header folders has the file.
func withinHeaders(headers []string, name string) bool {
	for _, dir := range headers {
		if isFile(filepath.Join(dir, filepath.FromSlash(name))) {
			return true
		}
	}
	return false
}
