package vgpu

import (
	"strings"

	"memwall/gpu/internal/ptx"
	"memwall/gpu/internal/vgpu/cache"
)

// Sites, in the traces that the caches replay, are patterns from 1; 0 stands for accesses whose instruction is unknown.

// hints finds the eviction hints of the memory instructions, by site.
func (p *program) hints() []cache.Hint {
	p.hintsOnce.Do(func() {
		p.evictions = make([]cache.Hint, p.patterns+1)
		policies := map[int32]cache.Hint{} // of registers that createpolicy wrote
		for i := range p.f.Body {
			if in := &p.f.Body[i]; in.Opcode == "createpolicy" && len(in.Operands) > 0 && in.Operands[0].Kind == ptx.OperandRegister {
				policies[in.Operands[0].Register] |= policyOf(in)
			}
		}
		p.eachSite(func(pattern, id int32) { p.evictions[pattern+1] = hintOf(&p.f.Body[id], policies) })
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
func policyOf(in *ptx.Instruction) (h cache.Hint) {
	for _, m := range in.Modifiers {
		switch m {
		case "L2::evict_first":
			return cache.FirstL2
		case "L2::evict_last":
			return cache.LastL2
		case "L2::evict_normal", "L2::evict_unchanged":
			return 0
		}
	}
	return 0
}

// hintOf is an instruction's hint: .cs and .lu stream, L1::… and L2::… name the cache, a cache policy is that of its register.
func hintOf(in *ptx.Instruction, policies map[int32]cache.Hint) (h cache.Hint) {
	for _, m := range in.Modifiers {
		switch m {
		case "cs", "lu":
			h |= cache.FirstL1 | cache.FirstL2
		case "L1::evict_first":
			h |= cache.FirstL1
		case "L1::evict_last":
			h |= cache.LastL1
		case "L2::evict_first":
			h |= cache.FirstL2
		case "L2::evict_last":
			h |= cache.LastL2
		}
	}
	if strings.Contains(in.Spelling, "L2::cache_hint") && len(in.Operands) > 0 {
		if o := &in.Operands[len(in.Operands)-1]; o.Kind == ptx.OperandRegister {
			h |= policies[o.Register]
		}
	}
	return h
}
