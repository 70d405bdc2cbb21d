package lower

import (
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// The border between lowered and compiled code is the only place where boxes change: to a compiled interface they get its
// methods; functions that format, encode or sort see through them; packages that only carry values pass them on; any other
// compiled function that takes an interface{} gets plain values only, and the run time refuses a box.

// carrying packages only carry the values they are given as interfaces.
var carrying = []string{"sync", "sync/atomic", "context", "container/list", "container/heap", "container/ring", "runtime", "slices", "maps", "iter", "errors"}

// replacements are the run time's forms of compiled functions that look into interfaces, or that must heed an interrupt.
var replacements = map[string]string{
	"fmt.Print": "rt.Print", "fmt.Println": "rt.Println", "fmt.Printf": "rt.Printf",
	"fmt.Sprint": "rt.Sprint", "fmt.Sprintln": "rt.Sprintln", "fmt.Sprintf": "rt.Sprintf", "fmt.Errorf": "rt.Errorf",
	"fmt.Fprint": "rt.Fprint", "fmt.Fprintln": "rt.Fprintln", "fmt.Fprintf": "rt.Fprintf",
	"fmt.Append": "rt.Append", "fmt.Appendln": "rt.Appendln", "fmt.Appendf": "rt.Appendf",
	"errors.As":             "rt.ErrorsAs",
	"encoding/json.Marshal": "rt.JSONMarshal", "encoding/json.MarshalIndent": "rt.JSONMarshalIndent", "encoding/json.Unmarshal": "rt.JSONUnmarshal",
	"(*encoding/json.Decoder).Decode": "rt.JSONDecode",
	"reflect.DeepEqual":               "rt.DeepEqual",
	"maps.clone":                      "rt.MapClone",
	"sort.Slice":                      "rt.SortSlice", "sort.SliceStable": "rt.SortSliceStable", "sort.SliceIsSorted": "rt.SortSliceIsSorted",
	"time.Sleep":             "rt.Sleep",
	"(*sync.WaitGroup).Wait": "rt.Wait",
	"(*sync.Cond).Wait":      "rt.CondWait",
	"(*sync.Mutex).Lock":     "rt.Lock",
	"(*sync.RWMutex).Lock":   "rt.LockRW",
	"(*sync.RWMutex).RLock":  "rt.RLock",
	"os.Exit":                "rt.Exit",
}

// formatters make text of their arguments: the run time makes the text, the compiled function gets it. Their names are those of
// fmt's functions behind a word.
var logVerbs = map[string]string{"Print": "rt.Sprint", "Printf": "rt.Sprintf", "Println": "rt.Sprintln"}

// encoders take an interface{} only to read plain data from it.
var encoders = map[string]string{
	"(*text/template.Template).Execute": "rt.TemplateData", "(*html/template.Template).Execute": "rt.TemplateData",
	"(*text/template.Template).ExecuteTemplate": "rt.TemplateData", "(*html/template.Template).ExecuteTemplate": "rt.TemplateData",
	"(*encoding/json.Encoder).Encode": "rt.Data", "(*encoding/gob.Encoder).Encode": "rt.Data",
	"encoding/xml.Marshal": "rt.Data", "encoding/xml.MarshalIndent": "rt.Data", "encoding/binary.Write": "rt.Data",
}

// refusedPackages and refusedFunctions cannot work in a cell.
var refusedPackages = map[string]string{
	"unsafe":        "use encoding/binary or math.Float64bits to look at bits",
	"plugin":        "put the code in a cell",
	"testing":       "call the function and compare in the cell",
	"runtime/debug": "print what you want to know in the cell",
}

var refusedFunctions = map[string]string{
	"runtime.SetFinalizer": "close what needs closing with defer", "runtime.AddCleanup": "close what needs closing with defer",
	"runtime.Caller": "print the place by hand", "runtime.Callers": "print the place by hand", "runtime.Stack": "print the place by hand",
	"runtime.FuncForPC": "print the name by hand", "runtime.ReadMemStats": "count what you allocate by hand",
}

func (w *writer) refuseGeneric(o *types.Func) {
	w.refuse("the generic function "+o.FullName()+" of a compiled package", "the interpreter has only its instances' code, and no instance for these types",
		"write the function in a cell, or use one that is not generic")
}

// externalCall is the text of a call of a compiled function or method.
func (w *writer) externalCall(f *ssa.Function, as []string) string {
	o, _ := f.Object().(*types.Func)
	if o == nil || o.Pkg() == nil {
		w.refuse("the function "+f.String(), "it has no source and no compiled form", "call another function")
	}
	sig := f.Signature
	full := o.FullName()
	if r, ok := replacements[full]; ok {
		return r + "(" + joined(sig, as) + ")"
	}
	if len(f.TypeArgs()) > 0 || sig.Recv() != nil && genericReceiver(sig.Recv().Type()) {
		w.refuseGeneric(o)
	}
	if way, ok := refusedPackages[o.Pkg().Path()]; ok {
		w.refuse("package "+o.Pkg().Path(), "what it does depends on compiled code", way)
	}
	if way, ok := refusedFunctions[full]; ok {
		w.refuse(full, "it would see the interpreter instead of the cell", way)
	}
	if o.Pkg().Path() == "log" {
		if text, ok := w.logCall(o, sig, as); ok {
			return text
		}
	}
	for i := range sig.Params().Len() {
		if t := sig.Params().At(i).Type(); w.hidden(t) {
			w.refuse(full, "it takes a value of the unexported type "+t.String(), "call another function")
		}
	}
	if sig.Recv() == nil {
		if !o.Exported() {
			w.refuse("the function "+full, "it is not exported by its compiled package", "call an exported function")
		}
		return w.importName(o.Pkg()) + "." + o.Name() + "(" + joined(sig, w.crossBorder(o, sig, as)) + ")"
	}
	receiver := as[0]
	if w.hidden(sig.Recv().Type()) {
		if !o.Exported() {
			w.refuse("the method "+full, "it is not exported by its compiled package", "call an exported method")
		}
		return w.dispatcher(o) + "(" + strings.Join(append([]string{receiver}, spread(sig, w.crossBorder(o, sig, as[1:]))...), ", ") + ")"
	}
	if strings.ContainsAny(receiver[:1], "&*(-0123456789") {
		receiver = "(" + receiver + ")"
	}
	return receiver + "." + o.Name() + "(" + joined(sig, w.crossBorder(o, sig, as[1:])) + ")"
}

func genericReceiver(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.TypeArgs().Len() > 0
}

// logCall prints through package log: the text is made by the run time, the logger only writes it.
func (w *writer) logCall(o *types.Func, sig *types.Signature, as []string) (string, bool) {
	kind, verb := "", ""
	for _, k := range []string{"Print", "Fatal", "Panic"} {
		if v, ok := strings.CutPrefix(o.Name(), k); ok && sig.Variadic() {
			kind, verb = k, v
		}
	}
	format, ok := logVerbs["Print"+verb]
	if kind == "" || !ok {
		return "", false
	}
	logger := w.importName(o.Pkg()) + ".Default()"
	if sig.Recv() != nil {
		logger, as = as[0], as[1:]
	}
	text := format + "(" + joined(sig, as) + ")"
	if kind == "Fatal" {
		return "rt.LogFatal(" + logger + ", " + text + ")", true
	}
	return logger + "." + kind + "(" + text + ")", true
}

// crossBorder gives the arguments of a compiled function (without the receiver) the form in which it may see them.
func (w *writer) crossBorder(o *types.Func, sig *types.Signature, as []string) []string {
	as = append([]string{}, as...)
	if o.Pkg() == nil || w.l.carries[o.Pkg().Path()] {
		return as
	}
	full := o.FullName()
	out := "rt.Out"
	if w.l.shows[o.Pkg().Path()] {
		out = "rt.Shown"
	}
	if e, ok := encoders[full]; ok {
		out = e
	}
	for i := range min(sig.Params().Len(), len(as)) {
		t := sig.Params().At(i).Type()
		if emptyInterface(t) {
			as[i] = out + "(" + strconv.Quote(full) + ", " + as[i] + ")"
			continue
		}
		if s, ok := t.Underlying().(*types.Slice); ok && emptyInterface(s.Elem()) {
			as[i] = out + "Slice(" + strconv.Quote(full) + ", " + as[i] + ")"
		}
	}
	return as
}

// crossesBorder reports compiled functions whose arguments change at the border.
func (w *writer) crossesBorder(o *types.Func) bool {
	if replacements[o.FullName()] != "" || o.Pkg().Path() == "log" {
		return true
	}
	if w.l.carries[o.Pkg().Path()] {
		return false
	}
	sig := o.Signature()
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		if emptyInterface(t) {
			return true
		}
	}
	return false
}

// borderFunction is a lowered function that calls a compiled one, for use as a value.
func (w *writer) borderFunction(f *ssa.Function) string {
	if n, ok := w.l.names.get(f); ok {
		return n
	}
	n := w.name("e")
	w.l.names.put(f, n)
	var ps []string
	for i := range f.Signature.Params().Len() {
		ps = append(ps, "a"+strconv.Itoa(i))
	}
	sig := w.signature(f.Signature, ps)
	ret := "return "
	if f.Signature.Results().Len() == 0 {
		ret = ""
	}
	w.add(f, "func "+n+sig+" { "+ret+w.externalCall(f, ps)+" }")
	return n
}
