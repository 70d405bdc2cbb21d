package ptx

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenPunct
)

type token struct {
	kind      tokenKind
	text      string
	line, col int
	at        int // byte offset in the text
}

// lexer gives one token after another; the parser looks one ahead.
type lexer struct {
	text      string
	pos       int
	line      int
	lineStart int
}

func isNameStart(c byte) bool {
	return c == '_' || c == '$' || c == '%' || c == '.' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) }

// skipSpace moves over white space and comments; it reports the position of a comment that never ends.
func (x *lexer) skipSpace() *token {
	for x.pos < len(x.text) {
		switch c := x.text[x.pos]; {
		case c == '\n':
			x.pos++
			x.line++
			x.lineStart = x.pos
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			x.pos++
		case strings.HasPrefix(x.text[x.pos:], "//"):
			end := strings.IndexByte(x.text[x.pos:], '\n')
			if end < 0 {
				x.pos = len(x.text)
				return nil
			}
			x.pos += end
		case strings.HasPrefix(x.text[x.pos:], "/*"):
			start := token{line: x.line, col: x.pos - x.lineStart + 1}
			end := strings.Index(x.text[x.pos+2:], "*/")
			if end < 0 {
				return &start
			}
			end += x.pos + 4
			for ; x.pos < end; x.pos++ {
				if x.text[x.pos] == '\n' {
					x.line++
					x.lineStart = x.pos + 1
				}
			}
		default:
			return nil
		}
	}
	return nil
}

// next gives the next token; the string is what is wrong with it, or empty.
func (x *lexer) next() (token, string) {
	if open := x.skipSpace(); open != nil {
		return *open, "comment is never closed: */ is missing"
	}
	t := token{line: x.line, col: x.pos - x.lineStart + 1, at: x.pos}
	if x.pos >= len(x.text) {
		return t, ""
	}
	c := x.text[x.pos]
	end := x.pos + 1
	switch {
	case isDigit(c):
		t.kind = tokenNumber
		end = x.numberEnd()
	case c == '%' && (end >= len(x.text) || !isNameByte(x.text[end])): // the remainder of a division
		t.kind = tokenPunct
	case isNameStart(c):
		t.kind = tokenName
		for end < len(x.text) {
			if c == '.' && x.text[end] == '.' {
				break // .reg.b16 is two directives, as .reg .b16 is
			}
			if isNameByte(x.text[end]) {
				end++
			} else if strings.HasPrefix(x.text[end:], "::") && end+2 < len(x.text) && isNameByte(x.text[end+2]) {
				end += 3
			} else {
				break
			}
		}
	case c == '"':
		t.kind = tokenString
		for end < len(x.text) && x.text[end] != '"' && x.text[end] != '\n' {
			if x.text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(x.text) || x.text[end] != '"' {
			return t, `string is never closed: " is missing`
		}
		end++
	case c < ' ' || c >= 0x7f:
		t.kind = tokenPunct
		if r, n := utf8.DecodeRuneInString(x.text[x.pos:]); n > 1 && unicode.IsPrint(r) {
			return t, fmt.Sprintf("unexpected character %c (%U): PTX is ASCII text", r, r)
		}
		return t, fmt.Sprintf("unexpected byte 0x%02x: PTX is ASCII text", c)
	default:
		t.kind = tokenPunct
	}
	t.text = x.text[x.pos:end]
	x.pos = end
	return t, ""
}

// numberEnd is where the number at x.pos ends: 0f3F800000, 0d…, 0x1F, 0b101, 42U, 1.5e-3.
func (x *lexer) numberEnd() int {
	s := x.text
	i := x.pos
	if s[i] == '0' && i+1 < len(s) && strings.IndexByte("xXbBfFdD", s[i+1]) >= 0 {
		i += 2
		for i < len(s) && (isDigit(s[i]) || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
			i++
		}
		return i
	}
	for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
		i++
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for i = j; i < len(s) && isDigit(s[i]); i++ {
			}
		}
	}
	if i < len(s) && s[i] == 'U' {
		i++
	}
	return i
}
