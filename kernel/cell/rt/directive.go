package rt

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// directives prints a format whose arguments hold boxes. It reads the format as fmt's doPrintf does and has fmt print one
// directive at a time, because fmt answers %T, %p, %w, widths that are arguments, and surplus arguments by reflection on the
// argument itself.
type directives struct {
	args      []any
	out       strings.Builder
	wraps     bool  // for Errorf: %w stays a directive, everything else becomes text of a format
	wrapped   []any // the arguments of %w
	next      int   // the argument whose turn it is
	good      bool  // the indexes of the directive are
	reordered bool
}

// write adds text.
func (d *directives) write(s string) {
	if d.wraps {
		s = strings.ReplaceAll(s, "%", "%%")
	}
	d.out.WriteString(s)
}

func (d *directives) run(format string) {
	for format != "" {
		text, rest, found := strings.Cut(format, "%")
		d.write(text)
		if !found {
			break
		}
		format = d.directive(rest)
	}
	if d.reordered || d.next >= len(d.args) {
		return
	}
	var s []string
	for _, a := range d.args[d.next:] {
		if a == nil {
			s = append(s, "<nil>")
			continue
		}
		s = append(s, dynamicName(a)+"="+fmt.Sprint(printable(a)))
	}
	d.write("%!(EXTRA " + strings.Join(s, ", ") + ")")
}

// directive prints one directive, whose text starts behind the percent sign, and returns what follows it.
func (d *directives) directive(s string) string {
	d.good = true
	n := len(s) - len(strings.TrimLeft(s, "+-# 0"))
	flags, s := s[:n], s[n:]
	if s != "" && 'a' <= s[0] && s[0] <= 'z' && d.next < len(d.args) {
		return d.verb("%"+flags, s)
	}
	s, afterIndex := d.index(s)
	width, s, star := d.number(s)
	switch {
	case star:
		flags, width = d.widthArgument(flags)
		afterIndex = false
	case afterIndex && width != "":
		d.good = false
	}
	prec := ""
	if len(s) > 1 && s[0] == '.' {
		if afterIndex {
			d.good = false
		}
		s, afterIndex = d.index(s[1:])
		prec, s, star = d.number(s)
		prec = "." + prec
		if star {
			prec = d.precisionArgument()
			afterIndex = false
		}
	}
	if !afterIndex {
		s, _ = d.index(s)
	}
	return d.verb("%"+flags+width+prec, s)
}

// index reads an explicit argument index.
func (d *directives) index(s string) (rest string, found bool) {
	if s == "" || s[0] != '[' {
		return s, false
	}
	d.reordered = true
	end := strings.IndexByte(s, ']')
	if len(s) < 3 || end < 0 {
		d.good = false
		return s[1:], false
	}
	k, isNumber := digits(s[1:end])
	if isNumber && k >= 1 && k <= len(d.args) {
		d.next = k - 1
		return s[end+1:], true
	}
	d.good = false
	return s[end+1:], isNumber
}

// digits is a number that is written with digits only; fmt takes no larger ones than a million.
func digits(s string) (n int, ok bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" || len(strings.TrimLeft(s, "0")) > 7 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// number reads a width or a precision: digits, or a star for an argument.
func (d *directives) number(s string) (n, rest string, star bool) {
	if strings.HasPrefix(s, "*") {
		return "", s[1:], true
	}
	v := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return s[:i], s[i:], false
		}
		if v > largest {
			return "", "", false // fmt gives up on the whole format
		}
		v = v*10 + int(s[i]-'0')
	}
	return s, "", false
}

const largest = 1e6 // the widths and precisions that fmt takes

// integerArgument takes an argument that is a width or a precision.
func (d *directives) integerArgument() (n int, ok bool) {
	if d.next >= len(d.args) {
		return 0, false
	}
	v := reflect.ValueOf(Value(d.args[d.next]))
	d.next++
	switch {
	case v.IsValid() && v.CanInt() && v.Int() >= -largest && v.Int() <= largest:
		return int(v.Int()), true
	case v.IsValid() && v.CanUint() && v.Uint() <= largest:
		return int(v.Uint()), true
	}
	return 0, false
}

func (d *directives) widthArgument(flags string) (newFlags, width string) {
	n, ok := d.integerArgument()
	if !ok {
		d.write("%!(BADWIDTH)")
		return flags, ""
	}
	if n < 0 {
		return strings.ReplaceAll(flags, "0", "") + "-", strconv.Itoa(-n)
	}
	return flags, strconv.Itoa(n)
}

func (d *directives) precisionArgument() string {
	n, ok := d.integerArgument()
	if !ok || n < 0 {
		d.write("%!(BADPREC)")
		return ""
	}
	return "." + strconv.Itoa(n)
}

// verb prints the verb at the start of s with what stands before it, and returns what follows.
func (d *directives) verb(before, s string) string {
	if s == "" {
		d.write("%!(NOVERB)")
		return ""
	}
	verb, size := utf8.DecodeRuneInString(s)
	switch {
	case verb == '%':
		d.write("%")
	case !d.good:
		d.write("%!" + string(verb) + "(BADINDEX)")
	case d.next >= len(d.args):
		d.write("%!" + string(verb) + "(MISSING)")
	default:
		d.argument(before, verb, d.args[d.next])
		d.next++
	}
	return s[size:]
}

// argument prints one argument.
func (d *directives) argument(before string, verb rune, a any) {
	x := printable(a)
	b, boxed := In(a).(Box)
	switch {
	case verb == 'w' && d.wraps && isError(x):
		switch e := x.(type) {
		case topError:
			x = e.errBox
		case topErrors:
			x = e.errsBox
		}
		d.out.WriteString(before + "w")
		d.wrapped = append(d.wrapped, x)
		return
	case verb == 'w' && boxed:
		d.write("%!w(" + Name(b.T.Type()) + "=" + fmt.Sprintf(before+"v", top{b}) + ")")
		return
	case verb == 'T' && boxed:
		verb, x = 's', Name(b.T.Type())
	case verb == 'p' && boxed:
		x = b.V
	}
	if isSign(verb) {
		d.write("%!" + string(verb) + "(" + dynamicName(a) + "=" + fmt.Sprintf(before+"v", x) + ")")
		return
	}
	d.write(fmt.Sprintf(before+string(verb), x))
}

// isSign reports verbs, all of them bad, that fmt would take for a part of the width when they stand alone.
func isSign(verb rune) bool { return strings.ContainsRune("0123456789+-# .*[", verb) }

func isError(x any) bool {
	_, ok := x.(error)
	return ok
}
