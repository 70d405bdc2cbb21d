package worker

import (
	"go/scanner"
	"go/token"
	"strings"

	"memwall/gpu/exercise"
	"memwall/kernels"
)

// named lists functions whose first argument is one of a set of names, by how cells call them.
var named = map[string]func(typed string) []string{
	"kernels.Run":       kernelNames,
	"kernels.Get":       kernelNames,
	"gpu.Open":          openNames,
	"exercise.Check":    exerciseNames,
	"exercise.Question": exerciseNames,
}

func exerciseNames(string) []string { return exercise.IDs() }

// kernelNames are the names that kernels.Run takes: the ladders, which mean their best step, then each kernel.
func kernelNames(string) []string {
	var names []string
	for _, f := range kernels.Families() {
		if isLadder(f) {
			names = append(names, f)
		}
	}
	for _, k := range kernels.List() {
		names = append(names, k.Name())
	}
	return names
}

// isLadder reports whether a family's name alone means a kernel.
func isLadder(family string) (ok bool) {
	defer func() { recover() }() // Get panics for what it does not know
	return kernels.Get(family) != nil
}

// openNames are the names that gpu.Open and %device take: in short, or in full for who has begun so.
func openNames(typed string) []string {
	names := deviceNames()
	if strings.HasPrefix(typed, "v") {
		for i, n := range names {
			names[i] = "virtual:" + n
		}
	}
	return names
}

// completeName completes the string literal that the text before the cursor ends in, when it is the first argument of a
// function that takes one of a set of names. typed is what the literal holds so far; ok is false when it is no such literal.
func completeName(before string) (typed string, matches []string, ok bool) {
	type lexeme struct {
		tok token.Token
		lit string
		at  int
	}
	var toks []lexeme
	var sc scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(before))
	sc.Init(file, []byte(before), func(token.Position, string) {}, 0)
	open := false // the last token is a literal without its end
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF || tok == token.SEMICOLON && lit == "\n" && open {
			break
		}
		toks = append(toks, lexeme{tok, lit, file.Offset(pos)})
		open = tok == token.STRING && (len(lit) < 2 || lit[len(lit)-1] != lit[0] || escaped(lit))
	}
	n := len(toks)
	if !open || n < 5 || toks[n-2].tok != token.LPAREN || toks[n-3].tok != token.IDENT || toks[n-4].tok != token.PERIOD || toks[n-5].tok != token.IDENT {
		return "", nil, false
	}
	if n > 5 && toks[n-6].tok == token.PERIOD {
		return "", nil, false // a.kernels.Run
	}
	list := named[toks[n-5].lit+"."+toks[n-3].lit]
	if typed = toks[n-1].lit[1:]; list == nil || before[toks[n-1].at+1:] != typed || strings.ContainsAny(typed, "\n\\") {
		return "", nil, false
	}
	for _, name := range list(typed) {
		if strings.HasPrefix(name, typed) {
			matches = append(matches, name)
		}
	}
	return typed, matches, true
}

// escaped reports whether the last quote of an interpreted string is the text's own.
func escaped(lit string) bool {
	body := lit[:len(lit)-1]
	return lit[0] == '"' && (len(body)-len(strings.TrimRight(body, `\`)))%2 == 1
}
