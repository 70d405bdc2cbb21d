package vgpu

import (
	"strings"

	"memwall/gpu/internal/ptx"
)

// siteTraffic is what the replay of the caches found for one memory instruction, in sectors.
type siteTraffic struct {
	requested, fetched uint64 // by its warps; from DRAM
	hint               evictionHint
}

// evictionHint is what PTX says about who should leave a cache first.
type evictionHint uint8

const (
	hintFirstL1 evictionHint = 1 << iota
	hintLastL1
	hintFirstL2
	hintLastL2
)

// age is the age of a line just used: the oldest where it should leave first, one in the future where it should leave last.
func (h evictionHint) age(clock uint32, first, last evictionHint) uint32 {
	const ahead = 1 << 20 // accesses that pass before a line kept by a hint counts as used now
	switch {
	case h&first != 0:
		return 1
	case h&last != 0:
		return clock + ahead
	}
	return clock
}

// traffic prepares the counters by site: 0 stands for accesses whose instruction is unknown.
func (p *program) traffic(old []siteTraffic) []siteTraffic {
	if cap(old) < p.patterns+1 {
		old = make([]siteTraffic, p.patterns+1)
	}
	old = old[:p.patterns+1]
	clear(old)
	for i, h := range p.hints() {
		old[i+1].hint = h
	}
	return old
}

// hints finds the eviction hints of the memory instructions, by pattern.
func (p *program) hints() []evictionHint {
	p.hintsOnce.Do(func() {
		p.evictions = make([]evictionHint, p.patterns)
		policies := map[int32]evictionHint{} // of registers that createpolicy wrote
		for i := range p.f.Body {
			if in := &p.f.Body[i]; in.Opcode == "createpolicy" && len(in.Operands) > 0 && in.Operands[0].Kind == ptx.OperandRegister {
				policies[in.Operands[0].Register] |= policyOf(in)
			}
		}
		p.eachSite(func(pattern, id int32) { p.evictions[pattern] = hintOf(&p.f.Body[id], policies) })
	})
	return p.evictions
}

// eachSite calls f for every memory instruction with its pattern and its index in the body.
func (p *program) eachSite(f func(pattern, id int32)) {
	for _, b := range p.blocks {
		for i := range b.code {
			in := &b.code[i]
			if in.ext != nil && in.ext.inner != nil {
				in = in.ext.inner
			}
			if in.pattern >= 0 {
				f(in.pattern, b.code[i].id)
			}
		}
	}
}

// policyOf is the primary priority of createpolicy (PTX ISA 9.7.9.20).
func policyOf(in *ptx.Instruction) (h evictionHint) {
	for _, m := range in.Modifiers {
		switch m {
		case "L2::evict_first":
			return hintFirstL2
		case "L2::evict_last":
			return hintLastL2
		case "L2::evict_normal", "L2::evict_unchanged":
			return 0
		}
	}
	return 0
}

// hintOf is an instruction's hint: .cs and .lu stream, L1::… and L2::… name the cache, a cache policy is that of its register.
func hintOf(in *ptx.Instruction, policies map[int32]evictionHint) (h evictionHint) {
	for _, m := range in.Modifiers {
		switch m {
		case "cs", "lu":
			h |= hintFirstL1 | hintFirstL2
		case "L1::evict_first":
			h |= hintFirstL1
		case "L1::evict_last":
			h |= hintLastL1
		case "L2::evict_first":
			h |= hintFirstL2
		case "L2::evict_last":
			h |= hintLastL2
		}
	}
	if strings.Contains(in.Spelling, "L2::cache_hint") && len(in.Operands) > 0 {
		if o := &in.Operands[len(in.Operands)-1]; o.Kind == ptx.OperandRegister {
			h |= policies[o.Register]
		}
	}
	return h
}
