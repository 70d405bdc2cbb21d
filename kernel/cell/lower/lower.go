// Package lower prints Go packages in SSA form as the small part of Go that the yaegi interpreter evaluates right.
//
// Each SSA instruction has one template. Control flow is labels and gotos, registers are variables, types are erased: a named
// type becomes its underlying type, a method a function, an interface interface{}, a struct one with fields F0, F1 … Values of
// types that a cell defines travel through interfaces in boxes of the compiled run time (package rt), which also carries
// defer, recover, go, select, map iteration and formatting. What cannot be printed so is refused with a reason and a way
// round: a cell is right or refused, never silently wrong.
package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// RuntimePath is the import path of the compiled run time in lowered text.
const RuntimePath = "memwall/kernel/cell/rt"

// Options are what a session may set.
type Options struct {
	// Carries lists import paths of compiled packages that pass on the interface values they are given without looking into
	// them, beside the standard library's containers, sync and context.
	Carries []string
	// Shows lists import paths of compiled packages that read interface values by reflection, only to show them: they get a
	// plain view of the value under its true field names.
	Shows []string
}

// A Refusal says what a cell may not use, where, why, and what to write instead.
type Refusal struct {
	Pos       token.Pos
	Construct string
	Reason    string
	Way       string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s cannot be used in a cell: %s (%s)", r.Construct, r.Reason, r.Way)
}

// A Unit is one cell's lowered text. Names in it are unique in the session.
type Unit struct {
	Text    string
	Lines   []token.Pos // Lines[i] is the position in the cell of line i+1 of Text
	Imports []string    // compiled packages that Text imports
	Setup   string      // the function to call once after Text was evaluated, before anything else of it
	Init    string      // the function that initialises the cell's package variables
	l       *Lowerer
}

// Function is the lowered name of a function, "" when the unit or an earlier one does not hold it.
func (u *Unit) Function(f *ssa.Function) string { return "" }

// Global is the lowered name of a package variable: it holds a pointer to the variable.
func (u *Unit) Global(g *ssa.Global) string { return "" }

// Commit makes what the unit defines known to later units. Until then the Lowerer is as it was before.
func (u *Unit) Commit() {}

// A Lowerer is the state of one session.
type Lowerer struct {
	prog    *ssa.Program
	options Options
}

// New returns the Lowerer of a session whose packages all belong to prog (built with ssa.InstantiateGenerics).
func New(prog *ssa.Program, o Options) *Lowerer { return &Lowerer{prog: prog, options: o} }

// Package lowers the functions, variables and types of a cell's built package, and the instances of generic functions that it
// needs and no earlier cell did. files are the cell's syntax trees. The error is a *Refusal.
func (l *Lowerer) Package(pkg *ssa.Package, files ...*ast.File) (*Unit, error) { return nil, nil }

// Continue says that a type declared again is the same type at run time: values made as old answer the methods of new.
func (l *Lowerer) Continue(old, new *types.Named) {}

// Bind says that a package variable declared again keeps the storage, and so the value, of an earlier one.
func (l *Lowerer) Bind(new, old *ssa.Global) {}
