package vgpu

import (
	"fmt"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// decodeStoreAsync decodes st.async [a], b, [mbarrier] and red.async (PTX ISA 9.7.9.12, 9.7.13.7): stores to the shared memory of
// a CTA of the cluster that complete their bytes on an mbarrier of the same CTA.
func decodeStoreAsync(d *decoder, in *ptx.Instruction) (inst, error) {
	x := inst{fn: opStoreAsync, flags: flagSelf | flagStore, pattern: -1}
	if err := d.least(in, 90); err != nil {
		return x, err
	}
	op, vectors, types := "-", "- v2 v4", "b32 b64 u32 u64 s32 s64 f32 f64"
	if in.Opcode == "red" {
		op, vectors, types = "add min max and or xor inc dec", "-", "u32 s32 u64 s64 b32 b64"
	}
	picks, err := d.anyOrder(in, "async", "- weak relaxed", "- cluster", "- shared::cluster", "mbarrier::complete_tx::bytes", op, vectors, types)
	if err != nil {
		return x, err
	}
	t := picks[7]
	if in.Opcode == "red" {
		if !hasWord(map[string]string{"add": "u32 s32 u64", "min": "u32 s32", "max": "u32 s32", "and": "b32", "or": "b32", "xor": "b32", "inc": "u32", "dec": "u32"}[picks[5]], t) {
			return x, decodeError(d.m, in, "red.async.%s does not take .%s", picks[5], t)
		}
	}
	if err := d.operands(in, 3, 3); err != nil {
		return x, err
	}
	if err := d.data(&x, in, &in.Operands[1], t, picks[6], false); err != nil {
		return x, err
	}
	if err := d.address(&x, &in.Operands[0], "shared", true); err != nil {
		return x, err
	}
	var to inst
	if err := d.address(&to, &in.Operands[2], "shared", false); err != nil {
		return x, err
	}
	if x.ext == nil {
		x.ext = &extra{second: -1}
	}
	x.ext.twin = &to
	if in.Opcode == "red" {
		x.ext.atomic = &atomicExtra{op: atomicOps[picks[5]], t: t, drop: true}
	}
	d.inf.kind, d.inf.class = sharedStore, perf.ClassShared
	return x, nil
}

func hasWord(list, word string) bool {
	for len(list) > 0 {
		n := 0
		for n < len(list) && list[n] != ' ' {
			n++
		}
		if list[:n] == word {
			return true
		}
		list = list[min(n+1, len(list)):]
	}
	return false
}

// opStoreAsync is st.async and red.async: the bytes arrive when somebody looks at the mbarrier.
func opStoreAsync(w *warp, in *inst) {
	a := *w.addresses(in) // before the other: both may be in the worker's
	bars := *w.addresses(in.ext.twin)
	var owner [32]*cta
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		owner[i], bars[i] = w.clusterAddress(in, int(i), bars[i])
	}
	size := uint64(in.size) * uint64(in.n)
	w.inCluster(in, &a, func(a *[32]uint64) {
		w.touchShared(in, w.site(in), a, size)
		c := w.cta
		for m := w.mask; m != 0; m &= m - 1 {
			i := lowest(m)
			if owner[i] != c {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("the data go to CTA %d of the cluster and the mbarrier lies in CTA %d", c.rank, owner[i].rank), Mend: "map both addresses to the same CTA with mapa"})
			}
			if bars[i]+8 > uint64(len(c.shared)) || bars[i]%8 != 0 || c.mbarrierAt(bars[i])&mbarrierValid == 0 {
				w.fault(in, int(i), &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("there is no mbarrier at offset %d of shared memory: mbarrier.init comes first, and a barrier of the cluster before others use it", bars[i]), Mend: "initialise it by one thread, then __syncthreads() (cluster.sync() for another CTA's), and keep its address inside shared memory"})
			}
			w.sendLane(in, i, c, a[i], bars[i])
		}
	})
}

// sendLane sends one lane's values to an offset of a CTA's shared memory.
func (w *warp) sendLane(in *inst, i uint, c *cta, at, bar uint64) {
	var one [1]uint32
	regs := in.vectorRegs(&one)
	values := make([]uint64, len(regs))
	for k, r := range regs {
		if in.flags&flagWide != 0 {
			values[k] = w.u64(r)[i]
		} else {
			values[k] = uint64(w.u32(r)[i])
		}
	}
	size, atomicDo := in.size, in.ext.atomic
	w.cta.check.asyncWrite(w, int(i), in.id, c, at, uint64(len(values))*uint64(size), bar)
	c.deliver(bar, uint32(len(values))*uint32(size), func() {
		for k, v := range values {
			p := unsafe.Pointer(&c.shared[at+uint64(k)*uint64(size)])
			switch {
			case atomicDo == nil:
				store(p, size, v)
			case size == 8:
				*(*uint64)(p) = combine64(atomicDo, *(*uint64)(p), v, 0)
			default:
				*(*uint32)(p) = combineTyped(atomicDo, *(*uint32)(p), uint32(v), 0)
			}
		}
	})
}
