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
	a = acyclic(In(a))
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
	return io.WriteString(stdout, Sprintf(f, a...))
}

// Sprint is fmt.Sprint.
func Sprint(a ...any) string { return fmt.Sprint(spaced(a)...) }

// Sprintln is fmt.Sprintln.
func Sprintln(a ...any) string { return fmt.Sprintln(printables(a)...) }

// Sprintf is fmt.Sprintf.
func Sprintf(f string, a ...any) string {
	if !boxes(a) {
		return fmt.Sprintf(f, printables(a)...)
	}
	d := directives{args: a}
	d.run(f)
	return d.out.String()
}

// Errorf is fmt.Errorf.
func Errorf(f string, a ...any) error {
	if !boxes(a) {
		return fmt.Errorf(f, printables(a)...)
	}
	d := directives{args: a, wraps: true}
	d.run(f)
	return fmt.Errorf(d.out.String(), d.wrapped...)
}

// Fprint is fmt.Fprint.
func Fprint(w io.Writer, a ...any) (int, error) { return fmt.Fprint(writer(w), spaced(a)...) }

// Fprintln is fmt.Fprintln.
func Fprintln(w io.Writer, a ...any) (int, error) { return fmt.Fprintln(writer(w), printables(a)...) }

// Fprintf is fmt.Fprintf.
func Fprintf(w io.Writer, f string, a ...any) (int, error) {
	return writer(w).Write([]byte(Sprintf(f, a...))) // as fmt does: never WriteString
}

// Append is fmt.Append.
func Append(b []byte, a ...any) []byte { return fmt.Append(b, spaced(a)...) }

// Appendln is fmt.Appendln.
func Appendln(b []byte, a ...any) []byte { return fmt.Appendln(b, printables(a)...) }

// Appendf is fmt.Appendf.
func Appendf(b []byte, f string, a ...any) []byte {
	return append(b, Sprintf(f, a...)...)
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
