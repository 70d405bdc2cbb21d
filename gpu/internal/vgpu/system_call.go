package vgpu

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
)

// systemCalls are the functions that CUDA's run-time library for devices provides, by name.
var systemCalls map[string]func(d *decoder, in *ptx.Instruction) (inst, error)

func init() {
	systemCalls = map[string]func(d *decoder, in *ptx.Instruction) (inst, error){
		"vprintf":      systemCall(opPrintf, 1, 2),
		"__assertfail": systemCall(opAssert, 0, 5),
		"malloc":       systemCall(opMalloc, 1, 1),
		"free":         systemCall(opFree, 0, 1),
	}
}

// passed is where an argument or the result of a system call lies: in the lane's frame, or in a register.
type passed struct {
	at    uint64
	frame bool
	bytes int
}

// systemCall gives the decoder of a function with so many results and arguments.
func systemCall(fn opFunc, results, arguments int) func(d *decoder, in *ptx.Instruction) (inst, error) {
	return func(d *decoder, in *ptx.Instruction) (inst, error) {
		x := inst{fn: fn, flags: flagSelf, pattern: -1, ext: &extra{second: -1}}
		c := calleeOf(in)
		if len(c.lists[0]) > results || len(c.lists[1]) != arguments {
			return x, decodeError(d.m, in, "%s has %d results and %d arguments", c.name, results, arguments)
		}
		for k, list := range c.lists {
			for i := range list {
				p, err := d.passed(in, &list[i])
				if err != nil {
					return x, err
				}
				if k == 0 {
					x.ext.results = append(x.ext.results, p)
				} else {
					x.ext.arguments = append(x.ext.arguments, p)
				}
			}
		}
		return x, nil
	}
}

func (d *decoder) passed(in *ptx.Instruction, o *ptx.Operand) (passed, error) {
	switch {
	case o.Kind == ptx.OperandSymbol && o.Variable.Space == "param" && o.Variable.Size <= 8:
		return passed{at: d.symbols[o.Variable], frame: true, bytes: int(o.Variable.Size)}, nil
	case o.Kind == ptx.OperandRegister && !isPredicate(&d.f.Registers[o.Register]):
		r := &d.f.Registers[o.Register]
		return passed{at: uint64(d.s.at[o.Register]), bytes: ptx.TypeSize(r.Type)}, nil
	case o.Kind == ptx.OperandImmediate:
		return passed{at: uint64(d.constant(o.Bits, true)), bytes: 8}, nil
	}
	return passed{}, decodeError(d.m, in, "argument %s is neither a .param variable of up to 8 B nor a register", o.Name)
}

// argument reads a lane's k-th argument.
func (w *warp) argument(in *inst, k int, i uint) uint64 {
	p := &in.ext.arguments[k]
	switch {
	case p.frame:
		var b [8]byte
		at := uint64(i)*uint64(w.w.p.local) + p.at
		copy(b[:p.bytes], w.local[at:])
		return binary.LittleEndian.Uint64(b[:])
	case p.bytes == 8:
		return w.u64(uint32(p.at))[i]
	}
	return uint64(w.u32(uint32(p.at))[i])
}

// result writes a lane's result, where the call has one.
func (w *warp) result(in *inst, i uint, v uint64) {
	for _, p := range in.ext.results {
		switch {
		case p.frame:
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], v)
			copy(w.local[uint64(i)*uint64(w.w.p.local)+p.at:], b[:p.bytes])
		case p.bytes == 8:
			w.u64(uint32(p.at))[i] = v
		default:
			w.u32(uint32(p.at))[i] = uint32(v)
		}
	}
}

// generic gives up to n bytes at a generic address of a lane; fewer where its memory ends, none where there is none.
func (w *warp) generic(i uint, address uint64, n int) []byte {
	var b []byte
	switch {
	case address-sharedWindow < windowBytes:
		c, at := w.clusterAddress(&inst{id: -1}, int(i), address)
		b = c.shared[min(at, uint64(len(c.shared))):]
	case address-localWindow < windowBytes:
		size := uint64(w.w.p.local)
		b = w.local[uint64(i)*size : uint64(i+1)*size][min(address-localWindow, size):]
	default:
		a := findIn(w.w.allocations, address)
		if a == nil {
			return nil
		}
		end := min(a.high, address+uint64(n))
		if a.contents != nil {
			w.fetchAgain(address, end-address)
		} else if _, _, err := w.w.run.memory.reach(a, address, end); err != nil {
			return nil
		}
		b = w.w.run.memory.arena[address-w.w.base : end-w.w.base]
	}
	return b[:min(n, len(b))]
}

// maxText bounds the strings that device code names.
const maxText = 64 << 10

// text reads a string that ends with a zero byte.
func (w *warp) text(i uint, address uint64) (string, bool) {
	for n := 256; ; n *= 16 {
		b := w.generic(i, address, n)
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(b[:end]), true
		}
		if len(b) < n || n > maxText {
			return string(b), false
		}
	}
}

// opPrintf is vprintf(format, arguments): each lane's text goes to the output of its CTA.
func opPrintf(w *warp, in *inst) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		format, ok := w.text(i, w.argument(in, 0, i))
		if !ok {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("the format at 0x%x is no string", w.argument(in, 0, i)), Mend: "give printf a string literal"})
		}
		p := &printer{w: w, lane: i, at: w.argument(in, 1, i)}
		p.print(format)
		w.result(in, i, uint64(p.count))
		c := w.w.cta
		if room := maxPrinted - len(c.printed); room > 0 {
			c.printed = append(c.printed, p.out[:min(len(p.out), room)]...)
		} else {
			c.unprinted = true
		}
	}
}

// opAssert is __assertfail(message, file, line, function, character size): it stops the launch.
func opAssert(w *warp, in *inst) {
	i := lowest(w.mask)
	message, _ := w.text(i, w.argument(in, 0, i))
	file, _ := w.text(i, w.argument(in, 1, i))
	function, _ := w.text(i, w.argument(in, 3, i))
	c := w.w.cta
	t := uint32(w.id*warpSize) + uint32(i)
	w.fault(in, int(i), &driver.Fault{Kind: driver.Assert, Detail: fmt.Sprintf("%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.",
		file, uint32(w.argument(in, 2, i)), function, c.index[0], c.index[1], c.index[2], t%c.dim.X, t/c.dim.X%c.dim.Y, t/c.dim.X/c.dim.Y, message), Mend: "print what the condition compares in this thread: printf works in device code"})
}

// opMalloc is malloc: memory of the device's heap, or a null pointer where it is used up.
func opMalloc(w *warp, in *inst) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		size := w.argument(in, 0, i)
		at := w.w.run.device.heap.take(size)
		if c := w.w.run.check; c != nil && at != 0 {
			c.global.renew(at, at+max(size, 1))
		}
		w.result(in, i, at)
	}
}

// opFree is free.
func opFree(w *warp, in *inst) {
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if a := w.argument(in, 0, i); a != 0 && !w.w.run.device.heap.give(a) {
			w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("free of 0x%x, which malloc did not give or which was freed before", a), Mend: "free once what malloc gave, and nothing else"})
		}
	}
}
