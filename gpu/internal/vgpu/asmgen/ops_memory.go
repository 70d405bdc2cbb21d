package asmgen

import "fmt"

// Memory ops. An access first asks its memo (threads_amd64.go, asmMemo): where the lanes' addresses lie to each other as
// they did, and all bytes within what the memo may touch, the memo's hit stands for all counting, and the lines of global
// accesses go to the trace. Then AX is the host address of lane 0's bytes, DI the memo, CX the kind of the pattern.

// space is where an access goes, and how the address is given.
type space struct {
	global bool
	wide   bool // 64-bit address register
}

// Kinds of patterns, as in threads_amd64.go.
const (
	contiguous      = 1
	broadcast       = 2
	sliceBroadcast  = 4
	sliceContiguous = 5
)

// Parts of a variant, as in variant_amd64.go.
const (
	wideAddress = 1 << 8
	wideData    = 1 << 9
	signedData  = 1 << 10
	perSize     = 16
)

// pattern finds and checks the memo for an access of so many bytes a lane.
func (sp space) pattern(b *block, bytes int, store bool) {
	b.i("MOVL %d(R9), BX", instA)
	b.i("MOVLQSX %d(R9), DI", instSite)
	b.i("IMUL3Q $%d, DI, DI", 4*memoBytes)
	b.i("ADDQ %d(R11), DI", contextMemos)
	if sp.global {
		sp.globalPattern(b, bytes, store)
	} else {
		sp.sharedPattern(b, bytes)
	}
	b.i("INCQ %d(DI)", memoHits)
	b.i("ADDQ %d(R11), AX", map[bool]int{true: contextHost, false: contextShared}[sp.global])
	b.i("MOVL %d(DI), CX", memoKind)
}

func (sp space) sharedPattern(b *block, bytes int) {
	b.i("MOVL (R8)(BX*1), AX")
	b.i("VPBROADCASTD (R8)(BX*1), Y14")
	for k := range 4 {
		b.i("VPADDD %d(DI), Y14, Y%d", 32*k, k)
	}
	if !sp.wide {
		for k := range 4 {
			b.i("VPXOR %s, Y%d, Y%d", at("BX", k), k, k)
		}
	} else {
		for k := range 4 {
			b.i("VMOVUPS %s, Y4", at("BX", 2*k))
			b.i("VMOVUPS %s, Y5", at("BX", 2*k+1))
			b.i("VSHUFPS $0x88, Y5, Y4, Y6")
			b.i("VPERMQ $0xD8, Y6, Y6")
			b.i("VPXOR Y6, Y%d, Y%d", k, k)
			b.i("VSHUFPS $0xDD, Y5, Y4, Y6") // the upper halves must be zero
			b.i("VPOR Y6, Y%d, Y%d", k, k)
		}
	}
	b.i("VPOR Y1, Y0, Y0")
	b.i("VPOR Y3, Y2, Y2")
	b.i("VPOR Y2, Y0, Y0")
	b.i("VPTEST Y0, Y0")
	b.i("JNE bail")
	if sp.wide { // no lane wraps before the offset is added
		b.i("MOVQ AX, BX")
		b.i("ADDQ %d(DI), BX", memoMin)
		b.i("JMI bail")
	}
	b.i("ADDL %d(R9), AX", instImm)
	b.i("MOVL AX, CX")
	b.i("ANDL $%d, CX", max(bytes-1, 3))
	b.i("CMPL CX, %d(DI)", memoAlign)
	b.i("JNE bail")
	b.i("MOVQ AX, BX")
	b.i("ADDQ %d(DI), BX", memoMin)
	b.i("JMI bail")
	b.i("MOVQ AX, BX")
	b.i("ADDQ %d(DI), BX", memoMax)
	b.i("CMPQ BX, %d(R11)", contextSharedLen)
	b.i("JHI bail")
}

func (sp space) globalPattern(b *block, bytes int, store bool) {
	b.i("MOVQ (R8)(BX*1), AX")
	b.i("VPBROADCASTQ (R8)(BX*1), Y14")
	b.i("ADDQ %d(R9), AX", instImm)
	b.i("MOVL AX, CX") // the memo of the first lane's sector
	b.i("SHRL $5, CX")
	b.i("ANDL $3, CX")
	b.i("IMUL3Q $%d, CX, CX", memoBytes)
	b.i("ADDQ CX, DI")
	for k := range 8 {
		b.i("VPADDQ %d(DI), Y14, Y%d", 32*k, k)
	}
	for k := range 8 {
		b.i("VPXOR %s, Y%d, Y%d", at("BX", k), k, k)
	}
	for _, k := range []int{0, 2, 4, 6} {
		b.i("VPOR Y%d, Y%d, Y%d", k+1, k, k)
	}
	b.i("VPOR Y2, Y0, Y0")
	b.i("VPOR Y6, Y4, Y4")
	b.i("VPOR Y4, Y0, Y0")
	b.i("VPTEST Y0, Y0")
	b.i("JNE bail")
	// The phase: the place in the line, in a span within which no lane comes into another sector. A row that begins within a
	// sector reads the same sectors wherever it does, and a broadcast one sector; how full the sectors get that a row is written
	// to depends on the place.
	b.i("TESTL $%d, AX", bytes-1)
	b.i("JNE bail")
	b.i("MOVL AX, BX")
	b.i("ANDL $127, BX")
	b.i("MOVL BX, CX")
	b.i("SUBL %d(DI), CX", memoAlign)
	b.i("CMPL CX, %d(DI)", memoSpan)
	b.i("JLS phased")
	b.i("CMPL %d(DI), $128", memoAlign) // nothing learned
	b.i("JCC bail")
	b.i("CMPL %d(DI), $%d", memoKind, broadcast)
	if store {
		b.i("JNE bail")
	} else {
		b.i("JEQ phased")
		b.i("CMPL %d(DI), $%d", memoKind, contiguous)
		b.i("JNE bail")
		b.i("TESTL $31, BX")
		b.i("JEQ bail")
		b.i("TESTL $31, %d(DI)", memoAlign)
		b.i("JEQ bail")
	}
	b.label("phased")
	b.i("MOVQ AX, BX")
	b.i("ADDQ %d(DI), BX", memoMin)
	b.i("CMPQ BX, %d(DI)", memoLow)
	b.i("JCS bail")
	b.i("MOVQ AX, BX")
	b.i("ADDQ %d(DI), BX", memoMax)
	b.i("CMPQ BX, %d(DI)", memoHigh)
	b.i("JHI bail")
	b.i("MOVQ %d(DI), SI", memoLines)
	b.i("TESTQ SI, SI")
	b.i("JEQ logged")
	b.i("MOVQ %d(R11), DX", contextLog)
	b.i("LEAQ (DX)(SI*8), CX")
	b.i("LEAQ 24(CX), BX") // entries are written by fours
	b.i("CMPQ BX, %d(R11)", contextLogEnd)
	b.i("JHI bail")
	b.i("MOVQ CX, %d(R11)", contextLog)
	b.i("MOVQ AX, BX")
	b.i("SHRQ $7, BX")
	b.i("SHLQ $8, BX")
	b.i("VMOVQ BX, X14")
	b.i("VPBROADCASTQ X14, Y14")
	b.i("LEAQ %d(DI), BX", memoEntries)
	b.label("log")
	b.i("VPADDQ (BX), Y14, Y15")
	b.i("VMOVDQU Y15, (DX)")
	b.i("ADDQ $32, BX")
	b.i("ADDQ $32, DX")
	b.i("SUBQ $4, SI")
	b.i("JGT log")
	b.label("logged")
}

// lane puts the distance of a lane's bytes from lane 0's into CX.
func (sp space) lane(b *block, l int) {
	if sp.global {
		b.i("MOVQ %d(DI), CX", 8*l)
	} else {
		b.i("MOVLQSX %d(DI), CX", 4*l)
	}
}

// access is the data part of an op for one kind of element.
type access struct {
	size, n int  // bytes an element, elements
	wide    bool // 64-bit registers
	signed  bool
	store   bool
	sp      space
}

func (a access) variant() int {
	log := map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[a.size]
	v := a.n + perSize*log
	if a.wide {
		v |= wideData
	}
	if a.signed {
		v |= signedData
	}
	if a.sp.wide {
		v |= wideAddress
	}
	return v
}

// targets loads the slots of the data registers into DX, SI, BX, R13.
func (a access) targets(b *block) {
	if a.n == 1 {
		b.i("MOVL %d(R9), DX", instD)
		return
	}
	b.registers(a.n)
}

// row gives the operand of a lane's bytes in a pattern where lanes lie one behind the other from (AX)(CX*1) or (AX).
func (a access) row(l, offset int, index string) string {
	return fmt.Sprintf("%d(AX)%s", l*a.size*a.n+offset, index)
}

// place gives for a kind the operand of lane l's bytes; it may first put the distance into CX.
func (a access) place(b *block, kind, l, offset int) string {
	switch kind {
	case contiguous:
		return a.row(l, offset, "")
	case sliceContiguous:
		if l&7 == 0 {
			a.sp.lane(b, l)
		}
		return fmt.Sprintf("%d(AX)(CX*1)", (l&7)*a.size*a.n+offset)
	}
	a.sp.lane(b, l)
	return fmt.Sprintf("%d(AX)(CX*1)", offset)
}

// kinds writes the data part once for each kind that has a form of its own, and for any other.
func (a access) kinds(b *block, own []int, part func(kind int)) {
	for _, kind := range own {
		other := b.unique("other")
		b.i("CMPL CX, $%d", kind)
		b.i("JNE %s", other)
		part(kind)
		b.next()
		b.label(other)
	}
	part(0)
	b.next()
	b.label("bail")
	b.leave()
}

func (s *set) memory() {
	s.parameters()
	for _, sp := range []space{{true, true}, {false, false}, {false, true}} {
		loads, stores := []string{"opLoadShared"}, []string{"opStoreShared"}
		if sp.global {
			loads, stores = []string{"opLoadGlobal", "opLoadGeneric"}, []string{"opStoreGlobal", "opStoreGeneric"}
		}
		for _, a := range []access{{size: 4, n: 1}, {size: 4, n: 2}, {size: 4, n: 4}, {size: 8, n: 1, wide: true}, {size: 8, n: 2, wide: true},
			{size: 2, n: 1}, {size: 2, n: 1, signed: true}, {size: 1, n: 1}, {size: 1, n: 1, signed: true}, {size: 2, n: 2}, {size: 2, n: 4}} {
			a.sp = sp
			s.variant(loads[0], a.variant(), func(b *block) {
				sp.pattern(b, a.size*a.n, false)
				a.load(b)
			}).also(loads[1:]...)
			if a.signed || a.size == 2 && a.n > 1 {
				continue
			}
			a.store = true
			s.variant(stores[0], a.variant(), func(b *block) {
				sp.pattern(b, a.size*a.n, true)
				a.put(b)
			}).also(stores[1:]...)
		}
	}
}

// parameters are ld.param: the same value in every lane.
func (s *set) parameters() {
	for _, a := range []access{{size: 4, n: 1}, {size: 4, n: 2}, {size: 4, n: 4}, {size: 8, n: 1, wide: true}, {size: 8, n: 2, wide: true}} {
		s.variant("opLoadParam", a.variant(), func(b *block) {
			a.targets(b)
			b.i("MOVQ %d(R11), AX", contextParams)
			b.i("ADDQ %d(R9), AX", instImm)
			a.loadBroadcast(b)
			b.next()
		})
	}
}

var targetList = []string{"DX", "SI", "BX", "R13"}

// loadBroadcast gives all lanes the elements at (AX).
func (a access) loadBroadcast(b *block) {
	for k := range a.n {
		switch {
		case a.wide:
			b.i("VPBROADCASTQ %d(AX), Y8", 8*k)
		case a.size == 4:
			b.i("VPBROADCASTD %d(AX), Y8", 4*k)
		default:
			b.i("%s %d(AX), CX", a.extending(), a.size*k)
			b.i("VMOVD CX, X8")
			b.i("VPBROADCASTD X8, Y8")
		}
		for q := range 4 << b2i(a.wide) {
			b.i("VMOVDQU Y8, %s", at(targetList[k], q))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// extending is the scalar load that extends a small element.
func (a access) extending() string {
	letter, sign := map[int]string{1: "B", 2: "W"}[a.size], "Z"
	if a.signed {
		sign = "S"
	}
	return "MOV" + letter + "L" + sign + "X"
}

// load writes the data part of a load.
func (a access) load(b *block) {
	a.targets(b)
	own := []int{contiguous, broadcast}
	if !a.sp.global && a.size == 4 {
		own = append(own, sliceBroadcast, sliceContiguous)
	}
	a.kinds(b, own, func(kind int) {
		switch {
		case kind == broadcast:
			a.loadBroadcast(b)
		case kind == sliceBroadcast:
			for q := range 4 {
				a.sp.lane(b, 8*q)
				for k := range a.n {
					b.i("VPBROADCASTD %d(AX)(CX*1), Y8", 4*k)
					b.i("VMOVDQU Y8, %s", at(targetList[k], q))
				}
			}
		case a.size < 4 && a.n == 1:
			a.loadSmall(b, kind)
		case a.size*a.n == 4:
			a.loadWords(b, kind)
		case a.size*a.n == 8 && a.wide:
			a.loadDoubles(b, kind)
		case a.size*a.n == 8:
			a.loadPairs(b, kind)
		case a.wide:
			a.loadDoublePairs(b, kind)
		default:
			a.loadQuads(b, kind)
		}
	})
}

// loadSmall loads elements of 1 and 2 bytes into 32-bit lanes.
func (a access) loadSmall(b *block, kind int) {
	if kind == contiguous {
		sign := map[bool]string{false: "Z", true: "S"}[a.signed]
		for q := range 4 {
			b.i("VPMOV%sX%sD %d(AX), Y8", sign, map[int]string{1: "B", 2: "W"}[a.size], 8*a.size*q)
			b.i("VMOVDQU Y8, %s", at("DX", q))
		}
		return
	}
	for l := range 32 {
		b.i("%s %s, BX", a.extending(), a.place(b, kind, l, 0))
		b.i("MOVL BX, %d(R8)(DX*1)", 4*l)
	}
}

// loadWords loads 4 bytes a lane: one element or two halves.
func (a access) loadWords(b *block, kind int) {
	for q := range 4 {
		switch {
		case kind == contiguous || kind == sliceContiguous:
			b.i("VMOVDQU %s, Y8", a.place(b, kind, 8*q, 0))
		case a.sp.global:
			for h := range 2 {
				b.i("VMOVDQU %d(DI), Y10", 64*q+32*h)
				b.i("VPCMPEQD X11, X11, X11")
				b.i("VPGATHERQD X11, (AX)(Y10*1), X%d", 8+h)
			}
			b.i("VINSERTI128 $1, X9, Y8, Y8")
		default:
			b.i("VMOVDQU %d(DI), Y10", 32*q)
			b.i("VPCMPEQD Y11, Y11, Y11")
			b.i("VPGATHERDD Y11, (AX)(Y10*1), Y8")
		}
		if a.n == 1 {
			b.i("VMOVDQU Y8, %s", at("DX", q))
		} else {
			b.splitWords(8, "DX", "SI", q)
		}
	}
}

// splitWords stores the halves of eight words as slice q of two slots.
func (b *block) splitWords(reg int, low, high string, q int) {
	b.i("VPSRLD $16, Y%d, Y14", reg)
	b.i("VPSLLD $16, Y%d, Y15", reg)
	b.i("VPSRLD $16, Y15, Y15")
	b.i("VMOVDQU Y15, %s", at(low, q))
	b.i("VMOVDQU Y14, %s", at(high, q))
}

// loadPairs loads 8 bytes a lane into two slots of words, or four of halves.
func (a access) loadPairs(b *block, kind int) {
	for q := range 4 {
		// Y8: lanes 0, 1 | 4, 5; Y9: lanes 2, 3 | 6, 7.
		if kind == contiguous || kind == sliceContiguous {
			for h := range 2 {
				b.i("VMOVDQU %s, X%d", a.place(b, kind, 8*q, 16*h), 8+h)
				b.i("VINSERTI128 $1, %s, Y%d, Y%d", a.offsetIn(kind, 8*q, 32+16*h), 8+h, 8+h)
			}
		} else {
			for h := range 4 {
				b.i("VMOVQ %s, X%d", a.place(b, kind, 8*q+2*h, 0), 8+h)
				b.i("VPINSRQ $1, %s, X%d, X%d", a.place(b, kind, 8*q+2*h+1, 0), 8+h, 8+h)
			}
			b.i("VINSERTI128 $1, X10, Y8, Y8")
			b.i("VINSERTI128 $1, X11, Y9, Y9")
		}
		b.i("VSHUFPS $0x88, Y9, Y8, Y10")
		b.i("VSHUFPS $0xDD, Y9, Y8, Y11")
		if a.n == 2 {
			b.i("VMOVDQU Y10, %s", at("DX", q))
			b.i("VMOVDQU Y11, %s", at("SI", q))
		} else {
			b.splitWords(10, "DX", "SI", q)
			b.splitWords(11, "BX", "R13", q)
		}
	}
}

// offsetIn is place for a lane whose distance is in CX already.
func (a access) offsetIn(kind, l, offset int) string {
	if kind == contiguous {
		return a.row(l, offset, "")
	}
	return fmt.Sprintf("%d(AX)(CX*1)", offset)
}

// loadQuads loads four words a lane into four slots.
func (a access) loadQuads(b *block, kind int) {
	for q := range 4 {
		for j := range 4 {
			if kind == contiguous || kind == sliceContiguous {
				first := a.place(b, kind, 8*q, 16*j)
				if j > 0 {
					first = a.offsetIn(kind, 8*q, 16*j)
				}
				b.i("VMOVDQU %s, X%d", first, j)
				b.i("VINSERTI128 $1, %s, Y%d, Y%d", a.offsetIn(kind, 8*q, 64+16*j), j, j)
				continue
			}
			b.i("VMOVDQU %s, X%d", a.place(b, kind, 8*q+j, 0), j)
			b.i("VINSERTI128 $1, %s, Y%d, Y%d", a.place(b, kind, 8*q+4+j, 0), j, j)
		}
		b.transpose(0, 4, 8)
		for k, target := range targetList {
			b.i("VMOVDQU Y%d, %s", 4+k, at(target, q))
		}
	}
}

// transpose turns 4×4 words in each half of four registers.
func (b *block) transpose(from, to, t int) {
	b.i("VPUNPCKLDQ Y%d, Y%d, Y%d", from+1, from, t)
	b.i("VPUNPCKHDQ Y%d, Y%d, Y%d", from+1, from, t+1)
	b.i("VPUNPCKLDQ Y%d, Y%d, Y%d", from+3, from+2, t+2)
	b.i("VPUNPCKHDQ Y%d, Y%d, Y%d", from+3, from+2, t+3)
	b.i("VPUNPCKLQDQ Y%d, Y%d, Y%d", t+2, t, to)
	b.i("VPUNPCKHQDQ Y%d, Y%d, Y%d", t+2, t, to+1)
	b.i("VPUNPCKLQDQ Y%d, Y%d, Y%d", t+3, t+1, to+2)
	b.i("VPUNPCKHQDQ Y%d, Y%d, Y%d", t+3, t+1, to+3)
}

// loadDoubles loads 8 bytes a lane into a wide slot.
func (a access) loadDoubles(b *block, kind int) {
	for q := range 8 {
		if kind == contiguous {
			b.i("VMOVDQU %d(AX), Y8", 32*q)
		} else {
			for h := range 2 {
				b.i("VMOVQ %s, X%d", a.place(b, kind, 4*q+2*h, 0), 8+h)
				b.i("VPINSRQ $1, %s, X%d, X%d", a.place(b, kind, 4*q+2*h+1, 0), 8+h, 8+h)
			}
			b.i("VINSERTI128 $1, X9, Y8, Y8")
		}
		b.i("VMOVDQU Y8, %s", at("DX", q))
	}
}

// loadDoublePairs loads 16 bytes a lane into two wide slots.
func (a access) loadDoublePairs(b *block, kind int) {
	for q := range 8 {
		for j := range 2 {
			b.i("VMOVDQU %s, X%d", a.place(b, kind, 4*q+j, 0), 8+j)
			b.i("VINSERTI128 $1, %s, Y%d, Y%d", a.place(b, kind, 4*q+2+j, 0), 8+j, 8+j)
		}
		b.i("VPUNPCKLQDQ Y9, Y8, Y10")
		b.i("VPUNPCKHQDQ Y9, Y8, Y11")
		b.i("VMOVDQU Y10, %s", at("DX", q))
		b.i("VMOVDQU Y11, %s", at("SI", q))
	}
}

// put writes the data part of a store; lanes that write the same place do so in their order.
func (a access) put(b *block) {
	a.targets(b)
	a.kinds(b, []int{contiguous}, func(kind int) {
		switch {
		case a.n == 1 && kind == contiguous && a.size >= 4:
			for q := range a.size {
				b.i("VMOVDQU %s, Y8", at("DX", q))
				b.i("VMOVDQU Y8, %d(AX)", 32*q)
			}
		case a.n == 1 && kind == contiguous && a.size == 2:
			b.fill(10, 0)
			for q := range 2 {
				for h := range 2 {
					b.i("VMOVDQU %s, Y%d", at("DX", 2*q+h), 8+h)
					b.i("VPBLENDW $0xAA, Y10, Y%d, Y%d", 8+h, 8+h)
				}
				b.i("VPACKUSDW Y9, Y8, Y8")
				b.i("VPERMQ $0xD8, Y8, Y8")
				b.i("VMOVDQU Y8, %d(AX)", 32*q)
			}
		case a.n == 1:
			move := map[int]string{1: "MOVB", 2: "MOVW", 4: "MOVL", 8: "MOVQ"}[a.size]
			wide := map[bool]int{false: 4, true: 8}[a.wide]
			load := map[bool]string{false: "MOVL", true: "MOVQ"}[a.wide]
			for l := range 32 {
				place := a.place(b, kind, l, 0)
				b.i("%s %d(R8)(DX*1), BX", load, wide*l)
				b.i("%s BX, %s", move, place)
			}
		case a.wide:
			for q := range 8 {
				b.i("VMOVDQU %s, Y8", at("DX", q))
				b.i("VMOVDQU %s, Y9", at("SI", q))
				b.i("VPUNPCKLQDQ Y9, Y8, Y10")
				b.i("VPUNPCKHQDQ Y9, Y8, Y11")
				for l := range 4 {
					b.i("VEXTRACTI128 $%d, Y%d, %s", l>>1, 10+l&1, a.place(b, kind, 4*q+l, 0))
				}
			}
		case a.n == 2:
			a.putPairs(b, kind)
		default:
			for q := range 4 {
				for k, target := range targetList {
					b.i("VMOVDQU %s, Y%d", at(target, q), k)
				}
				b.transpose(0, 4, 8)
				for l := range 8 {
					b.i("VEXTRACTI128 $%d, Y%d, %s", l>>2, 4+l&3, a.place(b, kind, 8*q+l, 0))
				}
			}
		}
	})
}

func (a access) putPairs(b *block, kind int) {
	for q := range 4 {
		b.i("VMOVDQU %s, Y8", at("DX", q))
		b.i("VMOVDQU %s, Y9", at("SI", q))
		b.i("VPUNPCKLDQ Y9, Y8, Y10") // lanes 0, 1 | 4, 5
		b.i("VPUNPCKHDQ Y9, Y8, Y11") // lanes 2, 3 | 6, 7
		for half := range 2 {
			for pair := range 2 {
				l := 8*q + 4*half + 2*pair
				b.i("VEXTRACTI128 $%d, Y%d, X12", half, 10+pair)
				if kind == contiguous {
					b.i("VMOVDQU X12, %s", a.place(b, kind, l, 0))
					continue
				}
				b.i("VMOVQ X12, %s", a.place(b, kind, l, 0))
				b.i("VPEXTRQ $1, X12, %s", a.place(b, kind, l+1, 0))
			}
		}
	}
}
