package driver

import (
	"fmt"
	"path"
	"strings"
)

// Error is the fault as text: what and where in the PTX, who did it, and the line of CUDA C++ that it comes from. Lines
// that nothing is known for are left out.
func (f *Fault) Error() string {
	lines := []string{f.Headline()}
	if who := f.Who(); who != "" {
		lines = append(lines, who)
	}
	if f.Detail != "" {
		lines = append(lines, f.Detail)
	}
	if from := f.From(); from != "" {
		lines = append(lines, "from "+from)
	}
	return strings.Join(lines, "\n")
}

// Headline is the first line: device, module and PTX line, instruction and kind.
func (f *Fault) Headline() string {
	var b strings.Builder
	if f.Device == "" {
		b.WriteString("GPU: ")
	} else {
		b.WriteString(f.Device + ": ")
	}
	switch {
	case f.Module != "" && f.PTXLine > 0:
		fmt.Fprintf(&b, "%s:%d: ", f.Module, f.PTXLine)
	case f.Module != "":
		b.WriteString(f.Module + ": ")
	case f.Function != "":
		b.WriteString(f.Function + ": ")
	}
	switch {
	case f.Instruction == "", f.Kind == Assert: // the instruction is the call of a function that nobody wrote
		b.WriteString(string(f.Kind))
	case f.Kind == Trap:
		b.WriteString(f.Instruction + " stopped the launch")
	default:
		b.WriteString(f.Instruction + " " + string(f.Kind))
	}
	return b.String()
}

// perThread tells the kinds that one lane caused from those that stop the launch as a whole.
func (f *Fault) perThread() bool {
	switch f.Kind {
	case OutOfBounds, Misaligned, Trap, Assert, Illegal, Uninitialised, ReadOnly:
		return true
	}
	return false
}

// Who is the second line: the thread and the address; empty where no single thread is to blame.
func (f *Fault) Who() string {
	if f.PTXLine == 0 && f.Instruction == "" && f.perThread() { // a real GPU does not tell who it was
		return ""
	}
	if !f.perThread() {
		return ""
	}
	who := fmt.Sprintf("CTA (%d,%d,%d) warp %d lane %d", f.CTA[0], f.CTA[1], f.CTA[2], f.Warp, f.Lane)
	if f.Kind == OutOfBounds || f.Kind == Misaligned || f.Kind == ReadOnly {
		who += fmt.Sprintf(": address 0x%x", f.Address)
		if f.Allocation != "" {
			who += ", " + f.Allocation
		}
	}
	return who
}

// From is the line of CUDA C++ with its text, as far as they are known; empty where the file is not.
func (f *Fault) From() string {
	if f.File == "" {
		return ""
	}
	from := path.Base(f.File)
	if f.SourceLine > 0 {
		from += fmt.Sprintf(":%d", f.SourceLine)
	}
	if f.SourceText != "" {
		from += ": " + strings.TrimSpace(f.SourceText)
	}
	return from
}
