package display

import (
	"fmt"
	"html"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a table shows at most; the rest is counted.
const (
	maxRows    = 60
	maxColumns = 24
	maxCell    = 80 // characters
)

// Table shows rows as a table: a slice or array of structs (a column a field), of maps with text keys (a column a key), of
// slices (a column an element) or of plain values; or a map, a row an entry. Pointers and interfaces are followed. Names
// given in columns head the columns; for structs and maps they choose and order them.
func Table(rows any, columns ...string) *Object {
	t, err := tabulate(reflect.ValueOf(rows), columns)
	if err != nil {
		return show(map[string]any{"text/plain": "display.Table: " + err.Error()})
	}
	return show(map[string]any{"text/html": t.html(), "text/plain": t.text()})
}

// A table is what is shown of some rows.
type table struct {
	heads   []string // none: no head
	rows    [][]string
	right   []bool // a column of numbers
	more    int    // rows that are not shown
	moreCol int
}

func follow(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	return v
}

func tabulate(v reflect.Value, columns []string) (*table, error) {
	v = follow(v)
	if !v.IsValid() {
		return nil, fmt.Errorf("there are no rows: they are nil")
	}
	t := new(table)
	var rows []reflect.Value
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), maxRows) {
			rows = append(rows, follow(v.Index(i)))
		}
		t.more = v.Len() - len(rows)
	case reflect.Map:
		return mapTable(v, columns), nil
	case reflect.Struct:
		rows = []reflect.Value{v}
	default:
		return nil, fmt.Errorf("rows must be a slice of structs, maps or slices, or a map; this is %s", v.Type())
	}
	kind, of := reflect.Invalid, reflect.Type(nil)
	for _, r := range rows {
		if r.IsValid() {
			kind, of = r.Kind(), r.Type()
			break
		}
	}
	switch {
	case kind == reflect.Struct && of.NumField() > 0 && !isText(of):
		return t, t.structs(rows, of, columns)
	case kind == reflect.Map && of.Key().Kind() == reflect.String:
		return t, t.maps(rows, columns)
	case kind == reflect.Slice || kind == reflect.Array:
		t.lists(rows, columns)
	default:
		t.heads = columns
		for _, r := range rows {
			t.row([]reflect.Value{r})
		}
	}
	t.cut()
	return t, nil
}

// isText says whether values of a struct type print themselves, as time.Time and big.Int do.
func isText(t reflect.Type) bool {
	s := reflect.TypeFor[fmt.Stringer]()
	return t.Implements(s) || reflect.PointerTo(t).Implements(s)
}

func (t *table) structs(rows []reflect.Value, of reflect.Type, columns []string) error {
	var fields []int
	var all []string
	for i := range of.NumField() {
		all = append(all, of.Field(i).Name)
		if len(columns) == 0 {
			fields = append(fields, i)
		}
	}
	for _, c := range columns {
		i := slices.Index(all, c)
		if i < 0 {
			return fmt.Errorf("there is no field %q; the rows have %s", c, strings.Join(all, ", "))
		}
		fields = append(fields, i)
	}
	for _, i := range fields {
		t.heads = append(t.heads, all[i])
	}
	for _, r := range rows {
		cells := make([]reflect.Value, len(fields))
		if r.IsValid() && r.Type() == of {
			for k, i := range fields {
				cells[k] = r.Field(i)
			}
		}
		t.row(cells)
	}
	t.cut()
	return nil
}

func (t *table) maps(rows []reflect.Value, columns []string) error {
	present := map[string]bool{}
	for _, r := range rows {
		if r.IsValid() && r.Kind() == reflect.Map {
			for _, k := range r.MapKeys() {
				present[k.String()] = true
			}
		}
	}
	all := make([]string, 0, len(present))
	for k := range present {
		all = append(all, k)
	}
	sort.Strings(all)
	for _, c := range columns {
		if !present[c] {
			return fmt.Errorf("there is no key %q; the rows have %s", c, strings.Join(all, ", "))
		}
	}
	t.heads = all
	if len(columns) > 0 {
		t.heads = slices.Clone(columns)
	}
	for _, r := range rows {
		cells := make([]reflect.Value, len(t.heads))
		if r.IsValid() && r.Kind() == reflect.Map {
			for i, h := range t.heads {
				cells[i] = r.MapIndex(reflect.ValueOf(h).Convert(r.Type().Key()))
			}
		}
		t.row(cells)
	}
	t.cut()
	return nil
}

func (t *table) lists(rows []reflect.Value, columns []string) {
	width := len(columns)
	for _, r := range rows {
		if r.IsValid() && (r.Kind() == reflect.Slice || r.Kind() == reflect.Array) {
			width = max(width, r.Len())
		}
	}
	t.heads = slices.Clone(columns)
	for len(t.heads) > 0 && len(t.heads) < width {
		t.heads = append(t.heads, "")
	}
	width = min(width, 4*maxColumns)
	for _, r := range rows {
		cells := make([]reflect.Value, width)
		if r.IsValid() && (r.Kind() == reflect.Slice || r.Kind() == reflect.Array) {
			for i := range min(width, r.Len()) {
				cells[i] = r.Index(i)
			}
		} else if width > 0 {
			cells[0] = r
		}
		t.row(cells)
	}
	t.heads = t.heads[:min(len(t.heads), width)]
}

func mapTable(v reflect.Value, columns []string) *table {
	t := &table{heads: []string{"key", "value"}}
	copy(t.heads, columns)
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return less(keys[i], keys[j]) })
	for _, k := range keys[:min(len(keys), maxRows)] {
		t.row([]reflect.Value{k, v.MapIndex(k)})
	}
	t.more = len(keys) - len(t.rows)
	return t
}

func less(a, b reflect.Value) bool {
	a, b = follow(a), follow(b)
	switch {
	case !a.IsValid() || !b.IsValid():
		return b.IsValid()
	case a.CanInt() && b.CanInt():
		return a.Int() < b.Int()
	case a.CanUint() && b.CanUint():
		return a.Uint() < b.Uint()
	case a.CanFloat() && b.CanFloat():
		return a.Float() < b.Float()
	}
	return fmt.Sprint(a) < fmt.Sprint(b)
}

// row adds a row; a column is one of numbers as long as every cell in it is a number.
func (t *table) row(cells []reflect.Value) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		for len(t.right) <= i {
			t.right = append(t.right, true)
		}
		c = follow(c)
		if !c.IsValid() {
			continue
		}
		texts[i] = cellText(c)
		if !c.CanInt() && !c.CanUint() && !c.CanFloat() || isText(c.Type()) {
			t.right[i] = false
		}
	}
	t.rows = append(t.rows, texts)
}

// cellText prints a value on one line; floats with six digits.
func cellText(v reflect.Value) string {
	var s string
	if v.CanFloat() && !isText(v.Type()) {
		s = strconv.FormatFloat(v.Float(), 'g', 6, 64)
	} else {
		s = fmt.Sprint(v)
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " ")
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell-1]) + "…"
	}
	return s
}

// cut drops the columns beyond maxColumns.
func (t *table) cut() {
	t.moreCol = max(0, len(t.right)-maxColumns)
	if t.moreCol == 0 {
		return
	}
	t.right = t.right[:maxColumns]
	t.heads = t.heads[:min(len(t.heads), maxColumns)]
	for i := range t.rows {
		t.rows[i] = t.rows[i][:min(len(t.rows[i]), maxColumns)]
	}
}

// rest says what is not shown.
func (t *table) rest() string {
	var parts []string
	if t.more > 0 {
		parts = append(parts, count(t.more, "row"))
	}
	if t.moreCol > 0 {
		parts = append(parts, count(t.moreCol, "column"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "… and " + strings.Join(parts, " and ") + " more"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func escape(s string) string { return html.EscapeString(s) }

func (t *table) html() string {
	var b strings.Builder
	b.WriteString(`<table cellpadding="3" style="table-layout:auto;font-size:12px">`)
	line := func(tag string, cells []string) {
		b.WriteString(`<tr align="right">`)
		for i, c := range cells {
			left := ""
			if i < len(t.right) && !t.right[i] {
				left = ` style="text-align:left"`
			}
			fmt.Fprintf(&b, "<%s%s>%s</%s>", tag, left, escape(c), tag)
		}
		b.WriteString("</tr>")
	}
	if len(t.heads) > 0 {
		line("th", t.heads)
	}
	for _, r := range t.rows {
		line("td", r)
	}
	b.WriteString("</table>")
	if rest := t.rest(); rest != "" {
		b.WriteString(`<div style="font-size:12px;opacity:.8">` + rest + "</div>")
	}
	if len(t.rows) == 0 {
		b.WriteString(`<div style="font-size:12px;opacity:.8">no rows</div>`)
	}
	return b.String()
}

func (t *table) text() string {
	if len(t.rows) == 0 {
		return "no rows"
	}
	all := t.rows
	if len(t.heads) > 0 {
		all = append([][]string{t.heads}, all...)
	}
	width := make([]int, len(t.right))
	for _, r := range all {
		for i, c := range r {
			if i < len(width) {
				width[i] = max(width[i], utf8.RuneCountInString(c))
			}
		}
	}
	var lines []string
	for n, r := range all {
		var b strings.Builder
		for i := range width {
			c := ""
			if i < len(r) {
				c = r[i]
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i > 0 {
				b.WriteString("  ")
			}
			if t.right[i] {
				b.WriteString(pad + c)
			} else {
				b.WriteString(c + pad)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		if n == 0 && len(t.heads) > 0 {
			rule := make([]string, len(width))
			for i, w := range width {
				rule[i] = strings.Repeat("-", w)
			}
			lines = append(lines, strings.Join(rule, "  "))
		}
	}
	if rest := t.rest(); rest != "" {
		lines = append(lines, rest)
	}
	return strings.Join(lines, "\n")
}
