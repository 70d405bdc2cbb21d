package cell

import (
	"go/token"
	"sort"
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// A source is the text of a cell that was run, or is being compiled.
type source struct {
	cell  int
	text  string
	lines []int // offset of each line's first byte
}

// newSource returns the source of a cell; a byte order mark in front is dropped.
func newSource(cell int, text string) *source {
	text = strings.TrimPrefix(text, byteOrderMark)
	s := &source{cell: cell, text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// place gives an offset's line and column, both from 1; the column counts characters.
func (s *source) place(offset int) (line, column int) {
	offset = max(0, min(offset, len(s.text)))
	i := sort.SearchInts(s.lines, offset+1) - 1
	return i + 1, utf8.RuneCountInString(s.text[s.lines[i]:offset]) + 1
}

// line is the text of a line, counted from 1.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	end := len(s.text)
	if n < len(s.lines) {
		end = s.lines[n] - 1
	}
	return strings.TrimSuffix(s.text[s.lines[n-1]:end], "\r")
}

// A fragment is a part of a cell's text that was given to the parser behind a prefix.
type fragment struct {
	src  *source
	base int // offset in the cell of the fragment's first byte, less the length of the prefix
	item *item
}

// A Place is a position in a cell.
type Place struct {
	Cell, Line, Column int
	Source             string // the line's text
}

// valid reports whether the place is known.
func (p Place) valid() bool { return p.Line > 0 }

// files finds cells by the positions of their syntax trees.
type files struct {
	fset  *token.FileSet
	parts map[*token.File]fragment
}

// at returns the cell and the offset in its text of a position; ok is false for a position outside of all cells.
func (f *files) at(pos token.Pos) (part fragment, offset int, ok bool) {
	if !pos.IsValid() {
		return fragment{}, 0, false
	}
	file := f.fset.File(pos)
	if file == nil {
		return fragment{}, 0, false
	}
	part, ok = f.parts[file]
	return part, file.Offset(pos) + part.base, ok
}

func (f *files) place(pos token.Pos) Place {
	part, offset, ok := f.at(pos)
	if !ok {
		return Place{}
	}
	line, column := part.src.place(offset)
	return Place{part.src.cell, line, column, part.src.line(line)}
}
