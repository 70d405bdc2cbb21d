package lower

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// The language leaves open whether a variable is read before or after a call in the same statement. The Go compiler makes the
// calls of a statement first and leaves what is only computed to the end (cmd/compile/internal/walk/order.go), but for what it
// keeps in a temporary at once: operands of calls, lengths, slices, results of type assertions, and what goes into an interface by
// its address. SSA has all of it from left to right. settle moves the instructions of a block to where Go's compiler has them.
func (o *order) settle(b *ssa.BasicBlock) {
	if !slices.ContainsFunc(b.Instrs, happens) {
		return
	}
	for i := len(b.Instrs) - 1; i >= 0; i-- { // the last first, so that what moves to one place keeps its order
		if v, ok := b.Instrs[i].(ssa.Value); ok && waits(b.Instrs[i]) {
			if at := o.place(v, 0); at.IsValid() {
				o.moveBehindCalls(b, i, at)
			}
		}
	}
}

// moveBehindCalls moves instruction i, which stands at a place in the cell, behind the last call of its statement that comes
// before its value is needed; with it goes what is computed from it.
func (o *order) moveBehindCalls(b *ssa.BasicBlock, i int, at token.Pos) {
	st := o.statement(at)
	if st.from == 0 {
		return
	}
	moving := map[ssa.Instruction]bool{b.Instrs[i]: true}
	changed := map[ssa.Value]bool{} // the variables that composite literals are built in
	last, limit := -1, len(b.Instrs)
	for k := i + 1; k < len(b.Instrs); k++ {
		in := b.Instrs[k]
		if p := in.Pos(); happens(in) && p.IsValid() && !st.holds(p) {
			break
		}
		if p, ok := o.after[in]; ok && !st.holds(p) {
			break
		}
		if dependsOn(in, moving, changed) {
			if key := copiedAtOnce(in); key != nil && moving[key] {
				limit = slices.Index(b.Instrs, key)
				break
			}
			if !waits(in) && !buildsLiteral(in) || copiesOperand(in, moving) {
				break // the value is needed here
			}
			moving[in] = true
			if s, ok := in.(*ssa.Store); ok {
				changed[variableOf(s.Addr)] = true
			}
			continue
		}
		if happens(in) && in.Pos().IsValid() {
			last = k
		}
	}
	for last >= limit || last >= 0 && !happens(b.Instrs[last]) {
		last--
	}
	if last <= i {
		return
	}
	var stay, move []ssa.Instruction
	for _, in := range b.Instrs[i : last+1] {
		if moving[in] {
			move = append(move, in)
		} else {
			stay = append(stay, in)
		}
	}
	copy(b.Instrs[i:], append(stay, move...))
}

// happens reports instructions that run other code: calls, and waiting for another goroutine.
func happens(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Call:
		_, builtin := in.Call.Value.(*ssa.Builtin)
		return !builtin
	case *ssa.UnOp:
		return in.Op == token.ARROW
	}
	return false
}

// dependsOn reports whether an instruction uses a value that moves, or a literal that a moving instruction writes.
func dependsOn(in ssa.Instruction, moving map[ssa.Instruction]bool, changed map[ssa.Value]bool) bool {
	for _, op := range in.Operands(nil) {
		if *op == nil {
			continue
		}
		if d, ok := (*op).(ssa.Instruction); ok && moving[d] {
			return true
		}
		if changed[*op] && !initialises(in) {
			return true
		}
	}
	return false
}

// initialises reports the address of a part of a composite literal that is only stored to.
func initialises(in ssa.Instruction) bool {
	v, ok := in.(ssa.Value)
	if !ok {
		return false
	}
	switch in.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr:
	default:
		return false
	}
	for _, r := range *v.Referrers() {
		if s, ok := r.(*ssa.Store); ok && s.Addr == v {
			continue
		}
		if !initialises(r) {
			return false
		}
	}
	return true
}

// buildsLiteral reports a store into a part of a composite literal or of the array of variadic arguments. Other stores into a
// part of a variable come last in their statement.
func buildsLiteral(in ssa.Instruction) bool {
	s, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	a, ok := variableOf(s.Addr).(*ssa.Alloc)
	return ok && s.Addr != a
}

// copiedAtOnce is the operand that is copied as soon as it is computed, before the rest of the statement: the key of a map (see
// mapWaits), and what goes into an interface, which SSA leaves to the end of a call's arguments.
func copiedAtOnce(in ssa.Instruction) ssa.Instruction {
	var m, k ssa.Value
	switch in := in.(type) {
	case *ssa.Lookup:
		m, k = in.X, in.Index
	case *ssa.MapUpdate:
		m, k = in.Map, in.Key
	case *ssa.MakeInterface:
		if x, ok := in.X.(ssa.Instruction); ok && !waits(in) {
			return x
		}
		return nil
	default:
		return nil
	}
	if isString(m.Type()) || mapWaits(m.Type()) || addressable(k) && !castKey(k.Type()) {
		return nil
	}
	key, _ := k.(ssa.Instruction)
	return key
}

// waits reports instructions that the Go compiler leaves in their expression, to be computed when all calls were made.
func waits(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Field, *ssa.Index, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeClosure,
		*ssa.SliceToArrayPointer:
		return true
	case *ssa.BinOp:
		return true
	case *ssa.UnOp:
		return in.Op != token.ARROW
	case *ssa.Lookup:
		return !in.CommaOk
	case *ssa.Convert:
		return elemKind(in.Type()) == types.Invalid
	case *ssa.MakeInterface:
		return addressable(in.X) || interfaceWaits(in.X.Type())
	case *ssa.TypeAssert:
		return !in.CommaOk && pointerShaped(in.AssertedType)
	case *ssa.Slice:
		a, ok := in.X.(*ssa.Alloc)
		return ok && (a.Comment == "slicelit" || a.Comment == "varargs") && in.Low == nil && in.High == nil && in.Max == nil
	}
	return false
}

// copiesOperand reports comparisons of structs and arrays, which copy what has no address.
func copiesOperand(in ssa.Instruction, moving map[ssa.Instruction]bool) bool {
	b, ok := in.(*ssa.BinOp)
	if !ok || !isComposite(b.X.Type()) {
		return false
	}
	for _, v := range []ssa.Value{b.X, b.Y} {
		if d, ok := v.(ssa.Instruction); ok && moving[d] && !addressable(v) {
			return true
		}
	}
	return false
}

// addressable reports the values of variables and of parts of them.
func addressable(v ssa.Value) bool {
	u, ok := v.(*ssa.UnOp)
	if !ok || u.Op != token.MUL {
		return false
	}
	a, ok := u.X.(*ssa.Alloc)
	return !ok || a.Comment != "complit" || a.Heap
}

// castKey reports composite keys that a map takes as a number: they are copied even when they have an address.
func castKey(t types.Type) bool {
	n := sizes.Sizeof(t)
	return isComposite(t) && (n == 4 || n == 8) && !hasPointers(t)
}

// interfaceWaits reports types whose values go into an interface by value (dataWordFuncName in cmd/compile/internal/walk):
// others are copied at once.
func interfaceWaits(t types.Type) bool {
	t = types.Default(t)
	size, align := sizes.Sizeof(t), sizes.Alignof(t)
	switch {
	case size == 2 && align == 2, size == 4 && align == 4 && !hasPointers(t), size == 8 && align == 8 && !hasPointers(t):
		return true
	}
	for {
		switch u := t.Underlying().(type) {
		case *types.Basic:
			return u.Info()&types.IsString != 0
		case *types.Slice:
			return true
		case *types.Struct:
			if u.NumFields() != 1 {
				return false
			}
			t = u.Field(0).Type()
		case *types.Array:
			if u.Len() != 1 {
				return false
			}
			t = u.Elem()
		default:
			return false
		}
	}
}

// sizes are those of the platforms that the kernel runs on.
var sizes = types.SizesFor("gc", "amd64")

func hasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Struct:
		for i := range u.NumFields() {
			if hasPointers(u.Field(i).Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return u.Len() > 0 && hasPointers(u.Elem())
	}
	return true
}

// pointerShaped reports types that are one pointer.
func pointerShaped(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Struct:
		return u.NumFields() == 1 && pointerShaped(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 1 && pointerShaped(u.Elem())
	}
	return false
}

// mapWaits reports maps whose keys are passed by value (mapfast in cmd/compile/internal/walk): other keys are copied at once.
func mapWaits(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	if !ok || sizes.Sizeof(m.Elem()) > 128 {
		return false
	}
	switch u := m.Key().Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return true
		}
		n := sizes.Sizeof(u)
		return u.Info()&types.IsInteger != 0 && (n == 4 || n == 8)
	case *types.Pointer, *types.Chan:
		return true
	}
	return false
}

// place is where an expression stands in the cell: its own place, or that of the first thing computed from it.
func (o *order) place(v ssa.Value, depth int) token.Pos {
	if p, ok := o.places[v]; ok {
		return p
	}
	if p := v.Pos(); p.IsValid() {
		return p
	}
	if depth > 8 || v.Referrers() == nil {
		return token.NoPos
	}
	for _, r := range *v.Referrers() {
		if u, ok := r.(ssa.Value); ok {
			if p := o.place(u, depth+1); p.IsValid() {
				return p
			}
		} else if p := r.Pos(); p.IsValid() {
			return p
		}
	}
	return token.NoPos
}

// forgetSource notes where the function's expressions stand in the cell, and takes the instructions that say so out of it.
func (o *order) forgetSource(f *ssa.Function) {
	isRef := func(in ssa.Instruction) bool {
		_, ok := in.(*ssa.DebugRef)
		return ok
	}
	for _, b := range f.Blocks {
		last := token.NoPos
		for _, in := range b.Instrs {
			d, ok := in.(*ssa.DebugRef)
			if !ok {
				if last.IsValid() {
					o.after[in] = last
				}
				continue
			}
			last = d.Pos()
			if d.X == nil {
				continue
			}
			if x, ok := d.X.(ssa.Instruction); ok && !d.IsAddr && x.Block() == b {
				if _, known := o.places[d.X]; !known {
					o.places[d.X] = d.Pos()
				}
			}
			if refs := d.X.Referrers(); refs != nil {
				*refs = slices.DeleteFunc(*refs, isRef)
			}
		}
		b.Instrs = slices.DeleteFunc(b.Instrs, isRef)
	}
}
