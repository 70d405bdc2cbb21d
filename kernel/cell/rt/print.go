package rt

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// top is a box that is an argument of a print function itself: a pointer to a struct prints as &{…} there.
type top struct{ Box }

// Format implements fmt.Formatter.
func (t top) Format(f fmt.State, verb rune) { t.Box.format(f, verb, 0) }

type topError struct{ errBox }

// Format implements fmt.Formatter.
func (t topError) Format(f fmt.State, verb rune) { t.Box.format(f, verb, 0) }

type topErrors struct{ errsBox }

// Format implements fmt.Formatter.
func (t topErrors) Format(f fmt.State, verb rune) { t.Box.format(f, verb, 0) }

func boxes(args []any) bool {
	for _, a := range args {
		if _, ok := In(a).(Box); ok {
			return true
		}
	}
	return false
}

// printable is an argument as fmt is to see it.
func printable(a any) any {
	a = In(a)
	b, ok := a.(Box)
	if !ok {
		return a // boxes inside print themselves
	}
	if !b.has("Error", "() string") {
		return top{b}
	}
	switch e := asError(b).(type) {
	case errBox:
		return topError{e}
	case errsBox:
		return topErrors{e}
	}
	return top{b}
}

func printables(args []any) []any {
	r := make([]any, len(args))
	for i, a := range args {
		r[i] = printable(a)
	}
	return r
}

// spaced are the arguments of Print, with spaces between those that are not strings: fmt cannot see that a box is one.
func spaced(args []any) []any {
	if !boxes(args) {
		return printables(args)
	}
	var r []any
	str := true
	for _, a := range args {
		s := isString(a)
		if len(r) > 0 && !s && !str {
			r = append(r, " ")
		}
		str = s
		r = append(r, printable(a))
	}
	// each by itself: fmt adds no spaces of its own
	for i, x := range r {
		r[i] = fmt.Sprint(x)
	}
	return r
}

func isString(a any) bool {
	a = In(a)
	if b, ok := a.(Box); ok {
		a = b.V
	}
	return a != nil && reflect.TypeOf(a).Kind() == reflect.String
}

// A directive is one verb of a format with what stands before it.
type directive struct {
	before      string // text up to the percent sign
	flags       string
	width, prec string // "" or what stands in the format: digits or a *
	star        [2]int // the arguments of a * in width and precision, from 1
	verb        rune
	arg         int  // the verb's argument, from 1; 0 when it takes none
	bad         bool // an index is malformed or out of range
	percent     bool // there is a directive: without one the format has come to its end
}

// arguments rewrites a format and its arguments for the compiled fmt when boxes are among them: it answers %T and %p, resolves
// widths that are arguments, and reports surplus arguments, all of which fmt does by reflection on the argument itself.
func arguments(format string, args []any) (string, []any) {
	if !boxes(args) {
		return format, printables(args)
	}
	out := printables(args)
	var b strings.Builder
	next, reordered := 1, false
	rest := format
	for rest != "" {
		d, after, ordered := parse(rest, &next, args)
		rest = after
		reordered = reordered || ordered
		b.WriteString(d.before)
		switch {
		case d.verb == 0 && d.percent:
			b.WriteString("%%!(NOVERB)")
			continue
		case d.verb == 0:
			continue
		case d.verb == '%':
			b.WriteString("%%")
			continue
		case d.bad:
			b.WriteString("%%!" + string(d.verb) + "(BADINDEX)")
			continue
		case d.arg > len(args):
			b.WriteString("%%!" + string(d.verb) + "(MISSING)")
			continue
		}
		k := d.arg
		if x, ok := In(args[k-1]).(Box); ok {
			switch d.verb {
			case 'T':
				out = append(out, Name(x.T.Type()))
				k, d.verb = len(out), 's'
			case 'p':
				out = append(out, x.V)
				k = len(out)
			}
		}
		for i, n := range d.star {
			if n == 0 {
				continue
			}
			if x, ok := In(args[n-1]).(Box); ok {
				out = append(out, x.V)
				d.star[i] = len(out)
			}
		}
		b.WriteString("%" + d.flags)
		writeStar(&b, d.width, d.star[0])
		if d.prec != "" {
			b.WriteByte('.')
			writeStar(&b, d.prec[1:], d.star[1])
		}
		b.WriteString("[" + strconv.Itoa(k) + "]")
		b.WriteRune(d.verb)
	}
	if !reordered && next <= len(args) {
		b.WriteString(strings.ReplaceAll(surplus(args[next-1:]), "%", "%%"))
	}
	return b.String(), out
}

func writeStar(b *strings.Builder, text string, arg int) {
	if arg > 0 {
		b.WriteString("[" + strconv.Itoa(arg) + "]*")
		return
	}
	b.WriteString(text)
}

// surplus is what fmt prints of arguments that no verb took.
func surplus(args []any) string {
	var s []string
	for _, a := range args {
		if a == nil {
			s = append(s, "<nil>")
			continue
		}
		s = append(s, dynamicName(a)+"="+fmt.Sprint(printable(a)))
	}
	return "%!(EXTRA " + strings.Join(s, ", ") + ")"
}

// parse reads a format up to the end of its first directive. next is the argument whose turn it is, from 1.
func parse(format string, next *int, args []any) (d directive, rest string, reordered bool) {
	i := strings.IndexByte(format, '%')
	if i < 0 {
		d.before = format
		return d, "", false
	}
	d.before = format[:i]
	d.percent = true
	s := format[i+1:]
	n := len(s) - len(strings.TrimLeft(s, "+-# 0"))
	d.flags, s = s[:n], s[n:]
	index := func() {
		if !strings.HasPrefix(s, "[") {
			return
		}
		reordered = true
		end := strings.IndexByte(s, ']')
		if end < 0 {
			d.bad = true
			return
		}
		k, err := strconv.Atoi(s[1:end])
		if err != nil || k < 1 || k > len(args) {
			d.bad = true
		} else {
			*next = k
		}
		s = s[end+1:]
	}
	number := func(which int) string {
		index()
		if strings.HasPrefix(s, "*") {
			d.star[which] = *next
			*next++
			s = s[1:]
			return "*"
		}
		n := len(s) - len(strings.TrimLeft(s, "0123456789"))
		t := s[:n]
		s = s[n:]
		return t
	}
	d.width = number(0)
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		d.prec = "." + number(1)
	}
	index()
	for _, r := range s {
		d.verb = r
		s = s[len(string(r)):]
		break
	}
	if d.verb != '%' && d.verb != 0 {
		d.arg = *next
		*next++
	}
	for _, k := range d.star {
		if k > len(args) {
			d.bad = true
		}
	}
	return d, s, reordered
}

// out is where a cell's standard output and error go.
var (
	stdout = stream(false)
	stderr = stream(true)
)

// writer replaces the process's standard files by the cell's.
func writer(w io.Writer) io.Writer {
	switch f := w.(type) {
	case *os.File:
		switch f {
		case os.Stdout:
			return stdout
		case os.Stderr:
			return stderr
		}
	}
	return w
}

// Print is fmt.Print, as the functions after it are those of fmt with their names.
func Print(a ...any) (int, error) { return fmt.Fprint(stdout, spaced(a)...) }

// Println is fmt.Println.
func Println(a ...any) (int, error) { return fmt.Fprintln(stdout, printables(a)...) }

// Printf is fmt.Printf.
func Printf(f string, a ...any) (int, error) {
	f, a = arguments(f, a)
	return fmt.Fprintf(stdout, f, a...)
}

// Sprint is fmt.Sprint.
func Sprint(a ...any) string { return fmt.Sprint(spaced(a)...) }

// Sprintln is fmt.Sprintln.
func Sprintln(a ...any) string { return fmt.Sprintln(printables(a)...) }

// Sprintf is fmt.Sprintf.
func Sprintf(f string, a ...any) string {
	f, a = arguments(f, a)
	return fmt.Sprintf(f, a...)
}

// Errorf is fmt.Errorf.
func Errorf(f string, a ...any) error {
	f, a = arguments(f, a)
	for i, x := range a {
		switch y := x.(type) {
		case topError:
			a[i] = y.errBox
		case topErrors:
			a[i] = y.errsBox
		}
	}
	return fmt.Errorf(f, a...)
}

// Fprint is fmt.Fprint.
func Fprint(w io.Writer, a ...any) (int, error) { return fmt.Fprint(writer(w), spaced(a)...) }

// Fprintln is fmt.Fprintln.
func Fprintln(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(writer(w), printables(a)...) }

// Fprintf is fmt.Fprintf.
func Fprintf(w io.Writer, f string, a ...any) (int, error) {
	f, a = arguments(f, a)
	return fmt.Fprintf(writer(w), f, a...)
}

// Append is fmt.Append.
func Append(b []byte, a ...any) []byte { return fmt.Append(b, spaced(a)...) }

// Appendln is fmt.Appendln.
func Appendln(b []byte, a ...any) []byte { return fmt.Appendln(b, printables(a)...) }

// Appendf is fmt.Appendf.
func Appendf(b []byte, f string, a ...any) []byte {
	f, a = arguments(f, a)
	return fmt.Appendf(b, f, a...)
}

// PrintBuiltin is the builtin print.
func PrintBuiltin(a ...any) {
	var b strings.Builder
	for _, x := range a {
		b.WriteString(builtinText(x))
	}
	io.WriteString(stderr, b.String())
}

// PrintlnBuiltin is the builtin println.
func PrintlnBuiltin(a ...any) {
	var s []string
	for _, x := range a {
		s = append(s, builtinText(x))
	}
	io.WriteString(stderr, strings.Join(s, " ")+"\n")
}

// InterfaceWords is what the builtins print of an interface: its two words.
type InterfaceWords string

// Words gives the words of an interface.
func Words(x any) InterfaceWords {
	w := *(*[2]uintptr)(unsafe.Pointer(&x))
	return InterfaceWords(fmt.Sprintf("(%#x,%#x)", w[0], w[1]))
}

// builtinText is a value as the Go runtime prints it.
func builtinText(x any) string {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Invalid:
		return "0x0"
	case reflect.String:
		return v.String()
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Complex64:
		return strconv.FormatComplex(v.Complex(), 'g', -1, 64)
	case reflect.Complex128:
		return strconv.FormatComplex(v.Complex(), 'g', -1, 128)
	case reflect.Slice:
		return fmt.Sprintf("[%d/%d]%#x", v.Len(), v.Cap(), v.Pointer())
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func:
		return fmt.Sprintf("%#x", v.Pointer())
	}
	return fmt.Sprint(plain(v))
}
