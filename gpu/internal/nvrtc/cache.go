package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// cacheVersion changes when a result is made differently from the same request.
const cacheVersion = "1"

// cacheKey names a result by everything that it depends on.
func cacheKey(install *installation, r *request) string {
	data, err := json.Marshal(struct {
		Version, Compiler string
		Headers           []string
		Request           *request
	}{cacheVersion, install.stamp, install.headers, r})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// entry is what a cache file holds; Sum guards against a half-written or edited one.
type entry struct {
	Sum    string
	Result json.RawMessage
}

func cachePath(key string) (string, bool) {
	root, err := cacheRoot()
	if err != nil || key == "" {
		return "", false
	}
	return filepath.Join(root, "nvrtc", key[:2], key+".json"), true
}

// cacheLoad is nil where there is no sound entry.
func cacheLoad(key string) *Result {
	path, ok := cachePath(key)
	if !ok {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var e entry
	var r Result
	if json.Unmarshal(data, &e) != nil || e.Sum != sumOf(e.Result) || json.Unmarshal(e.Result, &r) != nil || r.PTX == "" {
		return nil
	}
	r.Cached = true
	return &r
}

// cacheStore writes an entry whole or not at all; a cache that cannot be written is no error, only slower.
func cacheStore(key string, r *Result) {
	path, ok := cachePath(key)
	if !ok {
		return
	}
	result, err := json.Marshal(r)
	if err != nil {
		return
	}
	data, err := json.Marshal(entry{sumOf(result), result})
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err != nil || closeErr != nil || os.Rename(file.Name(), path) != nil {
		os.Remove(file.Name())
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
