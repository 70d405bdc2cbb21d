package gpu

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ianlancetaylor/demangle"
)

// cType is what is known of a parameter's C++ type. The zero value is a type that says nothing, such as a structure's.
type cType struct {
	text    string // as messages name it: "float *"
	pointer bool
	name    string // of the type, or of what it points to: "unsigned int"; "" where it is not known
}

// known is the row of the table for the type or what it points to.
func (c cType) known() (cElement, bool) {
	e, ok := cElements[c.name]
	return e, ok
}

// cElement is what a C++ type can hold.
type cElement struct {
	number  DType   // as which a number of this type is encoded; 0 for types that are no numbers
	of      []DType // the element types that a pointer to it may point to; nil for any
	raw     bool    // and bits: of floats as wide, of all narrower elements, several to one, and of blocks
	packed  bool    // and elements of one byte, several to one, and blocks
	address bool    // an integer that may be an address
}

func (e cElement) takes(t DType) bool {
	switch {
	case e.of == nil || slices.Contains(e.of, t):
		return true
	case !t.plain(), t.Bytes() == 1:
		return e.raw || e.packed
	case t.Bytes() < e.of[0].Bytes():
		return e.raw
	}
	return e.raw && t.Float() && t.Bytes() == e.of[0].Bytes()
}

// cElements has a row a type that a launch can check. Bytes and the vectors by which kernels move memory point to anything;
// signed and unsigned integers stand for each other; unsigned ones also for the bits of floats and of what is packed into
// them, and int for bytes, four to one, as __dp4a takes them. Narrow floats may lie in unsigned integers of their width, as
// files give them. A name that has no row, a structure's, is not checked.
var cElements = func() map[string]cElement {
	long := []DType{I64, U64}
	if runtime.GOOS == "windows" {
		long = []DType{I32, U32}
	}
	small := []DType{I8, U8, E4M3, E5M2}
	rows := map[string]cElement{
		"void":  {},
		"float": {number: F32, of: []DType{F32}}, "double": {number: F64, of: []DType{F64}},
		"__half": {number: F16, of: []DType{F16, U16}}, "__nv_bfloat16": {number: BF16, of: []DType{BF16, U16}},
		"__half2": {of: []DType{F16, U16}}, "__nv_bfloat162": {of: []DType{BF16, U16}},
		"float2": {}, "float3": {of: []DType{F32}}, "float4": {}, "double2": {},
		"bool": {of: []DType{I8, U8}}, "char": {number: I8}, "unsigned char": {number: U8}, "signed char": {number: I8, of: small, packed: true},
		"short": {number: I16, of: []DType{I16, U16}}, "unsigned short": {number: U16, of: []DType{U16, I16}, raw: true},
		"int": {number: I32, of: []DType{I32, U32}, packed: true}, "unsigned int": {number: U32, of: []DType{U32, I32}, raw: true},
		"long": {number: long[0], of: long}, "unsigned long": {number: long[1], of: []DType{long[1], long[0]}, raw: true, address: true},
		"long long": {number: I64, of: []DType{I64, U64}}, "unsigned long long": {number: U64, of: []DType{U64, I64}, raw: true, address: true},
		"size_t":        {number: U64, of: []DType{U64, I64}},
		"__nv_fp8_e4m3": {of: []DType{E4M3, U8}}, "__nv_fp8_e5m2": {of: []DType{E5M2, U8}},
	}
	for _, fp8 := range []string{"__nv_fp8x2_", "__nv_fp8x4_"} {
		rows[fp8+"e4m3"], rows[fp8+"e5m2"] = rows["__nv_fp8_e4m3"], rows["__nv_fp8_e5m2"]
	}
	return rows
}()

// cAliases are the names that CUDA's headers give to types of the table.
var cAliases = map[string]string{
	"half": "__half", "half2": "__half2", "nv_bfloat16": "__nv_bfloat16", "nv_bfloat162": "__nv_bfloat162",
	"int8_t": "signed char", "uint8_t": "unsigned char", "uchar": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short", "ushort": "unsigned short",
	"int32_t": "int", "uint32_t": "unsigned int", "uint": "unsigned int", "int64_t": "long long", "uint64_t": "unsigned long long",
	"ptrdiff_t": "long long", "__nv_fp8_storage_t": "unsigned char", "__half_raw": "unsigned short", "__nv_bfloat16_raw": "unsigned short",
}

var (
	cToken = regexp.MustCompile(`[\w:]+|[*&(\[<>,]`)
	// cNoise are words of a declaration that say nothing of the type.
	cNoise = []string{"const", "volatile", "restrict", "__restrict", "__restrict__", "__grid_constant__", "typename", "struct", "register"}
	// cWords are those that together name a built-in integer type.
	cWords = []string{"unsigned", "signed", "char", "short", "int", "long"}
)

// parseType reads a type with or without a parameter's name behind it: "const float *x", "unsigned long long n", "half const*".
// Names that the source gives to types are resolved by aliases.
func parseType(text string, aliases map[string]string) cType {
	return parseAlias(text, aliases, 0)
}

func parseAlias(text string, aliases map[string]string, depth int) cType {
	var words []string
	stars := 0
tokens:
	for _, token := range cToken.FindAllString(text, -1) {
		switch {
		case token == "*":
			stars++
		case token == "[":
			stars++
			break tokens // the extents say nothing more
		case strings.ContainsAny(token, "&(<>,"):
			return cType{} // references, functions, class templates
		case slices.Contains(cNoise, token):
		case stars == 0:
			words = append(words, strings.TrimPrefix(strings.TrimPrefix(token, "::"), "std::"))
		}
	}
	if len(words) == 0 || stars > 1 {
		return cType{}
	}
	c := cType{pointer: stars == 1}
	builtin := 0
	if strings.Contains(strings.Join(words, " "), "__int128") || slices.Contains(words, "long") && slices.Contains(words, "double") {
		return cType{}
	}
	for builtin < len(words) && slices.Contains(cWords, words[builtin]) {
		builtin++
	}
	if builtin > 0 {
		c.name, c.text = integerName(words[:builtin]), strings.Join(words[:builtin], " ")
	} else {
		c.name, c.text = words[0], words[0]
	}
	if c.pointer {
		c.text += " *"
	}
	if own, ok := aliases[c.name]; ok && depth < mostAliases {
		to := parseAlias(own, aliases, depth+1)
		if to.pointer && c.pointer {
			return cType{}
		}
		c.pointer, c.name = c.pointer || to.pointer, to.name
	} else if common, ok := cAliases[c.name]; ok {
		c.name = common
	}
	return c
}

// mostAliases ends a circle of names.
const mostAliases = 8

// integerName is the one name of a type that C++ lets be written in many ways: "unsigned int" of unsigned, "long" of long int.
func integerName(words []string) string {
	count := func(word string) (n int) {
		for _, w := range words {
			if w == word {
				n++
			}
		}
		return n
	}
	sign, base := "", "int"
	if count("unsigned") > 0 {
		sign = "unsigned "
	}
	switch {
	case count("char") > 0:
		if base = "char"; count("signed") > 0 {
			sign = "signed "
		}
	case count("short") > 0:
		base = "short"
	case count("long") > 1:
		base = "long long"
	case count("long") == 1:
		base = "long"
	}
	return sign + base
}

// types are the C++ types of an entry's parameters: by its mangled name, which holds those of overloads and instances of
// templates, else by the module's source; nil where neither says them.
func (m *Module) types(entry string, count int) []cType {
	m.typesOf.Lock()
	defer m.typesOf.Unlock()
	if found, ok := m.typesOf.entries[entry]; ok {
		return found
	}
	var found []cType
	texts := mangledTypes(entry)
	aliases := map[string]string{}
	if len(texts) != count {
		texts, aliases = m.declared(entry, count), m.aliases()
	}
	for _, text := range texts {
		found = append(found, parseType(text, aliases))
	}
	if m.typesOf.entries == nil {
		m.typesOf.entries = map[string][]cType{}
	}
	m.typesOf.entries[entry] = found
	return found
}

// typesOf remembers the types of a module's entries.
type typesOf struct {
	sync.Mutex
	entries map[string][]cType
}

// mangledTypes are the parameter types in a mangled name: "float*", "int" of _Z5scaleIfEvPT_i.
func mangledTypes(entry string) (types []string) {
	tree, err := demangle.ToAST(entry, demangle.NoClones)
	if err != nil {
		return nil
	}
	typed, ok := tree.(*demangle.Typed)
	if !ok {
		return nil
	}
	f, ok := typed.Type.(*demangle.FunctionType)
	if !ok {
		return nil
	}
	for _, arg := range f.Args {
		if text := demangle.ASTToString(arg); text != "void" {
			types = append(types, text)
		}
	}
	return types
}

var (
	typedefLine = regexp.MustCompile(`\btypedef\s+([^;{}()]+?[\s*])(\w+)\s*;`)
	usingLine   = regexp.MustCompile(`\busing\s+(\w+)\s*=\s*([^;{}()]+);`)
	// structureLine is a definition, not a use: a body or bases follow.
	structureLine = regexp.MustCompile(`\b(?:struct|class|union|enum)\s+(\w+)\s*[:{]`)
	defineLine    = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([\w:* \t]+)$`)
)

// noType is what a name stands for that is not to be checked.
const noType = "…"

// aliases are the names that the module's sources give to types outside of functions. A name that stands for two types, that
// the preprocessor chooses (#if), or that a structure has, is no type that can be checked, whatever CUDA's headers call so.
func (m *Module) aliases() map[string]string {
	found := map[string]string{}
	put := func(name, text string) {
		if text = strings.TrimSpace(text); found[name] != "" && found[name] != text {
			text = noType
		}
		found[name] = text
	}
	for _, source := range m.sources {
		text := withoutComments(source)
		outside := outsideBraces(text)
		chosen := strings.Contains(text, "#if")
		for _, names := range []struct {
			line        *regexp.Regexp
			in          string
			name, type_ int
		}{{typedefLine, outside, 2, 1}, {usingLine, outside, 1, 2}, {defineLine, text, 1, 2}, {structureLine, text, 1, 0}} {
			for _, d := range names.line.FindAllStringSubmatch(names.in, -1) {
				if chosen || names.type_ == 0 {
					put(d[names.name], noType)
				} else {
					put(d[names.name], d[names.type_])
				}
			}
		}
	}
	return found
}

// outsideBraces is the text at the top level, and in namespaces and extern "C" { … }.
func outsideBraces(text string) string {
	var b strings.Builder
	var inner []bool // of each open brace: whether what is in it is left out
	from := 0        // of the words before a brace
	for i, c := range text {
		hidden := len(inner) > 0 && inner[len(inner)-1]
		switch c {
		case '{':
			before := text[from:i]
			inner = append(inner, hidden || !strings.Contains(before, "namespace") && !strings.Contains(before, `extern "C"`))
		case '}':
			if len(inner) > 0 {
				inner = inner[:len(inner)-1]
			}
		}
		if c == '{' || c == '}' || c == ';' {
			from = i + 1
		}
		if !hidden {
			b.WriteRune(c)
		}
	}
	return b.String()
}
