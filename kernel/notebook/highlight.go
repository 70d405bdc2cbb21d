package notebook

import (
	"bytes"
	"html"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
)

// Only Go, CUDA C++ and the shell are highlighted, by rules of our own: chroma's package of all lexers costs every memwall
// process 10 ms at its start, whether it renders a page or not.
const (
	goKeywords = `break|case|chan|const|continue|default|defer|else|fallthrough|for|func|go|goto|if|import|interface|map|package|range|return|select|struct|switch|type|var`
	goTypes    = `any|bool|byte|comparable|complex64|complex128|error|float32|float64|int|int8|int16|int32|int64|rune|string|uint|uint8|uint16|uint32|uint64|uintptr`
	goBuiltins = `append|cap|clear|close|complex|copy|delete|imag|len|make|max|min|new|panic|print|println|real|recover`
	cKeywords  = `alignas|alignof|asm|auto|break|case|const|constexpr|continue|default|do|else|enum|extern|for|goto|if|inline|namespace|nullptr|operator|private|public|register|reinterpret_cast|restrict|return|sizeof|static|static_cast|struct|switch|template|this|typedef|typename|union|using|virtual|volatile|while`
	cTypes     = `bool|char|double|float|float2|float4|half|half2|__half|__half2|__nv_bfloat16|int|int2|int4|long|short|signed|size_t|uint2|uint4|unsigned|void|wchar_t|u?int(8|16|32|64)_t`
	cudaWords  = `__global__|__device__|__host__|__shared__|__constant__|__restrict__|__launch_bounds__|__forceinline__|__align__|__syncthreads|threadIdx|blockIdx|blockDim|gridDim|warpSize`
)

// words matches whole words of a list.
func words(list string) string { return `\b(` + list + `)\b` }

func goRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `^%[^\n]*`, Type: chroma.CommentPreproc},
		{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
		{Pattern: `/\*(.|\n)*?\*/`, Type: chroma.CommentMultiline},
		{Pattern: "`[^`]*`", Type: chroma.LiteralString},
		{Pattern: `"(\\.|[^"\\\n])*"`, Type: chroma.LiteralString},
		{Pattern: `'(\\.[^'\n]*|[^'\\\n])'`, Type: chroma.LiteralStringChar},
		{Pattern: words(`true|false|nil|iota`), Type: chroma.KeywordConstant},
		{Pattern: words(goKeywords), Type: chroma.Keyword},
		{Pattern: words(goTypes), Type: chroma.KeywordType},
		{Pattern: words(goBuiltins) + `(?=\()`, Type: chroma.NameBuiltin},
		{Pattern: `0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(\d[\d_]*)?\.?\d[\d_]*([eE][-+]?\d+)?i?`, Type: chroma.LiteralNumber},
		{Pattern: `[\p{L}_][\p{L}\p{Nd}_]*(?=\()`, Type: chroma.NameFunction},
		{Pattern: `[\p{L}_][\p{L}\p{Nd}_]*`, Type: chroma.Name},
		{Pattern: `[-+*/%&|^<>=!:~]+`, Type: chroma.Operator},
		{Pattern: `[\[\](){}.,;]`, Type: chroma.Punctuation},
		{Pattern: `\s+`, Type: chroma.TextWhitespace},
	}}
}

func cudaRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `^(%%|#)[^\n]*`, Type: chroma.CommentPreproc},
		{Pattern: `//[^\n]*`, Type: chroma.CommentSingle},
		{Pattern: `/\*(.|\n)*?\*/`, Type: chroma.CommentMultiline},
		{Pattern: `"(\\.|[^"\\\n])*"`, Type: chroma.LiteralString},
		{Pattern: `'(\\.|[^'\\\n])+'`, Type: chroma.LiteralStringChar},
		{Pattern: words(`true|false|nullptr`), Type: chroma.KeywordConstant},
		{Pattern: words(cudaWords), Type: chroma.NameBuiltin},
		{Pattern: words(cKeywords), Type: chroma.Keyword},
		{Pattern: words(cTypes), Type: chroma.KeywordType},
		{Pattern: `0[xX][\da-fA-F]+[uUlL]*|(\d+\.\d*|\.?\d+)([eE][-+]?\d+)?[fFuUlL]*`, Type: chroma.LiteralNumber},
		{Pattern: `[A-Za-z_]\w*(?=\()`, Type: chroma.NameFunction},
		{Pattern: `[A-Za-z_]\w*`, Type: chroma.Name},
		{Pattern: `[-+*/%&|^<>=!~?:]+`, Type: chroma.Operator},
		{Pattern: `[\[\](){}.,;]`, Type: chroma.Punctuation},
		{Pattern: `\s+`, Type: chroma.TextWhitespace},
	}}
}

func shellRules() chroma.Rules {
	return chroma.Rules{"root": {
		{Pattern: `#[^\n]*`, Type: chroma.CommentSingle},
		{Pattern: `"(\\.|[^"\\])*"|'[^']*'`, Type: chroma.LiteralString},
		{Pattern: `\$(\w+|\{[^}]*\})`, Type: chroma.NameVariable},
		{Pattern: words(`if|then|else|elif|fi|for|in|do|done|while|case|esac|export|function`), Type: chroma.Keyword},
		{Pattern: `[^\s"'$#]+`, Type: chroma.Text},
		{Pattern: `[$#"']`, Type: chroma.Text},
		{Pattern: `\s+`, Type: chroma.TextWhitespace},
	}}
}

// lexersByName are made when the first page needs them.
var lexersByName = sync.OnceValue(func() map[string]chroma.Lexer {
	out := map[string]chroma.Lexer{}
	for _, l := range []struct {
		names []string
		rules func() chroma.Rules
	}{
		{[]string{"go", "golang"}, goRules},
		{[]string{"cuda", "c++", "cpp", "c"}, cudaRules},
		{[]string{"sh", "bash", "shell", "console"}, shellRules},
	} {
		lexer, err := chroma.NewLexer(&chroma.Config{Name: l.names[0]}, l.rules)
		if err != nil {
			continue // its language stays plain
		}
		for _, n := range l.names {
			out[n] = chroma.Coalesce(lexer)
		}
	}
	return out
})

// codeColours are those of code on a light and on a dark page.
var codeColours = [2]chroma.StyleEntries{
	{
		chroma.Comment: "#6a737d", chroma.CommentPreproc: "#8a4600", chroma.Keyword: "#b3202f", chroma.KeywordConstant: "#0550ae",
		chroma.KeywordType: "#8a4600", chroma.NameFunction: "#6639ba", chroma.NameBuiltin: "#0550ae", chroma.NameVariable: "#8a4600",
		chroma.LiteralString: "#0a3069", chroma.LiteralNumber: "#0550ae",
	},
	{
		chroma.Comment: "#8b949e", chroma.CommentPreproc: "#ffa657", chroma.Keyword: "#ff7b72", chroma.KeywordConstant: "#79c0ff",
		chroma.KeywordType: "#ffa657", chroma.NameFunction: "#d2a8ff", chroma.NameBuiltin: "#79c0ff", chroma.NameVariable: "#ffa657",
		chroma.LiteralString: "#a5d6ff", chroma.LiteralNumber: "#79c0ff",
	},
}

var formatter = sync.OnceValue(func() *chromahtml.Formatter { return chromahtml.New(chromahtml.WithClasses(true)) })

// style is the light or the dark style.
func style(dark int) (*chroma.Style, error) {
	return chroma.NewStyle([...]string{"light", "dark"}[dark], codeColours[dark])
}

// codeStyle writes the classes of highlighted code for both schemes.
func codeStyle(b *bytes.Buffer) error {
	for dark := range codeColours {
		s, err := style(dark)
		if err != nil {
			return err
		}
		if dark == 1 {
			b.WriteString("@media(prefers-color-scheme:dark){")
		}
		if err := formatter().WriteCSS(b, s); err != nil {
			return err
		}
	}
	b.WriteString("}\n")
	return nil
}

// highlight is source as HTML with classes; plain where the language is unknown.
func highlight(source, language string) string {
	source = strings.TrimRight(source, "\n")
	plain := "<pre class=\"chroma\">" + html.EscapeString(source) + "</pre>\n"
	lexer := lexersByName()[strings.ToLower(language)]
	if lexer == nil {
		return plain
	}
	tokens, err := lexer.Tokenise(nil, source)
	if err != nil {
		return plain
	}
	s, err := style(0)
	if err != nil {
		return plain
	}
	var b strings.Builder
	if err := formatter().Format(&b, s, tokens); err != nil {
		return plain
	}
	return b.String() + "\n"
}

// languageOf looks at the magic in a cell's first line.
func languageOf(source, language string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(source), "\n")
	switch {
	case strings.HasPrefix(first, "%%cuda"):
		return "cuda"
	case strings.HasPrefix(first, "%%ptx"):
		return ""
	}
	return language
}
