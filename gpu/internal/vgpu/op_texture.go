package vgpu

import (
	"fmt"
	"math"
	"unsafe"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/ptx"
	"memwall/gpu/perf"
)

// textureRows are the fetches of one-dimensional textures by an integer, as tex1Dfetch makes them: of linear memory, without
// a filter.
var textureRows = []row{
	{patterns: []string{"tex.1d.v4{.f32,.s32,.u32}.s32"}, class: perf.ClassGlobal, section: "9.7.10.3", decode: decodeTexture},
}

// firstTexture is the number of the first texture object; no pointer looks like one.
const firstTexture = uint64(0x7e5) << 48

// textureKinds are the element formats: bytes, and whether they are floating-point.
var textureKinds = map[string]struct {
	bytes int64
	float bool
}{"u8": {1, false}, "s8": {1, false}, "u16": {2, false}, "s16": {2, false}, "u32": {4, false}, "s32": {4, false}, "f16": {2, true}, "f32": {4, true}}

// NewTexture makes a texture object of linear memory.
func (d *Device) NewTexture(t driver.Texture) (uint64, error) {
	kind, ok := textureKinds[t.Format]
	switch {
	case !ok:
		return 0, fmt.Errorf("virtual GPU: texture of format %q: it must be u8, s8, u16, s16, u32, s32, f16 or f32", t.Format)
	case t.Channels != 1 && t.Channels != 2 && t.Channels != 4:
		return 0, fmt.Errorf("virtual GPU: texture of %d channels: it must have 1, 2 or 4", t.Channels)
	case t.Normalized && (kind.float || kind.bytes == 4):
		return 0, fmt.Errorf("virtual GPU: texture of format %s: only 8-bit and 16-bit integers can be read as numbers up to 1", t.Format)
	case uint64(t.Base)%256 != 0:
		return 0, fmt.Errorf("virtual GPU: texture at 0x%x: it must begin at a multiple of 256 B", uint64(t.Base))
	}
	d.hold.Lock()
	defer d.hold.Unlock()
	if _, err := d.memory.place(t.Base, t.Bytes, "texture at"); err != nil {
		return 0, err
	}
	old := d.textures.Load()
	next := map[uint64]driver.Texture{}
	if old != nil {
		for k, v := range *old {
			next[k] = v
		}
	}
	d.lastTexture++
	handle := firstTexture + d.lastTexture
	next[handle] = t
	d.textures.Store(&next)
	return handle, nil
}

// FreeTexture forgets a texture object; its memory stays.
func (d *Device) FreeTexture(handle uint64) error {
	d.hold.Lock()
	defer d.hold.Unlock()
	old := d.textures.Load()
	if old == nil || (*old)[handle] == (driver.Texture{}) {
		return fmt.Errorf("virtual GPU: %#x is no texture object", handle)
	}
	next := map[uint64]driver.Texture{}
	for k, v := range *old {
		if k != handle {
			next[k] = v
		}
	}
	d.textures.Store(&next)
	return nil
}

// decodeTexture decodes tex.1d.v4.t.s32 {d0, d1, d2, d3}, [object, {i}].
func decodeTexture(d *decoder, in *ptx.Instruction, r *row) (inst, error) {
	x := inst{fn: opTexture, flags: flagSelf, ext: &extra{second: -1}, pattern: -1}
	if err := d.operands(in, 2, 2); err != nil {
		return x, err
	}
	o := &in.Operands[1]
	if o.Kind != ptx.OperandAddress || o.Register < 0 || !isWide(&d.f.Registers[o.Register]) || o.Offset != 0 {
		return x, d.m.ErrorAt(in, "not supported by the virtual GPU: a texture that the module declares", "pass a texture object: cudaTextureObject_t")
	}
	index := o.Elements
	if len(index) == 1 && index[0].Kind == ptx.OperandVector {
		index = index[0].Elements
	}
	if len(index) != 1 || len(in.Operands[0].Elements) != 4 {
		return x, decodeError(d.m, in, "expected four registers and one index: {d0, d1, d2, d3}, [object, {i}]")
	}
	x.a = d.s.at[o.Register]
	var err error
	if x.b, err = d.source(&index[0], "s32"); err != nil {
		return x, err
	}
	t := in.Modifiers[2]
	for i := range in.Operands[0].Elements {
		at, err := d.destination(&in.Operands[0].Elements[i], t)
		if err != nil {
			return x, err
		}
		x.ext.regs = append(x.ext.regs, at)
	}
	if t == "f32" {
		x.n = 1
	}
	x.pattern = int32(d.p.patterns)
	d.p.patterns++
	d.inf.kind, d.inf.global = globalLoad, true
	return x, nil
}

// opTexture fetches lane by lane: an element outside of the texture reads as zeros, as do the channels that it lacks.
func opTexture(w *warp, in *inst) {
	objects := *w.u64(in.a)
	index := *w.u32(in.b)
	old := w.mask
	for rest := old; rest != 0; {
		handle := objects[lowest(rest)]
		var same uint32
		for m := rest; m != 0; m &= m - 1 {
			if i := lowest(m); objects[i] == handle {
				same |= 1 << i
			}
		}
		rest &^= same
		w.mask = same
		w.fetchTexture(in, handle, &index)
	}
	w.mask = old
}

func (w *warp) fetchTexture(in *inst, handle uint64, index *[32]uint32) {
	lane := int(lowest(w.mask))
	all := w.w.run.device.textures.Load()
	var t driver.Texture
	ok := false
	if all != nil {
		t, ok = (*all)[handle]
	}
	kind := textureKinds[t.Format]
	switch {
	case !ok:
		w.fault(in, lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("%#x is no texture object", handle), Mend: "give what t.Texture(…) made"})
	case (in.n == 1) != (kind.float || t.Normalized):
		w.fault(in, lane, &driver.Fault{Kind: driver.Illegal, Detail: fmt.Sprintf("the texture holds %s and is fetched as another type", t.Format), Mend: "fetch it with the type that it was made with: tex1Dfetch<float>"})
	}
	size := uint64(kind.bytes) * uint64(t.Channels)
	var a [32]uint64
	inside := uint32(0)
	for m := w.mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if at := int64(int32(index[i])); at >= 0 && at < t.Bytes/int64(size) {
			inside |= 1 << i
			a[i] = uint64(t.Base) + uint64(at)*size
		}
		for _, r := range in.ext.regs {
			w.u32(r)[i] = 0
		}
	}
	if w.mask = inside; inside == 0 {
		return
	}
	w.touch(in, w.site(in), &a, size)
	for m := inside; m != 0; m &= m - 1 {
		i := lowest(m)
		p := w.host(a[i])
		for k := range t.Channels {
			w.u32(in.ext.regs[k])[i] = texel(unsafe.Add(p, k*int(kind.bytes)), &t)
		}
	}
}

// texel reads one channel: integers extended, f16 and normalised ones as f32.
func texel(p unsafe.Pointer, t *driver.Texture) uint32 {
	size := uint8(textureKinds[t.Format].bytes)
	v := load(p, size, t.Format[0] == 's')
	switch {
	case t.Format == "f16":
		return math.Float32bits(halfToFloat(uint16(v)))
	case t.Normalized && t.Format[0] == 's': // the most negative number reads as −1 too
		return math.Float32bits(float32(max(float64(int64(v))/float64(int64(1)<<(8*size-1)-1), -1)))
	case t.Normalized:
		return math.Float32bits(float32(float64(v) / float64(int64(1)<<(8*size)-1)))
	}
	return uint32(v)
}
