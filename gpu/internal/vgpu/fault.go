package vgpu

import (
	"path/filepath"
	"strings"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// stopped is what a worker panics with to leave a launch; launch recovers it.
type stopped struct{ fault *driver.Fault }

// fault stops the launch at an instruction.
func (w *warp) fault(in *inst, lane int, f *driver.Fault) { w.w.stop(w, in.id, lane, f) }

// stop fills in where the launch stopped and leaves it.
func (k *worker) stop(w *warp, id int32, lane int, f *driver.Fault) {
	p := k.p
	f.Device, f.Module, f.Function = "virtual GPU", p.module.Name, p.f.Name
	if int(id) < len(p.f.Body) && id >= 0 {
		in := &p.f.Body[id]
		f.PTXLine, f.Instruction = in.Line, in.Spelling
		if in.Source.File != 0 {
			f.File, f.SourceLine = filepath.ToSlash(p.module.Files[in.Source.File]), in.Source.Line
			f.SourceText = k.run.sourceLine(f.File, f.SourceLine)
		}
	}
	f.CTA, f.Warp, f.Lane = k.cta.index, w.id, lane
	panic(stopped{f})
}

func (w *warp) misaligned(in *inst, lane int, address, size uint64, space string) {
	f := &driver.Fault{Kind: driver.Misaligned, Space: space, Address: address, Bytes: int(size)}
	if space == "global" {
		f.Allocation = w.w.run.memory.describeLocked(address)
	}
	w.fault(in, lane, f)
}

func (w *warp) outOfBounds(in *inst, lane int, address, size uint64) {
	w.fault(in, lane, &driver.Fault{Kind: driver.OutOfBounds, Space: "global", Address: address, Bytes: int(size), Allocation: w.w.run.memory.describeAccess(address, size)})
}

func (w *warp) sharedOutOfBounds(in *inst, lane int, address, size uint64) {
	w.fault(in, lane, &driver.Fault{Kind: driver.OutOfBounds, Space: "shared", Address: address, Bytes: int(size), Allocation: "CTA has " + strings.ReplaceAll(byteCount(uint64(len(w.cta.shared))), ",", "")})
}

// trapped is the fault of a trap. cooperative_groups traps where a grid meets that was not launched to meet.
func (k *worker) trapped() *driver.Fault {
	if k.run.workspace == 0 && k.p.meetsAsGrid() {
		return &driver.Fault{Kind: driver.Trap, Detail: "the function meets as a grid (grid.sync()), and the launch is not cooperative",
			Mend: "launch it with gpu.Config{Cooperative: true, Grid: …, CTA: …}"}
	}
	return &driver.Fault{Kind: driver.Trap, Mend: "the program stops itself here: look at the condition before it"}
}

// meetsAsGrid tells whether the function reads the address of a cooperative launch's workspace.
func (p *program) meetsAsGrid() bool {
	for i := range p.f.Body {
		for j := range p.f.Body[i].Operands {
			if o := &p.f.Body[i].Operands[j]; o.Kind == ptx.OperandSpecial && (o.Special == ptx.EnvReg1 || o.Special == ptx.EnvReg2) {
				return true
			}
		}
	}
	return false
}

// describeAccess says where an access lies that no allocation holds whole.
func (m *memory) describeAccess(address, size uint64) string {
	if a := m.find(address); a != nil && address+size > a.high {
		return "its last " + byteCount(address+size-a.high) + " lie past the end of " + a.String()
	}
	return m.describeLocked(address)
}

// sourceLine is a line of a CUDA C++ source that was given with the module.
func (r *launchRun) sourceLine(file string, line int) string {
	text, ok := r.sources[file]
	if !ok {
		text, ok = r.sources[filepath.Base(file)]
	}
	for ; ok && line > 1; line-- {
		_, text, ok = strings.Cut(text, "\n")
	}
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(text)
}
