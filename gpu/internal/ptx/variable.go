package ptx

import (
	"encoding/binary"
	"math"
)

// variable reads what follows the space: `.align 8 .b8 name[24] = {…}`, without the semicolon. The second of
// `.b32 a, b` has the type of the one before it.
func (p *parser) variable(space string, extern bool, before *Variable) *Variable {
	v := &Variable{Space: space, Extern: extern, Line: p.tok.line}
	elements := int64(1)
	if before != nil {
		v.Type, v.Align, elements = before.Type, before.declaredAlign, int64(max(before.Vector, 1))
	}
	for p.tok.kind == tokenName && p.tok.text[0] == '.' {
		t := p.advance()
		switch t.text {
		case ".align":
			at := p.tok
			v.Align = int(p.integer("an alignment", 1<<16))
			if v.Align == 0 || v.Align&(v.Align-1) != 0 {
				p.fail(at, "alignment %d is no power of two", v.Align)
			}
		case ".ptr":
			v.Pointer = true
		case ".global", ".shared", ".const", ".local", ".param", ".managed":
		case ".attribute":
			p.attribute(t)
		case ".v2":
			elements = 2
		case ".v4":
			elements = 4
		default:
			if TypeSize(t.text[1:]) == 0 {
				p.failHint(t, nearType(t.text[1:]), "unknown type %s", t.text)
			}
			v.Type = t.text[1:]
		}
	}
	name := p.name("the name of a variable")
	v.Name, v.at = name.text, name
	switch v.Type {
	case "":
		p.failHint(name, "write .b8, .u32, .f32 or another type before the name", "variable %s has no type", v.Name)
	case "pred":
		p.failHint(name, "use .b8", "variable %s is of type .pred: predicates are in registers alone", v.Name)
	}
	size := int64(TypeSize(v.Type))
	v.declaredAlign = v.Align
	if v.Align == 0 {
		v.Align = int(size * elements)
	}
	var rows []int64 // lengths of the dimensions; 0 for the first one without a bound
	if elements > 1 {
		v.Vector = int(elements)
	}
	for p.accept("[") {
		at := p.tok
		if len(rows) >= maxElements {
			p.fail(at, "variable %s has more than %d dimensions", v.Name, maxElements)
		}
		if p.accept("]") {
			if v.Dynamic || len(rows) > 0 {
				p.failHint(at, "only the first length may be left out", "a length of variable %s is missing", v.Name)
			}
			v.Dynamic = true
			rows = append(rows, 0)
			continue
		}
		n := p.arrayLength(at)
		if n > 0 && elements > maxVariable/n/16 {
			p.failHint(at, "the limit is 1 TiB", "variable %s is too large", v.Name)
		}
		elements *= n
		rows = append(rows, n)
		p.expect("]", "after an array length")
	}
	v.Size = elements * size
	if v.Size > maxVariable {
		p.failHint(name, "the limit is 1 TiB", "variable %s is too large", v.Name)
	}
	if p.is("=") {
		at := p.advance()
		if space != "global" && space != "const" {
			p.failHint(at, "store it at the start of the function", "only .global and .const variables can have a value")
		}
		if v.opaque() {
			p.skipValue(at)
			return v
		}
		row := size
		if v.Dynamic {
			row = max(elements*size, 1)
		}
		p.initial(v, int(size), rows, at)
		if v.Dynamic {
			v.Size, v.Dynamic = (int64(len(v.Init))+row-1)/row*row, false
		}
		if int64(len(v.Init)) > v.Size {
			p.tooManyValues(v, at)
		}
	}
	if v.Dynamic {
		v.Size = 0
	}
	return v
}

// opaque reports whether the variable is a texture, sampler or surface reference.
func (v *Variable) opaque() bool {
	return v.Type == "texref" || v.Type == "samplerref" || v.Type == "surfref"
}

// skipValue skips the fields of a texture, sampler or surface reference: `{ filter_mode = nearest }`.
func (p *parser) skipValue(at token) {
	for depth := 0; !(depth == 0 && (p.is(";") || p.is(","))); {
		switch t := p.advance(); t.text {
		case "{":
			depth++
		case "}":
			depth--
		default:
			if t.kind == tokenEnd {
				p.fail(at, "the value is never ended: ; is missing")
			}
		}
	}
}

func (p *parser) tooManyValues(v *Variable, at token) {
	p.failHint(at, "make the array longer, or leave values out", "%d bytes of values for variable %s of %d bytes", len(v.Init), v.Name, v.Size)
}

// arrayLength reads the expression between [ and ].
func (p *parser) arrayLength(at token) int64 {
	if p.tok.kind == tokenNumber && isFloatLiteral(p.tok.text) {
		p.fail(at, "an array length must be an integer")
	}
	n := int64(p.constant(precedenceAny, 0).bits)
	if n < 0 || n > maxVariable {
		p.failHint(at, "the limit is 1 TiB", "an array cannot have %d elements", n)
	}
	return n
}

// initial reads a value or a list of them and appends its bytes; a list for a row that leaves values out is filled up with
// zeros. rows are the lengths of the dimensions that the list spans.
func (p *parser) initial(v *Variable, size int, rows []int64, at token) {
	if v.Size > 0 && !v.Dynamic && int64(len(v.Init)) > v.Size {
		p.tooManyValues(v, at)
	}
	if len(v.Init) > maxText {
		p.fail(at, "more than %d bytes of values for variable %s", maxText, v.Name)
	}
	if p.is("{") {
		open := p.advance()
		if len(rows) == 0 && v.Vector == 0 && (v.listDepth > 0 || len(v.Init) > 0) {
			p.fail(open, "values of variable %s are nested too deep", v.Name)
		}
		v.listDepth++
		if v.listDepth > maxElements {
			p.fail(open, "values of variable %s are nested too deep", v.Name)
		}
		var inner []int64
		if len(rows) > 0 {
			inner = rows[1:]
		}
		start := len(v.Init)
		for !p.accept("}") {
			p.initial(v, size, inner, at)
			if !p.accept(",") {
				p.expect("}", "after the values")
				break
			}
		}
		v.listDepth--
		row := size
		for _, n := range rows {
			row = int(min(int64(row)*n, int64(maxText)))
		}
		if len(rows) > 0 && rows[0] > 0 && v.listDepth > 0 { // rows inside: the outermost is filled up by the loader
			if over := len(v.Init) - start - row; over > 0 {
				p.failHint(open, "leave values out", "%d bytes of values for a row of variable %s of %d bytes", len(v.Init)-start, v.Name, row)
			} else if row < maxText {
				v.Init = append(v.Init, make([]byte, -over)...)
			}
		}
		return
	}
	p.value(v, size)
}

// value reads one number or address.
func (p *parser) value(v *Variable, size int) {
	var bits uint64
	switch t := p.tok; {
	case t.kind == tokenName && t.text != "WARP_SZ":
		p.initialAddress(v, size, 0)
	default:
		o := p.immediate(t)
		bits = o.Bits
		switch {
		case o.Float == NotFloat && p.is("("): // 0xff00(name)
			p.advance()
			p.initialAddress(v, size, bits)
			p.expect(")", "after an address")
			bits = 0
		case o.Float == NotFloat && bits != 0 && (v.Type[0] == 'f' || v.Type == "bf16"):
			p.failHint(t, "write it as 0f and its eight hexadecimal digits, or with a decimal point", "the value %s is an integer, variable %s is of type .%s", o.Name, v.Name, v.Type)
		case o.Float == Float64 && size == 4:
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		case o.Float == Float32 && size == 8:
			bits = math.Float64bits(float64(math.Float32frombits(uint32(bits))))
		case o.Float != NotFloat && size < 4:
			p.failHint(t, "write its bits as an integer", "a value of type .%s cannot be written as %s", v.Type, o.Name)
		}
	}
	b := make([]byte, max(size, 8))
	binary.LittleEndian.PutUint64(b, bits)
	if size > 8 && int64(bits) < 0 && v.Type[0] == 's' {
		for i := 8; i < size; i++ {
			b[i] = 0xff
		}
	}
	v.Init = append(v.Init, b[:size]...)
}

// initialAddress reads `name`, `generic(name)`, `name+4` or `generic(name)-4`, recorded in InitRefs; its bytes are zero
// until loading. mask is that of `0xff00(name)`.
func (p *parser) initialAddress(v *Variable, size int, mask uint64) {
	r := Reference{Offset: int64(len(v.Init)), Bytes: size, Mask: mask}
	t := p.name("a value")
	generic := t.text == "generic" && p.accept("(")
	if generic {
		t = p.name("the name of a variable")
	}
	r.Name = t.text
	r.Addend = p.offset()
	if generic {
		p.expect(")", "after generic")
		r.Addend += p.offset()
	}
	v.InitRefs = append(v.InitRefs, r)
}
