package vgpu

import (
	"encoding/binary"
	"math"
)

// A compiled run is one more threaded op (threads_amd64.go): its code begins with R8, R9, R10 and R11 as every op has them,
// keeps no stack, and goes on by jumping to the instruction behind the run. It first checks that the addresses of the run's
// loads lie to each other as they did when it was compiled, that all are within the CTA's shared memory, and aligned;
// otherwise it changes nothing and jumps to the threaded code of the run's first instruction. So it cannot fault, and what it
// counts is known: one number a run.

// compiledRun is a run as machine code.
type compiledRun struct {
	block    *block
	from, to int     // instructions of the block's threaded code
	id       int32   // of the first instruction: where its hits are counted
	original uintptr // threaded code of the first instruction
	loads    []jitLoad
	entry    int // in the code
	hits     uint64
	misses   uint64
}

// assemble writes a run's code behind what the buffer has and gives its entry; the buffer begins at a multiple of 32.
func (r *jitRun) assemble(c *machineCode, id int32, original uintptr, instructions int) (entry int, err error) {
	tables := r.constants(c)
	entry = c.at()
	misses := r.checks(c, tables)
	if len(r.loads) > 0 {
		c.loadQuad(regDX, place{regR11, contextJIT})
		c.incrementQuad(place{regDX, 16 * id})
	}
	c.bytes(0x31, 0xC9)       // xor ecx, ecx
	c.bytes(0x4C, 0x89, 0xC3) // mov rbx, r8
	loop := c.at()
	r.bases(c)
	order := r.schedule()
	if err := newEmitter(r, c, order, tables).body(order); err != nil {
		return 0, err
	}
	if r.unroll < 4 {
		step := byte(32 * r.unroll)
		c.bytes(0x48, 0x83, 0xC3, step) // add rbx, step
		c.bytes(0x83, 0xC1, step)       // add ecx, step
		c.bytes(0x81, 0xF9)             // cmp ecx, 128
		c.word(unit)
		from := c.jumpIf(ifNotEqual)
		c.jumpBack(from, loop)
	}
	c.bytes(0x49, 0x81, 0xC1) // add r9, the run's instructions
	c.word(int32(64 * instructions))
	c.bytes(0x49, 0x8B, 0x01, 0xFF, 0xE0) // mov rax, [r9]; jmp rax
	for _, from := range misses {
		c.land(from)
	}
	if len(misses) > 0 {
		c.loadQuad(regDX, place{regR11, contextJIT})
		c.incrementQuad(place{regDX, 16*id + 8})
		c.jumpTo(original)
	}
	for c.at()%32 != 0 {
		c.bytes(0xCC)
	}
	return entry, nil
}

// codeHeader begins the buffer with the constants that all runs share.
func codeHeader() *machineCode {
	c := &machineCode{}
	fill := func(word uint32) {
		for range 8 {
			c.word(int32(word))
		}
	}
	for _, word := range []uint32{0x7fffffff, 1 << 31, 0xffff} {
		fill(word)
	}
	for range 2 { // byte order of vpshufb
		c.bytes(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
	}
	for _, word := range []uint32{math.Float32bits(65536), 1<<32 - 1, 1<<31 - 1} {
		fill(word)
	}
	return c
}

// constants writes what the groups compare with and what gathers add.
func (r *jitRun) constants(c *machineCode) (t jitTables) {
	for i := range r.groups {
		g := &r.groups[i]
		t.delta = append(t.delta, int32(c.at()))
		for _, d := range g.delta {
			if g.wide {
				c.b = binary.LittleEndian.AppendUint64(c.b, uint64(d))
			} else {
				c.word(int32(d))
			}
		}
		t.index = append(t.index, int32(c.at()))
		for lane, d := range g.delta {
			c.word(int32(d - g.delta[lane&^7]))
		}
	}
	return t
}

// checks writes the comparisons of all groups; it gives the jumps to be taken where one fails.
func (r *jitRun) checks(c *machineCode, t jitTables) (misses []int) {
	for i := range r.groups {
		g := &r.groups[i]
		slot := int32(g.slot)
		switch {
		case g.fixed:
			c.bytes(0x31, 0xC0) // xor eax, eax
		case g.wide:
			c.loadQuad(regAX, place{regR8, slot})
			c.vexMemory(vBroadcastQ, wide256, 0, 0, place{regR8, slot})
			misses = append(misses, c.compareLanes(8, vAddQuads, vEqualQuads, slot, t.delta[i]))
		default:
			c.loadWord(regAX, place{regR8, slot})
			c.vexMemory(vBroadcastD, wide256, 0, 0, place{regR8, slot})
			misses = append(misses, c.compareLanes(4, vAdd, vEqual, slot, t.delta[i]))
		}
		for _, a := range g.aligns {
			c.address(regCX, place{regAX, a.disp})
			c.bytes(0xF7, 0xC1) // test ecx, size−1
			c.word(a.size - 1)
			misses = append(misses, c.jumpIf(ifNotEqual))
		}
		c.address(regCX, place{regAX, int32(g.low)})
		c.bytes(0x48, 0x85, 0xC9) // test rcx, rcx
		misses = append(misses, c.jumpIf(ifNegative))
		c.address(regCX, place{regAX, int32(g.high)})
		c.bytes(rex(regCX, regR11), 0x3B) // cmp rcx, [r11+…]
		c.operand(regCX, place{regR11, contextSharedLength}, 0)
		misses = append(misses, c.jumpIf(ifAbove))
	}
	return misses
}

// compareLanes compares n registers full of lanes with the first one's and a table; it gives the jump taken where any differs.
func (c *machineCode) compareLanes(n int, add, equal vector, slot, table int32) int {
	for k := range int32(n) {
		to := min(int(k)+1, 2)
		c.vexMemory(add, wide256, to, 0, rip(table+32*k))
		c.vexMemory(equal, wide256, to, to, place{regR8, slot + 32*k})
		if k > 0 {
			c.vex(vAnd, wide256, 1, 1, 2)
		}
	}
	c.vex(vSignBits, wide256, regCX, 0, 1)
	c.bytes(0x83, 0xF9, 0xFF) // cmp ecx, −1
	return c.jumpIf(ifNotEqual)
}

// bases loads the host addresses of the groups for the slices in hand.
func (r *jitRun) bases(c *machineCode) {
	for i := range r.groups {
		g := &r.groups[i]
		for u := range int32(r.unroll) {
			base := baseRegisters[i*r.unroll+int(u)]
			switch {
			case g.fixed:
				c.loadQuad(base, place{regR11, contextShared})
				continue
			case g.wide:
				c.bytes(0x48, 0x8D, 0x04, 0x0B) // lea rax, [rbx+rcx]: slices of 64-bit lanes are twice as long
				c.loadQuad(base, place{regAX, int32(g.slot) + 64*u})
			default:
				c.loadWord(base, place{regBX, int32(g.slot) + 32*u})
			}
			c.addQuad(base, place{regR11, contextShared})
		}
	}
}

// aliveBehind gives the slots that may be read after instruction `last` of a block's threaded code.
func (p *program) aliveBehind(b *block, full []inst, last int) map[uint32]bool {
	alive := map[int32]bool{}
	fb := &p.flow.blocks[b.number]
	fb.liveOut.each(func(i int) { alive[p.flow.across[i]] = true })
	from, kills := full[last].id+1, b.to
	if next := &full[last+1]; next.fn != nil {
		kills = next.id
	}
	for i := b.to - 1; i >= from; i-- {
		in := &p.f.Body[i]
		if in.Guard < 0 && i >= kills {
			registersOf(in, func(int32) {}, func(r int32) { delete(alive, r) })
		}
		registersOf(in, func(r int32) { alive[r] = true }, func(int32) {})
	}
	slots := make(map[uint32]bool, len(alive))
	for r := range alive {
		if !isPredicate(&p.f.Registers[r]) {
			slots[p.slots.at[r]] = true
		}
	}
	return slots
}

// compileBlock finds the runs of a block's threaded code, of whose loads the addresses are known, and writes their code.
func (p *program) compileBlock(b *block, deltas map[int32]*[32]int64) ([]*compiledRun, []byte) {
	full := b.threads.full
	c := codeHeader()
	var runs []*compiledRun
	for from := 0; from < len(full)-1; {
		run, entry := p.compileRun(c, b, deltas, from)
		if run == nil {
			from++
			continue
		}
		runs = append(runs, &compiledRun{block: b, from: run.from, to: run.to, id: full[run.from].id, original: full[run.from].code, loads: run.loads, entry: entry})
		from = run.to
	}
	return runs, c.b
}

// compileRun writes the longest run that begins at an instruction, nil where none is worth it.
func (p *program) compileRun(c *machineCode, b *block, deltas map[int32]*[32]int64, from int) (*jitRun, int) {
	full := b.threads.full
	for most := jitLongest; most >= jitShortest; most /= 2 {
		probe := buildRun(p, deltas, full, from, most, 1)
		n := probe.run.to - from
		if n < jitShortest {
			return nil, 0
		}
		alive := p.aliveBehind(b, full, probe.run.to-1)
		isAlive := func(slot uint32) bool { return alive[slot] }
		probe.finish(isAlive)
		for _, unroll := range unrollsOf(probe.run) {
			x := probe
			if unroll > 1 {
				x = buildRun(p, deltas, full, from, n, unroll)
				if x.run.to != probe.run.to {
					continue
				}
				x.finish(isAlive)
			}
			start := c.at()
			entry, err := x.run.assemble(c, full[from].id, full[from].code, n)
			if err == nil {
				return x.run, entry
			}
			c.b = c.b[:start]
		}
	}
	return nil, 0
}

// unrollsOf gives how many slices are best computed side by side, and what to try where that fails: few results are few
// chains of operations, which wait for each other.
func unrollsOf(r *jitRun) []int {
	results := len(r.out)
	switch {
	case len(r.ops) > 256 || results > 8:
		return []int{1}
	case results > 3:
		return []int{2, 1}
	}
	return []int{4, 2, 1}
}
