package vgpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxPrinted is how much a CTA can print: CUDA's default buffer of a whole launch, cudaLimitPrintfFifoSize.
const maxPrinted = 1 << 20

// printer formats one lane's printf as CUDA does (CUDA C++ Programming Guide, "Formatted Output"): arguments lie behind each
// other from at on, each aligned to its size; int has 4 bytes, long, pointers and double 8.
type printer struct {
	w     *warp
	lane  uint
	at    uint64
	out   []byte
	count int
}

// next reads an argument of 4 or 8 bytes.
func (p *printer) next(bytes uint64) uint64 {
	p.at = (p.at + bytes - 1) &^ (bytes - 1)
	b := p.w.generic(p.lane, p.at, int(bytes))
	p.at += bytes
	p.count++
	if len(b) < int(bytes) {
		return 0
	}
	if bytes == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// directive is one conversion of a format: %[flags][width][.precision][size]type.
type directive struct {
	flags            string
	width, precision int // -1 where there is none
	long             int // 0, 1 or 2 times l; -1 for h, -2 for hh
	verb             byte
}

// spec is the directive for fmt.
func (v directive) spec(verb string) string {
	s := "%" + v.flags
	if v.width >= 0 {
		s += strconv.Itoa(v.width)
	}
	if v.precision >= 0 {
		s += "." + strconv.Itoa(v.precision)
	}
	return s + verb
}

// print formats; what is no conversion is copied.
func (p *printer) print(format string) {
	for len(format) > 0 {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			p.out = append(p.out, format...)
			return
		}
		p.out = append(p.out, format[:at]...)
		v, n := p.parse(format[at:])
		if !p.convert(v) {
			p.out = append(p.out, format[at:at+n]...)
		}
		format = format[at+n:]
	}
}

// parse reads the directive that a format begins with, and gives its length.
func (p *printer) parse(s string) (directive, int) {
	v := directive{width: -1, precision: -1}
	i := 1
	for i < len(s) && strings.IndexByte("#0 +-", s[i]) >= 0 {
		v.flags += s[i : i+1]
		i++
	}
	number := func() int {
		n := -1
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			n = min(max(n, 0)*10+int(s[i]-'0'), 1<<16)
			i++
		}
		return n
	}
	if i < len(s) && s[i] == '*' {
		i++
		if v.width = int(int32(p.next(4))); v.width < 0 {
			v.flags, v.width = v.flags+"-", -v.width
		}
		v.width = min(v.width, 1<<16)
	} else {
		v.width = number()
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i < len(s) && s[i] == '*' {
			i++
			v.precision = min(max(int(int32(p.next(4))), -1), 1<<16)
		} else {
			v.precision = max(number(), 0)
		}
	}
	for i < len(s) && strings.IndexByte("hljzt", s[i]) >= 0 {
		switch s[i] {
		case 'h':
			v.long--
		default:
			v.long++
		}
		i++
	}
	if i < len(s) {
		v.verb = s[i]
		i++
	}
	return v, i
}

// convert appends one argument; false: there is no such conversion.
func (p *printer) convert(v directive) bool {
	switch v.verb {
	case '%':
		p.out = append(p.out, '%')
	case 'd', 'i', 'u', 'o', 'x', 'X':
		p.integer(v)
	case 'c', 's', 'p':
		v.flags = strings.ReplaceAll(v.flags, "0", "")
		p.word(v)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		p.float(v, math.Float64frombits(p.next(8)))
	default:
		return false
	}
	return true
}

// word appends a character, a string or an address. The bytes of a character or a string may be no UTF-8.
func (p *printer) word(v directive) {
	var s string
	switch v.verb {
	case 'c':
		s, v.precision = string([]byte{byte(p.next(4))}), -1
	case 'p':
		s, v.precision = fmt.Sprintf("0x%x", p.next(8)), -1
	default:
		var ok bool
		if s, ok = p.w.text(p.lane, p.next(8)); !ok {
			s = "(null)"
		}
	}
	if v.precision >= 0 {
		s = s[:min(v.precision, len(s))]
	}
	pad := strings.Repeat(" ", max(v.width-len(s), 0))
	if strings.Contains(v.flags, "-") {
		s += pad
	} else {
		s = pad + s
	}
	p.out = append(p.out, s...)
}

func (p *printer) integer(v directive) {
	bytes := uint64(4)
	if v.long > 0 {
		bytes = 8
	}
	bits := p.next(bytes)
	if v.precision >= 0 || strings.Contains(v.flags, "-") {
		v.flags = strings.ReplaceAll(v.flags, "0", "")
	}
	if v.verb == 'd' || v.verb == 'i' {
		n := int64(bits)
		switch {
		case v.long < -1:
			n = int64(int8(bits))
		case v.long < 0:
			n = int64(int16(bits))
		case v.long == 0:
			n = int64(int32(bits))
		}
		p.out = fmt.Appendf(p.out, v.spec("d"), n)
		return
	}
	switch {
	case v.long < -1:
		bits &= 0xff
	case v.long < 0:
		bits &= 0xffff
	}
	v.flags = strings.NewReplacer("+", "", " ", "").Replace(v.flags)
	verb := string(v.verb)
	if v.verb == 'u' {
		verb = "d"
	}
	if bits == 0 {
		v.flags = strings.ReplaceAll(v.flags, "#", "")
	}
	p.out = fmt.Appendf(p.out, v.spec(verb), bits)
}

func (p *printer) float(v directive, x float64) {
	upper := v.verb < 'a'
	if math.IsInf(x, 0) || math.IsNaN(x) {
		s := "nan"
		if math.IsInf(x, 0) {
			s = "inf"
		}
		switch {
		case math.Signbit(x):
			s = "-" + s
		case strings.Contains(v.flags, "+"):
			s = "+" + s
		case strings.Contains(v.flags, " "):
			s = " " + s
		}
		if upper {
			s = strings.ToUpper(s)
		}
		v.precision = -1
		v.flags = strings.ReplaceAll(v.flags, "0", "")
		p.out = fmt.Appendf(p.out, v.spec("s"), s)
		return
	}
	switch v.verb {
	case 'a', 'A':
		s := strconv.FormatFloat(x, 'x', v.precision, 64)
		if at := strings.IndexByte(s, 'p'); len(s) == at+4 && s[at+2] == '0' { // C writes no leading zero
			s = s[:at+2] + s[at+3:]
		}
		if upper {
			s = strings.ToUpper(s)
		}
		v.precision = -1
		p.out = fmt.Appendf(p.out, v.spec("s"), s)
		return
	case 'g', 'G':
		if v.precision < 0 {
			v.precision = 6
		}
		v.precision = max(v.precision, 1)
	case 'F':
		v.verb = 'f'
	}
	if strings.Contains(v.flags, "-") {
		v.flags = strings.ReplaceAll(v.flags, "0", "")
	}
	p.out = fmt.Appendf(p.out, v.spec(string(v.verb)), x)
}
