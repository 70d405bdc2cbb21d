package worker

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"memwall/gpu"
	"memwall/kernel/pipe"
	"memwall/kernel/worker/session"
)

// compile compiles a %%cuda cell, or loads a %%ptx cell, on the device, and declares its entries and variables as Go
// variables of the cell; under the cell stands what each entry takes.
func (w *worker) compile(c *cell, o order) *pipe.Error {
	if strings.TrimSpace(o.code) == "" {
		return plainError("SyntaxError", "the %%"+o.foreign+" cell is empty: its text follows below the first line")
	}
	if w.dev == nil {
		if err := w.device(); err != nil {
			return plainError("gpu.Error", err.Error())
		}
	}
	module, err := w.load(c, o)
	if err != nil && c.ctx.Err() != nil {
		return cellError(c.ctx, &session.Error{Name: "Interrupted", Value: "the cell was interrupted", Traceback: []string{"Interrupted: the cell was interrupted"}})
	}
	if err != nil {
		return cellError(c.ctx, foreignError(o, err))
	}
	for _, remark := range module.Remarks() {
		w.port.Print(true, []byte(remark+"\n"))
	}
	entries := module.Entries()
	names := slices.Sorted(maps.Keys(entries))
	var declare []string
	for _, name := range names {
		declare = append(declare, fmt.Sprintf("var %s = gpu.CellModule(%d).Entry(%q)", name, c.Count, name))
	}
	for _, name := range module.Variables() {
		declare = append(declare, fmt.Sprintf("var %s = gpu.CellModule(%d).Variable(%q)", variableName(name), c.Count, name))
	}
	if len(entries) == 0 {
		w.port.Print(true, []byte("the cell has no entry to launch: an entry is __global__ in CUDA C++ (a template with an instantiation), .entry in PTX\n"))
	}
	if len(declare) > 0 {
		if out := w.session.Run(c.ctx, c.Count, strings.Join(declare, "\n")); out.Err != nil {
			return cellError(c.ctx, out.Err)
		}
	}
	for _, name := range append(names, module.Variables()...) {
		if what := hidden(name); what != "" {
			w.port.Print(true, []byte(name+" is the cell's from here on, and hides "+what+": give it another name there, or %reset\n"))
		}
	}
	for _, line := range resources(entries, names) {
		w.port.Print(false, []byte(line+"\n"))
	}
	return nil
}

// resources are what each entry takes, a line each, with its names in Go where they are not its own.
func resources(entries map[string]*gpu.Function, names []string) (lines []string) {
	of := map[string][]string{} // names by the entry's PTX name
	var order []string
	for _, name := range names {
		entry := entries[name].Name()
		if of[entry] == nil {
			order = append(order, entry)
		}
		of[entry] = append(of[entry], name)
	}
	for _, entry := range order {
		line := entries[of[entry][0]].Resources()
		if own, _, _ := strings.Cut(line, ":"); len(of[entry]) > 1 || of[entry][0] != own {
			line = strings.Join(of[entry], ", ") + " = " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// hidden is what of Go a name of the cell hides that later cells may miss; "" for most names.
func hidden(name string) string {
	if types.Universe.Lookup(name) != nil {
		return "Go's " + name
	}
	if slices.Contains([]string{"fmt", "math", "strings", "sort", "slices", "time", "os", "kernels", "display", "quant", "exercise", "kvcache"}, name) {
		return "the package " + name
	}
	return ""
}

// variableName is the name in Go of a __device__ or __constant__ variable.
func variableName(name string) string {
	if token.IsKeyword(name) || name == "gpu" || name == "dev" || name == "init" || name == "main" {
		return name + "_"
	}
	return name
}

// foreignError is why the text cannot be compiled or loaded.
func foreignError(o order, err error) *session.Error {
	text := err.Error()
	if o.foreign == "cuda" && gpu.CompilerAvailable() != nil {
		text += "\nwithout the compiler a %%ptx cell still takes PTX"
	}
	lines := strings.Split(text, "\n")
	return &session.Error{Name: "gpu.Error", Value: lines[0], Traceback: append([]string{"gpu.Error: " + lines[0]}, lines[1:]...)}
}

// load makes the cell's module; an interrupt ends the compiler.
func (w *worker) load(c *cell, o order) (*gpu.Module, error) {
	gpu.BeginCell(c.ctx, c.Count)
	defer gpu.EndCell()
	if o.foreign == "ptx" {
		return w.dev.LoadCell(c.Count, o.code)
	}
	return w.dev.CompileCell(c.Count, o.code, o.options...)
}
