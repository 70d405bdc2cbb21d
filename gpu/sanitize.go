package gpu

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"memwall/gpu/card"
	"memwall/gpu/internal/driver"
)

// Findings is what the sanitizer found in the launches that it watched, and what it watched.
type Findings struct {
	List     []*Finding // in the order in which they were first seen; each pair of source lines once
	Launches int        // that were watched
	CTAs     int        // of them
	Kernels  []string   // their names, each once
	Notes    []string   // what was not checked, and leaked allocations

	mu   sync.Mutex
	made []*memory // allocations of the watched function
	json bool      // the bundle carries the findings as JSON
}

// Finding is one thing that is wrong: its kind, the first time that it was seen, and how often.
type Finding struct {
	Kind    string  `json:"kind"`              // "race", "out of bounds", "uninitialised read", "barrier under divergence" …
	Kernel  string  `json:"kernel"`            // name of the launch
	Space   string  `json:"space,omitempty"`   // "global", "shared", "local"; "" where there is no address
	Address uint64  `json:"address,omitempty"` // in shared and local memory an offset
	Bytes   int     `json:"bytes,omitempty"`   // width of the access
	Where   string  `json:"where,omitempty"`   // what lies there: allocation, tensor or variable
	First   Access  `json:"first"`             // the access at which it was found
	Second  *Access `json:"second,omitempty"`
	Count   int     `json:"count"`            // times; of a race its hazards, in bytes, as compute-sanitizer's racecheck counts them
	Detail  string  `json:"detail,omitempty"` // anything else worth a line
	Advice  string  `json:"advice,omitempty"` // how to mend it

	text string
}

// Access is one party of a finding.
type Access struct {
	What        string `json:"what"`                  // "read", "write", "atomic", "copy", "barrier"
	Instruction string `json:"instruction,omitempty"` // of the PTX: "ld.shared.f32"
	PTXLine     int    `json:"ptx_line,omitempty"`
	File        string `json:"file,omitempty"` // of the CUDA C++, "" where it is not known
	Line        int    `json:"line,omitempty"`
	Source      string `json:"source,omitempty"` // text of that line
	CTA         [3]int `json:"cta"`
	Warp        int    `json:"warp"`
	Lane        int    `json:"lane"`
	Thread      [3]int `json:"thread"` // threadIdx
}

// String is the finding as several lines of text.
func (f *Finding) String() string { return f.text }

// Sanitize runs f and watches every launch in it: bounds of allocations and tensors, freed and uninitialised memory,
// alignment, races in shared and global memory, barriers, and copies that are used before their wait. A launch goes on after a
// finding where that is safe, and the results of a correct CUDA kernel are what they are without it. It takes 10 to 100
// times as long. It needs a virtual device, and panics with an *Error when a launch failed for another reason than a finding.
func Sanitize(f func()) *Findings {
	if f == nil {
		panic(fail("pass a function: func() { kernels.Run(…) }", "Sanitize: the function is nil"))
	}
	found := &Findings{}
	_, err := records.within(&frame{findings: found}, f)
	if err != nil && !found.explains(err) {
		panic(err)
	}
	found.leaks()
	return found
}

// SanitizeCell watches every launch of the running cell; EndCell gives its findings as a card.
func SanitizeCell() {
	r := records
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inCell && r.cell == nil {
		r.cell = &Findings{json: os.Getenv(EnvironmentSanitize) != ""}
		r.frames = append(r.frames, &frame{findings: r.cell, whole: true})
	}
}

// Clean reports whether nothing is wrong.
func (f *Findings) Clean() bool { return f == nil || len(f.List) == 0 }

// Count is how many findings there are of a kind: "race"; "" counts all.
func (f *Findings) Count(kind string) int {
	n := 0
	for _, x := range f.List {
		if kind == "" || x.Kind == kind {
			n++
		}
	}
	return n
}

// explains reports whether a launch's error is among the findings.
func (f *Findings) explains(err error) bool {
	e := asError(err)
	if e == nil || e.Fault == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch driver.FaultKind(e.Fault.Kind) {
	case driver.Interrupted, driver.Timeout:
		return false
	}
	return len(f.List) > 0
}

// add takes over what a launch found; ctas are those of its grid.
func (f *Findings) add(kernel string, ctas uint64, r *driver.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Sampled > 1 {
		ctas = r.Executed
		f.note(fmt.Sprintf("sampled: of %s 1 of every %d CTAs was executed and checked", kernel, r.Sampled))
	}
	f.Launches++
	f.CTAs += int(ctas)
	known := false
	for _, k := range f.Kernels {
		known = known || k == kernel
	}
	if !known {
		f.Kernels = append(f.Kernels, kernel)
	}
	for i := range r.Findings {
		f.merge(findingOf(kernel, &r.Findings[i]))
	}
	if r.Remarks != "" {
		f.note("in " + kernel + " " + r.Remarks)
	}
	if r.Unwatched != "" {
		f.note("not checked in " + kernel + ": " + r.Unwatched)
	}
}

func (f *Findings) note(text string) {
	for _, n := range f.Notes {
		if n == text {
			return
		}
	}
	f.Notes = append(f.Notes, text)
}

// merge adds a finding, or counts it to one of an earlier launch at the same lines.
func (f *Findings) merge(x *Finding) {
	for _, y := range f.List {
		if y.Kind == x.Kind && y.Kernel == x.Kernel && y.Space == x.Space && sameLine(&x.First, &y.First) &&
			(x.Second == nil) == (y.Second == nil) && (x.Second == nil || sameLine(x.Second, y.Second)) {
			y.Count += x.Count
			y.text = y.render()
			return
		}
	}
	f.List = append(f.List, x)
}

func sameLine(a, b *Access) bool {
	return a.What == b.What && a.File == b.File && a.Line == b.Line && (a.File != "" || a.PTXLine == b.PTXLine)
}

func findingOf(kernel string, d *driver.Finding) *Finding {
	f := &Finding{Kind: string(d.Kind), Kernel: kernel, Space: d.Space, Address: d.Address, Bytes: d.Bytes, Where: d.Where, First: accessOf(&d.First),
		Count: int(d.Count), Detail: d.Detail, Advice: d.Advice}
	if d.Second != nil {
		second := accessOf(d.Second)
		f.Second = &second
	}
	f.text = f.render()
	return f
}

func accessOf(p *driver.Party) Access {
	a := Access{What: p.What, Instruction: p.Instruction, PTXLine: p.PTXLine, File: p.File, Line: p.SourceLine, Source: p.SourceText, Warp: p.Warp, Lane: p.Lane}
	for i := range 3 {
		a.CTA[i], a.Thread[i] = int(p.CTA[i]), int(p.Thread[i])
	}
	return a
}

// render writes the finding as text.
func (f *Finding) render() string {
	d := driver.Finding{Kind: driver.FindingKind(f.Kind), Function: f.Kernel, Space: f.Space, Address: f.Address, Bytes: f.Bytes, Where: f.Where,
		First: f.First.party(), Count: uint64(f.Count), Detail: f.Detail, Advice: f.Advice}
	if f.Second != nil {
		second := f.Second.party()
		d.Second = &second
	}
	return d.String()
}

func (a *Access) party() driver.Party {
	p := driver.Party{What: a.What, Instruction: a.Instruction, PTXLine: a.PTXLine, File: a.File, SourceLine: a.Line, SourceText: a.Source, Warp: a.Warp, Lane: a.Lane}
	for i := range 3 {
		p.CTA[i], p.Thread[i] = uint32(a.CTA[i]), uint32(a.Thread[i])
	}
	return p
}

// freed notes a Free that is wrong.
func (r *recorder) badFree(what, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.frames {
		if f.findings != nil {
			f.findings.mu.Lock()
			f.findings.merge(findingOf("", &driver.Finding{Kind: driver.FoundFree, Where: what, Detail: why, Count: 1, Advice: "call Free once, by whoever made it"}))
			f.findings.mu.Unlock()
		}
	}
}

// allocated notes an allocation of a watched function.
func (r *recorder) allocated(m *memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.frames {
		if f.findings != nil && !f.whole {
			f.findings.mu.Lock()
			f.findings.made = append(f.findings.made, m)
			f.findings.mu.Unlock()
		}
	}
}

// leaks notes what the watched function has allocated and not freed.
func (f *Findings) leaks() {
	n, bytes := 0, int64(0)
	for _, m := range f.made {
		m.mu.Lock()
		if !m.freed {
			n++
			bytes += m.bytes
		}
		m.mu.Unlock()
	}
	f.made = nil
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.merge(findingOf("", &driver.Finding{Kind: driver.FoundLeak, Where: plural(n, "allocation", "allocations") + " made inside (" + countBytes(bytes) + ") and not freed there", Count: 1,
		Detail: "Go's collector gives them back when nothing refers to them, which may be late", Advice: "defer t.Free() after making the tensor, or make it outside of gpu.Sanitize"}))
}

// checks is what a clean result says that it has looked for.
const checks = "bounds, freed and uninitialised memory, alignment, races, barriers, asynchronous copies"

// headline is "3 findings in 2 launches", or that all is clean.
func (f *Findings) headline() string {
	switch {
	case f.Launches == 0 && len(f.List) == 0:
		return "Nothing checked: no launch was made"
	case len(f.List) == 0:
		return "Clean: " + plural(f.Launches, "launch", "launches") + ", nothing found"
	}
	return plural(len(f.List), "finding", "findings") + " in " + plural(f.Launches, "launch", "launches")
}

// String is every finding as text.
func (f *Findings) String() string {
	if f == nil {
		return "no findings"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := []string{f.headline() + f.checked()}
	for _, x := range f.List {
		parts = append(parts, x.text)
	}
	parts = append(parts, f.Notes...)
	return strings.Join(parts, "\n")
}

// checked says what was looked at.
func (f *Findings) checked() string {
	if f.Launches == 0 {
		return ""
	}
	return fmt.Sprintf("\n%s of %s; checked: %s", plural(f.CTAs, "CTA", "CTAs"), strings.Join(f.Kernels, ", "), checks)
}

// Card is the findings as a card.
func (f *Findings) Card() card.Card {
	if f == nil {
		return card.Card{Text: "no findings"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info := card.FindingsInfo{Headline: f.headline(), Launches: f.Launches, CTAs: f.CTAs, Kernels: f.Kernels, Checks: checks, Notes: f.Notes}
	for _, x := range f.List {
		info.List = append(info.List, x.row())
	}
	return card.Findings(info)
}

// row is the finding as the card shows it.
func (f *Finding) row() card.FindingRow {
	lines := strings.Split(f.text, "\n")
	r := card.FindingRow{Headline: lines[0], Text: f.text, Advice: f.Advice, Lines: []string{f.First.line()}}
	if f.First.Instruction == "" {
		r.Lines = nil
	}
	if f.Second != nil {
		r.Lines = append(r.Lines, f.Second.line())
	}
	if f.Space != "" {
		r.At = fmt.Sprintf("address 0x%x", f.Address)
	}
	if f.Where != "" {
		r.At = join(", ", r.At, f.Where)
	}
	r.At = join("; ", r.At, f.Detail)
	return r
}

func (a *Access) line() string {
	p := a.party()
	return p.String()
}

// MIMEBundle shows the card, with the findings as JSON for `memwall sanitize`.
func (f *Findings) MIMEBundle() map[string]any {
	b := f.Card().MIMEBundle()
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.json {
			b[FindingsType] = map[string]any{"launches": f.Launches, "ctas": f.CTAs, "kernels": f.Kernels, "findings": f.List, "notes": f.Notes}
		}
	}
	return b
}

// EnvironmentSanitize is set by `memwall sanitize` for its worker: every cell is checked, and tells its findings as JSON.
const EnvironmentSanitize = "MEMWALL_SANITIZE"

// FindingsType is the MIME type under which findings travel as JSON.
const FindingsType = "application/vnd.memwall.findings+json"
