package vgpu

import (
	"fmt"
	"math/bits"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/internal/vgpu/cache"
)

// Sampling executes every k-th CTA (or cluster) of a grid. What they count, times k, is what the grid counts where its CTAs
// are alike and do not communicate. So a launch is refused whose PTX shows that a CTA looks at what others leave, and one
// in which a CTA is seen to read what another one wrote.

// talk is the first instruction by which CTAs communicate.
type talk struct {
	in  *ptx.Instruction
	why string
}

// findTalk looks for instructions whose result depends on other CTAs.
func (p *program) findTalk(uses []uint32) {
	for i := range p.f.Body {
		in := &p.f.Body[i]
		if why := talksTo(in, uses); why != "" {
			p.talk = talk{in, why}
			return
		}
	}
}

// talksTo says how an instruction communicates with other CTAs, or is empty.
func talksTo(in *ptx.Instruction, uses []uint32) string {
	for _, near := range []string{"shared", "shared::cta", "shared::cluster", "local", "param", "const", "cta", "cluster"} {
		if in.Has(near) {
			return ""
		}
	}
	switch {
	case in.Opcode == "atom" && len(in.Operands) > 0 && isRead(&in.Operands[0], uses):
		return "uses the value that it finds"
	case in.Opcode == "ld" && (in.Has("acquire") || in.Has("relaxed")) && (in.Has("gpu") || in.Has("sys")):
		return "waits for what other CTAs write"
	case in.Opcode == "ld" && in.Has("volatile") && in.Has("global"):
		return "looks at what other CTAs write"
	}
	return ""
}

// isRead reports whether any instruction reads a destination.
func isRead(o *ptx.Operand, uses []uint32) bool {
	if o.Kind == ptx.OperandRegister && uses[o.Register] > 0 {
		return true
	}
	for i := range o.Elements {
		if isRead(&o.Elements[i], uses) {
			return true
		}
	}
	return false
}

// checkSample refuses to sample a function whose CTAs communicate.
func (f *function) checkSample(l *driver.Launch) error {
	t := f.program.talk
	if l.Sample <= 1 && l.SampleTime == 0 || t.in == nil {
		return nil
	}
	return fmt.Errorf("launch %s: its CTAs communicate, so a few of them say nothing about the others: %s:%d: %s %s\nrun it whole, without gpu.Sample",
		f.Name(), f.program.module.Name, t.in.Line, t.in.Spelling, t.why)
}

// pick is the i-th executed CTA of a sampled grid, or cluster: one of each step CTAs in a row, so that the columns of the grid come
// evenly: CTAs of a column may do more than those of another, as blocks of queries under a causal mask do.
func pick(i, step, width, count uint64) uint64 {
	first := i * step
	if step == 1 || width >= count {
		return first
	}
	if step >= width { // any column
		if width = min(width, count-first); first+width == count {
			return first + spread(i, width)
		}
		return first + (spread(i, width)+width-first%width)%width
	}
	common := gcd(step, width)
	round := width / common // steps after which the column comes again
	return min(first+spread(i/round, common), count-1)
}

// spread is the i-th of a sequence of numbers below n that lie evenly from the beginning: multiples of the golden ratio.
func spread(i, n uint64) uint64 {
	const golden = 0x9E3779B97F4A7C15 // (√5 − 1)/2 · 2⁶⁴
	at, _ := bits.Mul64(i*golden+golden/2, n)
	return at
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// eavesdropper notices that a CTA of a sampled launch reads what another one wrote.
type eavesdropper struct {
	base    uint64            // address of the first line
	writers map[uint64]uint64 // by sector: the ordinal of the CTA that wrote it, many where several did
	heard   bool
	reader  uint64
	writer  uint64
	address uint64
}

const (
	byMany    = ^uint64(0)     // plain writes of several CTAs: they share the sector, not its bytes
	byAtomics = ^uint64(0) - 1 // atomics of several CTAs add up to a value that none of them may look at
)

// listen takes the trace of a CTA, in the order of the launch.
func (e *eavesdropper) listen(cta uint64, trace []cache.Entry) {
	for _, entry := range trace {
		for s := range uint64(4 * entry.Lines()) {
			if entry>>(s&3)&1 == 0 {
				continue
			}
			at := entry.Line()<<2 + s
			writer, known := e.writers[at]
			switch {
			case entry&cache.Write == 0:
				if known && writer != cta && writer != byMany && !e.heard {
					e.heard, e.reader, e.writer, e.address = true, cta, writer, e.base+at<<5
				}
			case !known:
				e.writers[at] = cta
			case writer != cta && entry&cache.Atomic != 0:
				e.writers[at] = byAtomics
			case writer != cta && writer != byAtomics:
				e.writers[at] = byMany
			}
		}
	}
}

// refusal is the error of a sampled launch whose CTAs were seen to communicate.
func (r *launchRun) refusal(f *function) error {
	e := r.ears
	if e == nil || !e.heard {
		return nil
	}
	place := func(ordinal uint64) string {
		at := split3(r.linear(ordinal), r.grid)
		return fmt.Sprintf("CTA (%d,%d,%d)", at[0], at[1], at[2])
	}
	writer := "several CTAs"
	if e.writer != byAtomics {
		writer = place(e.writer)
	}
	return fmt.Errorf("launch %s: its CTAs communicate, so a few of them say nothing about the others: %s reads what %s wrote, %s\nrun it whole, without gpu.Sample",
		f.Name(), place(e.reader), writer, r.memory.describeLocked(e.address))
}

// linear is the place in the grid of an executed CTA; one of a cluster counts as the cluster's first.
func (r *launchRun) linear(ordinal uint64) uint64 {
	n := r.span.Count()
	clusters := driver.Dim3{X: r.grid.X / r.span.X, Y: r.grid.Y / r.span.Y, Z: r.grid.Z / r.span.Z}
	corner := split3(pick(ordinal/n, uint64(r.step), uint64(clusters.X), clusters.Count()), clusters)
	x, y, z := uint64(corner[0]*r.span.X), uint64(corner[1]*r.span.Y), uint64(corner[2]*r.span.Z)
	return x + uint64(r.grid.X)*(y+uint64(r.grid.Y)*z)
}
