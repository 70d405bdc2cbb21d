package cell

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// A chunk is a top-level piece of a cell: a declaration or a statement.
type chunk struct {
	kind       token.Token // PACKAGE, IMPORT, CONST, TYPE, FUNC, VAR; ILLEGAL is a statement
	start, end int         // offsets in the cell, without the semicolon
	semicolon  int         // offset of a written semicolon behind it, -1 when a newline or the end closes it
	doc        int         // offset of the comment directly above, or start
}

// maxNesting is how deep brackets may nest: what a person writes has a hundredth of it.
const maxNesting = 1000

// splitting is how a cell's text falls apart.
type splitting struct {
	chunks []chunk
	open   []bracket // brackets that are not closed, outermost first
	errs   []Diagnostic
	unend  bool // a string, a comment or a rune does not end
}

type bracket struct {
	tok    token.Token
	offset int
}

var closer = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

type lexeme struct {
	tok    token.Token
	offset int
	end    int
	auto   bool // a semicolon that is not written
}

// lex returns the tokens of a text, without comments, and the comments' ranges.
func lex(text string, fail func(offset int, msg string)) (toks []lexeme, comments []lexeme) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var sc scanner.Scanner
	sc.Init(file, []byte(text), func(p token.Position, msg string) { fail(p.Offset, msg) }, scanner.ScanComments)
	for {
		pos, tok, lit := sc.Scan()
		if tok == token.EOF {
			return toks, comments
		}
		o := file.Offset(pos)
		l := lexeme{tok: tok, offset: o, end: o + len(tok.String())}
		if lit != "" {
			l.end = o + len(lit)
		}
		switch {
		case tok == token.COMMENT:
			comments = append(comments, l)
			continue
		case tok == token.SEMICOLON:
			l.auto = lit == "\n"
			if l.auto {
				l.end = o
			}
		case tok == token.STRING || tok == token.CHAR || tok.IsLiteral():
			// the scanner drops carriage returns of raw strings
			if tok == token.STRING && strings.HasPrefix(lit, "`") {
				if i := strings.IndexByte(text[min(o+1, len(text)):], '`'); i >= 0 {
					l.end = o + i + 2
				}
			}
		}
		l.end = min(l.end, len(text))
		toks = append(toks, l)
	}
}

// split finds the top-level pieces of a cell.
func split(text string) *splitting {
	s := &splitting{}
	toks, comments := lex(text, func(offset int, msg string) {
		if strings.Contains(msg, "not terminated") {
			s.unend = true
		}
		s.errs = append(s.errs, Diagnostic{Message: msg, offset: offset})
	})
	first := 0 // index of the chunk's first token
	for i, t := range toks {
		switch t.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			s.open = append(s.open, bracket{t.tok, t.offset})
			if len(s.open) > maxNesting {
				s.errs = append(s.errs, Diagnostic{Message: fmt.Sprintf("brackets nest more than %d deep", maxNesting), offset: t.offset})
				return s
			}
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(s.open) == 0 {
				s.errs = append(s.errs, Diagnostic{Message: fmt.Sprintf("unexpected %s: nothing is open", t.tok), offset: t.offset})
				return s
			}
			if o := s.open[len(s.open)-1]; closer[o.tok] != t.tok {
				s.errs = append(s.errs, Diagnostic{
					Message: fmt.Sprintf("unexpected %s, want %s", t.tok, closer[o.tok]), offset: t.offset,
					Hint: fmt.Sprintf("to close the %s of %s", o.tok, lineOf(text, o.offset)),
				})
				return s
			}
			s.open = s.open[:len(s.open)-1]
		case token.SEMICOLON:
			if len(s.open) == 0 {
				s.add(toks[first:i], t)
				first = i + 1
			}
		}
	}
	s.add(toks[first:], lexeme{auto: true})
	if len(s.open) > 0 && len(s.errs) == 0 {
		o := s.open[len(s.open)-1]
		s.errs = append(s.errs, Diagnostic{Message: fmt.Sprintf("the %s is not closed", o.tok), offset: o.offset})
	}
	s.docs(text, comments)
	return s
}

func lineOf(text string, offset int) string {
	return fmt.Sprintf("line %d", strings.Count(text[:offset], "\n")+1)
}

func (s *splitting) add(toks []lexeme, end lexeme) {
	if len(toks) == 0 {
		return
	}
	c := chunk{kind: token.ILLEGAL, start: toks[0].offset, end: toks[len(toks)-1].end, semicolon: -1}
	if !end.auto {
		c.semicolon = end.offset
	}
	switch toks[0].tok {
	case token.PACKAGE, token.IMPORT, token.CONST, token.TYPE, token.VAR:
		c.kind = toks[0].tok
	case token.FUNC:
		if declaresFunc(toks) {
			c.kind = token.FUNC
		}
	}
	c.doc = c.start
	s.chunks = append(s.chunks, c)
}

// declaresFunc tells the declaration of a function or method from an expression that starts with a function literal.
func declaresFunc(toks []lexeme) bool {
	if len(toks) < 2 {
		return true
	}
	if toks[1].tok == token.IDENT {
		return true
	}
	depth := 0
	for i := 1; i < len(toks); i++ {
		switch toks[i].tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				return i+2 < len(toks) && toks[i+1].tok == token.IDENT && toks[i+2].tok == token.LPAREN
			}
		}
	}
	return false
}

// docs gives each declaration the comment that ends on the line above it.
func (s *splitting) docs(text string, comments []lexeme) {
	k := len(comments) - 1
	for i := len(s.chunks) - 1; i >= 0; i-- {
		c := &s.chunks[i]
		for k >= 0 && comments[k].offset > c.start {
			k--
		}
		low := 0
		if i > 0 {
			low = s.chunks[i-1].end
		}
		for k >= 0 && comments[k].offset >= low {
			gap := text[min(comments[k].end, c.doc):c.doc]
			if strings.Count(gap, "\n") > 1 || strings.TrimSpace(gap) != "" || strings.Count(gap, "\n") == 0 && !strings.HasPrefix(text[comments[k].offset:], "/*") {
				break
			}
			c.doc = comments[k].offset
			k--
		}
	}
}
