package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Sources type-checks the packages that are lowered from their sources, because their functions are generic, and replaces
// generic parts of compiled packages.
type Sources struct{}

// NewSources prepares the sources. packages is the map of packages that the caller's importer fills (as gcexportdata.Read
// does): the types of package iter must be in it before export data that mentions them is read. fallback imports all else.
func NewSources(fset *token.FileSet, packages map[string]*types.Package, fallback types.Importer) (*Sources, error) {
	return &Sources{}, nil
}

// Import implements types.Importer: from source where that is needed, else through the fallback.
func (s *Sources) Import(path string) (*types.Package, error) { return nil, nil }

// Rewrite redirects uses of generic names of compiled packages (sync.OnceValue, atomic.Pointer) in a cell's file, before it is
// type-checked.
func (s *Sources) Rewrite(f *ast.File) {}

// Create makes the SSA packages of all that pkg imports, directly or not, which prog does not have yet.
func (s *Sources) Create(prog *ssa.Program, pkg *types.Package) {}
