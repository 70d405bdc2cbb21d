package symbols

import (
	"archive/zip"
	"bytes"
	"go/token"
	"go/types"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"memwall/kernel/cell/exportdata"
	"memwall/kernel/cell/exportdata/pack"
	"memwall/kernel/cell/rt"
	"memwall/kernel/worker/symbols/visible"
)

// importer reads the export data that cells are checked against.
func importer(t *testing.T) *exportdata.Importer {
	t.Helper()
	a, err := Archive()
	if err != nil {
		t.Fatal(err)
	}
	m, err := exportdata.NewImporter(token.NewFileSet(), a)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTablesAreWhole compares each table with the exported names of its package: what a cell may name and lowered text may
// call is in the table. Names of one operating system alone are not.
func TestTablesAreWhole(t *testing.T) {
	m := importer(t)
	missing := 0
	for _, path := range m.Paths() {
		if Refusal(path) != "" || visible.FromSource(path) {
			continue
		}
		p, err := m.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		table := Of(path)
		if table == nil {
			t.Errorf("package %s has no table: run go generate ./kernel/worker/symbols", path)
			continue
		}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() || !runnable(o) {
				continue
			}
			if _, ok := table[name]; !ok {
				missing++
				if path != "os" && path != "net" && path != "os/exec" {
					t.Errorf("%s.%s is not in the table: run go generate ./kernel/worker/symbols", path, name)
				}
			}
		}
		for name := range table {
			if p.Scope().Lookup(strings.TrimPrefix(name, "_")) == nil {
				t.Errorf("%s.%s is in the table but not in the package: run go generate ./kernel/worker/symbols", path, name)
			}
		}
	}
	if missing > 5 {
		t.Errorf("%d names of this operating system are not in the tables", missing)
	}
}

// runnable reports whether lowered text may need an object at run time.
func runnable(o types.Object) bool {
	switch o := o.(type) {
	case *types.Const:
		return false
	case *types.Func:
		return o.Type().(*types.Signature).TypeParams().Len() == 0
	case *types.TypeName:
		switch t := o.Type().(type) {
		case *types.Named:
			if t.TypeParams().Len() > 0 {
				return false
			}
		case *types.Alias:
			if t.TypeParams().Len() > 0 {
				return false
			}
		}
		if it, ok := o.Type().Underlying().(*types.Interface); ok {
			return it.IsMethodSet()
		}
	}
	return true
}

// TestTypesAgree: the compiled types have the fields and methods that the export data says.
func TestTypesAgree(t *testing.T) {
	m := importer(t)
	for _, path := range visible.Packages {
		p, err := m.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range Of(path) {
			o := p.Scope().Lookup(name)
			if strings.HasPrefix(name, "_") || o == nil {
				continue
			}
			switch o := o.(type) {
			case *types.Func:
				sig := o.Type().(*types.Signature)
				if v.Type().NumIn() != sig.Params().Len() || v.Type().NumOut() != sig.Results().Len() {
					t.Errorf("%s.%s is %s, export data says %s: run go generate ./kernel/worker/symbols", path, name, v.Type(), sig)
				}
			case *types.TypeName:
				r := v.Type().Elem()
				if st, ok := o.Type().Underlying().(*types.Struct); ok {
					for i := 0; i < st.NumFields(); i++ {
						f := st.Field(i)
						if rf, ok := r.FieldByName(f.Name()); f.Exported() && (!ok || rf.Type.Kind() == reflect.Invalid) {
							t.Errorf("%s.%s has no field %s: run go generate ./kernel/worker/symbols", path, name, f.Name())
						}
					}
				}
				ms := types.NewMethodSet(types.NewPointer(o.Type()))
				if types.IsInterface(o.Type()) {
					ms = types.NewMethodSet(o.Type())
				} else {
					r = reflect.PointerTo(r)
				}
				for i := 0; i < ms.Len(); i++ {
					if n := ms.At(i).Obj(); n.Exported() {
						if _, ok := r.MethodByName(n.Name()); !ok {
							t.Errorf("%s.%s has no method %s: run go generate ./kernel/worker/symbols", path, name, n.Name())
						}
					}
				}
				if want := ms.Len(); exported(ms) != r.NumMethod() && !o.IsAlias() {
					t.Errorf("%s.%s has %d methods, export data says %d of %d: run go generate ./kernel/worker/symbols", path, name, r.NumMethod(), exported(ms), want)
				}
			}
		}
	}
}

func exported(ms *types.MethodSet) (n int) {
	for i := 0; i < ms.Len(); i++ {
		if ms.At(i).Obj().Exported() {
			n++
		}
	}
	return n
}

// TestWrappers: each wrapper implements its interface, and calls the function that it holds.
func TestWrappers(t *testing.T) {
	n := 0
	for _, path := range Paths() {
		table := Of(path)
		for name, v := range table {
			if !strings.HasPrefix(name, "_") {
				continue
			}
			n++
			iface, w := table[name[1:]].Type().Elem(), v.Type().Elem()
			if !w.Implements(iface) {
				t.Errorf("%s does not implement %s.%s", w, path, name[1:])
			}
			if w.Field(0).Name != "IValue" || w.NumField() != iface.NumMethod()+1 {
				t.Errorf("%s: the fields of a wrapper are IValue and a function for each method", w)
			}
			if got, ok := Wrapper(iface); !ok || got != w {
				t.Errorf("Wrapper(%s) = %v, %v", iface, got, ok)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d wrappers, want those of the whole standard library", n)
	}
}

func TestRefusal(t *testing.T) {
	for path, want := range map[string]string{
		"fmt": "", "slices": "", "memwall/gpu": "", "net/http": "", "crypto/sha256": "",
		"go/ast":     "package go/ast is not for cells: programs that read Go source are rare in notebooks, and its tables would be large",
		"unsafe":     "package unsafe is not for cells: the values of cells are not laid out in memory as the Go compiler lays them out",
		"crypto/tls": "package crypto/tls is not for cells: of crypto only hashes, ciphers and random numbers are in the Jupyter kernel",
	} {
		if got := Refusal(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestExit: a cell that exits must not end the worker.
func TestExit(t *testing.T) {
	for path, call := range map[string]func(Table){
		"os":  func(t Table) { t["Exit"].Call([]reflect.Value{reflect.ValueOf(3)}) },
		"log": func(t Table) { t["Fatalln"].CallSlice([]reflect.Value{reflect.ValueOf([]any{})}) },
	} {
		func() {
			defer func() {
				if e, ok := recover().(rt.Exited); !ok || e.Code != map[string]int{"os": 3, "log": 1}[path] {
					t.Errorf("%s: %v", path, e)
				}
			}()
			call(Of(path))
		}()
	}
}

// TestCurrent makes the export data of memwall's and gonum's packages again and compares: what a package gained, lost or
// changed since the tables were generated is found here.
func TestCurrent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the archive is made on Linux: not compared here")
		return
	}
	all, err := pack.List(runtime.GOOS, visible.Packages...)
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := pack.Load(all, visible.Packages)
	if err != nil {
		t.Fatal(err)
	}
	files, err := pack.Types(pkgs)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(strings.NewReader(packages), int64(len(packages)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		r, err := z.Open(f.Name)
		if err != nil {
			t.Errorf("package %s is missing: run go generate ./kernel/worker/symbols", f.Name)
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, f.Data) {
			t.Errorf("package %s has changed: run go generate ./kernel/worker/symbols", f.Name)
		}
	}
}

// TestVersion: the tables are of the Go version that builds them.
func TestVersion(t *testing.T) {
	s, err := exportdata.Std()
	if err != nil {
		t.Fatal(err)
	}
	if minor(s.Version()) != minor(runtime.Version()) && os.Getenv("GOTOOLCHAIN") == "" {
		t.Logf("tables are of %s, this is %s", s.Version(), runtime.Version())
	}
}

func minor(v string) string {
	if i := strings.LastIndexByte(v, '.'); i > 4 {
		return v[:i]
	}
	return v
}
