package nvrtc

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Diagnostic is one message of the compiler.
type Diagnostic struct {
	Severity string // "error", "warning", "remark"
	File     string // Source.Name, or a header
	Line     int    // from 1; 0 where the message has no place
	Column   int    // in bytes, from 1; 0 where unknown
	Message  string // with its continuation lines ("detected during instantiation of …")
	Excerpt  string // the source line; "" where unknown

	ptxLine int    // of an assembler's message, until it is placed
	entry   string // that an assembler's message is about, until it is placed
}

// severityInfo marks the assembler's statistics, which are no diagnostics.
const severityInfo = "info"

// String is the message as an editor knows it, with the line and a caret where there is a place:
//
//	scale.cu:7:10: error: identifier "foo" is undefined
//		x[i] = foo * a;
//		       ^
//
// and a line on what to do about it, where that is known.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
		if d.Line > 0 {
			fmt.Fprintf(&b, "%d:", d.Line)
		}
		if d.Column > 0 {
			fmt.Fprintf(&b, "%d:", d.Column)
		}
		b.WriteByte(' ')
	}
	b.WriteString(d.Severity + ": " + d.Message)
	if d.Excerpt != "" {
		b.WriteString("\n" + d.Excerpt)
		if d.Column > 0 && d.Column <= len(d.Excerpt)+1 {
			b.WriteString("\n" + blank(d.Excerpt[:d.Column-1]) + "^")
		}
	}
	hint := hintFor(d.File, d.Message) + hintForName(d.Message) // never both
	if strings.HasPrefix(d.Message, hostVariable) {
		hint = "mark it __device__ or __constant__: it becomes a Go variable"
	}
	if strings.HasPrefix(d.Message, hostFunction) {
		hint = "mark it __device__, or __global__ to launch it; what the host does is written in Go: f.Launch(gpu.Threads(n, 256), x, n)"
	}
	if d.entry != "" {
		hint = "declare it extern __shared__ float s[], and give the bytes of a launch as gpu.Config{Shared: …}: that may take all that an SM lets a CTA have"
	}
	if hint != "" && d.Severity == "error" {
		b.WriteString("\n" + hint)
	}
	return b.String()
}

// blank keeps tabs and makes every other character a space, so that a caret stands under its column.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// CompileError is a source that did not compile.
type CompileError struct {
	Name        string
	Diagnostics []Diagnostic // errors first, then warnings, each in the compiler's order
	Log         string       // the compiler's own text
}

// Error lists the errors with their places, at most eight; warnings are left to Diagnostics.
func (e *CompileError) Error() string {
	const shown = 8
	var lines []string
	errors := 0
	for _, d := range e.Diagnostics {
		if d.Severity != "error" {
			continue
		}
		if errors++; errors <= shown {
			lines = append(lines, d.String())
		}
	}
	if errors > shown {
		lines = append(lines, fmt.Sprintf("and %d more errors", errors-shown))
	}
	return strings.Join(lines, "\n")
}

func newCompileError(name string, r *reply, diagnostics []Diagnostic) *CompileError {
	e := &CompileError{Name: name, Log: r.Log}
	for _, d := range diagnostics {
		if d.Severity == "error" {
			e.Diagnostics = append(e.Diagnostics, d)
		}
	}
	e.Diagnostics = rootCauses(e.Diagnostics)
	if len(e.Diagnostics) == 0 { // never a failure without a word
		message := strings.TrimSpace(r.Log)
		if message == "" {
			message = r.Problem
		}
		e.Diagnostics = append(e.Diagnostics, Diagnostic{Severity: "error", File: name, Message: message})
	}
	for _, d := range diagnostics {
		if d.Severity != "error" && d.Severity != severityInfo {
			e.Diagnostics = append(e.Diagnostics, d)
		}
	}
	return e
}

var (
	// "k.cu(7): error: …", "k.cu(6): warning #177-D: …", "k.cu(1): catastrophic error: …"
	placed = lazy(`^(.+)\((\d+)\): (?:catastrophic |internal |command-line )?(error|warning|remark|note)( #[0-9A-Z-]+)?: (.*)$`)
	// "ptxas application ptx input, line 33; error   : …", "ptxas fatal   : …", "ptxas info    : …"
	assembler = lazy(`^ptxas\s+(?:(?:application ptx input|.*?), line (\d+); )?(error|fatal|warning|info)\s*: (.*)$`)
	// "Entry function 'scale' uses too much shared data (0xea60 bytes, 0xc000 max)"
	sharedData = lazy(`^Entry function '([^']+)' uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)`)
	bare       = lazy(`^(?:nvrtc: )?(?:catastrophic |internal |command-line )?(error|warning|fatal|remark)\s*: (.*)$`)
	summary    = lazy(`^\d+ (?:catastrophic )?errors? detected in the compilation of `)
)

// parseLog reads the compiler's log. What it does not know as a message is kept with the message before it, so nothing is lost.
func parseLog(log, name, text string) []Diagnostic {
	source := strings.Split(text, "\n")
	lines := strings.Split(strings.ReplaceAll(log, "\r\n", "\n"), "\n")
	var all []Diagnostic
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := placed().FindStringSubmatch(line); m != nil {
			d := Diagnostic{Severity: m[3], File: baseName(m[1], name), Message: m[5]}
			if d.Severity == "note" {
				d.Severity = "remark"
			}
			if strings.HasPrefix(d.Message, hostVariable) {
				d.Message = hostVariable + " is one for the host, and a cell's CUDA C++ runs on the device"
			}
			if strings.HasPrefix(d.Message, hostFunction) {
				d.Message = hostFunction + " is a function for the host, and a cell's CUDA C++ runs on the device"
			}
			if m[4] != "" {
				d.Message += " [" + strings.TrimSpace(m[4]) + "]"
			}
			d.Line, _ = strconv.Atoi(m[2]) // digits only; too many give the largest int, which no source has
			i += takeExcerpt(&d, lines[i+1:], source, name)
			all = append(all, d)
		} else if m := assembler().FindStringSubmatch(line); m != nil {
			if m[1] == "" && m[2] == "fatal" && len(all) > 0 && all[len(all)-1].Severity == "error" {
				continue // "Ptx assembly aborted due to errors"
			}
			d := Diagnostic{Severity: m[2], Message: "assembler: " + m[3]}
			if d.Severity == "fatal" {
				d.Severity = "error"
			}
			d.ptxLine, _ = strconv.Atoi(m[1]) // "" gives 0: no place
			if m := sharedData().FindStringSubmatch(m[3]); m != nil {
				d.entry = m[1]
				d.Message = fmt.Sprintf("%s of static shared memory, a CTA has %s", sizeOf(m[2]), sizeOf(m[3]))
			}
			if d.Severity == "error" {
				d.File = name
			}
			all = append(all, d)
		} else if m := bare().FindStringSubmatch(line); m != nil {
			d := Diagnostic{Severity: m[1], File: name, Message: m[2]}
			if d.Severity == "fatal" {
				d.Severity = "error"
			}
			all = append(all, d)
		} else if strings.TrimSpace(line) == "" || summary().MatchString(line) || strings.HasPrefix(line, "Remark: The warnings can be suppressed") ||
			line == "Compilation terminated." || strings.HasPrefix(line, "ptxas") || len(all) == 0 {
			continue
		} else {
			all[len(all)-1].Message += "\n" + strings.TrimSpace(line)
		}
	}
	return all
}

// hostVariable begins the message about a variable that lacks its __device__.
const hostVariable = "A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__)"

// hostFunction begins the message about main, and about a function that lacks its __device__.
const hostFunction = "A function without execution space annotations (__host__/__device__/__global__)"

// sizeOf is the assembler's "0xea60" as "60,000 B".
func sizeOf(hex string) string {
	n, err := strconv.ParseUint(hex, 0, 64)
	if err != nil {
		return hex
	}
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text + " B"
}

// takeExcerpt reads the source line and the caret under it, which the compiler indents by two; it returns how many lines
// it used.
func takeExcerpt(d *Diagnostic, rest, source []string, name string) int {
	if len(rest) < 2 || !strings.HasPrefix(rest[0], "  ") || strings.TrimLeft(rest[1], " \t") != "^" {
		if d.File == name && d.Line >= 1 && d.Line <= len(source) {
			d.Excerpt = strings.TrimRight(source[d.Line-1], "\r")
		}
		return 0
	}
	d.Excerpt = strings.TrimRight(rest[0][2:], "\r")
	if caret := strings.IndexByte(rest[1], '^'); caret >= 2 {
		d.Column = caret - 1
	}
	// The compiler shortens very long lines and shows macros expanded; a column is told only for the user's own text.
	if d.File == name && (d.Line < 1 || d.Line > len(source) || strings.TrimRight(source[d.Line-1], "\r") != d.Excerpt) {
		d.Column = 0
	}
	return 2
}

// baseName is the source's own name where the compiler has put a folder before it, and a header's last part.
func baseName(file, name string) string {
	if file == name || strings.HasSuffix(file, "/"+name) {
		return name
	}
	return filepath.Base(file)
}

// placeAssemblerErrors finds the source line of errors that the assembler found in the PTX (wrong inline assembly), by
// compiling to PTX alone and reading its .loc directives.
func placeAssemblerErrors(ctx context.Context, install *installation, s Source, diagnostics []Diagnostic) {
	s.Arch = "compute_" + strings.TrimPrefix(s.Arch, "sm_")
	r, _ := newRequest(install, s)
	answer, err := runChild(ctx, install, r, s)
	if err != nil || answer.Status != 0 {
		return // the message stays without a line
	}
	source := strings.Split(s.Text, "\n")
	ptx := strings.Split(ownLines(answer.PTX, s.Name), "\n")
	for i := range diagnostics {
		d := &diagnostics[i]
		if d.entry != "" {
			d.ptxLine = firstLoc(ptx, d.entry)
		}
		for l := min(d.ptxLine, len(ptx)) - 1; d.ptxLine > 0 && l >= 0; l-- {
			if m := locDirective().FindStringSubmatch(ptx[l]); m != nil {
				d.File = s.Name
				d.Line, _ = strconv.Atoi(m[2]) // digits by the pattern
				if d.Line >= 1 && d.Line <= len(source) {
					d.Excerpt = strings.TrimRight(source[d.Line-1], "\r")
				}
				break
			}
		}
	}
}

// firstLoc is the PTX line, from 1, of the first .loc directive of an entry: its opening line. 0 where it has none.
func firstLoc(ptx []string, entry string) int {
	in := false
	for i, line := range ptx {
		if strings.Contains(line, ".entry "+entry+"(") {
			in = true
		} else if in && locDirective().MatchString(line) {
			return i + 1
		}
	}
	return 0
}
