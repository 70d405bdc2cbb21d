// Package exportdata gives the type checker of cells the packages that cells import, without a Go toolchain on the user's
// machine: export data of the standard library of the Go version that memwall is built for, embedded in the binary and
// decoded a package at a time, and the source of the few generic packages whose functions are lowered like a cell's own.
//
// Archives are zip files made by package pack; `go generate` makes the standard library's again after a change of the Go
// version.
package exportdata

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"

	_ "embed"
)

//go:generate go run ./gen

//go:embed docs.zip
var docsArchive string

// Archive holds export data and documentation of packages.
type Archive struct {
	files map[string]*zip.File

	mu   sync.Mutex
	docs map[string]map[string]string // import path → name → text
}

// Open reads an archive's table of contents; packages are decoded when they are asked for.
func Open(data string) (*Archive, error) {
	z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("export data: %w", err)
	}
	a := &Archive{files: make(map[string]*zip.File, len(z.File)), docs: map[string]map[string]string{}}
	for _, f := range z.File {
		a.files[f.Name] = f
	}
	return a, nil
}

// std and docs are opened once a process; the embedded bytes are known to be good (a test reads every entry).
var (
	std  = sync.OnceValues(func() (*Archive, error) { return Open(stdArchive) })
	docs = sync.OnceValues(func() (*Archive, error) { return Open(docsArchive) })
)

// Std is the archive of the standard library for the operating system of this binary.
func Std() (*Archive, error) { return std() }

// Version is the Go version whose standard library the archive describes, as in runtime.Version.
func (a *Archive) Version() string {
	b, _, err := a.read("VERSION")
	if err != nil {
		return ""
	}
	return string(b)
}

// maxEntry is far above the largest package's export data: a damaged archive must not ask for all memory.
const maxEntry = 64 << 20

// read returns an entry's bytes; found is false when there is none.
func (a *Archive) read(name string) (b []byte, found bool, err error) {
	f := a.files[name]
	if f == nil {
		return nil, false, nil
	}
	if f.UncompressedSize64 > maxEntry {
		return nil, true, fmt.Errorf("export data of %s: an entry of %d bytes", name, f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return nil, true, fmt.Errorf("export data of %s: %w", name, err)
	}
	defer r.Close()
	b = make([]byte, f.UncompressedSize64)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, true, fmt.Errorf("export data of %s: %w", name, err)
	}
	return b, true, nil
}

// Has reports whether the archive holds a package.
func (a *Archive) Has(path string) bool { return a.files[path] != nil && path != "VERSION" }

// Paths lists the packages, sorted.
func (a *Archive) Paths() []string {
	var ps []string
	for name := range a.files {
		if !strings.HasSuffix(name, ".doc") && !strings.HasSuffix(name, ".go") && name != "VERSION" {
			ps = append(ps, name)
		}
	}
	sort.Strings(ps)
	return ps
}

// doc returns what the package's documentation says of a name.
func (a *Archive) doc(path, name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.docs[path]
	if !ok {
		if b, found, err := a.read(path + ".doc"); err == nil && found {
			if err := json.Unmarshal(b, &m); err != nil {
				m = nil
			}
		}
		a.docs[path] = m
	}
	return m[name]
}
