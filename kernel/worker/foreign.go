package worker

import (
	"fmt"
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
		declare = append(declare, fmt.Sprintf("var %s = gpu.CellModule(%d).Variable(%q)", name, c.Count, name))
	}
	if len(entries) == 0 {
		w.port.Print(true, []byte("the cell has no entry to launch: an entry is __global__ in CUDA C++ (a template with an instantiation), .entry in PTX\n"))
	}
	if len(declare) > 0 {
		if out := w.session.Run(c.ctx, c.Count, strings.Join(declare, "\n")); out.Err != nil {
			return cellError(c.ctx, out.Err)
		}
	}
	shown := map[string]bool{}
	for _, name := range names {
		if line := entries[name].Resources(); !shown[line] {
			shown[line] = true
			w.port.Print(false, []byte(line+"\n"))
		}
	}
	return nil
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
