package gpu

import (
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/ianlancetaylor/demangle"
)

// plainName is an entry's name as C++ source has it, without parameters: "scale<float, 4>" of _Z5scaleIfLi4EEvPT_i; a name
// that is not mangled (extern "C", PTX) stays as it is.
func plainName(mangled string) string {
	name, err := demangle.ToString(mangled, demangle.NoParams, demangle.NoClones)
	if err != nil {
		return mangled
	}
	return name
}

// signature is the name with parameters, which tells overloads apart.
func signature(mangled string) string {
	name, err := demangle.ToString(mangled, demangle.NoClones)
	if err != nil {
		return mangled
	}
	return name
}

// identifier makes a Go identifier of a C++ name: "scale_float_4" of scale<float, 4>, "ns_scale" of ns::scale, "func_" of func.
func identifier(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	joined := strings.Join(parts, "_")
	if token.IsKeyword(joined) || slices.Contains(taken, joined) {
		return joined + "_"
	}
	return joined
}

// taken are names that a variable of a cell cannot have, or that the cell would miss.
var taken = []string{"init", "main", "gpu", "dev", "_", ""}

// Entries gives a Go name for each entry of the module, for variables: the plain name where it is the only one of that
// name, with template arguments where there are several instances, with parameter types where there are overloads.
func (m *Module) Entries() map[string]*Function {
	byName := map[string][]string{} // Go name → PTX names
	for _, mangled := range m.m.Functions() {
		whole := plainName(mangled)
		base, _, _ := strings.Cut(whole, "<")
		for _, name := range slices.Compact([]string{identifier(base), identifier(whole)}) {
			byName[name] = append(byName[name], mangled)
		}
	}
	found := map[string]*Function{}
	put := func(name, mangled string) {
		if f, err := m.m.Function(mangled); err == nil {
			found[name] = &Function{module: m, f: f}
		}
	}
	for name, list := range byName {
		if len(list) == 1 {
			put(name, list[0])
			continue
		}
		for _, mangled := range list {
			if identifier(plainName(mangled)) == name { // an overload
				put(identifier(strings.TrimPrefix(signature(mangled), "void ")), mangled)
			}
		}
	}
	return found
}

// find is the PTX name of an entry that is asked for by its PTX name or its C++ name, "" where there is none or several.
func (m *Module) find(name string) string {
	match := ""
	for _, mangled := range m.m.Functions() {
		whole := plainName(mangled)
		base, _, _ := strings.Cut(whole, "<")
		switch name {
		case mangled:
			return mangled
		case whole, base, signature(mangled), strings.TrimPrefix(signature(mangled), "void "):
			if match != "" {
				return ""
			}
			match = mangled
		}
	}
	return match
}
