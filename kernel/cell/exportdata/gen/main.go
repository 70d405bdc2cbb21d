// Command gen writes the export data of the standard library of the Go version that runs it, an archive for each operating
// system, what the documentation says of each exported name, and the source of the generic packages that cells lower.
// It is run by `go generate ./kernel/cell/exportdata`.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"memwall/kernel/cell/exportdata/pack"
)

// systems are the operating systems that memwall is built for.
var systems = []string{"linux", "darwin", "windows"}

// lowered are the packages whose functions are generic and whose source needs nothing of the Go runtime: no table of
// compiled symbols can hold them, so cells lower their source.
var lowered = []string{"cmp", "maps", "slices"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	for _, goos := range systems {
		all, err := pack.List(goos, "std")
		if err != nil {
			return err
		}
		var paths []string
		for p := range all {
			if pack.Visible(p) {
				paths = append(paths, p)
			}
		}
		sort.Strings(paths)
		pkgs, err := pack.Load(all, paths)
		if err != nil {
			return err
		}
		files, err := pack.Types(pkgs)
		if err != nil {
			return err
		}
		files = append(files, pack.File{Name: "VERSION", Data: []byte(runtime.Version())})
		if err := pack.WriteFile("std_"+goos+".zip", files); err != nil {
			return err
		}
		if goos != "linux" {
			continue
		}
		docs, err := pack.Docs(all, paths)
		if err != nil {
			return err
		}
		source, err := sources(all)
		if err != nil {
			return err
		}
		if err := pack.WriteFile("docs.zip", append(docs, source...)); err != nil {
			return err
		}
	}
	return nil
}

func sources(all map[string]*pack.Listed) ([]pack.File, error) {
	var files []pack.File
	for _, path := range lowered {
		l := all[path]
		if l == nil {
			return nil, fmt.Errorf("package %s is not listed", path)
		}
		for _, name := range l.GoFiles {
			b, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			files = append(files, pack.File{Name: path + "/" + strings.TrimSuffix(name, ".go") + ".go", Data: b})
		}
	}
	return files, nil
}
