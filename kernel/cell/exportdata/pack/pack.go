// Package pack writes archives of export data, which package exportdata reads: a zip file with one entry a package (the
// types that its importers see, in the indexed format of golang.org/x/tools/go/gcexportdata) and one with what the
// package's documentation says of each exported name. Only generators use it.
package pack

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// Listed is what `go list` says of a package.
type Listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string
	GoFiles    []string
	Standard   bool
}

// List runs `go list -export -deps` for one operating system, without cgo, and returns every package by path.
func List(goos string, patterns ...string) (map[string]*Listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,Standard"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list for %s: %w\n%s", goos, err, errs.String())
	}
	all := map[string]*Listed{}
	for dec := json.NewDecoder(&out); ; {
		p := new(Listed)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", goos, err)
		}
		all[p.ImportPath] = p
	}
}

// Visible reports whether code outside the standard library may import the path.
func Visible(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == "internal" || part == "vendor" {
			return false
		}
	}
	return path != "unsafe" && path != "builtin" && !strings.HasPrefix(path, "cmd/")
}

// Load reads the types of the packages from the compiler's export data.
func Load(all map[string]*Listed, paths []string) ([]*types.Package, error) {
	fset := token.NewFileSet()
	seen := map[string]*types.Package{"unsafe": types.Unsafe}
	var pkgs []*types.Package
	for _, path := range paths {
		p := seen[path]
		if p == nil || !p.Complete() {
			l := all[path]
			if l == nil || l.Export == "" {
				return nil, fmt.Errorf("package %s has no export data", path)
			}
			var err error
			if p, err = loadFile(fset, seen, path, l.Export); err != nil {
				return nil, err
			}
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
}

func loadFile(fset *token.FileSet, seen map[string]*types.Package, path, file string) (*types.Package, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("export data of %s: %w", path, err)
	}
	return gcexportdata.Read(r, fset, seen, path)
}

// File is one entry of an archive.
type File struct {
	Name string
	Data []byte
}

// Types encodes the packages, without positions: a cell cannot show the text of a compiled package.
func Types(pkgs []*types.Package) ([]File, error) {
	var files []File
	for _, p := range pkgs {
		var b bytes.Buffer
		if err := gcexportdata.Write(&b, token.NewFileSet(), p); err != nil {
			return nil, fmt.Errorf("export data of %s: %w", p.Path(), err)
		}
		files = append(files, File{p.Path(), b.Bytes()})
	}
	return files, nil
}

// Docs encodes the first paragraph that the packages say of each exported name: a JSON object, name (or Type.Method) → text.
func Docs(all map[string]*Listed, paths []string) ([]File, error) {
	var files []File
	for _, path := range paths {
		l := all[path]
		if l == nil {
			return nil, fmt.Errorf("package %s is not listed", path)
		}
		text, err := docOf(l)
		if err != nil {
			return nil, fmt.Errorf("documentation of %s: %w", path, err)
		}
		b, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		files = append(files, File{path + ".doc", b})
	}
	return files, nil
}

func docOf(l *Listed) (map[string]string, error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	text := map[string]string{}
	if len(parsed) == 0 {
		return text, nil
	}
	p, err := doc.NewFromFiles(fset, parsed, l.ImportPath)
	if err != nil {
		return nil, err
	}
	put := func(name, s string) {
		if s = paragraph(s); s != "" {
			text[name] = s
		}
	}
	put("", p.Doc)
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			for _, n := range v.Names {
				put(n, v.Doc)
			}
		}
	}
	funcs := func(fs []*doc.Func, prefix string) {
		for _, f := range fs {
			put(prefix+f.Name, f.Doc)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs, "")
	for _, t := range p.Types {
		put(t.Name, t.Doc)
		values(t.Consts)
		values(t.Vars)
		funcs(t.Funcs, "")
		funcs(t.Methods, t.Name+".")
	}
	return text, nil
}

// paragraph is the first paragraph of a comment on one line.
func paragraph(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n\n")
	return strings.Join(strings.Fields(s), " ")
}

// Write writes an archive that is the same for the same files, in whatever order they come.
func Write(w io.Writer, files []File) error {
	files = append([]File{}, files...)
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range files {
		e, err := z.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := e.Write(f.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

// WriteFile replaces a file by an archive.
func WriteFile(name string, files []File) error {
	var b bytes.Buffer
	if err := Write(&b, files); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}
