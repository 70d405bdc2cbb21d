package gpu

import (
	"fmt"
	"regexp"
	"strings"

	"memwall/gpu/internal/driver"
)

// Parameters lists the entry's parameters as its CUDA C++ declares them, "const float *x", with the types of an instance of a
// template, where the module's source is known; else by their types in a mangled name, "float*"; else as the PTX does: "x .u64".
func (f *Function) Parameters() []string {
	params := f.f.Params()
	own, mangled := f.module.declared(f.f.Name(), len(params)), mangledTypes(f.f.Name())
	switch {
	case len(mangled) != len(params) || own != nil && !strings.Contains(plainName(f.f.Name()), "<"):
		if own != nil {
			return own
		}
	case own == nil: // an overload, or PTX without a source
		return mangled
	default:
		for i, declaration := range own {
			own[i] = instance(declaration, mangled[i])
		}
		return own
	}
	var out []string
	for _, p := range params {
		out = append(out, parameterName(p))
	}
	return out
}

// instance is the declaration "T *x" with the type that a template's argument gave it: "float *x".
func instance(declaration, mangled string) string {
	m := declaredName.FindStringSubmatch(declaration)
	if m == nil || strings.ContainsAny(declaration, "(<") {
		return declaration
	}
	if to, pointer := strings.CutSuffix(mangled, "*"); pointer {
		return to + " *" + m[1]
	}
	return mangled + " " + m[1]
}

// declaredName is the name at the end of a parameter's declaration that has a type before it.
var declaredName = regexp.MustCompile(`[\w*&\]]\s*[ *&](\w+)(?:\s*\[\w*\])*$`)

// numbered are the names that compilers give parameters: they say no more than the position.
var numbered = regexp.MustCompile(`(^|_)param_\d+$`)

// parameterName is "x .u64", without the name where a compiler made it; an array is "args .b8[16]".
func parameterName(p driver.Param) string {
	name := "." + p.Type
	if !numbered.MatchString(p.Name) {
		name = strings.TrimSpace(p.Name + " ." + p.Type)
	}
	if n := typeBytes(p.Type); n > 0 && p.Size > n {
		name += fmt.Sprintf("[%d]", p.Size/n)
	}
	return name
}

// declared is how the module's sources declare the parameters of an entry; nil where they are not known, or not which of
// several overloads it is.
func (m *Module) declared(entry string, count int) []string {
	base, _, _ := strings.Cut(plainName(entry), "<")
	if i := strings.LastIndex(base, "::"); i >= 0 {
		base = base[i+2:]
	}
	var found []string
	for _, text := range m.sources {
		for _, list := range declarations(text, base) {
			switch {
			case len(list) != count:
			case found == nil:
				found = list
			case strings.Join(found, ",") != strings.Join(list, ","):
				return nil
			}
		}
	}
	return found
}

var globalMark = regexp.MustCompile(`\b__global__\b`)

// declarations are the parameter lists of each __global__ function of a name in CUDA C++ text.
func declarations(text, name string) (all [][]string) {
	text = withoutComments(text)
	for _, at := range globalMark.FindAllStringIndex(text, -1) {
		if strings.HasSuffix(strings.TrimRight(text[:at[0]], " \t\r\n"), "template") {
			continue // an instantiation, whose parameters have no names
		}
		rest := text[at[1]:]
		if end := strings.IndexAny(rest, "{;"); end >= 0 {
			rest = rest[:end]
		}
		call := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*(<[^()]*>)?\s*\(`).FindStringIndex(rest)
		if call == nil {
			continue
		}
		if list, ok := parameterList(rest[call[1]:]); ok {
			all = append(all, list)
		}
	}
	return all
}

// parameterList splits "float a, const float *x) …" at the commas outside brackets, up to the closing bracket.
func parameterList(s string) (list []string, ok bool) {
	depth, from := 0, 0
	take := func(to int) {
		p, _, _ := strings.Cut(s[from:to], "=")
		if p = strings.Join(strings.Fields(strings.NewReplacer("__restrict__", "", "__grid_constant__", "").Replace(p)), " "); p != "" && p != "void" {
			list = append(list, strings.ReplaceAll(p, "* ", "*"))
		}
		from = to + 1
	}
	for i, c := range s {
		switch c {
		case '(', '<', '[':
			depth++
		case '>', ']':
			depth--
		case ')':
			if depth--; depth < 0 {
				take(i)
				return list, true
			}
		case ',':
			if depth == 0 {
				take(i)
			}
		}
	}
	return nil, false
}

var comment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)

func withoutComments(text string) string { return comment.ReplaceAllString(text, " ") }
