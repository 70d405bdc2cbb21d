package pipe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// coder walks the fields of a message, either writing them to buf or reading them from it, so that a message names its
// fields once. After the first error it does nothing.
type coder struct {
	decode bool
	buf    []byte // what is written, or what is left to read
	err    error
}

var errShort = errors.New("message ends inside a field")

func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.buf = nil
}

func (c *coder) uint(v *uint64) {
	if !c.decode {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	x, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail(errShort)
		return
	}
	*v, c.buf = x, c.buf[n:]
}

func (c *coder) int(v *int) {
	if !c.decode {
		c.buf = binary.AppendVarint(c.buf, int64(*v))
		return
	}
	x, n := binary.Varint(c.buf)
	if n <= 0 {
		c.fail(errShort)
		return
	}
	*v, c.buf = int(x), c.buf[n:]
}

func (c *coder) bool(v *bool) {
	var x uint64
	if *v {
		x = 1
	}
	c.uint(&x)
	if c.decode {
		if x > 1 {
			c.fail(fmt.Errorf("a truth value is %d", x))
			return
		}
		*v = x == 1
	}
}

func (c *coder) text(v *string) {
	if !c.decode {
		c.buf = binary.AppendUvarint(c.buf, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
		return
	}
	*v = string(c.take())
}

func (c *coder) bytes(v *[]byte) {
	if !c.decode {
		c.buf = binary.AppendUvarint(c.buf, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
		return
	}
	*v = slices.Clone(c.take())
}

// take cuts a length and that many bytes off what is left.
func (c *coder) take() []byte {
	var n uint64
	c.uint(&n)
	if n > uint64(len(c.buf)) {
		c.fail(errShort)
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// count walks the length of a list; every element takes at least one byte, so a length beyond what is left is false.
func (c *coder) count(n int) int {
	x := uint64(n)
	c.uint(&x)
	if c.decode && x > uint64(len(c.buf)) {
		c.fail(errShort)
		return 0
	}
	return int(x)
}

func (c *coder) texts(v *[]string) {
	n := c.count(len(*v))
	for i := 0; i < n && c.err == nil; i++ {
		var s string
		if !c.decode {
			s = (*v)[i]
		}
		c.text(&s)
		if c.decode {
			*v = append(*v, s)
		}
	}
}

func (c *coder) blobs(v *[][]byte) {
	n := c.count(len(*v))
	for i := 0; i < n && c.err == nil; i++ {
		var b []byte
		if !c.decode {
			b = (*v)[i]
		}
		c.bytes(&b)
		if c.decode {
			*v = append(*v, b)
		}
	}
}

// The forms of a value in a bundle.
const (
	formText = iota // a text as it is
	formJSON        // anything else as JSON; read as json.RawMessage, which marshals to itself
)

// bundle walks a map with text keys, as MIME bundles and metadata are. A nil map stays nil.
func (c *coder) bundle(v *map[string]any) {
	present := *v != nil
	c.bool(&present)
	if c.err != nil || !present {
		return
	}
	if c.decode {
		c.readBundle(v)
		return
	}
	c.count(len(*v))
	for _, key := range slices.Sorted(maps.Keys(*v)) {
		form, text := uint64(formText), ""
		switch x := (*v)[key].(type) {
		case string:
			text = x
		default:
			j, err := json.Marshal(x)
			if err != nil {
				c.fail(fmt.Errorf("%q of a bundle: %w", key, err))
				return
			}
			form, text = formJSON, string(j)
		}
		c.text(&key)
		c.uint(&form)
		c.text(&text)
	}
}

func (c *coder) readBundle(v *map[string]any) {
	n := c.count(0)
	m := make(map[string]any, min(n, 64))
	for i := 0; i < n && c.err == nil; i++ {
		var key, text string
		var form uint64
		c.text(&key)
		c.uint(&form)
		c.text(&text)
		switch {
		case c.err != nil:
			return
		case form == formText:
			m[key] = text
		case form == formJSON && json.Valid([]byte(text)):
			m[key] = json.RawMessage(text)
		default:
			c.fail(fmt.Errorf("%q of a bundle is neither text nor JSON", key))
			return
		}
	}
	*v = m
}

func (c *coder) bundles(v *[]map[string]any) {
	n := c.count(len(*v))
	for i := 0; i < n && c.err == nil; i++ {
		var m map[string]any
		if !c.decode {
			m = (*v)[i]
		}
		c.bundle(&m)
		if c.decode {
			*v = append(*v, m)
		}
	}
}

func (c *coder) textMap(v *map[string]string) {
	n := c.count(len(*v))
	if !c.decode {
		for _, key := range slices.Sorted(maps.Keys(*v)) {
			value := (*v)[key]
			c.text(&key)
			c.text(&value)
		}
		return
	}
	if n > 0 {
		*v = make(map[string]string, min(n, 64))
	}
	for i := 0; i < n && c.err == nil; i++ {
		var key, value string
		c.text(&key)
		c.text(&value)
		if c.err == nil {
			(*v)[key] = value
		}
	}
}
