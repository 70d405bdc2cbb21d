package lower

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// shareRegisters lets the next value of a loop's variable be computed in the variable's own register, so that no copy is needed at
// the end of the loop: of t1 = phi [0, t3]; t3 = t1 + t2 becomes t1 = t1 + t2. That is right when t1 is not read any more once t3 is
// known. t3 itself is never read after the phi has another value: its definition lies between the two.
func (fn *function) shareRegisters(order []*ssa.BasicBlock) {
	for _, b := range order {
		for _, in := range b.Instrs {
			p, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			if !inPlace(p.Type()) || len(*p.Referrers()) == 0 {
				continue
			}
			for _, e := range p.Edges {
				next, ok := e.(*ssa.BinOp)
				if !ok || fn.plan.folded[next] || fn.shared[next] != nil || !b.Dominates(next.Block()) || fn.w.erased(next.Type()) != fn.w.erased(p.Type()) {
					continue
				}
				if !fn.readAfter(p, next) {
					fn.shared[next] = p
					break
				}
			}
		}
	}
}

// readAfter reports whether the phi p may be read after next was computed and before p has its next value.
func (fn *function) readAfter(p *ssa.Phi, next *ssa.BinOp) bool {
	reached := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock)
	walk = func(b *ssa.BasicBlock) {
		for _, s := range b.Succs {
			if s != p.Block() && !reached[s] {
				reached[s] = true
				walk(s)
			}
		}
	}
	home := next.Block()
	walk(home)
	at := slices.Index(home.Instrs, ssa.Instruction(next))
	late := func(b *ssa.BasicBlock, i int) bool { return reached[b] || b == home && i > at }
	var reads func(v ssa.Value, depth int) bool
	reads = func(v ssa.Value, depth int) bool {
		if depth > 10 {
			return true
		}
		for _, r := range *v.Referrers() {
			b := r.Block()
			if phi, ok := r.(*ssa.Phi); ok {
				for i, e := range phi.Edges {
					if e == v && late(b.Preds[i], len(b.Preds[i].Instrs)) {
						return true
					}
				}
				continue
			}
			if call, ok := fn.plan.partOf[r]; ok {
				r = call
			}
			if late(b, slices.Index(b.Instrs, r)) {
				return true
			}
			// what is only text yet is read where it is used
			if u, ok := r.(ssa.Value); ok && (fn.plan.folded[u] || fn.plan.places[u]) && reads(u, depth+1) {
				return true
			}
		}
		return false
	}
	return reads(p, 0)
}
