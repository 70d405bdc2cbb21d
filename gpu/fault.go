package gpu

import (
	"path"
	"strings"

	"memwall/gpu/card"
	"memwall/gpu/internal/driver"
)

// stopped turns the error of a launch into an *Error; a fault learns the launch's name and extents and the source around it.
func (f *Function) stopped(spec LaunchSpec, l *driver.Launch, err error) *Error {
	if text, own := strings.CutPrefix(err.Error(), "launch "+f.Name()+": "); own { // the device says it without the module
		err = &Error{What: "launch " + spec.Name + ": " + text, Cause: err}
	}
	e := wrap("launch "+spec.Name, err)
	if e.Fault == nil {
		return e
	}
	fault := e.Fault
	fault.Device, fault.Kernel = f.module.dev.name, spec.Name
	fault.CTAs, fault.Warps = l.Grid.Count(), int(l.CTA.Count()+31)/32
	fault.lines = f.module.around(fault.File, fault.SourceLine)
	return e
}

// around is a line of one of the module's sources with its neighbours; nothing where the source is unknown.
func (m *Module) around(file string, line int) []card.SourceLine {
	for name, text := range m.sources {
		if path.Base(name) != path.Base(file) || line < 1 {
			continue
		}
		lines := strings.Split(text, "\n")
		var out []card.SourceLine
		for n := max(line-1, 1); n <= min(line+1, len(lines)); n++ {
			if n == line || strings.TrimSpace(lines[n-1]) != "" {
				out = append(out, card.SourceLine{Number: n, Text: lines[n-1]})
			}
		}
		return out
	}
	return nil
}

// card is the fault as a card.
func (e *Error) card() card.Card {
	f := e.Fault
	virtual := strings.HasPrefix(f.Device, "virtual")
	kernel := f.Kernel
	if kernel == "" {
		kernel = f.Function
	}
	info := card.FaultInfo{
		Kind: f.Kind, Instruction: f.Instruction, Kernel: kernel, Device: f.Device, Virtual: virtual, Located: f.Instruction != "",
		CTA: f.CTA, CTAs: f.CTAs, Warp: f.Warp, Lane: f.Lane, Warps: f.Warps, Address: f.Address, Space: f.Space, Bytes: f.Bytes,
		Allocation: f.Allocation, Module: f.Module, PTXLine: f.PTXLine, File: f.File, SourceLine: f.SourceLine,
		Lines: f.lines, Detail: f.Detail, Advice: e.How,
	}
	if info.Lines == nil && f.SourceText != "" {
		info.Lines = []card.SourceLine{{Number: f.SourceLine, Text: f.SourceText}}
	}
	return card.Fault(info)
}
