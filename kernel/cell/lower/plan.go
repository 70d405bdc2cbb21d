package lower

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A plan says, before a function is printed, how its values are used.
type plan struct {
	folded   map[ssa.Value]bool            // evaluated in their one use
	when     map[ssa.Value]int             // the index of the instruction that evaluates a folded value
	places   map[ssa.Value]bool            // addresses that are only loaded from and stored to
	skipped  map[ssa.Instruction]bool      // instructions that are a part of another
	partOf   map[ssa.Instruction]*ssa.Call // the call that a skipped instruction is a part of
	elements map[ssa.Value][]ssa.Value     // the elements of a variadic argument
}

func newPlan() plan {
	return plan{folded: map[ssa.Value]bool{}, when: map[ssa.Value]int{}, places: map[ssa.Value]bool{}, skipped: map[ssa.Instruction]bool{},
		partOf: map[ssa.Instruction]*ssa.Call{}, elements: map[ssa.Value][]ssa.Value{}}
}

// planVariadics finds the slices that are built only to be the variadic argument of a call.
func (fn *function) planVariadics(b *ssa.BasicBlock) {
	for _, in := range b.Instrs {
		c, ok := in.(*ssa.Call)
		if !ok || len(c.Call.Args) == 0 {
			continue
		}
		s, ok := c.Call.Args[len(c.Call.Args)-1].(*ssa.Slice)
		if !ok || s.Low != nil || s.High != nil || s.Max != nil || len(*s.Referrers()) != 1 || s.Block() != b {
			continue
		}
		a, ok := s.X.(*ssa.Alloc)
		if !ok || a.Block() != b || a.Comment != "varargs" || !fn.passesElements(c, deref(a.Type()).Underlying().(*types.Array).Elem()) {
			continue
		}
		elems, parts := variadicElements(a, s, b)
		if elems == nil {
			continue
		}
		fn.plan.elements[s] = elems
		for _, p := range parts {
			fn.plan.skipped[p] = true
			fn.plan.partOf[p] = c
		}
	}
}

// passesElements reports whether a call takes its variadic elements one by one.
func (fn *function) passesElements(c *ssa.Call, elem types.Type) bool {
	switch v := c.Call.Value.(type) {
	case *ssa.Builtin:
		_, basic := elem.Underlying().(*types.Basic)
		return v.Name() == "append" && (basic || isStruct(elem)) && fn.w.compiled(elem) == nil
	case *ssa.Function:
		o, _ := v.Object().(*types.Func)
		return external(v) && o != nil && replacements[o.FullName()] != ""
	}
	return false
}

// variadicElements are the values stored in the array a behind the argument s, and the instructions that do it.
func variadicElements(a *ssa.Alloc, s *ssa.Slice, b *ssa.BasicBlock) (elems []ssa.Value, parts []ssa.Instruction) {
	elems = make([]ssa.Value, deref(a.Type()).Underlying().(*types.Array).Len())
	parts = []ssa.Instruction{a, s}
	for _, r := range *a.Referrers() {
		if r == s {
			continue
		}
		ia, ok := r.(*ssa.IndexAddr)
		if !ok || len(*ia.Referrers()) != 1 {
			return nil, nil
		}
		k, ok := ia.Index.(*ssa.Const)
		st, isStore := (*ia.Referrers())[0].(*ssa.Store)
		if !ok || !isStore || st.Block() != b {
			return nil, nil
		}
		elems[k.Int64()] = st.Val
		parts = append(parts, ia, st)
	}
	for _, e := range elems {
		if e == nil {
			return nil, nil
		}
	}
	return elems, parts
}

// planBlock decides which values of a block are folded into their one use, and which addresses are places only.
func (fn *function) planBlock(b *ssa.BasicBlock) {
	index := map[ssa.Instruction]int{}
	for i, in := range b.Instrs {
		index[in] = i
	}
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		v, ok := b.Instrs[i].(ssa.Value)
		if !ok || v.Referrers() == nil {
			continue
		}
		switch v.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr:
			fn.plan.places[v] = placeOnly(v)
			continue
		}
		if readsMemory(v) && fn.w.order.crosses(v, b) {
			fn.refuseOrder(v)
		}
		if at, ok := fn.foldsInto(v, b, i, index); ok {
			fn.plan.folded[v], fn.plan.when[v] = true, at
		}
	}
}

func (fn *function) refuseOrder(v ssa.Value) {
	fn.w.refuseAt(fn.w.order.place(v, 0), "a variable that is read and changed by a call in one statement", "Go does not define which comes first",
		"store the variable's value, or the call's result, in a variable of its own first")
}

// foldsInto reports whether v, instruction i of b, is evaluated in its one use, and the index of that.
func (fn *function) foldsInto(v ssa.Value, b *ssa.BasicBlock, i int, index map[ssa.Instruction]int) (at int, ok bool) {
	if len(*v.Referrers()) != 1 {
		return 0, false
	}
	use := (*v.Referrers())[0]
	at, ok = fn.useIndex(use, b, index)
	if !ok || !fn.foldable(v, use) || !takesExpression(use, v) {
		return 0, false
	}
	if u, isLoad := v.(*ssa.UnOp); isLoad && u.Op == token.MUL {
		return at, !fn.impure(b, i, at)
	}
	return at, true
}

// useIndex is where in the block a value's use is evaluated.
func (fn *function) useIndex(use ssa.Instruction, b *ssa.BasicBlock, index map[ssa.Instruction]int) (at int, ok bool) {
	end := len(b.Instrs) - 1
	if _, phi := use.(*ssa.Phi); phi {
		// the copy is made at the end of the block
		return end, use.Block() == b || isSuccessor(b, use.Block())
	}
	if use.Block() != b {
		return 0, false
	}
	if v, ok := use.(ssa.Value); ok && fn.plan.folded[v] {
		return fn.plan.when[v], true
	}
	if c, ok := fn.plan.partOf[use]; ok {
		return index[c], true
	}
	return index[use], true
}

// impure reports whether an instruction between two may write memory.
func (fn *function) impure(b *ssa.BasicBlock, from, to int) bool {
	for i := from + 1; i < to && i < len(b.Instrs); i++ {
		if fn.plan.skipped[b.Instrs[i]] {
			continue
		}
		switch in := b.Instrs[i].(type) {
		case *ssa.Store, *ssa.Call, *ssa.MapUpdate, *ssa.Send, *ssa.RunDefers, *ssa.Go, *ssa.Defer, *ssa.Select, *ssa.Next, *ssa.Panic:
			return true
		case *ssa.UnOp:
			if in.Op == token.ARROW {
				return true
			}
		}
	}
	return false
}

// foldable reports whether a value may be printed as an expression.
func (fn *function) foldable(v ssa.Value, use ssa.Instruction) bool {
	_, boxes := v.(*ssa.MakeInterface)
	if boxes != fn.plan.skipped[use] {
		return false
	}
	switch in := v.(type) {
	case *ssa.BinOp:
		switch in.Op {
		case token.QUO, token.REM, token.SHL, token.SHR:
			return false
		case token.EQL, token.NEQ:
			return !isInterface(in.X.Type()) && !isComposite(in.X.Type())
		}
		return true
	case *ssa.UnOp:
		return in.Op != token.ARROW && !(in.Op == token.MUL && fn.opaquePlace(in.X))
	case *ssa.Convert:
		return isNumeric(in.X.Type()) && isNumeric(in.Type())
	case *ssa.ChangeType:
		return fn.w.erased(in.X.Type()) == fn.w.erased(in.Type())
	case *ssa.MakeInterface:
		return fn.w.erased(in.Type()) == "interface{}"
	}
	return false
}

// takesExpression reports whether an instruction evaluates its operand v once and directly.
func takesExpression(use ssa.Instruction, v ssa.Value) bool {
	switch u := use.(type) {
	case *ssa.Phi, *ssa.BinOp, *ssa.If, *ssa.Return, *ssa.Convert, *ssa.UnOp, *ssa.Store, *ssa.MapUpdate, *ssa.Lookup, *ssa.Send, *ssa.MakeInterface:
		return true
	case *ssa.Call:
		if u.Call.Value == v {
			return false
		}
		_, builtin := u.Call.Value.(*ssa.Builtin)
		return !builtin
	}
	return false
}

// readsMemory reports values that read variables, elements or maps.
func readsMemory(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.UnOp:
		return v.Op == token.MUL
	case *ssa.Lookup:
		return !isString(v.X.Type())
	case *ssa.Convert:
		return isString(v.Type()) && elemKind(v.X.Type()) != types.Invalid
	}
	return false
}

func isSuccessor(b, s *ssa.BasicBlock) bool {
	for _, x := range b.Succs {
		if x == s {
			return true
		}
	}
	return false
}

// placeOnly reports whether an address is only loaded from, stored to, or a step to another address.
func placeOnly(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp:
			if r.Op != token.MUL {
				return false
			}
		case *ssa.Store:
			if r.Val == v {
				return false
			}
		case *ssa.FieldAddr, *ssa.DebugRef:
		case *ssa.IndexAddr:
			if r.X != v {
				return false
			}
		default:
			return false
		}
	}
	return true
}
