package vgpu

import (
	"math"
	"math/bits"
	"unsafe"

	"memwall/gpu/internal/driver"
)

// warpgroupState holds what wgmma a warp has issued and not waited for.
type warpgroupState struct {
	open      []warpgroupJob
	groups    [][]warpgroupJob // committed, oldest first
	committed int
	owners    []owner // by the number of a register that can be in flight: the result that will reach it
	spare     []*sums
}

// owner says which element of which sums will be a register's value.
type owner struct {
	sums    *sums
	element int32
}

// sums are the accumulators of a chain of wgmma: the warp's sixteen rows of D, row after row; bits of f32 or s32. An f16 D
// is rounded after each wgmma and kept as f32.
type sums struct {
	values [][]float32 // unused for integers
	whole  [][]int32
	last   *wgmmaOp // of the chain, the latest issued
	job    uint64   // number of the latest issued
	claims []claim
}

// claim is a register that waits for a result.
type claim struct {
	place   int32 // its number among those that can be in flight
	slot    uint32
	element int32
}

// warpgroupJob is one wgmma.mma_async.
type warpgroupJob struct {
	in           *inst
	number       uint64
	a            [4][32]uint32 // A from registers
	descA, descB descriptor
	meta         [32]uint32
	sums         *sums
	accumulate   bool
	done         bool // computed: some warp of the warpgroup has waited for it
}

func (g *warpgroupState) busy() bool { return len(g.open) > 0 || len(g.groups) > 0 }

// reset forgets everything, at a CTA's start.
func (g *warpgroupState) reset(registers int) {
	g.open, g.groups, g.committed = g.open[:0], g.groups[:0], 0
	if len(g.owners) != registers {
		g.owners = make([]owner, registers)
	}
	clear(g.owners)
}

// opWarpgroupFence is wgmma.fence: registers and shared memory written so far are seen by the wgmma that follow. Warps
// write in program order here, so nothing is left to do.
func opWarpgroupFence(w *warp, in *inst) { w.whole(in) }

// opWarpgroupCommit is wgmma.commit_group.
func opWarpgroupCommit(w *warp, in *inst) {
	w.whole(in)
	g := &w.groups
	g.groups = append(g.groups, append([]warpgroupJob(nil), g.open...))
	g.open = g.open[:0]
	g.committed++
}

// opWarpgroupProduct is wgmma.mma_async D = A·B + D (or A·B): what it reads from registers is read now, shared memory when
// its group is waited for. Operands in shared memory are checked and counted now: A's sixteen rows for every warp, B once
// for the warpgroup, a phase of shared memory for each core matrix of eight 16-byte lines.
func opWarpgroupProduct(w *warp, in *inst) {
	w.whole(in)
	op, g := in.ext.wgmma, &w.groups
	if w.id|3 >= len(w.cta.warps) {
		w.fault(in, 0, &driver.Fault{Kind: driver.Illegal, Detail: "a warpgroup is four warps: the CTA has fewer here", Mend: "launch CTAs of a multiple of 128 threads"})
	}
	g.open = append(g.open, warpgroupJob{in: in})
	job := &g.open[len(g.open)-1]
	w.jobs++
	job.number = w.jobs
	job.descB = newDescriptor(w.uniform(in, op.descB))
	if op.s.sparse() && !op.transB && job.descB.lines == 2 {
		w.fault(in, 0, &driver.Fault{Kind: driver.Illegal, Detail: "B of a sparse wgmma has 64 bytes of K in a line, more than a swizzle of 32 bytes takes", Mend: "use a swizzle of 64 or 128 bytes"})
	}
	if op.fromRegs {
		for i, at := range op.a {
			job.a[i] = *w.u32(at)
		}
	} else {
		job.descA = newDescriptor(w.uniform(in, op.descA))
		w.touchOperand(in, &job.descA, 16*(w.id&3), 16, op.transA)
	}
	for half := range op.s.k / op.s.kept {
		d := job.descB
		d.half = half
		if w.id&3 == 0 {
			w.touchOperand(in, &d, 0, op.n, op.transB)
		}
	}
	if op.s.sparse() {
		job.meta = *w.u32(op.meta)
	}
	switch op.scaleD {
	case -1:
	case -2:
		job.accumulate = true
	default:
		p := w.pred[op.scaleD] ^ op.notD
		if p != 0 && p != allLanes {
			w.fault(in, int(lowest(p)), &driver.Fault{Kind: driver.Illegal, Detail: "scale-d differs between the lanes", Mend: "make it the same in the whole warp"})
		}
		job.accumulate = p != 0
	}
	w.claim(in, job)
}

// uniform gives a descriptor, which must be the same in all lanes.
func (w *warp) uniform(in *inst, at uint32) uint64 {
	v := w.u64(at)
	for l := range v {
		if v[l] != v[0] {
			w.fault(in, l, &driver.Fault{Kind: driver.Illegal, Detail: "a matrix descriptor differs between the lanes", Mend: "compute it from what is the same in the whole warp (__shfl_sync from lane 0)"})
		}
	}
	return v[0]
}

// coreLine gives the address of line l of a core matrix: of rows from 8·block on and unit `unit` of K, or transposed of
// elements from 8·block on and lines of K from 8·unit on.
func (d *descriptor) coreLine(block, unit, l int, across bool) uint64 {
	if across {
		return d.across(block, 8*unit+l)
	}
	return d.alongK(8*block+l, unit)
}

// touchOperand checks and counts the reading of rows of an operand from shared memory: rows/8 by two core matrices.
func (w *warp) touchOperand(in *inst, d *descriptor, first, rows int, across bool) {
	s := &w.site(in).shared
	n := uint64(len(w.cta.shared))
	var a [32]uint64
	for block := first / 8; block < (first+rows)/8; block++ {
		for unit := range 2 {
			var banks uint8 // groups of four banks
			for l := range 8 {
				a[l] = d.coreLine(block, unit, l, across)
				banks |= 1 << (a[l] >> 4 & 7)
				if a[l]+16 > n {
					w.sharedOutOfBounds(in, l, a[l], 16)
				}
			}
			w.cta.check.operand(w, in, &a)
			if w.w.count && banks == 0xff { // no two lines share a bank
				s.waves++
				s.ideal++
			} else if w.w.count {
				waves, phases := wavefronts(&a, 0xff, 16)
				s.waves += waves
				s.ideal += phases
			}
		}
	}
	if w.w.count {
		s.requests++
		s.lanes += 32
		s.bytes += uint64(rows) * 32
	}
}

// claim finds the sums that a job adds to: those that its D already waits for, or new ones with the registers' values.
func (w *warp) claim(in *inst, job *warpgroupJob) {
	op, g := in.ext.wgmma, &w.groups
	chain := g.owners[op.places[0]].sums
	for i, place := range op.places {
		if o := g.owners[place]; o.sums != chain || int(o.element) != i {
			chain = nil
			break
		}
	}
	if chain == nil || !job.accumulate || chain.last.n != op.n || chain.last.s.d != op.s.d {
		if job.accumulate {
			for _, place := range op.places {
				if g.owners[place].sums != nil { // parts of other chains
					w.drain()
					job = &g.open[0]
					break
				}
			}
		}
		chain = w.newSums(op, job.accumulate, in.ext.regs)
	}
	chain.last, chain.job, job.sums = op, job.number, chain
	for i, place := range op.places {
		if g.owners[place] != (owner{chain, int32(i)}) {
			g.owners[place] = owner{chain, int32(i)}
			chain.claims = append(chain.claims, claim{place, in.ext.regs[i], int32(i)})
		}
	}
}

// drain executes everything before the job that is being issued, which no wait asked for.
func (w *warp) drain() {
	g := &w.groups
	for i := range g.groups {
		for j := range g.groups[i] {
			w.finishJob(&g.groups[i][j])
		}
		g.groups[i] = nil
	}
	for i := range g.open[:len(g.open)-1] {
		w.finishJob(&g.open[i])
	}
	g.open = append(g.open[:0], g.open[len(g.open)-1])
}

// newSums gives sums for an op's D, with the registers' values where they count.
func (w *warp) newSums(op *wgmmaOp, read bool, slots []uint32) *sums {
	c := &sums{}
	g := &w.groups
	if n := len(g.spare); n > 0 {
		c, g.spare = g.spare[n-1], g.spare[:n-1]
		c.claims = c.claims[:0]
	}
	integer := op.s.d == "s32"
	if integer {
		c.whole = rowsOf(c.whole, op.n)
	} else {
		c.values = rowsOf(c.values, op.n)
	}
	if !read {
		return c
	}
	for reg, at := range slots {
		for l, v := range w.u32(at) {
			row, column := op.placeD(l, reg)
			switch {
			case integer:
				c.whole[row][column] = int32(v)
			case op.s.d == "f16":
				c.values[row][column], c.values[row][column+1] = halfToFloat(uint16(v)), halfToFloat(uint16(v>>16))
			default:
				c.values[row][column] = math.Float32frombits(v)
			}
		}
	}
	return c
}

// rowsOf gives sixteen cleared rows of n.
func rowsOf[T float32 | int32](rows [][]T, n int) [][]T {
	if len(rows) != 16 || len(rows[0]) != n {
		all := make([]T, 16*n)
		rows = make([][]T, 16)
		for i := range rows {
			rows[i] = all[i*n : (i+1)*n : (i+1)*n]
		}
		return rows
	}
	for i := range rows {
		clear(rows[i])
	}
	return rows
}

// placeD gives row and column of register reg of lane l (of f16 of its lower half) among the warp's sixteen rows of D.
func (op *wgmmaOp) placeD(l, reg int) (row, column int) {
	if op.s.d == "f16" {
		return l>>2 + 8*(reg&1), 8*(reg>>1) + 2*(l&3)
	}
	return l>>2 + 8*(reg>>1&1), 8*(reg>>2) + 2*(l&3) + reg&1
}

// computeJob computes one wgmma, if that has not been done.
func (w *warp) computeJob(job *warpgroupJob) {
	if job.done {
		return
	}
	job.done = true
	op := job.in.ext.wgmma
	var where []uint8
	if op.s.sparse() {
		where = w.places(job.in, op.s, &job.meta, op.selector*op.s.metadataThreads())
	}
	switch {
	case op.s.a.bits == 1:
		w.multiplyBits(job)
	case op.s.d == "s32":
		w.multiplyIntegers(job, where)
	default:
		w.multiplyFloats(job, where)
	}
}

// finishJob computes one wgmma, and hands the results out where it is the last of its chain.
func (w *warp) finishJob(job *warpgroupJob) {
	w.computeJob(job)
	op, c := job.in.ext.wgmma, job.sums
	if c.job != job.number {
		return
	}
	g := &w.groups
	for _, k := range c.claims {
		if g.owners[k.place] != (owner{c, k.element}) {
			continue
		}
		g.owners[k.place] = owner{}
		d := w.u32(k.slot)
		for l := range d {
			row, column := op.placeD(l, int(k.element))
			switch op.s.d {
			case "s32":
				d[l] = uint32(c.whole[row][column])
			case "f16":
				d[l] = uint32(floatToHalf(c.values[row][column])) | uint32(floatToHalf(c.values[row][column+1]))<<16
			default:
				d[l] = math.Float32bits(quiet(c.values[row][column]))
			}
		}
	}
	g.spare = append(g.spare, c)
}

// operand reads rows of an operand from shared memory: 32 bytes of K each, in the order of K.
func (w *warp) operand(d *descriptor, first, rows int, across bool) [][8]uint32 {
	list := make([][8]uint32, rows)
	shared := unsafe.Pointer(unsafe.SliceData(w.cta.shared))
	for block := range rows / 8 {
		for unit := range 2 {
			for l := range 8 {
				line := (*[4]uint32)(unsafe.Add(shared, d.coreLine(first/8+block, unit, l, across)))
				if !across {
					copy(list[8*block+l][4*unit:4*unit+4], line[:])
					continue
				}
				k := 8*unit + l
				for i, pair := range line { // elements 2i and 2i+1 of the block, at K's element k
					list[8*block+2*i][k>>1] |= pair & 0xffff << (16 * (k & 1))
					list[8*block+2*i+1][k>>1] |= pair >> 16 << (16 * (k & 1))
				}
			}
		}
	}
	return list
}

// rowsOfA gives the stored 32 bytes of each of the warp's sixteen rows of A.
func (w *warp) rowsOfA(job *warpgroupJob) [][8]uint32 {
	op := job.in.ext.wgmma
	if !op.fromRegs {
		return w.operand(&job.descA, 16*(w.id&3), 16, op.transA)
	}
	list := make([][8]uint32, 16)
	for reg := range job.a {
		for l, v := range job.a[reg] {
			row, word := op.s.placeA(l, reg, 0, 1)
			list[row][word] = v
		}
	}
	return list
}

// unpackWords gives the elements of one row, the lowest bits first.
func unpackWords[T float32 | int32](into []T, words []uint32, width int, from func(uint32) T) {
	per := 32 / width
	for i := range into {
		into[i] = from(words[i/per] >> (width * (i % per)))
	}
}

// multiplyBits adds the ones in the and of rows of A and columns of B.
func (w *warp) multiplyBits(job *warpgroupJob) {
	a, b, c := w.rowsOfA(job), w.halfOfB(job, 0), job.sums
	for i := range a {
		for j := range b {
			n := 0
			for k := range a[i] {
				n += bits.OnesCount32(a[i][k] & b[j][k])
			}
			if !job.accumulate {
				c.whole[i][j] = 0
			}
			c.whole[i][j] += int32(n)
		}
	}
}

// multiplyIntegers adds the products of s8 and u8: exact sums, to which D is added, wrapping or with .satfinite held at
// the limits.
func (w *warp) multiplyIntegers(job *warpgroupJob, where []uint8) {
	op, c := job.in.ext.wgmma, job.sums
	a, b := operandsOf(w, job, op.s.a.integer(), op.s.b.integer())
	row := make([]int32, op.n)
	for i := range 16 {
		clear(row)
		addProducts(row, a[i*op.s.kept:(i+1)*op.s.kept], b, rowWhere(where, i, op.s.kept))
		for j, sum := range row {
			switch {
			case !job.accumulate:
				c.whole[i][j] = sum
			case op.s.sat:
				c.whole[i][j] = saturate32(int64(c.whole[i][j]) + int64(sum))
			default:
				c.whole[i][j] += sum
			}
		}
	}
}

// multiplyFloats adds the products of floating-point types in the order of k, each sum rounded to the nearest f32.
func (w *warp) multiplyFloats(job *warpgroupJob, where []uint8) {
	op, c := job.in.ext.wgmma, job.sums
	fromA, fromB := op.s.a.float, op.s.b.float
	if op.negA != op.negB {
		plain := fromA
		fromA = func(v uint32) float32 { return -plain(v) }
	}
	a, b := operandsOf(w, job, fromA, fromB)
	for i := range 16 {
		if !job.accumulate {
			clear(c.values[i])
		}
		if row := a[i*op.s.kept : (i+1)*op.s.kept]; where != nil || !addRow(c.values[i], row, b) {
			addProducts(c.values[i], row, b, rowWhere(where, i, op.s.kept))
		}
		if op.s.d == "f16" {
			for j, v := range c.values[i] {
				c.values[i][j] = halfToFloat(floatToHalf(v))
			}
		}
	}
}

func rowWhere(where []uint8, i, kept int) []uint8 {
	if where == nil {
		return nil
	}
	return where[i*kept : (i+1)*kept]
}

// operandsOf gives A as sixteen rows of stored elements and B as k rows of n. The four warps of a warpgroup, which are
// computed one after another, share B.
func operandsOf[T float32 | int32](w *warp, job *warpgroupJob, fromA, fromB func(uint32) T) (a, b []T) {
	op := job.in.ext.wgmma
	kept, k, n := op.s.kept, op.s.k, op.n
	a = make([]T, 16*kept)
	for i, words := range w.rowsOfA(job) {
		unpackRow(a[i*kept:(i+1)*kept], words[:], op.s.a, fromA)
	}
	known := &w.cta.tileB
	if known.in == job.in && known.at == job.descB && known.valid {
		if b, ok := known.values.([]T); ok {
			return a, b
		}
	}
	b = make([]T, k*n)
	column := make([]T, kept)
	for half := range k / kept { // the 64 bytes of K of a sparse B are two times 32
		for j, words := range w.halfOfB(job, half) {
			unpackRow(column, words[:], op.s.b, fromB)
			for p, v := range column {
				b[(half*kept+p)*n+j] = v
			}
		}
	}
	if known.sharing {
		*known = sharedTile{in: job.in, at: job.descB, values: b, valid: true, sharing: true}
	}
	return a, b
}

// sharedTile is the B that the warp before has read, while nothing else runs in between.
type sharedTile struct {
	in             *inst
	at             descriptor
	values         any
	valid, sharing bool
}

// unpackRow is unpackWords; a row of bf16, negated or not, needs no call an element.
func unpackRow[T float32 | int32](into []T, words []uint32, e *element, from func(uint32) T) {
	row, ok := any(into).([]float32)
	if !ok || e.name != "bf16" || any(from(0x3f80)) != any(float32(1)) {
		unpackWords(into, words, e.bits, from)
		return
	}
	for i := range row {
		row[i] = math.Float32frombits(words[i/2] >> (16 * (i & 1)) << 16)
	}
}

// halfOfB gives 32 bytes of K of each column of B, of a sparse wgmma the first or second.
func (w *warp) halfOfB(job *warpgroupJob, half int) [][8]uint32 {
	op := job.in.ext.wgmma
	d := job.descB
	d.half = half
	return w.operand(&d, 0, op.n, op.transB)
}

// addProducts is c[j] += a[p]·b[p·n+j] for p in order, n being len(c): a row of a matrix product. where gives the row of b
// that each p meets; nil for p itself.
func addProducts[T float32 | int32](c, a, b []T, where []uint8) {
	n := len(c)
	p := 0
	if where == nil {
		for ; p+4 <= len(a); p += 4 {
			x0, x1, x2, x3 := a[p], a[p+1], a[p+2], a[p+3]
			b0, b1, b2, b3 := b[p*n:][:n], b[(p+1)*n:][:n], b[(p+2)*n:][:n], b[(p+3)*n:][:n]
			for j, v := range c {
				v += T(x0 * b0[j])
				v += T(x1 * b1[j])
				v += T(x2 * b2[j])
				v += T(x3 * b3[j])
				c[j] = v
			}
		}
	}
	for ; p < len(a); p++ {
		k := p
		if where != nil {
			k = int(where[p])
		}
		x, y := a[p], b[k*n:][:n]
		for j := range c {
			c[j] += T(x * y[j])
		}
	}
}
