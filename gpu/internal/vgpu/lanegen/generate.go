// Package lanegen writes the portable lane functions of the virtual GPU: one Go loop over 32 lanes for each PTX
// operation that works lane by lane, and the rows of the op table that point to them. Its own rows stand in
// rows_integer.go, rows_float.go, rows_convert.go and rows_compare.go: a pattern of spellings, operand types, the Go
// expression of one lane, and the section of the PTX ISA (8.8) that defines it.
//
//	go generate ./gpu/internal/vgpu
package lanegen

import (
	"fmt"
	"go/format"
	"strings"
)

// op is one row: what its lanes compute and how PTX spells it.
type op struct {
	spellings []string // patterns: "add{.s32,.u32}"
	dst       string   // type of the destination, "pred" for a comparison
	src       []string // types of the sources
	expr      string   // over x, y, z, t, the sources in order
	class     string   // perf.Class…
	flop      string   // perf.FLOP…, "" where none is counted
	flops     int      // a lane
	section   string   // of the PTX ISA
	// quick, where it is set, computes v for almost all values and sets odd for the others; then the warp is done again
	// by expr, with results kept apart, since the destination may be a source.
	quick string
}

// entry is a row with the least target that it needs, 0 for any.
type entry struct {
	op
	sm int
}

var ops []entry

func add(o op) { ops = append(ops, entry{op: o}) }

// view says how a register slot holds a type: the accessor of the warp, loading one lane and storing it.
type view struct{ slot, load, store string }

var views = map[string]view{
	"u32": {"u32", "%s[i]", "%s"}, "s32": {"s32", "%s[i]", "%s"}, "f32": {"f32", "%s[i]", "%s"},
	"u64": {"u64", "%s[i]", "%s"}, "s64": {"s64", "%s[i]", "%s"}, "f64": {"f64", "%s[i]", "%s"},
	"u16": {"u32", "uint16(%s[i])", "uint32(%s)"}, "s16": {"u32", "int16(%s[i])", "uint32(uint16(%s))"},
	"u8": {"u32", "uint8(%s[i])", "uint32(%s)"}, "s8": {"u32", "int8(%s[i])", "uint32(int32(%s))"},
	"f16": {"u32", "halfToFloat(uint16(%s[i]))", "uint32(floatToHalf(%s))"}, "bf16": {"u32", "bfloatToFloat(uint16(%s[i]))", "uint32(floatToBfloat(%s))"},
	// The bits of a 16-bit value rounded by the expression itself.
	"h16": {"u32", "uint16(%s[i])", "uint32(%s)"},
}

// halves maps the packed types to the type of a half.
var halves = map[string]string{"f16x2": "f16", "bf16x2": "bf16", "h16x2": "h16", "u16x2": "u16", "s16x2": "s16"}

// expand gives every spelling of a pattern: each {a,b} once with each alternative.
func expand(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	end := open + strings.IndexByte(pattern[open:], '}')
	var all []string
	for _, alternative := range strings.Split(pattern[open+1:end], ",") {
		all = append(all, expand(pattern[:open]+alternative+pattern[end+1:])...)
	}
	return all
}

// funcName is the Go name of the op whose first spelling is given.
func funcName(spelling string) string {
	var b strings.Builder
	b.WriteString("lane")
	for _, part := range strings.Split(spelling, ".") {
		part = strings.ReplaceAll(part, "::", "")
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// lane writes the loop of one op.
func (o *op) lane(b *strings.Builder, name string) {
	names := []string{"a", "b", "c", "e"}
	values := []string{"x", "y", "z", "t"}
	fmt.Fprintf(b, "// %s is %s (PTX ISA %s): for each lane, with sources %s,\n//\n//\t%s = %s\nfunc %s(w *warp, in *inst) {\n",
		name, expand(o.spellings[0])[0], o.section, strings.Join(values[:len(o.src)], ", "), o.result(), o.expr, name)
	var left, right []string
	if o.dst != "pred" {
		left, right = append(left, "d"), append(right, "w."+slotOf(o.dst)+"(in.d)")
	}
	for k, t := range o.src {
		left, right = append(left, names[k]), append(right, "w."+slotOf(t)+"(in."+names[k]+")")
	}
	fmt.Fprintf(b, "\t%s := %s\n", strings.Join(left, ", "), strings.Join(right, ", "))
	if o.dst == "pred" {
		b.WriteString("\tvar r uint32\n\tfor i := range a {\n")
		loads(b, o.src, names, values, "")
		fmt.Fprintf(b, "\t\tvar bit uint32\n\t\tif %s {\n\t\t\tbit = 1\n\t\t}\n\t\tr |= bit << (uint(i) & 31)\n\t}\n\tw.setPredicate(in, r)\n}\n\n", o.expr)
		return
	}
	if o.quick != "" {
		fmt.Fprintf(b, "\tvar r [32]%s\n\todd := false\n\tfor i := range r {\n", goType(views[o.dst].slot))
		if !strings.Contains(o.quick, "[i]") {
			loads(b, o.src, names, values, "")
		}
		fmt.Fprintf(b, "\t\t%s\n\t\tr[i] = v\n\t}\n\tif odd {\n\t\tfor i := range r {\n", o.quick)
		loads(b, o.src, names, values, "")
		fmt.Fprintf(b, "\t\t\tr[i] = "+views[o.dst].store+"\n\t\t}\n\t}\n\t*d = r\n}\n\n", o.expr)
		return
	}
	b.WriteString("\tfor i := range d {\n")
	if half, packed := halves[o.dst]; packed {
		b.WriteString("\t\tvar low, high uint32\n\t\t{\n")
		loads(b, o.src, names, values, "")
		fmt.Fprintf(b, "\t\tlow = "+views[half].store+" & 0xffff\n\t\t}\n\t\t{\n", o.expr)
		loads(b, o.src, names, values, ">>16")
		fmt.Fprintf(b, "\t\thigh = "+views[half].store+"\n\t\t}\n\t\td[i] = low | high<<16\n\t}\n}\n\n", o.expr)
		return
	}
	loads(b, o.src, names, values, "")
	fmt.Fprintf(b, "\t\td[i] = "+views[o.dst].store+"\n\t}\n}\n\n", o.expr)
}

func (o *op) result() string {
	if o.dst == "pred" {
		return "predicate"
	}
	return "d[i]"
}

func slotOf(t string) string {
	if _, packed := halves[t]; packed {
		return "u32"
	}
	return views[t].slot
}

// loads writes x, y := a[i], b[i] with the conversions that the types need; shift picks the upper half of packed ones.
func loads(b *strings.Builder, src, names, values []string, shift string) {
	var left, right []string
	for k, t := range src {
		if half, packed := halves[t]; packed {
			t = half
		} else if shift != "" {
			left, right = append(left, values[k]), append(right, fmt.Sprintf(views[t].load, names[k]))
			continue
		}
		load := strings.Replace(views[t].load, "%s[i]", names[k]+"[i]"+shift, 1)
		left, right = append(left, values[k]), append(right, load)
	}
	fmt.Fprintf(b, "\t\t%s := %s\n", strings.Join(left, ", "), strings.Join(right, ", "))
}

// Generate gives the text of lanes_gen.go.
func Generate() ([]byte, error) {
	ops = ops[:0]
	integerRows()
	logicRows()
	floatRows()
	halfRows()
	convertRows()
	compareRows()
	packedRows()
	var b strings.Builder
	b.WriteString("// Code generated by memwall/gpu/internal/vgpu/lanegen. DO NOT EDIT.\n\npackage vgpu\n\nimport (\n\t\"math\"\n\t\"math/bits\"\n\n\t\"memwall/gpu/perf\"\n)\n\n")
	b.WriteString("// laneRows are the ops that work lane by lane, one a row.\nvar laneRows = []row{\n")
	seen := map[string]bool{}
	for i := range ops {
		o := &ops[i]
		var all []string
		for _, p := range o.spellings {
			all = append(all, expand(p)...)
		}
		for _, s := range all {
			if seen[s] {
				return nil, fmt.Errorf("%s stands in two rows", s)
			}
			seen[s] = true
		}
		flop := "0"
		if o.flops > 0 {
			flop = "perf." + o.flop
		}
		target := ""
		if o.sm > 0 {
			target = fmt.Sprintf(", sm: %d", o.sm)
		}
		fmt.Fprintf(&b, "\t{patterns: %#v, dst: %q, src: %#v, class: perf.%s, flop: %s, flops: %d, section: %q, lane: %s%s},\n",
			o.spellings, o.dst, o.src, o.class, flop, o.flops, o.section, funcName(all[0]), target)
	}
	b.WriteString("}\n\n")
	for i := range ops {
		ops[i].lane(&b, funcName(expand(ops[i].spellings[0])[0]))
	}
	return format.Source([]byte(b.String()))
}
