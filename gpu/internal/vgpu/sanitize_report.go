package vgpu

import (
	"fmt"
	"path/filepath"
	"strings"

	"memwall/gpu/internal/driver"
)

// findingKey tells findings apart: what is wrong, and at which lines.
type findingKey struct {
	kind   driver.FindingKind
	space  string
	first  string // what the party did, and its line
	second string
}

// mostFindings bounds what one launch reports.
const mostFindings = 256

// report notes a finding, or counts it to one like it. It is seen n times, of a race in n bytes.
func (c *sanitizer) report(w *warp, id int32, lane uint, f *driver.Finding, n uint64) {
	f.First = c.partyAt(f.First.What, id, w.home.cta.index, w.id, lane, w.cta.dim)
	c.note(f, n)
}

// note lists a finding whose parties are known, or counts it to one like it.
func (c *sanitizer) note(f *driver.Finding, n uint64) {
	key := findingKey{kind: f.Kind, space: f.Space, first: f.First.What + " " + lineOf(&f.First)}
	if f.Second != nil {
		key.second = f.Second.What + " " + lineOf(f.Second)
		if f.Kind == driver.FoundRace && key.second < key.first { // which of the two came first is chance
			key.first, key.second = key.second, key.first
		}
	}
	if known := c.found[key]; known != nil {
		known.Count += n
		if f.Kind == driver.FoundRace && apart(f) > c.apart[known] && !strings.HasPrefix(known.Advice, "wait for") { // the order that it lacks is one over more threads
			f.Function, f.Count = known.Function, known.Count
			*known, c.apart[known] = *f, apart(f)
		}
		return
	}
	if len(c.list) >= mostFindings {
		c.most = fmt.Sprintf("more than %d different findings: the others are not listed", mostFindings)
		return
	}
	f.Function, f.Count = c.p.f.Name, n
	c.found[key] = f
	if f.Kind == driver.FoundRace {
		c.apart[f] = apart(f)
	}
	c.list = append(c.list, f)
}

// apart tells how far from each other a race's parties are: lanes of a warp, warps of a CTA, CTAs.
func apart(f *driver.Finding) int {
	switch {
	case f.First.CTA != f.Second.CTA:
		return 2
	case f.First.Warp != f.Second.Warp:
		return 1
	}
	return 0
}

// partyOf is an instruction alone.
func (c *sanitizer) partyOf(id int32) *driver.Party {
	p := c.partyAt("", id, [3]uint32{}, 0, 0, driver.Dim3{X: 1, Y: 1, Z: 1})
	return &p
}

// lineOf is where a party stands: its line of CUDA C++, else of PTX.
func lineOf(p *driver.Party) string {
	if p.File != "" {
		return fmt.Sprintf("%s:%d", p.File, p.SourceLine)
	}
	return fmt.Sprint(p.PTXLine)
}

// partyAt describes an access.
func (c *sanitizer) partyAt(what string, id int32, cta [3]uint32, warp int, lane uint, dim driver.Dim3) driver.Party {
	in := &c.p.f.Body[id]
	p := driver.Party{What: what, Instruction: in.Spelling, PTXLine: in.Line, CTA: cta, Warp: warp, Lane: int(lane)}
	t := uint32(warp*warpSize) + uint32(lane)
	p.Thread = [3]uint32{t % dim.X, t / dim.X % dim.Y, t / dim.X / dim.Y}
	if in.Source.File != 0 {
		p.File, p.SourceLine = filepath.ToSlash(c.p.module.Files[in.Source.File]), in.Source.Line
		p.SourceText = c.run.sourceLine(p.File, p.SourceLine)
	}
	return p
}

// party describes the access of a mark.
func (x *touchOf) party(m *mark, wrote bool) driver.Party {
	what := "read"
	switch {
	case m.kind&markAtomic != 0:
		what = "atomic"
	case m.kind&markAsync != 0 && wrote:
		what = "copy"
	case wrote:
		what = "write"
	}
	g := x.w.cta.grid
	cta := [3]uint32{m.cta % g.X, m.cta / g.X % g.Y, m.cta / g.X / g.Y}
	lanes := m.lanes
	if m.cta == x.k.number && int(m.warp) == x.w.id && lanes&^(1<<x.lane) != 0 {
		lanes &^= 1 << x.lane
	}
	return x.c.partyAt(what, m.id, cta, int(m.warp), lowest(lanes), x.w.cta.dim)
}

// where names what lies at an address.
func (c *sanitizer) where(w *warp, id int32, s space, address uint64) string {
	if s == spaceGlobal {
		return c.whereGlobal(address)
	}
	if v := c.named(s, address); v != nil {
		return fmt.Sprintf("%s + %d", plainName(v.v.Name), address-v.at)
	}
	return ""
}

func (c *sanitizer) whereGlobal(address uint64) string {
	for i := range c.tensors {
		if t := &c.tensors[i]; address >= uint64(t.Base) && address < uint64(t.Base)+uint64(t.Bytes) {
			return fmt.Sprintf("byte %s of %s, parameter %d", strings.TrimSuffix(byteCount(address-uint64(t.Base)), " B"), t.Name, t.Param+1)
		}
	}
	return c.run.memory.describeLocked(address)
}

// named finds the variable that holds an offset of shared or local memory.
func (c *sanitizer) named(s space, address uint64) *placed {
	for i := range c.names {
		v := &c.names[i]
		if (v.v.Space == "shared") == (s == spaceShared) && address >= v.at && (address < v.at+v.size || v.v.Dynamic || v.v.Extern) {
			return v
		}
	}
	return nil
}

// variable checks an access that starts from a variable's address against the variable's size. It stays in the CTA's
// memory, so it may go on.
func (c *sanitizer) variable(w *warp, in *inst, s space, lane uint, address, size uint64) bool {
	k := c.facts[in.id].origin - originVariable
	if k < 0 || int(k) >= len(c.names) {
		return true
	}
	v := &c.names[k]
	if v.v.Dynamic || v.v.Extern || address >= v.at && address+size <= v.at+v.size || (v.v.Space == "shared") != (s == spaceShared) {
		return true
	}
	f := c.at(w, in, &driver.Finding{Kind: driver.FoundOutOfBounds, Advice: "check the index against the array's size"}, s, address, size)
	what := fmt.Sprintf("%s of %s", plainName(v.v.Name), byteCount(v.size))
	if address < v.at {
		f.Where = byteCount(v.at-address) + " before " + what
	} else {
		f.Where = past(address, v.at+v.size, size) + what
	}
	c.report(w, in.id, lane, f, 1)
	return true
}

// past says how far behind the end of something an access lies.
func past(address, end, size uint64) string {
	switch {
	case address < end:
		return "its last " + byteCount(address+size-end) + " lie past the end of "
	case address == end:
		return "just past the end of "
	}
	return byteCount(address-end) + " past the end of "
}

// plainName takes the name of a variable of a function out of its mangled form: _ZZ3sumPfE4tile is tile.
func plainName(name string) string {
	if !strings.HasPrefix(name, "_Z") {
		return name
	}
	for i := len(name) - 1; i > 1; i-- {
		if name[i] < '0' || name[i] > '9' || name[i-1] >= '0' && name[i-1] <= '9' {
			continue
		}
		n, at := 0, i
		for at < len(name) && name[at] >= '0' && name[at] <= '9' {
			n = n*10 + int(name[at]-'0')
			at++
		}
		if n > 0 && (at+n == len(name) || at+n < len(name) && name[at+n] == '_') {
			return name[at : at+n]
		}
	}
	return name
}
