package ptx

import (
	"encoding/binary"
	"math"
)

// variable reads what follows the space: `.align 8 .b8 name[24] = {…}`, without the semicolon.
func (p *parser) variable(space string, extern bool) *Variable {
	v := &Variable{Space: space, Extern: extern, Line: p.tok.line}
	elements := int64(1)
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
			p.expect("(", "after .attribute")
			for !p.accept(")") {
				if p.tok.kind == tokenEnd {
					p.fail(t, ".attribute is never closed: ) is missing")
				}
				p.advance()
			}
		case ".v2":
			elements = 2
		case ".v4":
			elements = 4
		default:
			if TypeSize(t.text[1:]) == 0 {
				p.fail(t, "unknown type %s", t.text)
			}
			v.Type = t.text[1:]
		}
	}
	name := p.name("the name of a variable")
	v.Name = name.text
	if v.Type == "" {
		p.fail(name, "variable %s has no type", v.Name)
	}
	size := int64(TypeSize(v.Type))
	if v.Align == 0 {
		v.Align = int(size * elements)
	}
	for p.accept("[") {
		if p.accept("]") {
			v.Dynamic = true
			continue
		}
		at := p.tok
		n := p.integer("an array length", maxVariable)
		if n > 0 && elements > maxVariable/n/16 {
			p.fail(at, "variable %s is too large", v.Name)
		}
		elements *= n
		p.expect("]", "after an array length")
	}
	v.Size = elements * size
	if v.Size > maxVariable {
		p.fail(name, "variable %s is too large", v.Name)
	}
	if p.is("=") {
		at := p.advance()
		if space != "global" && space != "const" {
			p.fail(at, "only .global and .const variables can have a value")
		}
		p.initial(v, int(size), 0)
		if v.Dynamic {
			v.Size, v.Dynamic = int64(len(v.Init)), false
		}
		if int64(len(v.Init)) > v.Size {
			p.fail(at, "%d bytes of values for variable %s of %d bytes", len(v.Init), v.Name, v.Size)
		}
	}
	if v.Dynamic {
		v.Size = 0
	}
	return v
}

// initial reads a value or a list of them and appends its bytes.
func (p *parser) initial(v *Variable, size, depth int) {
	if depth > 8 {
		p.fail(p.tok, "values are nested too deep")
	}
	if p.accept("{") {
		for !p.accept("}") {
			p.initial(v, size, depth+1)
			if !p.accept(",") {
				p.expect("}", "after the values")
				return
			}
		}
		return
	}
	var bits uint64
	if p.tok.kind == tokenName {
		bits = p.initialAddress(v)
	} else {
		o := p.immediate(p.tok)
		bits = o.Bits
		if o.Float == Float64 && size == 4 {
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	if size > len(b) {
		p.fail(p.last, "values of type .%s are not supported", v.Type)
	}
	v.Init = append(v.Init, b[:size]...)
}

// initialAddress reads `name`, `generic(name)` or `name+4`, recorded in InitRefs; its bytes are zero until loading.
func (p *parser) initialAddress(v *Variable) uint64 {
	r := Reference{Offset: int64(len(v.Init))}
	t := p.name("a value")
	if t.text == "generic" {
		p.expect("(", "after generic")
		t = p.name("the name of a variable")
		defer p.expect(")", "after generic")
	}
	if t.text == "mask" {
		p.fail(t, "mask() values are not supported")
	}
	r.Name = t.text
	if p.accept("+") {
		r.Addend = p.integer("an offset", maxVariable)
	}
	v.InitRefs = append(v.InitRefs, r)
	return 0
}
