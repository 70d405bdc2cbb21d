package rt

import (
	"io"
	"reflect"
)

// Compiled functions that take an io.Writer or io.Reader look for more methods: io.Copy for ReadFrom and WriteTo, io.WriteString
// for WriteString, net/http for Close. The interpreter's wrappers have those of their interface only; these have what the box has.
type (
	stringWriter struct {
		IValue any
		io.Writer
		io.StringWriter
	}
	fillingWriter struct {
		IValue any
		io.Writer
		io.ReaderFrom
	}
	fillingStringWriter struct {
		IValue any
		io.Writer
		io.StringWriter
		io.ReaderFrom
	}
	closingReader struct {
		IValue any
		io.Reader
		io.Closer
	}
	emptyingReader struct {
		IValue any
		io.Reader
		io.WriterTo
	}
	emptyingReadCloser struct {
		IValue any
		io.Reader
		io.Closer
		io.WriterTo
	}
)

func init() {
	for _, x := range []any{stringWriter{}, fillingWriter{}, fillingStringWriter{}, closingReader{}, emptyingReader{}, emptyingReadCloser{}} {
		isWrapper.Store(reflect.TypeOf(x), true)
	}
}

// upgrade gives the wrapper of a box as a writer or reader the optional methods that the box has.
func upgrade(b Box, wrapped any) any {
	switch x := wrapped.(type) {
	case io.Writer:
		s, hasString := optional[io.StringWriter](b, "WriteString", "(string) (int, error)")
		f, hasFrom := optional[io.ReaderFrom](b, "ReadFrom", "(io.Reader) (int64, error)")
		switch {
		case hasString && hasFrom:
			return fillingStringWriter{b, x, s, f}
		case hasString:
			return stringWriter{b, x, s}
		case hasFrom:
			return fillingWriter{b, x, f}
		}
	case io.Reader:
		c, hasClose := optional[io.Closer](b, "Close", "() error")
		t, hasTo := optional[io.WriterTo](b, "WriteTo", "(io.Writer) (int64, error)")
		switch {
		case hasClose && hasTo:
			return emptyingReadCloser{b, x, c, t}
		case hasClose:
			return closingReader{b, x, c}
		case hasTo:
			return emptyingReader{b, x, t}
		}
	}
	return wrapped
}

// optional is the box as another interface, when it has that interface's method.
func optional[T any](b Box, method, sig string) (t T, ok bool) {
	if !b.has(method, sig) {
		return t, false
	}
	if _, ok := wrapperOf(reflect.TypeFor[T]()); !ok {
		return t, false
	}
	t, ok = wrap(b, reflect.TypeFor[T]()).(T)
	return t, ok
}
