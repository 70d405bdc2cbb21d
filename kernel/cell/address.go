package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// addressed finds the variables of the session whose address the cell takes: &x, x[:] of an array, a method with a pointer
// receiver called on x. Such a variable is made anew when a cell declares it again, as Go's := does; others keep their place,
// since nothing can tell the difference.
func (c *compilation) addressed() map[string]bool {
	names := map[string]bool{}
	mark := func(e ast.Expr) {
		if id := c.root(e); id != nil {
			if o := c.info.Uses[id]; o != nil && global(o) {
				names[id.Name] = true
			}
		}
	}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.SliceExpr:
				if t := c.info.Types[n.X].Type; t != nil {
					if _, ok := t.Underlying().(*types.Array); ok {
						mark(n.X)
					}
				}
			case *ast.SelectorExpr:
				s := c.info.Selections[n]
				if s == nil || s.Kind() != types.MethodVal {
					return true
				}
				f, ok := s.Obj().(*types.Func)
				if !ok {
					return true
				}
				_, pointer := f.Type().(*types.Signature).Recv().Type().(*types.Pointer)
				if _, already := s.Recv().Underlying().(*types.Pointer); pointer && !already {
					mark(n.X)
				}
			}
			return true
		})
	}
	return names
}

// root is the variable that an addressable expression is a part of, nil when a pointer or a slice leads to it.
func (c *compilation) root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			s := c.info.Selections[x]
			if s == nil || s.Indirect() {
				return nil
			}
			e = x.X
		case *ast.IndexExpr:
			t := c.info.Types[x.X].Type
			if t == nil {
				return nil
			}
			if _, ok := t.Underlying().(*types.Array); !ok {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// global reports whether an object is a variable of a cell's top level.
func global(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == mainPath && v.Parent() == v.Pkg().Scope()
}
